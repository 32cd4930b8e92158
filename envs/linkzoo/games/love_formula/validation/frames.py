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
    card = int64(state.acting_card)
    seat = state.acting_by
    step = state.acting_step
    resolving = state.stage == phases.RESOLVE and state.step == phases.EFFECT
    if (card != NONE) != resolving:
        return "acting: card: contradicts the stage and the step"
    if card == NONE:
        if seat != NONE or step != NONE or state.targets[0] != NONE or state.targets[1] != NONE:
            return "acting: by, step, targets: no card resolves"
        return ""
    if seat != state.order[state.cursor] or step == NONE:
        return "acting: by, step: not the seat whose turn it is"
    if state.selected[seat] != NONE and state.selected[seat] != card:
        return "acting: card: not the selected one"
    kind = CARDS.kind[card]
    if kind == PREPARATION:
        if step != phases.AT_EFFECT or state.effect_list != NONE or state.event != NONE:
            return "acting: step: a preparation is placed at once"
    elif kind not in (OBSTACLE, ACTION):
        return "acting: card: a kind that asks for nothing"
    elif (step == phases.AT_REACT) != (state.event not in (NONE, phases.PREP_EVENT)):
        return "acting: step, event: reactions are asked for, or not"
    elif (step == phases.AT_EFFECT) != (state.effect_list != NONE):
        return "acting: step, effect_list: the card takes effect, or not"
    if not _has_right_targets(state, card):
        return "targets: not possible for the card"
    return ""


@compiled
def _has_right_targets(state: Record, card: int) -> bool:
    """R13, R14: as many as are chosen; while their op is to come, they are still there."""
    kind = CARDS.target[card]
    choosing = state.acting_step == phases.AT_TARGET
    first = int64(state.targets[0])
    second = int64(state.targets[1])
    if first == NONE:
        return second == NONE and _may_lack_target(state, card)
    if kind == ops.NO_TARGET or (choosing and kind != ops.SWAP_PAIR):
        return False
    if (second != NONE) != (kind == ops.SWAP_PAIR and not choosing):
        return False
    if CARDS.kind[card] == OBSTACLE:
        return first < COUPLES and state.owner[first] != NONE
    seat = int64(state.acting_by)
    to_come = _is_to_come(state, card)
    if kind == ops.OPP:
        return first < state.num_players and first != seat
    if kind == ops.OWN_OBSTACLE:
        if first >= state.obstacle_count:
            return False
        return not to_come or state.owner[state.obstacle_couple[first]] == seat
    if kind == ops.DISCARD_PREP_OR_COUPLE:
        if first >= CARDS.num_types or not targets.returns_from_discard(first):
            return False
        return not to_come or piles.is_discarded(state, first)
    if first >= POSITIONS or second >= POSITIONS:
        return False
    return not to_come or _are_preparations(state, first, second)


@compiled
def _may_lack_target(state: Record, card: int) -> bool:
    """Returns whether no target is chosen yet, none is needed, or the target has left."""
    kind = CARDS.target[card]
    if kind == ops.NO_TARGET or CARDS.kind[card] == PREPARATION:
        return True
    if state.acting_step == phases.AT_TARGET:
        return True
    if kind == ops.OWN_OBSTACLE and state.acting_step == phases.AT_EFFECT:
        return not _is_to_come(state, card)
    return False


@compiled
def _are_preparations(state: Record, first: int, second: int) -> bool:
    """R14: another field's preparation and, unless `second` is NONE, an own one of its subtype."""
    seat = int64(state.acting_by)
    theirs = fields.preparation_at(state, first)
    if theirs == NONE or fields.field_of(state, first) == seat:
        return False
    if second == NONE:
        return True
    mine = fields.preparation_at(state, second)
    if mine == NONE or fields.field_of(state, second) != seat:
        return False
    return bool(CARDS.subtype[mine] == CARDS.subtype[theirs])


@compiled
def _is_to_come(state: Record, card: int) -> bool:
    """Returns whether the op that works on the targets has not begun."""
    if state.acting_step != phases.AT_EFFECT:
        return True
    begun = 0 if state.effect_who == NONE else 1
    for index in range(state.effect_op + begun, CARDS.op_count[card, ops.ON_RESOLVE]):
        if op_of(card, ops.ON_RESOLVE, index).kind in ops.ON_TARGET:
            return True
    return False


