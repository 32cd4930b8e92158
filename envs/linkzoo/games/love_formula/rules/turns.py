"""Love Formula: the turns of a play phase. Numbers (R7, R8, R17) refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import shuffle
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.components import MAX_PLAYERS, NONE, int64
from linkzoo.games.love_formula.rules import draft, effects, fields, piles, resolution, scoring
from linkzoo.games.love_formula.state import TIES_STREAM, ask, obstacle_sum
from linkzoo.games.love_formula.tables import CARDS

# T0 and T4


@compiled
def start_turn(state: Record) -> None:
    """R8: starts the next turn with T0."""
    state.stage = phases.START
    state.turn += 1
    state.random_discards = 0
    state.cursor = 0


@compiled
def advance_start(state: Record) -> None:
    """T0: starts the turn-start effect of the next obstacle; after the last, seats select."""
    place = int64(state.cursor)
    if state.step == phases.EFFECT:
        _end_turn_start(state)
    elif place == state.obstacle_count:
        state.stage = phases.SELECT
        state.cursor = 0
    else:
        _start_obstacle_effect(state, ops.ON_TURN_START, place)


@compiled
def _start_obstacle_effect(state: Record, op_list: int, place: int) -> None:
    state.step = phases.EFFECT
    card = int64(state.obstacle_type[place])
    seat = int64(state.obstacle_by[place])
    couple = int64(state.obstacle_couple[place])
    effects.start_effect(state, op_list, card, seat, couple, place)


@compiled
def _end_turn_start(state: Record) -> None:
    """T0: counts a timed obstacle down; at 0 it is discarded unless something of it lasts."""
    place = int64(state.effect_obstacle)
    card = state.effect_card
    state.step = phases.NO_STEP
    effects.clear_effect(state)
    if place == NONE:
        return
    if CARDS.turns[card] > 0:
        state.turns_left[place] -= 1
        has_effect = CARDS.op_count[card, ops.ON_TURN_START] > 0
        if state.turns_left[place] == 0 and has_effect and not CARDS.has_static[card]:
            fields.discard_obstacle(state, place)
            return
    state.cursor += 1


@compiled
def advance_end(state: Record) -> None:
    """T4: starts the last effect of the next expiring obstacle; after the last, ends the turn."""
    place = int64(state.cursor)
    if state.step == phases.EFFECT:
        expired = int64(state.effect_obstacle)
        state.step = phases.NO_STEP
        effects.clear_effect(state)
        if expired != NONE:
            fields.discard_obstacle(state, expired)
    elif place == state.obstacle_count:
        state.selected.fill(NONE)
        state.priorities.fill(NONE)
        state.order.fill(NONE)
        state.order_size = 0
        if (state.turn + 1) % CARDS.phase_turns:
            start_turn(state)
        else:
            _end_half(state)
    elif CARDS.turns[state.obstacle_type[place]] > 0 and state.turns_left[place] == 0:
        _start_obstacle_effect(state, ops.ON_EXPIRE, place)
    else:
        state.cursor += 1


@compiled
def _end_half(state: Record) -> None:
    """R17: discards the hands but Part-time Jobs; then the second draft, or the end."""
    state.cursor = 0
    if state.half == CARDS.halves:
        for seat in range(state.num_players):
            state.hand_sizes_at_end[seat] = state.hand_size[seat]
    for seat in range(state.num_players):
        for card in range(CARDS.num_types):
            while card != CARDS.job and state.hands[seat, card] > 0:
                state.hands[seat, card] -= 1
                piles.to_discard(state, card)
        state.hand_size[seat] = state.hands[seat, CARDS.job]
    state.known.fill(0)
    state.taken.fill(0)
    if state.half < CARDS.halves:
        draft.start_draft(state, 2)
    else:
        state.stage = phases.OVER
        scoring.set_winners(state)


# T1 and T2


@compiled
def advance_select(state: Record) -> None:
    """T1: asks the next seat that has a card to select; after the last, reveals the cards."""
    while state.cursor < state.num_players:
        for card in range(CARDS.num_types):
            if CARDS.kind[card] != REACTION and state.hands[state.cursor, card] > 0:
                ask(state, decisions.SELECT, state.cursor)
                return
        state.cursor += 1
    _reveal(state)
    state.stage = phases.RESOLVE
    state.cursor = 0
    resolution.open_resolution(state)


@compiled
def _reveal(state: Record) -> None:
    """T2: sets the priorities and the order; chance breaks ties."""
    players = int64(state.num_players)
    seats = local(MAX_PLAYERS, np.int64)
    for seat in range(MAX_PLAYERS):
        seats[seat] = seat
    shuffle(seats, players, state.seed, TIES_STREAM, state.turn)
    for seat in range(players):
        card = int64(state.selected[seat])
        if card != NONE:
            piles.show(state, seat, card)
            change = obstacle_sum(state, seat, CARDS.priority_mod)
            state.priorities[seat] = max(0, CARDS.priority[card] + change)
    highest = int64(NONE)
    for seat in range(players):
        highest = max(highest, int64(state.priorities[seat]))
    for priority in range(highest, -1, -1):
        for index in range(players):
            if state.priorities[seats[index]] == priority:
                state.order[state.order_size] = seats[index]
                state.order_size += 1
