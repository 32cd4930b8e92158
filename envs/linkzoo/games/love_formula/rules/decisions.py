"""Love Formula: the contract of the game over its record. Numbers (R1..R27) refer to RULES.md.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.options import WINDOWS
from linkzoo.games.love_formula.pieces import (
    ASK_CHOICE,
    ASK_DISCARD_MENU,
    ASK_DRAFT,
    ASK_HAND_DISCARD,
    ASK_LOOK_KEEP,
    ASK_MOVE_DEST,
    ASK_PAY,
    ASK_PLACE,
    ASK_REACT,
    ASK_RECOVER,
    ASK_SELECT,
    ASK_SWAP_OWN,
    ASK_TARGET_COUPLE,
    ASK_TARGET_OBSTACLE,
    ASK_TARGET_PLAYER,
    ASK_TARGET_PREP,
    ASK_WINDOW,
    CHOOSE_DISCARD,
    COUPLES,
    DRAFT,
    FREE_SLOT,
    NEEDS,
    NO_STEP,
    NONE,
    OVER,
    POSITIONS,
    PREP_EVENT,
    RESOLVE,
    SELECT,
    SLOTS,
    START,
)
from linkzoo.games.love_formula.rules.draft import advance_draft, pick, start_draft
from linkzoo.games.love_formula.rules.effects import (
    advance_effect,
    choose_discard,
    choose_preparation,
    clear_effect,
    current_op,
    end_op,
    keep,
    pay,
)
from linkzoo.games.love_formula.rules.reactions import (
    advance_reactions,
    can_play,
    close_event,
    is_redirection,
    pass_reaction,
    play_reaction,
    redirect,
)
from linkzoo.games.love_formula.rules.table import (
    ask,
    discard_couple,
    fill_deck,
    free_slot,
    lose,
    next_preparation,
    obstacle_action,
    pack_of,
    place_at,
    preparation_at,
    put,
    returns_from_discard,
    slot_is_empty,
    take,
    takes,
    to_discard,
)
from linkzoo.games.love_formula.rules.turns import (
    advance_end,
    advance_resolve,
    advance_select,
    advance_start,
    choose_target,
    close_window,
    is_couple_target,
    next_preparation_target,
    next_swap,
    place_at_couple,
    place_in_slot,
    start_turn,
)

# What `bind` gives the cards for.
NUM_TYPES: int
JOB: int
KIND: Any
TARGET_KIND: Any
AT_POS: int
AT_COUPLE: int
AT_FREE: int
AT_OBSTACLE: int
AT_PLAYER: int
AT_PASS: int
AT_YES: int
AT_OPEN_DISCARD: int

_NOBODY = np.uint32(0)


# The course of a game


def new_game(state: Any, seed: Any) -> None:
    """R1..R4: the deck, a Part-time Job for each seat, and the first draft."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    clear(state)
    fill_deck(state)
    for seat in range(state.num_players):
        state.hands[seat, JOB] = 1
        state.hand_size[seat] = 1
    start_draft(state, 1)
    _run_on(state)


def clear(state: Any) -> None:
    """Nothing lies anywhere."""
    state.turn = NONE
    state.step = NO_STEP
    state.decision = NONE
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
    _clear_fields(state)
    state.acting_card = NONE
    state.acting_by = NONE
    state.acting_step = NONE
    state.targets.fill(NONE)
    state.look.fill(NONE)
    state.look_size = 0
    state.limbo = NONE
    clear_effect(state)
    close_event(state)
    state.taken.fill(0)
    state.known.fill(0)
    state.hand_sizes_at_end.fill(NONE)


def _clear_fields(state: Any) -> None:
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


def apply(state: Any, action: Any) -> None:
    """Takes a decision, and goes on to the next one."""
    decision = state.decision
    state.ply += 1
    state.decision = NONE
    _take_decision(state, decision, np.int64(action))
    _run_on(state)


def _run_on(state: Any) -> None:
    """Does what leaves nothing to decide, up to a decision or the end."""
    while state.decision == NONE and state.stage != OVER:
        if state.event == PREP_EVENT:
            if advance_reactions(state):
                close_event(state)
        elif state.event != NONE:
            if advance_reactions(state):
                _advance_stage(state)
        elif state.effect_list == NONE or advance_effect(state):
            _advance_stage(state)


def _advance_stage(state: Any) -> None:
    if state.stage == RESOLVE:
        advance_resolve(state)
    elif state.stage == DRAFT:
        advance_draft(state)
        if state.stage == START:
            start_turn(state)
    elif state.stage == START:
        advance_start(state)
    elif state.stage == SELECT:
        advance_select(state)
    else:
        advance_end(state)


# Decisions


