"""Love Formula: how the cards of a turn resolve. Numbers (R8..R14, R19, R22) refer to RULES.md."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.rules import effects, fields, piles, reactions, targets
from linkzoo.games.love_formula.state import ask
from linkzoo.games.love_formula.tables import CARDS


@compiled
def advance_resolve(state: Record) -> None:
    """T3: window, card, window for each seat in the order."""
    if state.cursor == state.order_size:
        state.stage = phases.END
        state.cursor = 0
        state.step = phases.NO_STEP
    elif state.step != phases.EFFECT:
        ask(state, decisions.WINDOW, state.order[state.cursor])
    elif state.acting_card == NONE:
        _begin_card(state)
    elif state.acting_step == phases.AT_REACT:
        _after_reactions(state)
    else:
        _end_card(state)


@compiled
def open_resolution(state: Record) -> None:
    """The next seat in the order has its window (R11)."""
    state.step = phases.PRE
    state.move_used = state.discard_closed = 0


@compiled
def close_window(state: Record) -> None:
    """R11: the card takes effect, or the next seat has its turn."""
    state.discard_closed = 0
    if state.step == phases.PRE:
        state.step = phases.EFFECT
    else:
        state.cursor += 1
        open_resolution(state)


@compiled
def _begin_card(state: Record) -> None:
    seat = int64(state.order[state.cursor])
    card = int64(state.selected[seat])
    state.acting_card = card
    state.acting_by = seat
    state.acting_step = phases.AT_EFFECT
    if CARDS.kind[card] == PREPARATION:
        if fields.can_place(state, seat, card):
            ask(state, decisions.PLACE, seat)
        else:
            _end_card(state)  # R12
    elif CARDS.kind[card] == COUPLE:
        state.owner[CARDS.number[card]] = seat  # R9
        state.selected[seat] = NONE
        _end_card(state)
    elif CARDS.target[card] == ops.NO_TARGET:
        _open_event(state)
    elif targets.has_target(state, seat, card):
        state.acting_step = phases.AT_TARGET
        ask(state, targets.first_decision(card), seat)
    else:
        _end_card(state)  # R13, R14


@compiled
def place(state: Record, couple: int) -> int:
    """R12: lays down a preparation that was taken, or the card itself; NONE: in the free slot."""
    seat, card = int64(state.acting_by), int64(state.limbo)
    if card == NONE:
        card = int64(state.acting_card)
        state.selected[seat] = NONE
    state.limbo = NONE
    fields.lay(state, seat, card, couple)
    return card


@compiled
def choose_target(state: Record, target: int) -> None:
    """R13, R14: a target of the card that resolves; when all are chosen, others may react."""
    card, seat = int64(state.acting_card), int64(state.acting_by)
    if state.targets[0] == NONE:
        state.targets[0] = target
        if CARDS.target[card] == ops.SWAP_PAIR:
            ask(state, decisions.SWAP_OWN, seat)
            return
    else:
        state.targets[1] = target
    _open_event(state)


@compiled
def _open_event(state: Record) -> None:
    """R19: E1 of an obstacle, E2 of an action."""
    card, seat = int64(state.acting_card), int64(state.acting_by)
    state.acting_step = phases.AT_REACT
    if CARDS.kind[card] == OBSTACLE:
        couple = int64(state.targets[0])
        owner = int64(state.owner[couple])
        reactions.open_event(state, phases.OBSTACLE_EVENT, seat, card, couple, owner)
    else:
        reactions.open_event(state, phases.ACTION_EVENT, seat, card)


@compiled
def _after_reactions(state: Record) -> None:
    """R22: the card was cancelled, is aimed at another couple, or takes effect."""
    cancelled, redirected = state.event_cancelled, state.event_redirected
    reactions.close_event(state)
    card, seat = int64(state.acting_card), int64(state.acting_by)
    if cancelled:
        _end_card(state)
    elif redirected:
        _open_event(state)
    else:
        state.acting_step = phases.AT_EFFECT
        couple, at = int64(NONE), int64(NONE)
        if CARDS.kind[card] == OBSTACLE:  # R13: its player controls it
            couple, at = int64(state.targets[0]), int64(state.obstacle_count)
            state.obstacle_type[at] = card
            state.obstacle_couple[at] = couple
            state.obstacle_by[at] = seat
            state.turns_left[at] = max(CARDS.turns[card], 0)
            state.obstacle_count += 1
            state.selected[seat] = NONE
            if CARDS.reveal_hand[card]:  # the hand that lies open is known from now on
                piles.learn_openly(state, int64(state.owner[couple]))
        effects.start_effect(state, ops.ON_RESOLVE, card, seat, couple, at)


@compiled
def _end_card(state: Record) -> None:
    """R14: the card is discarded if it still lies there, a Part-time Job returns to the hand."""
    card, seat = int64(state.acting_card), int64(state.acting_by)
    obstacle = int64(state.effect_obstacle)
    effects.clear_effect(state)
    if state.selected[seat] != NONE:
        state.selected[seat] = NONE
        if card == CARDS.job:
            piles.gain(state, seat, card, True)
        else:
            piles.to_discard(state, card)
    elif CARDS.kind[card] == OBSTACLE and CARDS.turns[card] < 0 and obstacle != NONE:
        fields.discard_obstacle(state, obstacle)
    state.acting_card = state.acting_by = state.acting_step = NONE
    state.targets.fill(NONE)
    state.step = phases.POST
