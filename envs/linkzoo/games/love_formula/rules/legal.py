"""Love Formula: which actions are legal. Numbers (R1..R27) refer to RULES.md."""

from typing import Any

from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops
from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.components import FREE_SLOT, NEEDS, NONE, POSITIONS, int64
from linkzoo.games.love_formula.options import WINDOWS
from linkzoo.games.love_formula.rules import draft, effects, fields, reactions, targets
from linkzoo.games.love_formula.tables import CARDS


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Fills int8 `mask[num_actions]` with 1 for the legal actions."""
    mask.fill(0)
    decision = state.decision
    seat = int64(state.seat)
    if decision == decisions.WINDOW:
        _mark_window(state, seat, mask)
    elif decision == decisions.DRAFT:
        _mark_held(state.packs[draft.pack_of(state, seat)], mask)
    elif decision == decisions.SELECT:
        _mark_held(state.hands[seat], mask)
        for card in range(CARDS.num_types):
            mask[card] &= CARDS.kind[card] != REACTION  # T1
    elif decision == decisions.PLACE:
        card = state.acting_card if state.limbo == NONE else state.limbo
        _mark_destinations(state, seat, int64(card), mask)
    elif decision == decisions.MOVE_DEST:
        moved = fields.preparation_at(state, int64(state.moving))
        _mark_destinations(state, seat, moved, mask)
    elif decision == decisions.DISCARD_MENU:
        _mark_field(state, seat, mask)
    elif decision == decisions.REACT:
        mask[CARDS.pass_action] = 1
        for card in range(CARDS.num_types):
            mask[card] = reactions.can_play(state, seat, card)  # R20
    elif decision == decisions.HAND_DISCARD:
        _mark_discardable(state, int64(state.effect_who), mask)
    elif decision == decisions.LOOK_KEEP:
        for place in range(state.look_size):
            mask[state.look[place]] = 1
    elif decision == decisions.CHOICE:
        _mark_choices(state, seat, mask)
    elif decision == decisions.PAY:
        mask[CARDS.yes_action] = 1
        mask[CARDS.pass_action] = 1
    elif decision != NONE:
        _mark_targets(state, decision, seat, mask)


@compiled
def _mark_held(counts: NDArray[Any], mask: Mask) -> None:
    """Marks the cards of a hand or a pack."""
    for card in range(CARDS.num_types):
        mask[card] = counts[card] > 0


@compiled
def _mark_discardable(state: Record, seat: int, mask: Mask) -> None:
    """R24: marks the cards of a hand but the Part-time Job."""
    _mark_held(state.hands[seat], mask)
    mask[CARDS.job] = 0


@compiled
def _mark_window(state: Record, seat: int, mask: Mask) -> None:
    """R11: pass, one move in both windows, and discards."""
    mask[CARDS.pass_action] = 1
    position = fields.next_preparation(state, seat, 0)
    if not state.discard_closed and state.voluntary_discards == WINDOWS:
        has_cards = position < POSITIONS
        for couple in range(CARDS.num_couples):
            has_cards |= state.owner[couple] == seat
        mask[CARDS.open_discard_action] = has_cards
    while position < POSITIONS and not state.move_used:
        card = fields.preparation_at(state, position)
        to_slot = position < FREE_SLOT and fields.slot_is_empty(state, seat, card)
        if to_slot or fields.is_wanted(state, seat, card):  # R10: there is another position
            mask[fields.position_action(state, seat, position)] = 1
        position = fields.next_preparation(state, seat, position + 1)


@compiled
def _mark_destinations(state: Record, seat: int, card: int, mask: Mask) -> None:
    """R10: marks the positions for a preparation, which never include its present one."""
    mask[CARDS.free_slot_action] = fields.slot_is_empty(state, seat, card)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat and fields.takes(state, couple, card):
            mask[CARDS.first_couple_action + couple] = 1


@compiled
def _mark_field(state: Record, seat: int, mask: Mask) -> None:
    """R11: any card of the field but obstacles, or pass."""
    mask[CARDS.pass_action] = 1
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat:
            mask[CARDS.first_couple_action + couple] = 1
    position = fields.next_preparation(state, seat, 0)
    while position < POSITIONS:
        mask[fields.position_action(state, seat, position)] = 1
        position = fields.next_preparation(state, seat, position + 1)


@compiled
def _mark_choices(state: Record, seat: int, mask: Mask) -> None:
    """A preparation attached to the couple or, for CHOOSE_DISCARD, a card of the hand."""
    couple = int64(state.effect_couple)
    for place in range(NEEDS):
        if (state.attached[couple] >> place) & 1:
            mask[CARDS.first_position_action + NEEDS * couple + place] = 1
    if effects.current_op(state).kind == ops.CHOOSE_DISCARD:
        _mark_discardable(state, seat, mask)


@compiled
def _mark_targets(state: Record, decision: int, seat: int, mask: Mask) -> None:
    """R13, R14: marks the targets of the card that resolves."""
    card = int64(state.acting_card)
    if decision == decisions.TARGET_COUPLE:
        for couple in range(CARDS.num_couples):
            if fields.can_attach_to(state, seat, card, couple):
                mask[CARDS.first_couple_action + couple] = 1
    elif decision == decisions.TARGET_PREP:
        kind = CARDS.target[card]
        for other in range(state.num_players):
            position = targets.next_preparation_target(state, seat, kind, other, 0)
            while position < POSITIONS:
                mask[fields.position_action(state, seat, position)] = 1
                position = targets.next_preparation_target(state, seat, kind, other, position + 1)
    elif decision == decisions.SWAP_OWN:
        theirs = fields.preparation_at(state, int64(state.targets[0]))
        position = targets.next_swap(state, seat, theirs, 0)
        while position < POSITIONS:
            mask[fields.position_action(state, seat, position)] = 1
            position = targets.next_swap(state, seat, theirs, position + 1)
    elif decision == decisions.TARGET_OBSTACLE:
        for place in range(state.obstacle_count):
            if state.owner[state.obstacle_couple[place]] == seat:
                number = fields.obstacle_action(state, place)
                mask[CARDS.first_obstacle_action + number] = 1
    elif decision == decisions.TARGET_PLAYER:
        for steps in range(1, state.num_players):
            mask[CARDS.first_player_action + steps] = 1
    elif decision == decisions.RECOVER:
        for place in range(state.discard_size):
            if targets.returns_from_discard(state.discard[place]):
                mask[state.discard[place]] = 1
