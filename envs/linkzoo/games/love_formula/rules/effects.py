"""Love Formula: the effects of cards, one op after the other. Numbers (R1..R27): RULES.md.

An op begins (`effect_who` is set), may ask for decisions, and ends.
"""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.components import FREE_SLOT, NEEDS, NONE, int64
from linkzoo.games.love_formula.ops import Op
from linkzoo.games.love_formula.rules import fields, piles, reactions
from linkzoo.games.love_formula.state import ask, left_of, remove_at
from linkzoo.games.love_formula.tables import CARDS, op_of


@compiled
def start_effect(
    state: Record, op_list: int, card: int, seat: int, couple: int = NONE, obstacle: int = NONE
) -> None:
    """Starts one of the lists of ops of a card."""
    state.effect_list = op_list
    state.effect_card = card
    state.effect_by = seat
    state.effect_couple = couple
    state.effect_obstacle = obstacle
    state.effect_op = 0
    state.effect_left = 0
    state.effect_who = NONE


@compiled
def clear_effect(state: Record) -> None:
    """Ends the effect."""
    start_effect(state, NONE, NONE, NONE)


@compiled
def advance_effect(state: Record) -> bool:
    """Runs the next op, or a part of it up to a decision; returns whether the effect has ended."""
    card = int64(state.effect_card)
    op_list = int64(state.effect_list)
    couple = state.effect_couple
    couple_is_gone = couple != NONE and state.owner[couple] == NONE
    if couple_is_gone or state.effect_op == CARDS.op_count[card, op_list]:
        return True
    op = current_op(state)
    if op.kind == ops.DISCARD_HAND:
        _advance_discards(state, op)
    elif op.kind == ops.LOOK_TOP:
        _advance_look(state, op)
    elif op.kind == ops.TAKE_PREP:
        _advance_take(state)
    elif op.kind == ops.PAY_TO_REMOVE:
        _advance_pay(state, op)
    elif op.kind in ops.ON_ATTACHED:
        _advance_choice(state, op)
    else:
        end_op(state)
        _run_op(state, op)
    return False


@compiled
def current_op(state: Record) -> Op:
    """Returns the op that runs."""
    card = int64(state.effect_card)
    return op_of(card, int64(state.effect_list), int64(state.effect_op))


@compiled
def end_op(state: Record) -> None:
    """Goes on to the next op."""
    state.effect_op += 1
    state.effect_who = NONE
    state.effect_left = 0


# Ops without decisions


@compiled
def _run_op(state: Record, op: Op) -> None:
    seat = int64(state.effect_by)
    couple = int64(state.effect_couple)
    target = int64(state.targets[0])
    if op.kind in (ops.DRAW, ops.LOOK_HAND):
        _draw_or_look(state, op)
    elif op.kind == ops.DISCARD_PREP:
        lose_preparation(state, target)
    elif op.kind == ops.SWAP_PREP:
        _swap(state, target, int64(state.targets[1]))
    elif op.kind == ops.DISCARD_OBSTACLE:
        fields.discard_obstacle(state, target)
        state.targets[0] = NONE
    elif op.kind == ops.RECOVER:
        if piles.is_discarded(state, target):  # it may be in the deck again (R23)
            piles.recover(state, seat, target)
    elif op.kind == ops.SHIELD:
        state.shield[seat] = max(state.shield[seat], state.turn + op.number)
    elif op.kind == ops.SELF_TO_HAND:
        state.selected[seat] = NONE
        piles.gain(state, seat, int64(state.effect_card), True)
    elif op.kind == ops.DISCARD_COUPLE_IF_INCOMPLETE and not fields.is_complete(state, couple):
        fields.discard_couple(state, couple)


@compiled
def first_of(state: Record, who: int) -> int:
    """Returns the seat that an op concerns; of several the first at the left of its player."""
    if who == ops.ME:
        return int64(state.effect_by)
    if who == ops.EACH_OPP:
        return left_of(state, int64(state.effect_by))
    if who == ops.COUPLE_CONTROLLER:
        return int64(state.owner[state.effect_couple])
    return int64(state.targets[0])


@compiled
def _next_of(state: Record, who: int, seat: int) -> int:
    """Returns the next seat, clockwise, that an op concerns; NONE after the last."""
    following = left_of(state, seat)
    if who == ops.EACH_OPP and following != state.effect_by:
        return following
    return int64(NONE)


@compiled
def _draw_or_look(state: Record, op: Op) -> None:
    """DRAW or LOOK_HAND, for each seat that the op concerns; R25: hands have no limit."""
    seat = first_of(state, op.who)
    while seat != NONE:
        if op.kind == ops.LOOK_HAND:
            piles.learn_hand(state, int64(state.effect_by), seat)
        else:
            _draw(state, seat, op.number)
        seat = _next_of(state, op.who, seat)


@compiled
def _draw(state: Record, seat: int, number: int) -> None:
    for _ in range(number):
        card = piles.draw_card(state)
        if card != NONE:
            piles.gain(state, seat, card, False)


@compiled
def lose_preparation(state: Record, position: int) -> None:
    """Discards a preparation; E3 of R19 if a card of another player does it."""
    owner = fields.field_of(state, position)
    card = fields.take(state, position)
    piles.to_discard(state, card)
    if owner != state.effect_by:
        reactions.open_event(state, phases.PREP_EVENT, state.effect_by, card, NONE, owner)


