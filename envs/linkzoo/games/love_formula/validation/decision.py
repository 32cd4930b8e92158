"""Love Formula: checks of what seats know, and of the decision. Numbers refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, PREPARATION
from linkzoo.games.love_formula.components import MAX_PLAYERS, NONE, int64
from linkzoo.games.love_formula.rules import draft, effects, fields, legal, piles, scoring, targets
from linkzoo.games.love_formula.tables import CARDS


@compiled
def validate_knowledge(state: Record) -> str:
    """Nobody knows more cards than there are, or in a draft than a pack that came back told."""
    told = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    if state.stage == phases.DRAFT and state.num_players == 2:
        for pack in range(2):
            for viewer in range(2):
                last = draft.last_visit(state, viewer, pack)
                for number in range(last % 2 + 1, last, 2):
                    told[1 - viewer, state.picks[pack, number]] += 1
    for seat in range(state.num_players):
        for card in range(CARDS.num_types):
            held = int64(state.hands[seat, card])
            if state.stage == phases.DRAFT:
                held = told[seat, card]
            elif state.stage == phases.SELECT and state.selected[seat] == card:
                held += 1
            for viewer in range(state.num_players):
                if state.known[viewer, seat, card] > (0 if viewer == seat else held):
                    return "known: more than can be known of the seat, or a seat's own cards"
    return ""


@compiled
def validate_decision(state: Record, scratch: Record) -> str:
    """Who is asked for what follows from the rest, and something is possible."""
    over = state.stage == phases.OVER
    for seat in range(state.num_players):
        if (state.hand_sizes_at_end[seat] != NONE) != over:
            return "hand_sizes_at_end: not what the stage says"
    if (state.seat == NONE) != over or (state.decision == NONE) != over:
        return "seat, decision: not what the stage says"
    if not over and not _is_expected(state):
        return "seat, decision: not what the rest of the position says"
    if (state.moving != NONE) != (state.decision == decisions.MOVE_DEST):
        return "window: moving: the decision is another"
    if state.moving != NONE:
        moving = int64(state.moving)
        there = fields.preparation_at(state, moving) != NONE
        if not there or fields.field_of(state, moving) != state.seat:
            return "window: moving: no preparation of the field"
    if (state.look_size > 0) != (state.decision == decisions.LOOK_KEEP):
        return "look: look_size: the decision is another"
    if (state.limbo != NONE) != (state.decision == decisions.PLACE and state.effect_list != NONE):
        return "limbo: the decision is another"
    if over:
        scoring.set_winners(scratch)
        return "" if scratch.winners == state.winners else "winners: not what the fields say"
    mask = np.zeros(CARDS.num_actions, np.int8)
    legal.legal_actions(state, mask)
    if mask.sum() < (2 if state.decision == decisions.REACT else 1):
        return "decision: nothing can be decided"
    return ""


@compiled
def _is_expected(state: Record) -> bool:
    """Whether the frames lead to this decision of this seat."""
    decision, seat = int64(state.decision), int64(state.seat)
    if state.event != NONE:
        if state.resolving == NONE:
            return decision == decisions.REACT and seat == state.poll
        return decision == decisions.TARGET_COUPLE and seat == state.pending_by[state.resolving]
    if state.effect_list != NONE:
        return _is_expected_of_effect(state, decision, seat)
    if state.stage in (phases.DRAFT, phases.SELECT):
        asked = decisions.DRAFT if state.stage == phases.DRAFT else decisions.SELECT
        return decision == asked and seat == state.cursor
    if state.stage != phases.RESOLVE or seat != state.order[state.cursor]:
        return False
    if state.step in (phases.PRE, phases.POST):
        return decision in (decisions.WINDOW, decisions.MOVE_DEST, decisions.DISCARD_MENU)
    card = int64(state.acting_card)
    if CARDS.kind[card] == PREPARATION:
        return decision == decisions.PLACE
    if state.targets[0] != NONE:
        return decision == decisions.SWAP_OWN
    return CARDS.target[card] != ops.NO_TARGET and decision == targets.first_decision(card)


@compiled
def _is_expected_of_effect(state: Record, decision: int, seat: int) -> bool:
    """Whether the op that runs asks for this, with as much to choose as there is."""
    by, who, left = int64(state.effect_by), int64(state.effect_who), int64(state.effect_left)
    if state.effect_op == CARDS.op_count[state.effect_card, state.effect_list] or who == NONE:
        return False
    op = effects.current_op(state)
    number = op.kind
    if number == ops.DISCARD_HAND:
        asks = decision == decisions.HAND_DISCARD and op.chooser != ops.RANDOM
        possible = 0 < left <= min(op.number, piles.discardable(state, who))
        asked = by if op.chooser == ops.BY_ME else who
        concerned = who != by if op.who == ops.EACH_OPP else who == effects.first_of(state, op.who)
        return asks and possible and seat == asked and concerned
    if seat != who:
        return False
    if number == ops.LOOK_TOP:
        asks = decision == decisions.LOOK_KEEP and who == by
        return asks and 0 < left <= min(op.kept, int64(state.look_size))
    if number == ops.TAKE_PREP:
        return decision == decisions.PLACE and who == by
    if state.effect_couple == NONE or who != state.owner[state.effect_couple]:
        return False
    if number == ops.PAY_TO_REMOVE:
        asked = decisions.HAND_DISCARD if left > 0 else decisions.PAY
        wanted = left if left > 0 else op.number
        possible = wanted <= min(op.number, piles.discardable(state, who))
        return decision == asked and state.effect_obstacle != NONE and possible
    chooses = number in ops.ON_ATTACHED
    return chooses and decision == decisions.CHOICE and 0 < left <= op.number
