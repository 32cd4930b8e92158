"""Love Formula: the numbers that the rules are made of, and a table of cards as arrays.

A card is the number of its type. Couples and obstacles also have numbers of their own: couples
0..23, and obstacle types in the order of the table. A position of a preparation is
3 * couple + requirement, or 72 + 3 * seat + subtype for a free slot (R10).
"""

from collections.abc import Iterator, Sized
from typing import Any

import numpy as np

from linkzoo.games.love_formula.cards import (
    CHOOSERS,
    COUNTS,
    COUPLE,
    JOBS,
    LISTS,
    OBSTACLE,
    OPS,
    PREPARATION,
    REACTION,
    SUBTYPES,
    TARGETS,
    TRIGGERS,
    WHO,
    Cards,
)

NONE = -1
MAX_PLAYERS = 4
MAX_LENGTH = 4000  # decisions of a game
COUPLES = COUNTS[COUPLE]
OBSTACLES = COUNTS[OBSTACLE]
DECK = sum(COUNTS) - JOBS  # R3
PICKS = 12  # in a draft (R4)
TURNS = 10  # in a half (R7)
NEEDS = 3  # requirements of a couple, at most
SLOTS = len(SUBTYPES)  # free ones of a field
FREE_SLOT = NEEDS * COUPLES  # the first position that is a free slot
POSITIONS = FREE_SLOT + MAX_PLAYERS * SLOTS
REACTIONS = COUNTS[-1]
BITS = np.array([0, 1, 1, 2, 1, 2, 2, 3])  # ones of three bits, such as requirements met


def numbered(names: Sized) -> Iterator[Any]:
    """Numbers for names, of one type: Numba compiles a function anew for each Python constant."""
    return map(np.int64, range(len(names)))


DECISIONS = (
    "DRAFT SELECT WINDOW MOVE_DEST DISCARD_MENU PLACE TARGET_COUPLE TARGET_PREP SWAP_OWN "
    "TARGET_OBSTACLE TARGET_PLAYER HAND_DISCARD LOOK_KEEP RECOVER CHOICE REACT PAY"
).split()
(
    ASK_DRAFT,
    ASK_SELECT,
    ASK_WINDOW,
    ASK_MOVE_DEST,
    ASK_DISCARD_MENU,
    ASK_PLACE,
    ASK_TARGET_COUPLE,
    ASK_TARGET_PREP,
    ASK_SWAP_OWN,
    ASK_TARGET_OBSTACLE,
    ASK_TARGET_PLAYER,
    ASK_HAND_DISCARD,
    ASK_LOOK_KEEP,
    ASK_RECOVER,
    ASK_CHOICE,
    ASK_REACT,
    ASK_PAY,
) = numbered(DECISIONS)

STAGES = ("draft", "start", "select", "resolve", "end", "over")
DRAFT, START, SELECT, RESOLVE, END, OVER = numbered(STAGES)

STEPS = ("", "pre", "effect", "post")  # of a stage "resolve" (R8, T3); "effect" of others too
NO_STEP, PRE, EFFECT, POST = numbered(STEPS)

ACTING_STEPS = ("target", "react", "effect")
AT_TARGET, AT_REACT, AT_EFFECT = numbered(ACTING_STEPS)

EVENTS = ("obstacle", "action", "prep_discarded")  # E1, E2, E3 of R19
OBSTACLE_EVENT, ACTION_EVENT, PREP_EVENT = numbered(EVENTS)

OBSTACLE_ON_ME, OPP_ACTION, MY_PREP_DISCARDED, REACTION_PLAYED = numbered(TRIGGERS)
(
    NO_TARGET,
    OPP_COUPLE,
    OPP_COUPLE_INCOMPLETE,
    OPP_PREP_OPEN,
    OPP_PREP_TAKABLE,
    SWAP_PAIR,
    OWN_OBSTACLE,
    DISCARD_PREP_OR_COUPLE,
    OPP,
) = numbered(TARGETS)
ON_RESOLVE, ON_TURN_START, ON_EXPIRE = numbered(LISTS)
ME, EACH_OPP, TARGET, COUPLE_CONTROLLER = numbered(WHO)
SELF, BY_ME, RANDOM = numbered(CHOOSERS)
(
    DRAW,
    LOOK_TOP,
    DISCARD_HAND,
    LOOK_HAND,
    DISCARD_PREP,
    TAKE_PREP,
    SWAP_PREP,
    DISCARD_OBSTACLE,
    RECOVER,
    SHIELD,
    SELF_TO_HAND,
    CHOOSE_DISCARD,
    PAY_TO_REMOVE,
    DISCARD_AFFECTED_PREP,
    RETURN_AFFECTED_PREP,
    DISCARD_COUPLE_IF_INCOMPLETE,
    CANCEL_EVENT,
    REDIRECT_EVENT,
    RECOVER_EVENT_CARD,
) = numbered(OPS)


def tables(cards: Cards) -> dict[str, Any]:
    """What `bind` gives the compiled functions of a table of cards, by name."""
    found = {**_types(cards), **_couples(cards), **_effects(cards), **actions(cards)}
    return {
        name: np.int64(value) if isinstance(value, int) else value for name, value in found.items()
    }


