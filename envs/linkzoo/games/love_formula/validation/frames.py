"""Love Formula: checks of the card that resolves, its effect and the event (RULES.md)."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import ops, phases
from linkzoo.games.love_formula.cards import ACTION, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.components import COUPLES, NONE, POSITIONS, int64
from linkzoo.games.love_formula.rules import effects, fields, piles, targets
from linkzoo.games.love_formula.tables import CARDS, op_of


@compiled
def validate_acting(state: Record) -> str:
    """R12..R14: the card that resolves, and its targets."""
    card, seat, at = int64(state.acting_card), state.acting_by, state.acting_step
    resolving = state.stage == phases.RESOLVE and state.step == phases.EFFECT
    if (card != NONE) != resolving:
        return "acting: card: not what the stage and the step say"
    if card == NONE:
        if seat & at & state.targets[0] & state.targets[1] != NONE:
            return "acting: by, step, targets: no card resolves"
        return ""
    if seat != state.order[state.cursor] or at == NONE:
        return "acting: by, step: not the seat whose turn it is"
    if state.selected[seat] != NONE and state.selected[seat] != card:
        return "acting: card: not the one that was selected"
    kind = CARDS.kind[card]
    if kind == PREPARATION:
        if at != phases.AT_EFFECT or state.effect_list != NONE or state.event != NONE:
            return "acting: step: a preparation is placed at once"
    elif kind not in (OBSTACLE, ACTION):
        return "acting: card: not a card that takes its time"
    elif (at == phases.AT_REACT) != (state.event not in (NONE, phases.PREP_EVENT)):
        return "acting: step, event: reactions are asked for, or not"
    elif (at == phases.AT_EFFECT) != (state.effect_list != NONE):
        return "acting: step, effect_list: the card takes effect, or not"
    return "" if _has_right_targets(state, card) else "targets: not those that the card can have"


@compiled
def _has_right_targets(state: Record, card: int) -> bool:
    """R13, R14: as many as are chosen, and those still there that have yet to be used."""
    seat, kind = int64(state.acting_by), CARDS.target[card]
    first, second = int64(state.targets[0]), int64(state.targets[1])
    if first == NONE:
        used = kind == ops.OWN_OBSTACLE and state.acting_step == phases.AT_EFFECT
        missing = state.acting_step == phases.AT_TARGET or CARDS.kind[card] == PREPARATION
        over = kind == ops.NO_TARGET or missing or (used and not _is_to_come(state, card))
        return second == NONE and over
    if kind == ops.NO_TARGET or (state.acting_step == phases.AT_TARGET and kind != ops.SWAP_PAIR):
        return False
    if (second != NONE) != (kind == ops.SWAP_PAIR and state.acting_step != phases.AT_TARGET):
        return False
    if CARDS.kind[card] == OBSTACLE:
        return first < COUPLES and state.owner[first] != NONE
    to_come = _is_to_come(state, card)
    if kind == ops.OPP:
        return first < state.num_players and first != seat
    if kind == ops.OWN_OBSTACLE:
        there = first < state.obstacle_count
        return there and (not to_come or state.owner[state.obstacle_couple[first]] == seat)
    if kind == ops.DISCARD_PREP_OR_COUPLE:
        returns = first < CARDS.num_types and targets.returns_from_discard(first)
        return returns and (not to_come or piles.is_discarded(state, first))
    if first >= POSITIONS or second >= POSITIONS:
        return False
    if not to_come:
        return True
    theirs = fields.preparation_at(state, first)
    if theirs == NONE or fields.field_of(state, first) == seat:
        return False
    mine = theirs if second == NONE else fields.preparation_at(state, second)
    if mine == NONE or (second != NONE and fields.field_of(state, second) != seat):
        return False
    return bool(CARDS.subtype[mine] == CARDS.subtype[theirs])


@compiled
def _is_to_come(state: Record, card: int) -> bool:
    """Whether the op that works on the target has not begun."""
    if state.acting_step != phases.AT_EFFECT:
        return True
    begun = 0 if state.effect_who == NONE else 1
    for index in range(state.effect_op + begun, CARDS.op_count[card, ops.ON_RESOLVE]):
        number = op_of(card, ops.ON_RESOLVE, index).kind
        if number in ops.ON_TARGET:
            return True
    return False


@compiled
def validate_effect(state: Record) -> str:
    """The list of ops that runs: whose it is, and what it is about."""
    which, card = int64(state.effect_list), int64(state.effect_card)
    couple, place = int64(state.effect_couple), int64(state.effect_obstacle)
    if which == NONE:
        held = card & couple & place & state.effect_by & state.effect_who
        if held != NONE or state.effect_op | state.effect_left != 0:
            return "effect: card, by, op: nothing takes effect"
        return ""
    by = int64(state.effect_by)
    if NONE in (card, by) or state.effect_op > CARDS.op_count[card, which]:
        return "effect: card, by, op: no card takes effect"
    if state.stage == phases.RESOLVE:
        if which != ops.ON_RESOLVE or card != state.acting_card or by != state.acting_by:
            return "effect: list, card, by: not the card that resolves"
    elif which != (ops.ON_TURN_START if state.stage == phases.START else ops.ON_EXPIRE):
        return "effect: list: not that of the stage"
    if CARDS.kind[card] != OBSTACLE:
        if state.stage != phases.RESOLVE or couple != NONE or place != NONE:
            return "effect: couple, obstacle: the card is no obstacle"
        return ""
    if couple == NONE or state.owner[couple] == NONE:
        return "effect: couple: it is in no field"
    if state.stage == phases.RESOLVE and couple != state.targets[0]:
        return "effect: couple: not the target"
    if place != NONE and (
        place >= state.obstacle_count
        or state.obstacle_type[place] != card
        or state.obstacle_couple[place] != couple
        or state.obstacle_by[place] != state.effect_by
    ):
        return "effect: obstacle: not the card, the couple and the seat that take effect"
    return ""


@compiled
def validate_event(state: Record) -> str:
    """R19..R22: the event, and the reactions to it."""
    event, source = state.event, state.event_source
    if event == NONE:
        # NONE is the number with all bits.
        held = source & state.event_card & state.event_couple & state.event_owner & state.poll
        some = state.event_cancelled | state.event_redirected | state.event_recovered
        some |= state.pending_size | state.quiet
        empty = held & state.resolving == NONE and some == 0
        return "" if empty else "react: there is no event"
    if event == phases.PREP_EVENT:
        if not _has_lost_preparation(state):
            return "react: kind: no effect has just cost a preparation"
    elif source != state.acting_by or state.event_card != state.acting_card:
        return "react: source, card: not the card that resolves"
    elif CARDS.kind[state.acting_card] != (OBSTACLE if event == phases.OBSTACLE_EVENT else ACTION):
        return "react: kind: not what the card is"
    if event == phases.OBSTACLE_EVENT:
        couple = state.event_couple
        if couple != state.targets[0] or state.event_owner != state.owner[couple]:
            return "react: couple, owner: not the target"
    elif state.event_couple != NONE or (state.event_owner != NONE) != (event == phases.PREP_EVENT):
        return "react: couple, owner: the event has none"
    if state.event_cancelled or state.event_recovered:
        return "react: cancelled, recovered: nothing is asked any more"
    polling = state.resolving == NONE
    if state.poll == NONE or (state.quiet < state.num_players) != polling:
        return "react: poll, quiet, resolving: not how far the reactions are"
    if state.quiet > state.num_players:
        return "react: quiet: more seats than there are"
    if state.event_redirected and (polling or event != phases.OBSTACLE_EVENT):
        return "react: redirected: nothing can have been redirected"
    return _validate_pending(state)


@compiled
def _has_lost_preparation(state: Record) -> bool:
    """E3 of R19: an op of the effect has just discarded a preparation of another field."""
    card, index = state.event_card, int64(state.effect_op)
    owner, by = int64(state.event_owner), int64(state.effect_by)
    if state.effect_list == NONE or state.event_source != state.effect_by:
        return False
    if card == NONE or CARDS.kind[card] != PREPARATION or owner in (NONE, by):
        return False
    if state.effect_who == NONE:
        before = op_of(int64(state.effect_card), int64(state.effect_list), max(index - 1, 0))
        return index > 0 and before.kind == ops.DISCARD_PREP and state.effect_left == 0
    ended = index == CARDS.op_count[state.effect_card, state.effect_list]
    if ended or state.effect_couple == NONE:
        return False
    op = effects.current_op(state)
    chooses = op.kind in (ops.CHOOSE_DISCARD, ops.DISCARD_AFFECTED_PREP)
    if not chooses or state.effect_who != owner or owner != state.owner[state.effect_couple]:
        return False
    return bool(state.effect_left < op.number)


@compiled
def _validate_pending(state: Record) -> str:
    for place in range(state.pending_size):
        card, answers = int64(state.pending_card[place]), int64(state.pending_answers[place])
        if CARDS.kind[card] != REACTION:
            return "react: pending: card: no reaction"
        if (answers != NONE) != (CARDS.trigger[card] == ops.REACTION_PLAYED) or answers >= place:
            return "react: pending: answers: not what the reaction answers"
    if state.resolving == NONE:
        return ""
    if state.resolving >= state.pending_size or state.event != phases.OBSTACLE_EVENT:
        return "react: resolving: no reaction"
    card, by = state.pending_card[state.resolving], state.pending_by[state.resolving]
    redirects = op_of(int64(card), ops.ON_RESOLVE, 0).kind == ops.REDIRECT_EVENT
    if not redirects or by != state.event_owner or by == state.event_source:
        return "react: resolving: a reaction that has nothing to ask"
    return ""
