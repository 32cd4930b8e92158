"""Love Formula: a table of cards as arrays, for the compiled rules.

`CARDS` has the standard cards; for other cards the rules are bound to other tables
(`linkzoo.engine.compiled.rebind`).
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import cards, components
from linkzoo.games.love_formula.cards import Card, Cards
from linkzoo.games.love_formula.components import NONE
from linkzoo.games.love_formula.observation_spec import make_spec
from linkzoo.games.love_formula.ops import Op, encoded
from linkzoo.games.love_formula.traits import traits_of

IntArray = NDArray[np.int64]


class CardTables(NamedTuple):
    """A table of cards for the compiled rules. T types are numbered in the order of the table."""

    # Types.
    num_types: int  # T
    num_couples: int
    types_of_kind: IntArray  # [kind]: how many
    job: int  # the type of the Part-time Job
    deck: IntArray  # [cards of the deck]: the types of the cards of the deck, in order

    # The course of the game (`cards.Course`).
    picks: int
    drafted: bool
    phase_turns: int
    halves: int

    # By type.
    kind: IntArray  # PREPARATION, COUPLE, ...
    number: IntArray  # among the types of the same kind
    subtype: IntArray  # of a preparation; NONE for others
    priority: IntArray
    trigger: IntArray  # of a reaction; NONE for others
    target: IntArray  # NO_TARGET, OPP_COUPLE, ...
    turns: IntArray  # of an obstacle: -1 instant, 0 permanent, or so many turns
    first_copy: IntArray  # the index in `deck` of its first copy
    obstacle_offset: IntArray  # its first action, among the obstacles' actions; NONE for others
    op_count: IntArray  # [T, list]
    ops: IntArray  # [T, list, index, field of `Op`]; see `op_of`
    traits: IntArray  # [T, trait] (`traits.PARTS`)

    # By type: the lasting effects of an obstacle while it is attached.
    has_static: IntArray  # 1 if it has any
    no_attach: IntArray  # 1 if no preparation can be attached
    priority_mod: IntArray
    vp_halve: IntArray  # 1 if it halves the points of a complete couple
    vp: IntArray
    reveal_hand: IntArray  # 1 if the hand is visible to all

    # By couple (R10).
    couple_type: IntArray
    needs: IntArray  # [couple, NEEDS]: the types of its requirements; NONE behind them
    need_place: IntArray  # [couple, T]: the index of a type in `needs`; NONE if not required
    all_met: IntArray  # a bit for each requirement

    # Actions. Those from 0 on name a card by its type; a kind of actions begins at its `first_`.
    first_position_action: int
    first_couple_action: int
    free_slot_action: int
    first_obstacle_action: int
    first_player_action: int
    pass_action: int
    yes_action: int
    open_discard_action: int
    num_actions: int

    at: Any  # where each part of an observation begins (`observation_spec.make_spec`)


@cache
def card_tables(table: Cards) -> CardTables:
    """Returns the tables of a table of cards."""
    types = table.cards
    num_types = len(types)
    kind = _array([card.kind for card in types])
    in_deck = _array([0 if card.job else card.copies for card in types])
    obstacles = np.where(kind == cards.OBSTACLE, [card.copies for card in types], 0)
    obstacle_offset = np.cumsum(obstacles) - obstacles
    couples = table.of_kind(cards.COUPLE)
    needs = _needs(table)
    first_couple_action = num_types + components.POSITIONS
    free_slot_action = first_couple_action + components.COUPLES
    first_obstacle_action = free_slot_action + 1
    first_player_action = first_obstacle_action + components.OBSTACLES
    pass_action = first_player_action + components.MAX_PLAYERS
    return CardTables(
        num_types=num_types,
        num_couples=len(couples),
        types_of_kind=np.bincount(kind, minlength=len(cards.KINDS)),
        job=next(number for number, card in enumerate(types) if card.job),
        deck=np.repeat(np.arange(num_types), in_deck),
        picks=table.course.picks,
        drafted=table.course.drafted,
        phase_turns=table.course.turns,
        halves=table.course.halves,
        kind=kind,
        number=_array([np.sum(kind[:number] == kind[number]) for number in range(num_types)]),
        subtype=_places([card.subtype for card in types], cards.SUBTYPES),
        priority=_array([card.priority for card in types]),
        trigger=_places([card.trigger for card in types], list(cards.TRIGGERS)),
        target=_places([card.target for card in types], cards.TARGETS),
        turns=_array([card.turns for card in types]),
        first_copy=np.cumsum(in_deck) - in_deck,
        obstacle_offset=np.where(kind == cards.OBSTACLE, obstacle_offset, NONE),
        op_count=np.array([[len(ops) for ops in card.ops] for card in types]),
        ops=_ops(types),
        traits=np.array([traits_of(card) for card in types]),
        has_static=_array([len(card.static) > 0 for card in types]),
        no_attach=_static(types, "no_attach"),
        priority_mod=_static(types, "priority_mod"),
        vp_halve=_static(types, "vp_halve"),
        vp=_static(types, "vp"),
        reveal_hand=_static(types, "reveal_hand"),
        couple_type=_array(couples),
        needs=needs,
        need_place=_need_places(needs, num_types),
        all_met=(1 << (needs != NONE).sum(1)) - 1,
        first_position_action=num_types,
        first_couple_action=first_couple_action,
        free_slot_action=free_slot_action,
        first_obstacle_action=first_obstacle_action,
        first_player_action=first_player_action,
        pass_action=pass_action,
        yes_action=pass_action + 1,
        open_discard_action=pass_action + 2,
        num_actions=pass_action + 3,
        at=make_spec(table).starts(),
    )


def _array(numbers: Sequence[int]) -> IntArray:
    return np.array(numbers, np.int64)


def _places(names: Sequence[str], listed: Sequence[str]) -> IntArray:
    """Returns the place of each name in a list, NONE for names that aren't in it."""
    return _array([listed.index(name) if name in listed else NONE for name in names])