@compiled
def _swap(state: Record, theirs: int, mine: int) -> None:
    """Takes both preparations, then places each; that of the card's player first."""
    me = fields.field_of(state, mine)
    other = fields.field_of(state, theirs)
    gained = fields.take(state, theirs)
    given = fields.take(state, mine)
    _settle(state, me, gained, mine)
    _settle(state, other, given, theirs)


@compiled
def _settle(state: Record, seat: int, card: int, position: int) -> None:
    """Places a swapped card: at the other one's couple, else in the free slot; else discards it."""
    destination = fields.free_slot(seat, card)
    couple = position // NEEDS
    if position < FREE_SLOT and fields.takes(state, couple, card):  # R10: any of its requirements
        destination = int64(NEEDS * couple + CARDS.need_place[couple, card])
    if fields.preparation_at(state, destination) == NONE:
        fields.put(state, destination, card)
    else:
        piles.to_discard(state, card)


# Ops with decisions


@compiled
def _advance_discards(state: Record, op: Op) -> None:
    """DISCARD_HAND: each seat in turn; R24: as many cards as it can."""
    if state.effect_who == NONE:
        _start_discards_of(state, op, first_of(state, op.who))
    seat = int64(state.effect_who)
    while op.chooser == ops.RANDOM and state.effect_left > 0:
        piles.discard_at_random(state, seat)
        state.effect_left -= 1
    if state.effect_left > 0:
        chooser = int64(state.effect_by) if op.chooser == ops.BY_ME else seat
        ask(state, decisions.HAND_DISCARD, chooser)
        return
    following = _next_of(state, op.who, seat)
    if following == NONE:
        end_op(state)
    else:
        _start_discards_of(state, op, following)


@compiled
def _start_discards_of(state: Record, op: Op, seat: int) -> None:
    state.effect_who = seat
    state.effect_left = min(op.number, piles.discardable(state, seat))
    if op.chooser == ops.BY_ME:
        piles.learn_hand(state, int64(state.effect_by), seat)


@compiled
def choose_discard(state: Record, card: int) -> None:
    """Discards a card of the hand, for DISCARD_HAND, CHOOSE_DISCARD or PAY_TO_REMOVE."""
    piles.discard_from_hand(state, int64(state.effect_who), card)
    state.effect_left -= 1
    if state.effect_left == 0 and current_op(state).kind == ops.PAY_TO_REMOVE:
        fields.discard_obstacle(state, int64(state.effect_obstacle))
        end_op(state)


@compiled
def _advance_look(state: Record, op: Op) -> None:
    """LOOK_TOP: takes the topmost cards, asks which to keep, puts the rest below the deck."""
    if state.effect_who == NONE:
        state.effect_who = state.effect_by
        piles.reshuffle_if_empty(state)
        while state.look_size < op.number and state.deck_size > 0:
            state.look[state.look_size] = piles.draw_card(state)
            state.look_size += 1
        state.effect_left = min(op.kept, int64(state.look_size))
    if state.effect_left > 0:
        ask(state, decisions.LOOK_KEEP, state.effect_who)
    else:
        piles.put_below(state, int64(state.look_size))
        end_op(state)


@compiled
def keep(state: Record, card: int) -> None:
    """Moves the topmost copy among the cards looked at to the hand."""
    place = 0
    while state.look[place] != card:
        place += 1
    remove_at(state.look, place, int64(state.look_size))
    state.look_size -= 1
    piles.gain(state, int64(state.effect_who), card, False)
    state.effect_left -= 1


@compiled
def _advance_take(state: Record) -> None:
    """TAKE_PREP: takes the target, which must be placed in the own field (R12)."""
    seat = int64(state.effect_by)
    if state.effect_who == NONE:
        state.effect_who = seat
        state.limbo = fields.take(state, int64(state.targets[0]))
    if state.limbo == NONE:
        end_op(state)
    elif fields.can_place(state, seat, int64(state.limbo)):
        ask(state, decisions.PLACE, seat)
    else:
        piles.to_discard(state, state.limbo)
        state.limbo = NONE


@compiled
def _advance_pay(state: Record, op: Op) -> None:
    """PAY_TO_REMOVE: asks whether to pay, then for the cards."""
    if state.effect_who == NONE:
        seat = first_of(state, op.who)
        if piles.discardable(state, seat) < op.number or state.effect_obstacle == NONE:
            end_op(state)
        else:
            state.effect_who = seat
            ask(state, decisions.PAY, seat)
    else:
        ask(state, decisions.HAND_DISCARD, state.effect_who)


@compiled
def _advance_choice(state: Record, op: Op) -> None:
    """Ops on attached preparations: asks as long as there is a choice (R24)."""
    if state.effect_who == NONE:
        state.effect_who = first_of(state, op.who)
        state.effect_left = op.number
    has_choice = state.attached[state.effect_couple] != 0
    if op.kind == ops.CHOOSE_DISCARD:
        has_choice |= piles.discardable(state, int64(state.effect_who)) > 0
    if state.effect_left > 0 and has_choice:
        ask(state, decisions.CHOICE, state.effect_who)
    else:
        end_op(state)


@compiled
def choose_preparation(state: Record, position: int) -> None:
    """Discards an attached preparation, or returns it to the hand."""
    state.effect_left -= 1
    if current_op(state).kind == ops.RETURN_AFFECTED_PREP:
        seat = int64(state.effect_who)
        piles.gain(state, seat, fields.take(state, position), True)
    else:
        lose_preparation(state, position)