def _take_decision(state: Any, decision: Any, action: Any) -> None:
    """Plays a legal action."""
    if decision == ASK_WINDOW:
        _in_window(state, action)
    elif decision == ASK_MOVE_DEST:
        _move(state, action)
    elif decision == ASK_DISCARD_MENU:
        _in_discard_menu(state, action)
    elif action < AT_POS:
        _choose_card(state, decision, action)
    elif decision == ASK_REACT:
        pass_reaction(state)
    elif decision == ASK_PAY:
        if action == AT_YES:
            pay(state)
        else:
            end_op(state)
    elif decision == ASK_PLACE:
        if action == AT_FREE:
            place_in_slot(state)
        else:
            place_at_couple(state, action - AT_COUPLE)
    elif decision == ASK_CHOICE:
        choose_preparation(state, action - AT_POS)
    elif decision == ASK_TARGET_COUPLE and state.event != NONE:
        redirect(state, action - AT_COUPLE)
    else:
        choose_target(state, _target_of(state, action))


def _choose_card(state: Any, decision: Any, card: Any) -> None:
    if decision == ASK_DRAFT:
        pick(state, card)
    elif decision == ASK_SELECT:
        lose(state, state.cursor, card)
        state.selected[state.cursor] = card
        state.cursor += 1
    elif decision == ASK_REACT:
        play_reaction(state, card)
    elif decision == ASK_LOOK_KEEP:
        keep(state, card)
    elif decision == ASK_RECOVER:
        choose_target(state, card)
    else:
        choose_discard(state, card)


