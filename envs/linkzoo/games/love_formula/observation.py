"""The observation of a seat, and the hidden rest: others' cards, and the deck (R6, R8).

A card that lies face down, or was picked in this round of a draft, counts as still in the hand or
pack for all other seats.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, decisions, phases
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.components import MAX_PLAYERS, NEEDS, NONE, int64
from linkzoo.games.love_formula.observation_spec import MAX_POINTS, OTHERS
from linkzoo.games.love_formula.rules import draft, fields, scoring
from linkzoo.games.love_formula.state import LIMIT, obstacle_sum
from linkzoo.games.love_formula.tables import CARDS


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills a seat's observation (`observation_spec.make_spec`)."""
    at = CARDS.at
    out.fill(0)
    me = int64(seat)
    players = int64(state.num_players)
    out[at.num_players] = players
    out[at.stage] = state.stage
    out[at.half] = state.half
    out[at.turn] = state.turn
    out[at.draft_round] = state.draft_round
    out[at.deck_size] = state.deck_size
    for place in range(state.discard_size):
        out[at.discard + state.discard[place]] += 1
    _copy(state.hands[me], out, at.hand)
    _copy(state.piles[me], out, at.pile)
    if state.stage == phases.SELECT and state.selected[me] != NONE:
        out[at.face_down + state.selected[me]] = 1
    for step in range(players):
        _show_seat(state, (me + step) % players, step, out)
    _show_couples(state, me, out)
    _show_needs(state, me, out)
    _show_obstacles(state, me, out)
    _show_frames(state, me, out)
    _show_memory(state, me, out)
    if state.seat == seat:
        _show_turn(state, me, out)


@compiled
def _copy(counts: NDArray[Any], out: NDArray[np.int8], first: int) -> None:
    for card in range(CARDS.num_types):
        out[first + card] = counts[card]


@compiled
def _show_seat(state: Record, seat: int, step: int, out: NDArray[np.int8]) -> None:
    """Fills the public knowledge about a seat, `step` seats after the observer."""
    at = CARDS.at
    selected = int64(state.selected[seat])
    face_down = state.stage == phases.SELECT and selected != NONE
    out[at.hand_size + step] = state.hand_size[seat]
    if face_down:
        out[at.hand_size + step] += 1
    if selected != NONE and not face_down:
        out[at.revealed + CARDS.num_types * step + selected] = 1
    for slot in range(components.SLOTS):
        card = state.free[seat, slot]
        if card != NONE:
            out[at.free + CARDS.types_of_kind[PREPARATION] * step + CARDS.number[card]] = 1
    shielded_turns = int64(state.shield[seat]) - state.turn
    if state.stage != phases.DRAFT:  # in a draft the turn is over already
        shielded_turns += 1
    out[at.shield + step] = max(shielded_turns, 0)
    out[at.points + step] = min(max(scoring.points(state, seat), -LIMIT), MAX_POINTS)
    change = obstacle_sum(state, seat, CARDS.priority_mod)
    out[at.priority_change + step] = min(max(change, -LIMIT), LIMIT)
    if state.priorities[seat] != NONE:
        out[at.priority + step] = min(int64(state.priorities[seat]) + 1, LIMIT)
    for place in range(state.order_size):
        if state.order[place] == seat:
            out[at.order + step] = place + 1
            if state.stage != phases.RESOLVE or place < state.cursor:
                out[at.resolved + step] = 1


@compiled
def _show_couples(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    at = CARDS.at
    players = int64(state.num_players)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] != NONE:
            out[at.couple + couple] = 1 + (state.owner[couple] - seat) % players
            for place in range(NEEDS):
                out[at.attached + NEEDS * couple + place] = (state.attached[couple] >> place) & 1
            out[at.complete + couple] = fields.is_complete(state, couple)
    for place in range(state.discard_size):
        card = state.discard[place]
        if CARDS.kind[card] == COUPLE:
            out[at.couple + CARDS.number[card]] = MAX_PLAYERS + 1


