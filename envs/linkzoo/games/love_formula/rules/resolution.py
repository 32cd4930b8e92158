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
    """R11: opens the window before the card of the next seat in the order."""
    state.step = phases.PRE
    state.move_used = 0
    state.discard_closed = 0


@compiled
def close_window(state: Record) -> None:
    """R11: goes on to the card's effect or, after it, to the next seat."""
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
    """R12: places a taken preparation, or the card itself; NONE: in the free slot.

    Returns:
        The card.
    """
    seat = int64(state.acting_by)
    card = int64(state.limbo)
    if card == NONE:
        card = int64(state.acting_card)
        state.selected[seat] = NONE
    state.limbo = NONE
    fields.lay(state, seat, card, couple)
    return card


@compiled
def choose_target(state: Record, target: int) -> None:
    """R13, R14: adds a target of the card that resolves; after the last, others may react."""
    card = int64(state.acting_card)
    if state.targets[0] == NONE:
        state.targets[0] = target
        if CARDS.target[card] == ops.SWAP_PAIR:
            ask(state, decisions.SWAP_OWN, state.acting_by)
            return
    else:
        state.targets[1] = target
    _open_event(state)


@compiled
def _open_event(state: Record) -> None:
    """R19: E1 of an obstacle, E2 of an action."""
    card = int64(state.acting_card)
    seat = int64(state.acting_by)
    state.acting_step = phases.AT_REACT
    if CARDS.kind[card] == OBSTACLE:
        couple = int64(state.targets[0])
        owner = int64(state.owner[couple])
        reactions.open_event(state, phases.OBSTACLE_EVENT, seat, card, couple, owner)
    else:
        reactions.open_event(state, phases.ACTION_EVENT, seat, card)


@compiled
def _after_reactions(state: Record) -> None:
    """R22: ends a cancelled card, polls again after a redirection, else starts the effect."""
    cancelled = state.event_cancelled
    redirected = state.event_redirected
    reactions.close_event(state)
    if cancelled:
        _end_card(state)
    elif redirected:
        _open_event(state)
    else:
        state.acting_step = phases.AT_EFFECT
        _start_card_effect(state)


@compiled
def _start_card_effect(state: Record) -> None:
    """R13: attaches an obstacle, which its player controls; starts the effect of the card."""
    card = int64(state.acting_card)
    seat = int64(state.acting_by)
    couple = int64(NONE)
    obstacle = int64(NONE)
    if CARDS.kind[card] == OBSTACLE:
        couple = int64(state.targets[0])
        obstacle = int64(state.obstacle_count)
        state.obstacle_type[obstacle] = card
        state.obstacle_couple[obstacle] = couple
        state.obstacle_by[obstacle] = seat
        state.turns_left[obstacle] = max(CARDS.turns[card], 0)
        state.obstacle_count += 1
        state.selected[seat] = NONE
        if CARDS.reveal_hand[card]:
            piles.learn_openly(state, int64(state.owner[couple]))
    effects.start_effect(state, ops.ON_RESOLVE, card, seat, couple, obstacle)


@compiled
def _end_card(state: Record) -> None:
    """R14: discards a card that wasn't laid down; a Part-time Job returns to the hand."""
    card = int64(state.acting_card)
    seat = int64(state.acting_by)
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
    state.acting_card = NONE
    state.acting_by = NONE
    state.acting_step = NONE
    state.targets.fill(NONE)
    state.step = phases.POST
