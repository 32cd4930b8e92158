"""Love Formula: checks of cards, seats and fields. Numbers refer to RULES.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.components import COUPLES, MAX_PLAYERS, NEEDS, NONE, SLOTS, int64
from linkzoo.games.love_formula.state import LIMIT
from linkzoo.games.love_formula.tables import CARDS


@compiled
def validate_numbers(state: Record) -> str:
    """Cards are of the table, seats of the game, and unused fields are empty."""
    players = int64(state.num_players)
    for seat in range(MAX_PLAYERS):
        if _has_unknown_cards(state, seat):
            return "hands, piles, packs, taken, known: seats or cards that there aren't"
        if state.hand_size[seat] != state.hands[seat].sum():
            return "hand_size: another number of cards than in the hand"
        if seat >= players:
            if not _is_empty(state, seat):
                return "selected, priorities, free, shield: seats that there aren't"
        else:
            jobs = int64(state.hands[seat, CARDS.job])
            jobs += state.selected[seat] == CARDS.job
            if jobs != 1:
                return "hands: a seat has not one Part-time Job"
    last_seat = max(
        state.acting_by,
        state.effect_by,
        state.effect_who,
        state.event_source,
        state.event_owner,
        state.poll,
    )
    if last_seat >= players:
        return "acting, effect, react: a seat that there isn't"
    last_card = max(state.acting_card, state.effect_card, state.event_card, state.limbo)
    if last_card >= CARDS.num_types:
        return "acting, effect, react, limbo: a card that there isn't"
    if state.limbo != NONE and CARDS.kind[state.limbo] != PREPARATION:
        return "limbo: no preparation"
    counted = max(state.reshuffles, state.random_discards)
    if counted > LIMIT // 2:  # both grow in the rest of the game
        return "reshuffles, random_discards: more than a game has"
    return ""


@compiled
def _has_unknown_cards(state: Record, seat: int) -> bool:
    """Returns whether a seat has cards beyond the table, or any as a seat beyond the game."""
    first = int64(CARDS.num_types if seat < state.num_players else 0)
    for card in range(first, MAX_TYPES):
        if state.hands[seat, card] != 0 or state.piles[seat, card] != 0:
            return True
        if state.packs[seat, card] != 0 or state.taken[seat, card] != 0:
            return True
        for other in range(MAX_PLAYERS):
            if state.known[seat, other, card] != 0 or state.known[other, seat, card] != 0:
                return True
    return False


@compiled
def _is_empty(state: Record, seat: int) -> bool:
    """Returns whether the fields of a seat, apart from its cards, are not in use."""
    for slot in range(SLOTS):
        if state.free[seat, slot] != NONE:
            return False
    if state.selected[seat] != NONE or state.priorities[seat] != NONE:
        return False
    return bool(state.shield[seat] == NONE and state.hand_sizes_at_end[seat] == NONE)


@compiled
def is_list(numbers: NDArray[Any], size: int, limit: int) -> bool:
    """Returns whether `size` numbers are in 0..limit - 1 and NONE follows them."""
    for place in range(len(numbers)):
        if place < size and not 0 <= numbers[place] < limit:
            return False
        if place >= size and numbers[place] != NONE:
            return False
    return True


@compiled
def validate_lists(state: Record) -> str:
    """Lists have as many entries as their sizes: cards of the table, seats of the game."""
    types = int64(CARDS.num_types)
    players = int64(state.num_players)
    obstacles = int64(state.obstacle_count)
    pending = int64(state.pending_size)
    if not is_list(state.deck, int64(state.deck_size), types):
        return "deck, deck_size: not as many cards as there should be"
    if not is_list(state.discard, int64(state.discard_size), types):
        return "discard, discard_size: not as many cards as there should be"
    if not is_list(state.look, int64(state.look_size), types):
        return "look, look_size: not as many cards as there should be"
    if not is_list(state.order, int64(state.order_size), players):
        return "order, order_size: not as many seats as there should be"
    are_cards = is_list(state.obstacle_type, obstacles, types)
    are_couples = is_list(state.obstacle_couple, obstacles, int64(COUPLES))
    if not are_cards or not are_couples or not is_list(state.obstacle_by, obstacles, players):
        return "obstacles: card, couple, by: not as many as obstacle_count"
    are_cards = is_list(state.pending_card, pending, types)
    if not are_cards or not is_list(state.pending_by, pending, players):
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
        if couple >= CARDS.num_couples and owner != NONE:
            return "fields: owner: of a couple that there isn't"
        if owner >= state.num_players or state.attached[couple] & ~CARDS.all_met[couple] != 0:
            return "fields: owner, attached: no seat, or no requirement of the couple"
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
        turns = max(CARDS.turns[card], 0)
        least = 1 if turns > 0 and not _may_be_at_zero(state, place) else 0
        if not least <= state.turns_left[place] <= turns:
            return "obstacles: turns_left: more than it lasts, or too few"
    return ""


@compiled
def _may_be_at_zero(state: Record, place: int) -> bool:
    """R8: returns whether a timed obstacle can be at 0: after its count in T0, until T4."""
    if state.stage == phases.START:
        return bool(place < state.cursor)
    if state.stage == phases.END:
        return bool(place >= state.cursor)
    return state.stage in (phases.SELECT, phases.RESOLVE, phases.OVER)


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
    in_fields = _count_fields(state, counts)
    for card in range(CARDS.num_types):
        if counts[card] != 0:
            return "cards: one is missing, or there too often"
    # R4, R23: enough cards are outside the fields for the second draft.
    turns = CARDS.phase_turns - max(int64(state.turn), 0)
    most = len(CARDS.deck) - CARDS.picks * int64(state.num_players)
    if state.half < CARDS.halves and in_fields + turns * state.num_players > most:
        return "fields: owner, free, obstacle_type: more in fields than can have been played"
    return ""


@compiled
def _count(cards: NDArray[Any], size: int, counts: NDArray[Any]) -> None:
    for place in range(size):
        counts[cards[place]] += 1


@compiled
def _count_fields(state: Record, counts: NDArray[Any]) -> int:
    """Counts the cards in the fields by type; returns their number."""
    total = int64(state.obstacle_count)
    _count(state.obstacle_type, total, counts)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] != NONE:
            counts[CARDS.couple_type[couple]] += 1
            total += 1
        for place in range(NEEDS):
            if (state.attached[couple] >> place) & 1:
                counts[CARDS.needs[couple, place]] += 1
                total += 1
    for seat in range(state.num_players):
        for slot in range(SLOTS):
            if state.free[seat, slot] != NONE:
                counts[state.free[seat, slot]] += 1
                total += 1
    return total