@compiled
def validate_effect(state: Record) -> str:
    """The list of ops that runs: its card, player, couple and obstacle."""
    op_list = int64(state.effect_list)
    if op_list == NONE:
        if _has_effect_fields(state):
            return "effect: card, by, op: nothing takes effect"
        return ""
    card = int64(state.effect_card)
    by = int64(state.effect_by)
    couple = int64(state.effect_couple)
    obstacle = int64(state.effect_obstacle)
    if NONE in (card, by) or state.effect_op > CARDS.op_count[card, op_list]:
        return "effect: card, by, op: no card takes effect"
    if state.stage == phases.RESOLVE:
        if op_list != ops.ON_RESOLVE or card != state.acting_card or by != state.acting_by:
            return "effect: list, card, by: not the card that resolves"
    else:
        expected = ops.ON_TURN_START if state.stage == phases.START else ops.ON_EXPIRE
        if op_list != expected:
            return "effect: list: not that of the stage"
    if CARDS.kind[card] != OBSTACLE:
        if state.stage != phases.RESOLVE or couple != NONE or obstacle != NONE:
            return "effect: couple, obstacle: the card is no obstacle"
        return ""
    if couple == NONE or state.owner[couple] == NONE:
        return "effect: couple: it is in no field"
    if state.stage == phases.RESOLVE and couple != state.targets[0]:
        return "effect: couple: not the target"
    if obstacle != NONE and (
        obstacle >= state.obstacle_count
        or state.obstacle_type[obstacle] != card
        or state.obstacle_couple[obstacle] != couple
        or state.obstacle_by[obstacle] != state.effect_by
    ):
        return "effect: obstacle: not the card, the couple and the seat that take effect"
    return ""


@compiled
def _has_effect_fields(state: Record) -> bool:
    """Returns whether a field of an effect is in use, apart from `effect_list`."""
    if state.effect_card != NONE or state.effect_by != NONE or state.effect_who != NONE:
        return True
    if state.effect_couple != NONE or state.effect_obstacle != NONE:
        return True
    return bool(state.effect_op != 0 or state.effect_left != 0)


@compiled
def validate_event(state: Record) -> str:
    """R19..R22: the event, and the reactions to it."""
    event = state.event
    if event == NONE:
        if _has_event_fields(state):
            return "react: there is no event"
        return ""
    if event == phases.PREP_EVENT:
        if not _has_lost_preparation(state):
            return "react: kind: no effect has just cost a preparation"
    elif state.event_source != state.acting_by or state.event_card != state.acting_card:
        return "react: source, card: not the card that resolves"
    else:
        kind = OBSTACLE if event == phases.OBSTACLE_EVENT else ACTION
        if CARDS.kind[state.acting_card] != kind:
            return "react: kind: contradicts the card"
    if event == phases.OBSTACLE_EVENT:
        couple = state.event_couple
        if couple != state.targets[0] or state.event_owner != state.owner[couple]:
            return "react: couple, owner: not the target"
    elif state.event_couple != NONE or (state.event_owner != NONE) != (event == phases.PREP_EVENT):
        return "react: couple, owner: the event has none"
    if state.event_cancelled or state.event_recovered:
        return "react: cancelled, recovered: the reactions are settled"
    polling = state.resolving == NONE
    if state.poll == NONE or (state.quiet < state.num_players) != polling:
        return "react: poll, quiet, resolving: contradict one another"
    if state.quiet > state.num_players:
        return "react: quiet: more seats than there are"
    if state.event_redirected and (polling or event != phases.OBSTACLE_EVENT):
        return "react: redirected: nothing can have been redirected"
    return _validate_pending(state)


@compiled
def _has_event_fields(state: Record) -> bool:
    """Returns whether a field of an event is in use, apart from `event` and the pending cards."""
    if state.event_source != NONE or state.event_card != NONE or state.event_couple != NONE:
        return True
    if state.event_owner != NONE or state.poll != NONE or state.resolving != NONE:
        return True
    if state.event_cancelled or state.event_redirected or state.event_recovered:
        return True
    return bool(state.pending_size != 0 or state.quiet != 0)


@compiled
def _has_lost_preparation(state: Record) -> bool:
    """E3 of R19: returns whether an op has just discarded a preparation of another field."""
    card = state.event_card
    index = int64(state.effect_op)
    owner = int64(state.event_owner)
    by = int64(state.effect_by)
    if state.effect_list == NONE or state.event_source != state.effect_by:
        return False
    if card == NONE or CARDS.kind[card] != PREPARATION or owner in (NONE, by):
        return False
    if state.effect_who == NONE:
        if index == 0 or state.effect_left != 0:
            return False
        effect_card = int64(state.effect_card)
        before = op_of(effect_card, int64(state.effect_list), index - 1)
        return before.kind == ops.DISCARD_PREP
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
    """R20..R22: the pending reactions, and the one that resolves."""
    for place in range(state.pending_size):
        card = int64(state.pending_card[place])
        answered = int64(state.pending_answers[place])
        if CARDS.kind[card] != REACTION:
            return "react: pending: card: no reaction"
        answers = CARDS.trigger[card] == ops.REACTION_PLAYED
        if (answered != NONE) != answers or answered >= place:
            return "react: pending: answers: not an earlier reaction"
    if state.resolving == NONE:
        return ""
    if state.resolving >= state.pending_size or state.event != phases.OBSTACLE_EVENT:
        return "react: resolving: no reaction"
    card = int64(state.pending_card[state.resolving])
    by = state.pending_by[state.resolving]
    redirects = op_of(card, ops.ON_RESOLVE, 0).kind == ops.REDIRECT_EVENT
    if not redirects or by != state.event_owner or by == state.event_source:
        return "react: resolving: a reaction that asks for nothing"
    return ""