@compiled
def _show_needs(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the requirements that couples lack, which a network would have to learn otherwise."""
    at = CARDS.at
    players = int64(state.num_players)
    for couple in range(CARDS.num_couples):
        held = int64(state.hands[seat, CARDS.couple_type[couple]])
        held += state.piles[seat, CARDS.couple_type[couple]]
        for place in range(NEEDS):
            card = CARDS.needs[couple, place]
            if card == NONE or (state.attached[couple] >> place) & 1:
                continue
            if state.owner[couple] != NONE:
                step = (state.owner[couple] - seat) % players
                out[at.needed + CARDS.types_of_kind[PREPARATION] * step + CARDS.number[card]] += 1
            if held > 0:
                out[at.wanted + CARDS.number[card]] += 1
            if state.hands[seat, card] + state.piles[seat, card] > 0:
                out[at.in_reach + couple] += 1


@compiled
def _show_obstacles(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    at = CARDS.at
    players = int64(state.num_players)
    for place in range(state.obstacle_count):
        couple = int64(state.obstacle_couple[place])
        entry = CARDS.types_of_kind[OBSTACLE] * couple + CARDS.number[state.obstacle_type[place]]
        out[at.obstacles + entry] += 1
        turns = state.turns_left[place]
        shown = out[at.turns_left + entry]
        if turns > 0 and (shown == 0 or turns < shown):
            out[at.turns_left + entry] = turns
        step = (state.obstacle_by[place] - seat) % players
        out[at.obstacle_by + MAX_PLAYERS * couple + step] = 1


@compiled
def _show_frames(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the card that resolves, the effect, and the event with the reactions to it."""
    at = CARDS.at
    players = int64(state.num_players)
    if state.acting_card != NONE:
        out[at.acting + state.acting_card] = 1
    if state.effect_list != NONE:
        out[at.acting + state.effect_card] = 1
        if state.effect_couple != NONE:
            out[at.effect_couple + state.effect_couple] = 1
        out[at.left] = min(int64(state.effect_left), LIMIT)
    if state.limbo != NONE:
        out[at.subject + state.limbo] = 1
    if state.event == NONE:
        return
    out[at.event] = 1 + state.event
    out[at.event_source + (state.event_source - seat) % players] = 1
    if state.event_couple != NONE:
        out[at.event_couple + state.event_couple] = 1
    if state.event == phases.PREP_EVENT:
        out[at.subject + state.event_card] = 1
    for place in range(state.pending_size):
        step = (state.pending_by[place] - seat) % players
        reaction = CARDS.number[state.pending_card[place]]
        out[at.pending + CARDS.types_of_kind[REACTION] * step + reaction] += 1


@compiled
def _show_memory(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the knowledge of a player with a perfect memory."""
    at = CARDS.at
    players = int64(state.num_players)
    if state.stage == phases.DRAFT:
        for step in range(players):
            first = at.passed + CARDS.num_types * step
            pack = draft.pack_of(state, (seat + step) % players)
            draft.left_when_passed(state, seat, pack, out[first : first + CARDS.num_types])
        if not draft.has_picked(state, seat):
            _copy(state.packs[draft.pack_of(state, seat)], out, at.pack)
    _copy(state.taken[seat], out, at.taken)
    for step in range(1, players):
        other = (seat + step) % players
        _copy(state.known[seat, other], out, at.known + CARDS.num_types * (step - 1))


@compiled
def _show_turn(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the parts that only the seat to act sees."""
    at = CARDS.at
    players = int64(state.num_players)
    out[at.decision] = 1 + state.decision
    for place in range(state.look_size):
        out[at.look + state.look[place]] += 1
    if state.moving != NONE:
        out[at.subject + fields.preparation_at(state, int64(state.moving))] = 1
    if state.decision == decisions.SWAP_OWN:
        out[at.subject + fields.preparation_at(state, int64(state.targets[0]))] = 1
    if state.decision == decisions.HAND_DISCARD:
        out[at.discards_of + (state.effect_who - seat) % players] = 1
    out[at.can_move] = state.decision == decisions.WINDOW and not state.move_used


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the information hidden from a seat (`observation_spec.make_privileged_spec`)."""
    out.fill(0)
    me = int64(seat)
    players = int64(state.num_players)
    block = OTHERS * CARDS.num_types
    for step in range(1, players):
        other = (me + step) % players
        first = CARDS.num_types * (step - 1)
        _copy(state.hands[other], out, first)
        if state.stage == phases.SELECT and state.selected[other] != NONE:
            out[block + first + state.selected[other]] = 1
        _copy(state.piles[other], out, 2 * block + first)
        if state.stage == phases.DRAFT:
            _copy(state.packs[draft.pack_of(state, other)], out, 3 * block + first)
    for place in range(state.deck_size):
        card = state.deck[place]
        index = 4 * block + CARDS.first_copy[card]
        while out[index] != 0:
            index += 1
        out[index] = components.DECK - (int64(state.deck_size) - 1 - place)
