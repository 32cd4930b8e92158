"""The record after an action, as far as the seat to act can know it.

Only cards that the seat takes or gives away, moves, attaches or discards change; applying the
action would show hidden cards.
"""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.rules import effects, fields, resolution
from linkzoo.games.love_formula.tables import CARDS
from linkzoo.games.love_formula.traits import DISCARDS


@compiled
def move_card(after: Record, seat: int, card: int) -> None:
    """Moves a card into or out of the hand, as the decision says."""
    decision = after.decision
    if decision == decisions.DRAFT:
        after.piles[seat, card] += 1
    elif decision in (decisions.LOOK_KEEP, decisions.RECOVER):
        after.hands[seat, card] += 1
        after.hand_size[seat] += 1
    elif decision != decisions.HAND_DISCARD or after.effect_who == seat:
        after.hands[seat, card] -= 1
        after.hand_size[seat] -= 1
        if decision == decisions.SELECT:
            after.selected[seat] = card
        elif decision == decisions.REACT and after.event == phases.PREP_EVENT:
            after.hands[seat, after.event_card] += 1  # a lost preparation returns


@compiled
def move_preparation(after: Record, seat: int, position: int) -> None:
    """Takes a preparation from its position, and puts it where it certainly goes."""
    decision = after.decision
    if decision == decisions.WINDOW:
        after.moving = position
        return
    card = fields.take(after, position)
    if decision == decisions.CHOICE:
        if effects.current_op(after).kind == ops.RETURN_AFFECTED_PREP:
            after.hands[seat, card] += 1
            after.hand_size[seat] += 1
    elif decision == decisions.TARGET_PREP:
        if CARDS.target[after.acting_card] == ops.OPP_PREP_TAKABLE:
            after.limbo = card
    elif decision == decisions.SWAP_OWN:
        theirs = int64(after.targets[0])
        gained = fields.take(after, theirs)
        other = fields.field_of(after, theirs)
        if fields.slot_is_empty(after, seat, gained):
            fields.put(after, fields.free_slot(seat, gained), gained)
        if fields.slot_is_empty(after, other, card):
            fields.put(after, fields.free_slot(other, card), card)


@compiled
def move_to(after: Record, seat: int, couple: int) -> int:
    """Puts the card at a couple, NONE: in the free slot; or discards the couple.

    Returns:
        The card; NONE for a discarded couple.
    """
    decision = after.decision
    if decision == decisions.MOVE_DEST:
        card = fields.take(after, int64(after.moving))
        after.moving = NONE
        fields.lay(after, seat, card, couple)
    elif decision == decisions.PLACE:
        card = resolution.place(after, couple)
    elif decision == decisions.TARGET_COUPLE:
        card = int64(after.acting_card)
        if after.event == NONE:
            after.selected[seat] = NONE
        _attach(after, card, couple)
    else:
        card = int64(NONE)
        fields.discard_couple(after, couple)
    return card


@compiled
def _attach(after: Record, card: int, couple: int) -> None:
    """Attaches an obstacle but instant ones, which are discarded at once."""
    if CARDS.turns[card] >= 0:
        place = int64(after.obstacle_count)
        after.obstacle_type[place] = card
        after.obstacle_couple[place] = couple
        after.turns_left[place] = CARDS.turns[card]
        after.obstacle_count += 1


@compiled
def suffer(after: Record, seat: int) -> None:
    """Applies the effect of an unanswered event on the seat."""
    if after.pending_size > 0 or after.event_source == seat:
        return
    card = int64(after.event_card)
    if after.event == phases.OBSTACLE_EVENT and after.event_owner == seat:
        _attach(after, card, int64(after.event_couple))
    elif after.event == phases.ACTION_EVENT:
        kind = CARDS.target[card]
        target = int64(after.targets[0])
        if kind in (ops.OPP_PREP_OPEN, ops.OPP_PREP_TAKABLE, ops.SWAP_PAIR):
            if fields.field_of(after, target) == seat:
                fields.put(after, target, NONE)
        elif kind == ops.NO_TARGET or (kind == ops.OPP and target == seat):
            after.hand_size[seat] -= CARDS.traits[card, DISCARDS]
