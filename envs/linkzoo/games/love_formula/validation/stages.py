"""Love Formula: checks of the stage, the draft and the order. Numbers refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import ops, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, OBSTACLE
from linkzoo.games.love_formula.components import MAX_PLAYERS, NONE, PICKS, TURNS, int64
from linkzoo.games.love_formula.rules import draft
from linkzoo.games.love_formula.tables import CARDS, op_of
from linkzoo.games.love_formula.validation.zones import holds


@compiled
def validate_course(state: Record) -> str:
    """Half, turn, stage, step and cursor."""
    stage, cursor = state.stage, int64(state.cursor)
    first = TURNS * (int64(state.half) - 1)
    if stage == phases.DRAFT:
        if state.turn != first - 1:
            return "turn: not that of the draft"
    elif not first <= state.turn < first + TURNS:
        return "turn: not one of the half"
    if stage == phases.OVER and state.turn != 2 * TURNS - 1:
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
    elif state.step != phases.NO_STEP or cursor >= (
        1 if stage == phases.OVER else state.num_players
    ):
        return "step, cursor: not those of the stage"
    if stage in (phases.DRAFT, phases.SELECT, phases.OVER) and (
        state.effect_list != NONE or state.event != NONE
    ):
        return "effect: list, event: nothing takes effect in this stage"
    return ""


@compiled
def validate_draft(state: Record) -> str:
    """R5: packs, and the picks from them, which the piles hold."""
    drafting, players = state.stage == phases.DRAFT, int64(state.num_players)
    if not drafting and state.draft_round != 0:
        return "draft: draft_round: there is no draft"
    piles = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    for pack in range(MAX_PLAYERS):
        made = int64(0)
        if drafting and pack < players:
            made = int64(state.draft_round)
            if draft.holder_of(state, pack, made) < state.cursor:
                made += 1
        if not holds(state.picks[pack], made, int64(CARDS.num_types)):
            return "draft: picks: not as many as have been made"
        for number in range(made):
            piles[draft.holder_of(state, pack, number), state.picks[pack, number]] += 1
        if state.packs[pack].sum() != (PICKS - made if drafting and pack < players else 0):
            return "packs: not as many cards as there are picks to come"
    if np.any(state.piles != piles):
        return "piles: not what the seats have picked"
    return ""


@compiled
def validate_order(state: Record) -> str:
    """T1, T2: who has selected, and in which order the cards resolve."""
    if (state.order_size > 0) != (state.stage in (phases.RESOLVE, phases.END)):
        return "order: order_size: not what the stage says"
    waiting = np.zeros(MAX_PLAYERS, np.int64)  # for their cards to resolve
    ordered = np.zeros(MAX_PLAYERS, np.int64)
    for place in range(state.order_size):
        seat = int64(state.order[place])
        if ordered[seat]:
            return "order: a seat twice"
        ordered[seat] = 1
        waiting[seat] = state.stage == phases.RESOLVE and _is_unresolved(state, place)
    for each in range(state.num_players):
        if state.stage == phases.SELECT:
            waiting[each] = each < state.cursor
        if (state.selected[each] != NONE) != (waiting[each] == 1):
            return "selected: set where the card has its turn behind it, or not where it has not"
        if (state.priorities[each] != NONE) != (ordered[each] == 1):
            return "priorities: not of the seats in the order"
    return ""


@compiled
def _is_unresolved(state: Record, place: int) -> bool:
    """T3: whether the card of a place in the order lies there still."""
    if place != state.cursor:
        return bool(place > state.cursor)
    if state.step != phases.EFFECT:
        return bool(state.step == phases.PRE)
    if state.acting_step != phases.AT_EFFECT or state.effect_list == NONE:
        return True
    if CARDS.kind[state.acting_card] == OBSTACLE:
        return False
    for index in range(min(state.effect_op, CARDS.op_count[state.acting_card, ops.ON_RESOLVE])):
        if op_of(int64(state.acting_card), ops.ON_RESOLVE, index).kind == ops.SELF_TO_HAND:
            return False
    return True
