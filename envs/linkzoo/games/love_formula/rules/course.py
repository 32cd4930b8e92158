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
    """R1..R4: forms the deck, deals a Part-time Job to each seat, starts the first draft."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    clear(state)
    piles.fill_deck(state)
    for seat in range(state.num_players):
        state.hands[seat, CARDS.job] = 1
        state.hand_size[seat] = 1
    draft.start_draft(state, 1)
    _advance(state)


@compiled
def clear(state: Record) -> None:
    """Clears the state, but the header, the options and the deck."""
    state.turn = NONE
    state.decision = NONE
    state.step = phases.NO_STEP
    state.discard.fill(NONE)
    state.discard_size = 0
    state.reshuffles = 0
    state.random_discards = 0
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
    state.move_used = 0
    state.discard_closed = 0
    state.moving = NONE
    state.acting_card = NONE
    state.acting_by = NONE
    state.acting_step = NONE
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
    """Applies an action of the seat to act and advances to the next decision."""
    action = int64(action)
    decision = state.decision
    state.ply += 1
    state.decision = NONE
    if decision in decisions.IN_WINDOW:
        _act_in_window(state, decision, action)
    elif action < CARDS.first_position_action:
        _choose_card(state, decision, action)
    elif decision == decisions.REACT:
        reactions.pass_reaction(state)
    elif decision == decisions.PAY:
        if action == CARDS.yes_action:
            state.effect_left = effects.current_op(state).number  # cards to be discarded
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
    _advance(state)


@compiled
def apply_certain(state: Record, action: int) -> None:
    """Opens a choice in a window (R11); any other action can lead to reactions, draws or reveals.

    Such an action changes nothing here.
    """
    if state.decision == decisions.WINDOW and action != CARDS.pass_action:
        state.ply += 1
        _act_in_window(state, state.decision, int64(action))


@compiled
def _advance(state: Record) -> None:
    """Advances to the next decision or the end."""
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
    """Returns the position, couple, place of an obstacle, or seat that an action names."""
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
def _act_in_window(state: Record, decision: int, action: int) -> None:
    """R11: moves a preparation to another position of the field, or discards cards of it."""
    if decision == decisions.MOVE_DEST:
        card = fields.take(state, int64(state.moving))
        fields.lay(state, int64(state.seat), card, destination(action))
        state.moving = NONE
        state.move_used = 1
    elif decision == decisions.DISCARD_MENU:
        if action == CARDS.pass_action:
            state.discard_closed = 1  # until the window ends
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
