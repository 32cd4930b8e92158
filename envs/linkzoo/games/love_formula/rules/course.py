"""Love Formula: the course of a game. Numbers (R1..R11) refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.rules import (
    draft,
    effects,
    fields,
    piles,
    reactions,
    resolution,
    turns,
)
from linkzoo.games.love_formula.state import ask, left_of
from linkzoo.games.love_formula.tables import CARDS


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """R1..R4: the deck, a Part-time Job for each seat, and the first draft."""
    state.seed = seed
    state.winners = state.ply = 0
    clear(state)
    piles.fill_deck(state)
    for seat in range(state.num_players):
        state.hands[seat, CARDS.job] = 1
        state.hand_size[seat] = 1
    draft.start_draft(state, 1)
    _run_on(state)


@compiled
def clear(state: Record) -> None:
    """Nothing lies anywhere."""
    state.turn = state.decision = NONE
    state.step = phases.NO_STEP
    state.discard.fill(NONE)
    state.discard_size = state.reshuffles = state.random_discards = 0
    state.hands.fill(0)
    state.hand_size.fill(0)
    state.piles.fill(0)
    state.packs.fill(0)
    state.picks.fill(NONE)
    state.selected.fill(NONE)
    state.priorities.fill(NONE)
    state.order.fill(NONE)
    state.order_size = 0
    state.owner.fill(NONE)
    state.attached.fill(0)
    state.free.fill(NONE)
    state.shield.fill(NONE)
    state.obstacle_type.fill(NONE)
    state.obstacle_couple.fill(NONE)
    state.obstacle_by.fill(NONE)
    state.turns_left.fill(0)
    state.obstacle_count = 0
    state.move_used = state.discard_closed = 0
    state.moving = NONE
    state.acting_card = state.acting_by = state.acting_step = NONE
    state.targets.fill(NONE)
    state.look.fill(NONE)
    state.look_size = 0
    state.limbo = NONE
    effects.clear_effect(state)
    reactions.close_event(state)
    state.taken.fill(0)
    state.known.fill(0)
    state.hand_sizes_at_end.fill(NONE)


@compiled
def apply(state: Record, action: int) -> None:
    """Takes a decision, and goes on to the next one."""
    decision, action = state.decision, int64(action)
    state.ply += 1
    state.decision = NONE
    if decision in (decisions.WINDOW, decisions.MOVE_DEST, decisions.DISCARD_MENU):
        _in_window(state, decision, action)
    elif action < CARDS.first_position_action:
        _choose_card(state, decision, action)
    elif decision == decisions.REACT:
        reactions.pass_reaction(state)
    elif decision == decisions.PAY:
        if action == CARDS.yes_action:
            state.effect_left = effects.current_op(
                state
            ).number  # so many cards are to be discarded
        else:
            effects.end_op(state)
    elif decision == decisions.PLACE:
        resolution.place(state, destination(action))
    elif decision == decisions.CHOICE:
        effects.choose_preparation(state, action - CARDS.first_position_action)
    elif decision == decisions.TARGET_COUPLE and state.event != NONE:
        reactions.redirect(state, action - CARDS.first_couple_action)
    else:
        resolution.choose_target(state, _target_of(state, action))
    _run_on(state)


@compiled
def _run_on(state: Record) -> None:
    """Does what leaves nothing to decide, up to a decision or the end."""
    while state.decision == NONE and state.stage != phases.OVER:
        if state.event == phases.PREP_EVENT:
            if reactions.advance_reactions(state):
                reactions.close_event(state)
        elif state.event != NONE:
            if reactions.advance_reactions(state):
                _advance_stage(state)
        elif state.effect_list == NONE or effects.advance_effect(state):
            _advance_stage(state)


@compiled
def _advance_stage(state: Record) -> None:
    if state.stage == phases.RESOLVE:
        resolution.advance_resolve(state)
    elif state.stage == phases.DRAFT:
        draft.advance_draft(state)
        if state.stage == phases.START:
            turns.start_turn(state)
    elif state.stage == phases.START:
        turns.advance_start(state)
    elif state.stage == phases.SELECT:
        turns.advance_select(state)
    else:
        turns.advance_end(state)


# Decisions


@compiled
def _choose_card(state: Record, decision: int, card: int) -> None:
    if decision == decisions.DRAFT:
        draft.pick(state, card)
    elif decision == decisions.SELECT:
        piles.lose(state, state.cursor, card)
        state.selected[state.cursor] = card
        state.cursor += 1
    elif decision == decisions.REACT:
        reactions.play_reaction(state, card)
    elif decision == decisions.LOOK_KEEP:
        effects.keep(state, card)
    elif decision == decisions.RECOVER:
        resolution.choose_target(state, card)
    else:
        effects.choose_discard(state, card)


@compiled
def _target_of(state: Record, action: int) -> int:
    """The position, couple, place of an obstacle, or seat that an action names."""
    if action >= CARDS.first_player_action:
        return left_of(state, state.seat, action - CARDS.first_player_action)
    if action >= CARDS.first_obstacle_action:
        return fields.obstacle_of(state, action - CARDS.first_obstacle_action)
    if action >= CARDS.first_couple_action:
        return int64(action - CARDS.first_couple_action)
    return fields.position_of(state, int64(state.seat), action)


@compiled
def destination(action: int) -> int:
    """Returns the couple that an action names as a destination; NONE for the free slot."""
    if action == CARDS.free_slot_action:
        return int64(NONE)
    return int64(action - CARDS.first_couple_action)


@compiled
def _in_window(state: Record, decision: int, action: int) -> None:
    """R11: a preparation moves to another place of the field, or cards of it are discarded."""
    if decision == decisions.MOVE_DEST:
        card = fields.take(state, int64(state.moving))
        fields.lay(state, int64(state.seat), card, destination(action))
        state.moving = NONE
        state.move_used = 1
    elif decision == decisions.DISCARD_MENU:
        if action == CARDS.pass_action:
            state.discard_closed = 1  # no more are offered in this window
        elif action >= CARDS.first_couple_action:
            fields.discard_couple(state, action - CARDS.first_couple_action)
        else:
            piles.to_discard(state, fields.take(state, _target_of(state, action)))
    elif action == CARDS.pass_action:
        resolution.close_window(state)
    elif action == CARDS.open_discard_action:
        ask(state, decisions.DISCARD_MENU, state.seat)
    else:
        state.moving = _target_of(state, action)
        ask(state, decisions.MOVE_DEST, state.seat)
