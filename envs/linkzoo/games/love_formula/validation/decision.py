"""Love Formula: checks of the seats' knowledge, and of the decision. Numbers refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, PREPARATION
from linkzoo.games.love_formula.components import MAX_PLAYERS, NONE, int64
from linkzoo.games.love_formula.ops import Op
from linkzoo.games.love_formula.rules import draft, effects, fields, legal, piles, scoring, targets
from linkzoo.games.love_formula.tables import CARDS


@compiled
def validate_knowledge(state: Record) -> str:
    """Known cards never exceed the copies that exist or, in a draft, that returned packs showed."""
    shown = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    if state.stage == phases.DRAFT and state.num_players == 2:
        for pack in range(2):
            for viewer in range(2):
                last = draft.last_visit(state, viewer, pack)
                for number in range(last % 2 + 1, last, 2):
                    shown[1 - viewer, state.picks[pack, number]] += 1
    for seat in range(state.num_players):
        for card in range(CARDS.num_types):
            held = int64(state.hands[seat, card])
            if state.stage == phases.DRAFT:
                held = shown[seat, card]
            elif state.stage == phases.SELECT and state.selected[seat] == card:
                held += 1
            for viewer in range(state.num_players):
                known = state.known[viewer, seat, card]
                if known > held or (known > 0 and viewer == seat):
                    return "known: more than can be known of the seat, or a seat's own cards"
    return ""


@compiled
def validate_decision(state: Record, scratch: Record) -> str:
    """The seat and its decision follow from the rest, and an action is legal."""
    over = state.stage == phases.OVER
    for seat in range(state.num_players):
        if (state.hand_sizes_at_end[seat] != NONE) != over:
            return "hand_sizes_at_end: contradicts the stage"
    if (state.seat == NONE) != over or (state.decision == NONE) != over:
        return "seat, decision: contradict the stage"
    if not over and not _is_expected(state):
        return "seat, decision: contradict the rest of the position"
    if (state.moving != NONE) != (state.decision == decisions.MOVE_DEST):
        return "window: moving: the decision is another"
    if state.moving != NONE and not _is_own_preparation(state, int64(state.moving)):
        return "window: moving: no preparation of the field"
    if (state.look_size > 0) != (state.decision == decisions.LOOK_KEEP):
        return "look: look_size: the decision is another"
    if (state.limbo != NONE) != (state.decision == decisions.PLACE and state.effect_list != NONE):
        return "limbo: the decision is another"
    if over:
        scoring.set_winners(scratch)
        if scratch.winners != state.winners:
            return "winners: contradict the fields"
        return ""
    mask = np.zeros(CARDS.num_actions, np.int8)
    legal.legal_actions(state, mask)
    least = 2 if state.decision == decisions.REACT else 1
    if mask.sum() < least:
        return "decision: nothing can be decided"
    return ""


@compiled
def _is_own_preparation(state: Record, position: int) -> bool:
    """Returns whether the seat to act has a preparation at a position."""
    if fields.preparation_at(state, position) == NONE:
        return False
    return bool(fields.field_of(state, position) == state.seat)


@compiled
def _is_expected(state: Record) -> bool:
    """Returns whether event, effect and stage lead to this decision of this seat."""
    decision = int64(state.decision)
    seat = int64(state.seat)
    if state.event != NONE:
        if state.resolving == NONE:
            return decision == decisions.REACT and seat == state.poll
        return decision == decisions.TARGET_COUPLE and seat == state.pending_by[state.resolving]
    if state.effect_list != NONE:
        return _is_expected_of_effect(state, decision, seat)
    if state.stage == phases.DRAFT:
        return decision == decisions.DRAFT and seat == state.cursor
    if state.stage == phases.SELECT:
        return decision == decisions.SELECT and seat == state.cursor
    if state.stage != phases.RESOLVE or seat != state.order[state.cursor]:
        return False
    if state.step in (phases.PRE, phases.POST):
        return decision in decisions.IN_WINDOW
    card = int64(state.acting_card)
    if CARDS.kind[card] == PREPARATION:
        return decision == decisions.PLACE
    if state.targets[0] != NONE:
        return decision == decisions.SWAP_OWN
    return CARDS.target[card] != ops.NO_TARGET and decision == targets.first_decision(card)


@compiled
def _is_expected_of_effect(state: Record, decision: int, seat: int) -> bool:
    """Returns whether the op that runs asks this seat for this, with a possible rest to choose."""
    who = int64(state.effect_who)
    rest = int64(state.effect_left)
    if state.effect_op == CARDS.op_count[state.effect_card, state.effect_list] or who == NONE:
        return False
    op = effects.current_op(state)
    if op.kind == ops.DISCARD_HAND:
        return decision == decisions.HAND_DISCARD and _is_expected_discard(state, op, seat)
    if seat != who:
        return False
    if op.kind == ops.LOOK_TOP:
        asks = decision == decisions.LOOK_KEEP and who == state.effect_by
        return asks and 0 < rest <= min(op.kept, int64(state.look_size))
    if op.kind == ops.TAKE_PREP:
        return decision == decisions.PLACE and who == state.effect_by
    if state.effect_couple == NONE or who != state.owner[state.effect_couple]:
        return False
    if op.kind == ops.PAY_TO_REMOVE:
        return state.effect_obstacle != NONE and _is_expected_payment(state, op, decision)
    chooses = op.kind in ops.ON_ATTACHED
    return chooses and decision == decisions.CHOICE and 0 < rest <= op.number


@compiled
def _is_expected_discard(state: Record, op: Op, seat: int) -> bool:
    """Returns whether DISCARD_HAND asks this seat, with a possible number of cards to choose."""
    by = int64(state.effect_by)
    who = int64(state.effect_who)
    rest = int64(state.effect_left)
    if op.chooser == ops.RANDOM or not 0 < rest <= min(op.number, piles.discardable(state, who)):
        return False
    chooser = by if op.chooser == ops.BY_ME else who
    if seat != chooser:
        return False
    if op.who == ops.EACH_OPP:
        return who != by
    return who == effects.first_of(state, op.who)


@compiled
def _is_expected_payment(state: Record, op: Op, decision: int) -> bool:
    """Returns whether PAY_TO_REMOVE asks for this: whether to pay, or for one of its cards."""
    rest = int64(state.effect_left)
    most = min(op.number, piles.discardable(state, int64(state.effect_who)))
    if rest > 0:
        return decision == decisions.HAND_DISCARD and rest <= most
    return decision == decisions.PAY and op.number <= most
