"""Love Formula: checks of cards, seats and fields. Numbers refer to RULES.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.components import COUPLES, MAX_PLAYERS, NEEDS, NONE, SLOTS, int64
from linkzoo.games.love_formula.tables import CARDS


@compiled
def validate_numbers(state: Record) -> str:
    """Cards are of the table, seats of the game, and what is not in use is empty."""
    players = int64(state.num_players)
    for viewer in range(MAX_PLAYERS):
        held = int64(0)
        for card in range(MAX_TYPES):
            held += int64(state.hands[viewer, card])
            if viewer < players and card < CARDS.num_types:
                continue
            some = state.hands[viewer, card] | state.piles[viewer, card]
            some |= state.packs[viewer, card] | state.taken[viewer, card]
            for seat in range(MAX_PLAYERS):
                some |= state.known[viewer, seat, card] | state.known[seat, viewer, card]
            if some != 0:
                return "hands, piles, packs, taken, known: seats or cards that there aren't"
        if state.hand_size[viewer] != held:
            return "hand_size: not what is in the hand"
        if viewer >= players:
            # NONE is the number with all bits.
            empty = state.selected[viewer] & state.priorities[viewer] & state.shield[viewer]
            for slot in range(SLOTS):
                empty &= state.free[viewer, slot]
            if empty & state.hand_sizes_at_end[viewer] != NONE:
                return "selected, priorities, free, shield: seats that there aren't"
        else:
            jobs = int64(state.hands[viewer, CARDS.job]) + (state.selected[viewer] == CARDS.job)
            if jobs != 1:
                return "hands: a seat has not one Part-time Job"
    frames = max(state.acting_by, state.effect_by, state.effect_who)
    if max(frames, state.event_source, state.event_owner, state.poll) >= players:
        return "acting, effect, react: a seat that there isn't"
    if max(state.acting_card, state.effect_card, state.event_card, state.limbo) >= CARDS.num_types:
        return "acting, effect, react, limbo: a card that there isn't"
    if state.limbo != NONE and CARDS.kind[state.limbo] != PREPARATION:
        return "limbo: no preparation"
    return ""


@compiled
def holds(numbers: NDArray[Any], size: int, limit: int) -> bool:
    """Whether a list has so many numbers below a limit, and NONE behind them."""
    for place in range(len(numbers)):
        if place < size and not 0 <= numbers[place] < limit:
            return False
        if place >= size and numbers[place] != NONE:
            return False
    return True


@compiled
def validate_lists(state: Record) -> str:
    """Lists have as many entries as they say: cards of the table, seats of the game."""
    types, players = int64(CARDS.num_types), int64(state.num_players)
    obstacles, pending = int64(state.obstacle_count), int64(state.pending_size)
    if not holds(state.deck, int64(state.deck_size), types):
        return "deck, deck_size: not as many cards as there should be"
    if not holds(state.discard, int64(state.discard_size), types):
        return "discard, discard_size: not as many cards as there should be"
    if not holds(state.look, int64(state.look_size), types):
        return "look, look_size: not as many cards as there should be"
    if not holds(state.order, int64(state.order_size), players):
        return "order, order_size: not as many seats as there should be"
    of_table = holds(state.obstacle_type, obstacles, types)
    at_couples = holds(state.obstacle_couple, obstacles, int64(COUPLES))
    if not of_table or not at_couples or not holds(state.obstacle_by, obstacles, players):
        return "obstacles: card, couple, by: not as many as obstacle_count"
    of_table = holds(state.pending_card, pending, types)
    if not of_table or not holds(state.pending_by, pending, players):
        return "react: pending: card, by: not as many as pending_size"
    for place in range(obstacles, components.OBSTACLES):
        if state.turns_left[place] != 0:
            return "obstacles: turns_left: there are fewer obstacles"
    for place in range(pending, components.REACTIONS):
        if state.pending_answers[place] != NONE or state.pending_cancelled[place]:
            return "react: pending: answers, cancelled: there are fewer reactions"
    return ""


@compiled
def validate_fields(state: Record) -> str:
    """Couples, free slots and obstacles."""
    for couple in range(COUPLES):
        owner = state.owner[couple]
        if owner >= state.num_players or state.attached[couple] & ~CARDS.all_met[couple] != 0:
            return "fields: owner, attached: no seat, or not what the couple requires"
        if owner == NONE and state.attached[couple] != 0:
            return "fields: attached: at a couple that is in no field"
    for seat in range(state.num_players):
        for slot in range(SLOTS):
            card = state.free[seat, slot]
            if card >= CARDS.num_types or (card != NONE and CARDS.subtype[card] != slot):
                return "fields: free: not a preparation of the slot"
    for place in range(state.obstacle_count):
        card = state.obstacle_type[place]
        if CARDS.kind[card] != OBSTACLE or state.owner[state.obstacle_couple[place]] == NONE:
            return "obstacles: card, couple: no obstacle of a field"
        # T0 counts a timed one down before it is looked at again, T4 discards it at 0.
        counted = state.stage == phases.START and place < state.cursor
        expires = state.stage == phases.END and place >= state.cursor
        at_zero = state.stage in (phases.SELECT, phases.RESOLVE, phases.OVER) or counted or expires
        turns = max(CARDS.turns[card], 0)
        least = 1 if turns > 0 and not at_zero else 0
        if not least <= state.turns_left[place] <= turns:
            return "obstacles: turns_left: more than it lasts, or too few"
    return ""


@compiled
def validate_cards(state: Record) -> str:
    """Every card is in exactly one place."""
    counts = np.zeros(MAX_TYPES, np.int64)
    for card in CARDS.deck:
        counts[card] -= 1
    counts[CARDS.job] -= int64(state.num_players)
    _count(state.deck, int64(state.deck_size), counts)
    _count(state.discard, int64(state.discard_size), counts)
    _count(state.look, int64(state.look_size), counts)
    waiting = state.pending_size if state.resolving == NONE else state.resolving
    _count(state.pending_card, int64(waiting), counts)
    if state.limbo != NONE:
        counts[state.limbo] += 1
    for seat in range(state.num_players):
        card = state.selected[seat]
        if card >= CARDS.num_types or (card != NONE and CARDS.kind[card] == REACTION):
            return "selected: not a card that can be selected"
        if card != NONE:
            counts[card] += 1
        for card in range(CARDS.num_types):
            counts[card] += int64(state.hands[seat, card]) + int64(state.piles[seat, card])
            counts[card] += int64(state.packs[seat, card])
    lying = _count_fields(state, counts)
    for card in range(CARDS.num_types):
        if counts[card] != 0:
            return "cards: one is missing, or there too often"
    # R4, R23: the second draft deals from what does not lie in fields then.
    turns = components.TURNS - (int64(state.turn) if state.turn > 0 else 0)
    left = components.DECK - components.PICKS * int64(state.num_players)
    if state.half == 1 and lying + turns * state.num_players > left:
        return "fields: owner, free, obstacle_type: more in fields than can have been played"
    return ""


@compiled
def _count(cards: NDArray[Any], size: int, counts: NDArray[Any]) -> None:
    for place in range(size):
        counts[cards[place]] += 1


@compiled
def _count_fields(state: Record, counts: NDArray[Any]) -> int:
    """Counts what lies in fields; how many cards that is."""
    lying = int64(state.obstacle_count)
    _count(state.obstacle_type, lying, counts)
    for couple in range(COUPLES):
        if state.owner[couple] != NONE:
            counts[CARDS.couple_type[couple]] += 1
            lying += 1
        for place in range(NEEDS):
            if (state.attached[couple] >> place) & 1:
                counts[CARDS.needs[couple, place]] += 1
                lying += 1
    for seat in range(state.num_players):
        for slot in range(SLOTS):
            if state.free[seat, slot] != NONE:
                counts[state.free[seat, slot]] += 1
                lying += 1
    return lying