def _static(types: Sequence[Card], name: str) -> IntArray:
    """Returns a lasting effect by type, 0 for cards without it."""
    return _array([int(card.static.get(name, 0)) for card in types])


def _needs(table: Cards) -> IntArray:
    """Returns the types that each couple requires: int64[COUPLES, NEEDS], NONE behind them."""
    names = [card.name for card in table.cards]
    needs = np.full((components.COUPLES, components.NEEDS), NONE)
    for couple, number in enumerate(table.of_kind(cards.COUPLE)):
        for place, name in enumerate(table.cards[number].requirements):
            needs[couple, place] = names.index(name)
    return needs


def _need_places(needs: IntArray, num_types: int) -> IntArray:
    """Returns the place of each type among the requirements of each couple: int64[COUPLES, T]."""
    places = np.full((components.COUPLES, num_types), NONE)
    for couple, place in np.argwhere(needs != NONE):
        places[couple, needs[couple, place]] = place
    return places


def _ops(types: Sequence[Card]) -> IntArray:
    """Returns the ops as numbers: int64[T, list, index, field of `Op`], 0 behind them."""
    longest = max(len(ops) for card in types for ops in card.ops)
    numbers = np.zeros((len(types), len(cards.LISTS), longest, len(Op._fields)), np.int64)
    for number, card in enumerate(types):
        for list_number, ops in enumerate(card.ops):
            for index, op in enumerate(ops):
                numbers[number, list_number, index] = encoded(op)
    return numbers


CARDS = card_tables(cards.load_cards(cards.STANDARD))


@compiled
def op_of(card: int, list_number: int, index: int) -> Op:
    """Returns an op of one of the lists of a card."""
    fields = CARDS.ops[card, list_number, index]
    return Op(fields[0], fields[1], fields[2], fields[3], fields[4])