def _target_of(state: Any, action: Any) -> Any:
    """The position, couple, place of an obstacle, or seat that an action names."""
    if action >= AT_PLAYER:
        return _seat_at(state, action - AT_PLAYER)
    if action >= AT_OBSTACLE:
        place = 0
        while obstacle_action(state, place) != action - AT_OBSTACLE:
            place += 1
        return place
    if action >= AT_COUPLE:
        return action - AT_COUPLE
    position = action - AT_POS
    if position < FREE_SLOT:
        return position
    slot = position - FREE_SLOT
    return FREE_SLOT + SLOTS * _seat_at(state, slot // SLOTS) + slot % SLOTS


def _seat_at(state: Any, step: Any) -> Any:
    """The seat so many seats after the one to act."""
    return (np.int64(state.seat) + step) % np.int64(state.num_players)


def _in_window(state: Any, action: Any) -> None:
    """R11."""
    if action == AT_PASS:
        close_window(state)
    elif action == AT_OPEN_DISCARD:
        ask(state, ASK_DISCARD_MENU, state.seat)
    else:
        state.moving = _target_of(state, action)
        ask(state, ASK_MOVE_DEST, state.seat)


def _move(state: Any, action: Any) -> None:
    """R11: a preparation to another place of the field."""
    card = take(state, np.int64(state.moving))
    if action == AT_FREE:
        put(state, free_slot(state.seat, card), card)
    else:
        couple = action - AT_COUPLE
        put(state, place_at(couple, card), card)
    state.moving = NONE
    state.move_used = 1


def _in_discard_menu(state: Any, action: Any) -> None:
    """R11: one card of the own field goes, or none; then no more are offered in this window."""
    if action == AT_PASS:
        state.discard_closed = 1
    elif action >= AT_COUPLE:
        discard_couple(state, action - AT_COUPLE)
    else:
        to_discard(state, take(state, _target_of(state, action)))


# Legal actions


def legal_actions(state: Any, mask: Any) -> None:
    """Fills int8 `mask[NUM_ACTIONS]` with what the decision allows."""
    mask.fill(0)
    decision, seat = state.decision, np.int64(state.seat)
    if decision == ASK_WINDOW:
        _mark_window(state, seat, mask)
    elif decision == ASK_DRAFT:
        _mark_held(state.packs[pack_of(state, seat)], mask)
    elif decision == ASK_SELECT:
        _mark_selectable(state, seat, mask)
    elif decision == ASK_PLACE:
        held = state.acting_card if state.limbo == NONE else state.limbo
        _mark_destinations(state, seat, np.int64(held), mask)
    elif decision == ASK_MOVE_DEST:
        card = preparation_at(state, np.int64(state.moving))
        _mark_destinations(state, seat, card, mask)
    elif decision == ASK_DISCARD_MENU:
        _mark_field(state, seat, mask)
    elif decision == ASK_REACT:
        _mark_reactions(state, seat, mask)
    elif decision == ASK_HAND_DISCARD:
        _mark_held(state.hands[state.effect_who], mask)
        mask[JOB] = 0  # R24
    elif decision == ASK_LOOK_KEEP:
        for place in range(state.look_size):
            mask[state.look[place]] = 1
    elif decision == ASK_CHOICE:
        _mark_choices(state, seat, mask)
    elif decision == ASK_PAY:
        mask[AT_YES] = 1
        mask[AT_PASS] = 1
    elif decision != NONE:
        _mark_targets(state, decision, seat, mask)


def _mark_held(counts: Any, mask: Any) -> None:
    for card in range(NUM_TYPES):
        if counts[card] > 0:
            mask[card] = 1


def _mark_selectable(state: Any, seat: Any, mask: Any) -> None:
    """T1: no reactions."""
    for card in range(NUM_TYPES):
        if state.hands[seat, card] > 0 and KIND[card] != REACTION:
            mask[card] = 1


def _mark_reactions(state: Any, seat: Any, mask: Any) -> None:
    """R20: those that can be played, or none."""
    mask[AT_PASS] = 1
    for card in range(NUM_TYPES):
        if can_play(state, seat, card):
            mask[card] = 1


def _mark_window(state: Any, seat: Any, mask: Any) -> None:
    """R11: no action, a move if there was none, and discards."""
    mask[AT_PASS] = 1
    position = next_preparation(state, seat, 0)
    if not state.discard_closed and state.voluntary_discards == WINDOWS:
        mask[AT_OPEN_DISCARD] = position < POSITIONS or _has_couple(state, seat)
    while position < POSITIONS and not state.move_used:
        if _can_move(state, seat, position):
            mask[_action_of(state, seat, position)] = 1
        position = next_preparation(state, seat, position + 1)


def _has_couple(state: Any, seat: Any) -> Any:
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            return True
    return False


def _can_move(state: Any, seat: Any, position: Any) -> Any:
    """R10, R11: whether a preparation has another place to go."""
    card = preparation_at(state, position)
    if position < FREE_SLOT and slot_is_empty(state, seat, card):
        return True
    for couple in range(COUPLES):
        if state.owner[couple] == seat and takes(state, couple, card):
            return True
    return False


def _mark_destinations(state: Any, seat: Any, card: Any, mask: Any) -> None:
    """R10; a preparation is never allowed to where it is."""
    mask[AT_FREE] = slot_is_empty(state, seat, card)
    for couple in range(COUPLES):
        if state.owner[couple] == seat and takes(state, couple, card):
            mask[AT_COUPLE + couple] = 1


def _mark_field(state: Any, seat: Any, mask: Any) -> None:
    """All that lies in a field, but obstacles; and none of it."""
    mask[AT_PASS] = 1
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            mask[AT_COUPLE + couple] = 1
    position = next_preparation(state, seat, 0)
    while position < POSITIONS:
        mask[_action_of(state, seat, position)] = 1
        position = next_preparation(state, seat, position + 1)


def _mark_choices(state: Any, seat: Any, mask: Any) -> None:
    """A preparation attached to the couple, or a card of the hand where the op says so."""
    couple = np.int64(state.effect_couple)
    for place in range(NEEDS):
        if (state.attached[couple] >> place) & 1:
            mask[AT_POS + NEEDS * couple + place] = 1
    if current_op(state)[0] == CHOOSE_DISCARD:
        _mark_held(state.hands[seat], mask)
        mask[JOB] = 0  # R24


def _mark_targets(state: Any, decision: Any, seat: Any, mask: Any) -> None:
    """R13, R14."""
    card = np.int64(state.acting_card)
    if decision == ASK_TARGET_COUPLE:
        for couple in range(COUPLES):
            if state.event != NONE:
                allowed = is_redirection(state, seat, couple)
            else:
                allowed = is_couple_target(state, seat, card, couple)
            mask[AT_COUPLE + couple] = allowed
    elif decision == ASK_TARGET_PREP:
        for other in range(state.num_players):
            _mark_preparations(state, seat, TARGET_KIND[card], other, mask)
    elif decision == ASK_SWAP_OWN:
        theirs = preparation_at(state, np.int64(state.targets[0]))
        position = next_swap(state, seat, theirs, 0)
        while position < POSITIONS:
            mask[_action_of(state, seat, position)] = 1
            position = next_swap(state, seat, theirs, position + 1)
    elif decision == ASK_TARGET_OBSTACLE:
        for place in range(state.obstacle_count):
            if state.owner[state.obstacle_couple[place]] == seat:
                mask[AT_OBSTACLE + obstacle_action(state, place)] = 1
    elif decision == ASK_TARGET_PLAYER:
        for step in range(1, state.num_players):
            mask[AT_PLAYER + step] = 1
    elif decision == ASK_RECOVER:
        for place in range(state.discard_size):
            if returns_from_discard(state.discard[place]):
                mask[state.discard[place]] = 1


def _mark_preparations(state: Any, seat: Any, kind: Any, other: Any, mask: Any) -> None:
    position = next_preparation_target(state, seat, kind, other, 0)
    while position < POSITIONS:
        mask[_action_of(state, seat, position)] = 1
        position = next_preparation_target(state, seat, kind, other, position + 1)


def _action_of(state: Any, seat: Any, position: Any) -> Any:
    """The action that names a position; free slots by how far their seat is from the one to act."""
    if position < FREE_SLOT:
        return AT_POS + position
    owner, slot = (position - FREE_SLOT) // SLOTS, (position - FREE_SLOT) % SLOTS
    step = (owner - seat) % np.int64(state.num_players)
    return AT_POS + FREE_SLOT + SLOTS * step + slot


# Results
