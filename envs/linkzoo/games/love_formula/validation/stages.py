"""Love Formula: checks of the stage, the draft and the order. Numbers refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import ops, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, OBSTACLE
from linkzoo.games.love_formula.components import MAX_PLAYERS, NONE, int64
from linkzoo.games.love_formula.rules import draft
from linkzoo.games.love_formula.tables import CARDS, op_of
from linkzoo.games.love_formula.validation.zones import is_list


@compiled
def validate_course(state: Record) -> str:
    """R3, R8: half, turn, stage, step and cursor."""
    stage = state.stage
    cursor = int64(state.cursor)
    if state.half > CARDS.halves or (stage == phases.DRAFT and not CARDS.drafted):
        return "half, stage: there is no such draft or play phase"
    first = CARDS.phase_turns * (int64(state.half) - 1)
    if stage == phases.DRAFT:
        if state.turn != first - 1:
            return "turn: not that of the draft"
    elif not first <= state.turn < first + CARDS.phase_turns:
        return "turn: not one of the half"
    if stage == phases.OVER and state.turn != CARDS.halves * CARDS.phase_turns - 1:
        return "stage: the game is not over"
    if stage == phases.RESOLVE:
        if state.step == phases.NO_STEP or cursor >= state.order_size:
            return "step, cursor: no card resolves"
    elif stage in (phases.START, phases.END):
        if state.step != phases.EFFECT or state.effect_list == NONE:
            return "step, effect_list: no obstacle takes effect"
        if state.effect_obstacle not in (NONE, cursor):
            return "cursor: not at the obstacle that takes effect"
        if cursor > state.obstacle_count:
            return "cursor: there are fewer obstacles"
    else:
        seats = 1 if stage == phases.OVER else int64(state.num_players)
        if state.step != phases.NO_STEP or cursor >= seats:
            return "step, cursor: not those of the stage"
    in_effect = state.effect_list != NONE or state.event != NONE
    if in_effect and stage in (phases.DRAFT, phases.SELECT, phases.OVER):
        return "effect: list, event: nothing takes effect in this stage"
    return ""


@compiled
def validate_draft(state: Record) -> str:
    """R5: packs, and the picks from them, which are on the piles."""
    drafting = state.stage == phases.DRAFT
    if not drafting and state.draft_round != 0:
        return "draft: draft_round: there is no draft"
    piles = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    for pack in range(MAX_PLAYERS):
        in_use = drafting and pack < state.num_players
        picked = int64(0)
        if in_use:
            picked = int64(state.draft_round)
            if draft.holder_of(state, pack, picked) < state.cursor:
                picked += 1
        if not is_list(state.picks[pack], picked, int64(CARDS.num_types)):
            return "draft: picks: another number than have been made"
        for number in range(picked):
            piles[draft.holder_of(state, pack, number), state.picks[pack, number]] += 1
        size = CARDS.picks - picked if in_use else 0
        if state.packs[pack].sum() != size:
            return "packs: another number of cards than of picks to come"
    if np.any(state.piles != piles):
        return "piles: not the picks of the seats"
    return ""


@compiled
def validate_order(state: Record) -> str:
    """T1, T2: the selected cards, and the order in which they resolve."""
    if (state.order_size > 0) != (state.stage in (phases.RESOLVE, phases.END)):
        return "order: order_size: contradicts the stage"
    waiting = np.zeros(MAX_PLAYERS, np.int64)  # for their cards to resolve
    ordered = np.zeros(MAX_PLAYERS, np.int64)
    for place in range(state.order_size):
        seat = int64(state.order[place])
        if ordered[seat]:
            return "order: a seat twice"
        ordered[seat] = 1
        waiting[seat] = state.stage == phases.RESOLVE and _is_unresolved(state, place)
    for seat in range(state.num_players):
        if state.stage == phases.SELECT:
            waiting[seat] = seat < state.cursor
        if (state.selected[seat] != NONE) != (waiting[seat] == 1):
            return "selected: a resolved card, or none where a card is to resolve"
        if (state.priorities[seat] != NONE) != (ordered[seat] == 1):
            return "priorities: not of the seats in the order"
    return ""


@compiled
def _is_unresolved(state: Record, place: int) -> bool:
    """T3: returns whether the card at a place in the order is still there."""
    if place != state.cursor:
        return bool(place > state.cursor)
    if state.step != phases.EFFECT:
        return bool(state.step == phases.PRE)
    if state.acting_step != phases.AT_EFFECT or state.effect_list == NONE:
        return True
    card = int64(state.acting_card)
    if CARDS.kind[card] == OBSTACLE:
        return False
    for index in range(min(state.effect_op, CARDS.op_count[card, ops.ON_RESOLVE])):
        if op_of(card, ops.ON_RESOLVE, index).kind == ops.SELF_TO_HAND:
            return False
    return True
