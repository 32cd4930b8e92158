"""Love Formula: a table of cards as arrays.

The constants of this module are the `constants` of the standard cards;
`linkzoo.engine.compiled.rebind` makes the rules for other cards with the constants of those.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.love_formula import cards, components
from linkzoo.games.love_formula.cards import Card, Cards
from linkzoo.games.love_formula.components import NONE

IntArray = NDArray[np.int64]
# The kinds of actions, and how many there are of each; the action of a card is its type.
_ACTIONS = {
    "AT_POS": components.POSITIONS,
    "AT_COUPLE": components.COUPLES,
    "AT_FREE": 1,
    "AT_OBSTACLE": components.OBSTACLES,
    "AT_PLAYER": components.MAX_PLAYERS,
    "AT_PASS": 1,
    "AT_YES": 1,
    "AT_OPEN_DISCARD": 1,
    "NUM_ACTIONS": 0,
}


def constants(table: Cards) -> dict[str, Any]:
    """Returns the constants of a table of cards, by name."""
    ends = np.cumsum([len(table.cards), *_ACTIONS.values()])
    return {
        "NUM_TYPES": np.int64(len(table.cards)),
        **dict(zip(_ACTIONS, ends[:-1], strict=True)),
        **_types(table.cards),
        **_couples(table),
        "OP": _ops(table.cards),
    }


def _types(table: tuple[Card, ...]) -> dict[str, Any]:
    """The Part-time Job, the deck and, by type, the kind, numbers and what the card does."""

    def each(value: Callable[[Card], int]) -> IntArray:
        return np.array([value(card) for card in table])

    kind, copies = each(lambda card: card.kind), each(lambda card: card.copies)
    in_deck = each(lambda card: 0 if card.job else card.copies)
    obstacles = np.where(kind == cards.OBSTACLE, copies, 0)
    subtypes = {name: number for number, name in enumerate(cards.SUBTYPES)}
    triggers = {name: number for number, name in enumerate(cards.TRIGGERS)}
    return {
        "JOB": np.argmin(in_deck),  # the Part-time Job
        "FULL_DECK": np.repeat(np.arange(len(table)), in_deck),  # the cards of the deck
        "TYPES_OF": np.bincount(kind),  # by kind: how many types
        # By type.
        "KIND": kind,
        "NUMBER": np.array([(kind[:number] == kind[number]).sum() for number in range(len(kind))]),
        "SUBTYPE": each(lambda card: subtypes.get(card.subtype, NONE)),
        "PRIORITY": each(lambda card: card.priority),
        "FIRST_COPY": np.cumsum(in_deck) - in_deck,  # its first place in FULL_DECK
        "OBSTACLE_FIRST": np.where(kind == cards.OBSTACLE, np.cumsum(obstacles) - obstacles, NONE),
        "TRIGGER": each(lambda card: triggers.get(card.trigger, NONE)),
        "TARGET_KIND": each(lambda card: cards.TARGETS.index(card.target)),
        "TIMER": each(lambda card: card.turns),
        "HAS_STATIC": each(lambda card: int(bool(card.static))),
        "NO_ATTACH": each(lambda card: int(card.static.get("no_attach", 0))),
        "PRIORITY_MOD": each(lambda card: int(card.static.get("priority_mod", 0))),
        "VP_HALVE": each(lambda card: int(card.static.get("vp_halve", 0))),
        "VP": each(lambda card: int(card.static.get("vp", 0))),
        "REVEAL_HAND": each(lambda card: int(card.static.get("reveal_hand", 0))),
        "OP_COUNT": np.array([[len(listed) for listed in card.ops] for card in table]),
    }


def _couples(table: Cards) -> dict[str, Any]:
    """By couple: its type, and which preparations it needs (R10)."""
    couples = table.of_kind(cards.COUPLE)
    names = [card.name for card in table.cards]
    need = np.full((components.COUPLES, components.NEEDS), NONE)
    place = np.full((components.COUPLES, len(names)), NONE)
    for number, kind in enumerate(couples):
        for index, name in enumerate(table.cards[kind].requirements):
            need[number, index] = names.index(name)
            place[number, names.index(name)] = index
    return {
        "COUPLE_TYPE": np.array(couples),
        "NEED": need,
        "NEED_PLACE": place,  # [couple, type]: its place among the requirements
        "FULL": (1 << (need != NONE).sum(1)) - 1,  # bits for all that a couple needs
    }


def _ops(table: tuple[Card, ...]) -> IntArray:
    """By type, list and place: the four numbers of an op."""
    longest = max(len(listed) for card in table for listed in card.ops)
    found = np.zeros((len(table), len(cards.LISTS), longest, 4), np.int64)
    for number, card in enumerate(table):
        for where, listed in enumerate(card.ops):
            for index, op in enumerate(listed):
                found[number, where, index] = _encoded(op)
    return found


def _encoded(op: cards.Op) -> tuple[int, int, int, int]:
    """An op as its number, `who`, its number of cards, and the chooser or how many are kept."""
    who = count = last = 0
    for name, value in zip(cards.OPS[op[0]], op[1:], strict=True):
        if name == "n":
            count = value
        elif name == "k":
            last = value
        elif name == "chooser":
            last = cards.CHOOSERS.index(value)
        elif value in cards.WHO:
            who = cards.WHO.index(value)
    return list(cards.OPS).index(op[0]), who, count, last


STANDARD_CARDS = cards.load_cards(cards.STANDARD)
_STANDARD = constants(STANDARD_CARDS)

# Types: how many there are, in all and by kind; the Part-time Job; the cards of the deck.
NUM_TYPES: int = _STANDARD["NUM_TYPES"]
TYPES_OF: IntArray = _STANDARD["TYPES_OF"]
JOB: int = _STANDARD["JOB"]
FULL_DECK: IntArray = _STANDARD["FULL_DECK"]

# By type: its kind, its number among those of its kind, and what the card says.
KIND: IntArray = _STANDARD["KIND"]
NUMBER: IntArray = _STANDARD["NUMBER"]
SUBTYPE: IntArray = _STANDARD["SUBTYPE"]
PRIORITY: IntArray = _STANDARD["PRIORITY"]
FIRST_COPY: IntArray = _STANDARD["FIRST_COPY"]  # its first place in FULL_DECK
OBSTACLE_FIRST: IntArray = _STANDARD["OBSTACLE_FIRST"]  # its first action among the obstacles'
TRIGGER: IntArray = _STANDARD["TRIGGER"]
TARGET_KIND: IntArray = _STANDARD["TARGET_KIND"]
TIMER: IntArray = _STANDARD["TIMER"]
HAS_STATIC: IntArray = _STANDARD["HAS_STATIC"]
NO_ATTACH: IntArray = _STANDARD["NO_ATTACH"]
PRIORITY_MOD: IntArray = _STANDARD["PRIORITY_MOD"]
VP_HALVE: IntArray = _STANDARD["VP_HALVE"]
VP: IntArray = _STANDARD["VP"]
REVEAL_HAND: IntArray = _STANDARD["REVEAL_HAND"]
OP_COUNT: IntArray = _STANDARD["OP_COUNT"]  # [type, list]
OP: IntArray = _STANDARD["OP"]  # [type, list, place, 4]: see `_encoded`

# By couple (R10): its type, what it needs, and bits for all that it needs.
COUPLE_TYPE: IntArray = _STANDARD["COUPLE_TYPE"]
NEED: IntArray = _STANDARD["NEED"]
NEED_PLACE: IntArray = _STANDARD["NEED_PLACE"]  # [couple, type]: its place among the requirements
FULL: IntArray = _STANDARD["FULL"]

# Where the kinds of actions begin; the action of a card is its type.
AT_POS: int = _STANDARD["AT_POS"]
AT_COUPLE: int = _STANDARD["AT_COUPLE"]
AT_FREE: int = _STANDARD["AT_FREE"]
AT_OBSTACLE: int = _STANDARD["AT_OBSTACLE"]
AT_PLAYER: int = _STANDARD["AT_PLAYER"]
AT_PASS: int = _STANDARD["AT_PASS"]
AT_YES: int = _STANDARD["AT_YES"]
AT_OPEN_DISCARD: int = _STANDARD["AT_OPEN_DISCARD"]
NUM_ACTIONS: int = _STANDARD["NUM_ACTIONS"]
