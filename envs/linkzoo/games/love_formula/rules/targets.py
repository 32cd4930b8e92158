"""Love Formula: the legal targets of cards. Numbers (R13, R14) refer to RULES.md."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION
from linkzoo.games.love_formula.components import FREE_SLOT, NEEDS, POSITIONS
from linkzoo.games.love_formula.rules import fields
from linkzoo.games.love_formula.tables import CARDS


@compiled
def has_target(state: Record, seat: int, card: int) -> bool:
    """Returns whether a card has a legal target now."""
    kind = CARDS.target[card]
    if CARDS.kind[card] == OBSTACLE:
        return fields.can_attach(state, seat, card)
    if kind == ops.OPP:
        return True
    if kind == ops.DISCARD_PREP_OR_COUPLE:
        for place in range(state.discard_size):
            if returns_from_discard(state.discard[place]):
                return True
    elif kind == ops.OWN_OBSTACLE:
        for place in range(state.obstacle_count):
            if state.owner[state.obstacle_couple[place]] == seat:
                return True
    else:
        for other in range(state.num_players):
            if next_preparation_target(state, seat, kind, other, 0) < POSITIONS:
                return True
    return False


@compiled
def first_decision(card: int) -> int:
    """Returns the decision that asks for the first target of a card."""
    kind = CARDS.target[card]
    if CARDS.kind[card] == OBSTACLE:
        return decisions.TARGET_COUPLE
    if kind == ops.OWN_OBSTACLE:
        return decisions.TARGET_OBSTACLE
    if kind == ops.DISCARD_PREP_OR_COUPLE:
        return decisions.RECOVER
    if kind == ops.OPP:
        return decisions.TARGET_PLAYER
    return decisions.TARGET_PREP


@compiled
def returns_from_discard(card: int) -> bool:
    """Returns whether a card is a preparation or a couple, which RECOVER can take."""
    return bool(CARDS.kind[card] == PREPARATION or CARDS.kind[card] == COUPLE)


@compiled
def next_preparation_target(state: Record, seat: int, kind: int, other: int, position: int) -> int:
    """Returns the next target, from this position on, in a field; POSITIONS if there is none.

    `kind` is the kind of target of the card, `other` the owner of the field.
    """
    if other == seat:
        return POSITIONS
    position = fields.next_preparation(state, other, position)
    while position < POSITIONS and not _is_preparation_target(state, seat, kind, position):
        position = fields.next_preparation(state, other, position + 1)
    return position


@compiled
def _is_preparation_target(state: Record, seat: int, kind: int, position: int) -> bool:
    if position < FREE_SLOT and fields.is_complete(state, position // NEEDS):
        return False
    card = fields.preparation_at(state, position)
    if kind == ops.OPP_PREP_TAKABLE:
        return fields.can_place(state, seat, card)
    if kind == ops.SWAP_PAIR:
        return next_swap(state, seat, card, 0) < POSITIONS
    return True


@compiled
def next_swap(state: Record, seat: int, card: int, position: int) -> int:
    """Returns the next own position, from this one on, with a preparation of a card's subtype.

    POSITIONS if there is none.
    """
    position = fields.next_preparation(state, seat, position)
    while (
        position < POSITIONS
        and CARDS.subtype[fields.preparation_at(state, position)] != CARDS.subtype[card]
    ):
        position = fields.next_preparation(state, seat, position + 1)
    return position