def actions(cards: Cards) -> dict[str, int]:
    """Where the kinds of actions begin; that of a card is its type."""
    first = len(cards.cards)
    sizes = {
        "AT_POS": POSITIONS,
        "AT_COUPLE": COUPLES,
        "AT_FREE": 1,
        "AT_OBSTACLE": OBSTACLES,
        "AT_PLAYER": MAX_PLAYERS,
        "AT_PASS": 1,
        "AT_YES": 1,
        "AT_OPEN_DISCARD": 1,
        "NUM_ACTIONS": 0,
    }
    starts = np.cumsum([first, *sizes.values()]).tolist()
    return dict(zip(sizes, starts, strict=False))


def _numbered(members: list[int], count: int) -> Any:
    """By type: its number among these types, or NONE."""
    found = np.full(count, NONE)
    found[members] = np.arange(len(members))
    return found


def _types(cards: Cards) -> dict[str, Any]:
    """By type: its kind, subtype, numbers and copies."""
    table, count = cards.cards, len(cards.cards)
    job = next(number for number, card in enumerate(table) if card.job)
    copies = np.array([card.copies for card in table])
    preparations, obstacles = cards.of_kind(PREPARATION), cards.of_kind(OBSTACLE)
    first = np.full(count, NONE)
    first[obstacles] = np.cumsum([0, *copies[obstacles]])[:-1]
    in_deck = np.where(np.arange(count) == job, 0, copies)
    return {
        "NUM_TYPES": count,
        "JOB": job,
        "KIND": np.array([card.kind for card in table]),
        "SUBTYPE": np.array(
            [
                SUBTYPES.index(card.subtype) if i in preparations else NONE
                for i, card in enumerate(table)
            ]
        ),
        "PRIORITY": np.array([card.priority for card in table]),
        "FULL_DECK": np.repeat(np.arange(count), in_deck),
        "FIRST_COPY": np.cumsum([0, *in_deck])[:-1],
        "NUM_PREPARATIONS": len(preparations),
        "PREP_NUMBER": _numbered(preparations, count),
        "NUM_REACTIONS": len(cards.of_kind(REACTION)),
        "REACTION_NUMBER": _numbered(cards.of_kind(REACTION), count),
        "OBSTACLE_NUMBER": _numbered(obstacles, count),
        "NUM_OBSTACLE_TYPES": len(obstacles),
        "OBSTACLE_FIRST": first,  # its first action among the obstacles'
    }


def _couples(cards: Cards) -> dict[str, Any]:
    """Which preparations couples need (R10)."""
    couples = cards.of_kind(COUPLE)
    names = [card.name for card in cards.cards]
    need = np.full((COUPLES, NEEDS), NONE)
    place = np.full((COUPLES, len(names)), NONE)  # of a preparation among the requirements
    for number, kind in enumerate(couples):
        for index, name in enumerate(cards.cards[kind].requirements):
            need[number, index] = names.index(name)
            place[number, names.index(name)] = index
    return {
        "COUPLE_NUMBER": _numbered(couples, len(names)),
        "COUPLE_TYPE": np.array(couples),
        "NEED": need,
        "NEED_PLACE": place,
        "FULL": (1 << (need != NONE).sum(1)) - 1,  # all requirements met, as bits
    }


def _effects(cards: Cards) -> dict[str, Any]:
    """By type: what it does."""
    table = cards.cards
    longest = max(len(ops) for card in table for ops in card.ops)
    ops = np.zeros((len(table), len(LISTS), longest, 4), np.int64)
    for number, card in enumerate(table):
        for where, listed in enumerate(card.ops):
            for index, op in enumerate(listed):
                ops[number, where, index] = _encoded(op)

    def static(name: str) -> Any:
        return np.array([int(card.static.get(name, 0)) for card in table])

    return {
        "TRIGGER": np.array(
            [TRIGGERS.index(card.trigger) if card.trigger else NONE for card in table]
        ),
        "TARGET_KIND": np.array([TARGETS.index(card.target) for card in table]),
        "TIMER": np.array([card.turns for card in table]),
        "NO_ATTACH": static("no_attach"),
        "PRIORITY_MOD": static("priority_mod"),
        "VP_HALVE": static("vp_halve"),
        "VP": static("vp"),
        "REVEAL_HAND": static("reveal_hand"),
        "HAS_STATIC": np.array([int(bool(card.static)) for card in table]),
        "OP_COUNT": np.array([[len(listed) for listed in card.ops] for card in table]),
        "OP": ops,
    }


def _encoded(op: tuple[Any, ...]) -> tuple[int, int, int, int]:
    """An op as its number, `who`, its number of cards, and the chooser or how many are kept."""
    found = {"who": ME, "n": 0, "chooser": SELF, "k": 0}
    for name, value in zip(OPS[op[0]], op[1:], strict=True):
        if name == "who":
            found["who"] = WHO.index(value)
        elif name == "chooser":
            found["chooser"] = CHOOSERS.index(value)
        elif name in WHO:
            found["who"] = WHO.index(name)
        elif name in ("n", "k"):
            found[name] = value
    return list(OPS).index(op[0]), found["who"], found["n"], found["chooser"] + found["k"]
