"""Love Formula: what cards do, one op after the other. Numbers (R1..R27) refer to RULES.md.

An op begins (`effect_who` is set), may ask, and ends. The functions are plain:
`linkzoo.games.love_formula.game_with` compiles them for a table of cards (`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.pieces import (
    ASK_CHOICE,
    ASK_HAND_DISCARD,
    ASK_LOOK_KEEP,
    ASK_PAY,
    ASK_PLACE,
    BY_ME,
    CHOOSE_DISCARD,
    COUPLE_CONTROLLER,
    DISCARD_AFFECTED_PREP,
    DISCARD_COUPLE_IF_INCOMPLETE,
    DISCARD_HAND,
    DISCARD_OBSTACLE,
    DISCARD_PREP,
    DRAW,
    EACH_OPP,
    FREE_SLOT,
    LOOK_HAND,
    LOOK_TOP,
    ME,
    NEEDS,
    NONE,
    PAY_TO_REMOVE,
    PREP_EVENT,
    RANDOM,
    RECOVER,
    RETURN_AFFECTED_PREP,
    SELF_TO_HAND,
    SHIELD,
    SWAP_PREP,
    TAKE_PREP,
)
from linkzoo.games.love_formula.rules.reactions import open_event
from linkzoo.games.love_formula.rules.table import (
    ask,
    can_place,
    discard_at_random,
    discard_couple,
    discard_from_hand,
    discard_obstacle,
    discardable,
    draw_card,
    draw_to_hand,
    field_of,
    free_slot,
    gain,
    is_complete,
    is_discarded,
    learn_hand,
    preparation_at,
    put,
    put_below,
    recover,
    reshuffle_if_empty,
    take,
    takes,
    to_discard,
)

# What `bind` gives the cards for.
NEED: Any
OP: Any
OP_COUNT: Any


def start_effect(
    state: Any, which: Any, card: Any, seat: Any, couple: Any = NONE, obstacle: Any = NONE
) -> None:
    """Begins one of the lists of a card."""
    state.effect_list = which
    state.effect_card = card
    state.effect_by = seat
    state.effect_couple = couple
    state.effect_obstacle = obstacle
    state.effect_op = 0
    state.effect_who = NONE
    state.effect_left = 0


def clear_effect(state: Any) -> None:
    """No list runs."""
    start_effect(state, NONE, NONE, NONE)


def advance_effect(state: Any) -> Any:
    """Goes on with the list up to a decision or an event; says whether it has ended."""
    card, which = np.int64(state.effect_card), np.int64(state.effect_list)
    if state.effect_op == OP_COUNT[card, which] or _couple_is_gone(state):
        return True
    _advance_op(state, current_op(state))
    return False


def _couple_is_gone(state: Any) -> Any:
    couple = state.effect_couple
    return couple != NONE and state.owner[couple] == NONE


def current_op(state: Any) -> Any:
    """The op that runs: its number, `who`, number of cards, and chooser or number to keep."""
    op = OP[state.effect_card, state.effect_list, state.effect_op]
    return op[0], op[1], op[2], op[3]


def end_op(state: Any) -> None:
    """Goes to the next op."""
    state.effect_op += 1
    state.effect_who = NONE
    state.effect_left = 0


def _advance_op(state: Any, op: Any) -> None:
    number = op[0]
    if number == DISCARD_HAND:
        _advance_discards(state, op)
    elif number == LOOK_TOP:
        _advance_look(state, op)
    elif number == TAKE_PREP:
        _advance_take(state)
    elif number == PAY_TO_REMOVE:
        _advance_pay(state, op)
    elif number in (CHOOSE_DISCARD, DISCARD_AFFECTED_PREP, RETURN_AFFECTED_PREP):
        _advance_choice(state, op)
    else:
        end_op(state)
        _run_op(state, op)


# Ops that ask nobody


def _run_op(state: Any, op: Any) -> None:
    number, seat = op[0], np.int64(state.effect_by)
    target = np.int64(state.targets[0])
    if number == DRAW:
        _draw(state, op)
    elif number == LOOK_HAND:
        _look_at_hands(state, op)
    elif number == DISCARD_PREP:
        lose_preparation(state, target)
    elif number == SWAP_PREP:
        _swap(state, target, np.int64(state.targets[1]))
    elif number == DISCARD_OBSTACLE:
        discard_obstacle(state, target)
        state.targets[0] = NONE
    elif number == RECOVER and is_discarded(state, target):  # it may be in the deck again (R23)
        recover(state, seat, target)
    elif number == SHIELD:
        state.shield[seat] = max(state.shield[seat], state.turn + op[2])
    elif number == SELF_TO_HAND:
        state.selected[seat] = NONE
        gain(state, seat, np.int64(state.effect_card), True)
    elif number == DISCARD_COUPLE_IF_INCOMPLETE and not is_complete(state, state.effect_couple):
        discard_couple(state, np.int64(state.effect_couple))


def _first_of(state: Any, who: Any) -> Any:
    """The seat that an op works on, of several the one at the left of the card's player."""
    if who == ME:
        return np.int64(state.effect_by)
    if who == EACH_OPP:
        return (np.int64(state.effect_by) + 1) % np.int64(state.num_players)
    if who == COUPLE_CONTROLLER:
        return np.int64(state.owner[state.effect_couple])
    return np.int64(state.targets[0])


def _next_of(state: Any, who: Any, seat: Any) -> Any:
    """The next seat, clockwise, that an op works on, or NONE."""
    following = (seat + 1) % np.int64(state.num_players)
    return following if who == EACH_OPP and following != state.effect_by else np.int64(NONE)


def _draw(state: Any, op: Any) -> None:
    seat = _first_of(state, op[1])
    while seat != NONE:
        draw_to_hand(state, seat, op[2])
        seat = _next_of(state, op[1], seat)


def _look_at_hands(state: Any, op: Any) -> None:
    seat = _first_of(state, op[1])
    while seat != NONE:
        learn_hand(state, np.int64(state.effect_by), seat)
        seat = _next_of(state, op[1], seat)


def lose_preparation(state: Any, position: Any) -> None:
    """A preparation goes to the discard pile; E3 of R19 if another player's card does it."""
    owner = field_of(state, position)
    card = take(state, position)
    to_discard(state, card)
    if owner != state.effect_by:
        open_event(state, PREP_EVENT, state.effect_by, card, NONE, owner)


def _swap(state: Any, theirs: Any, mine: Any) -> None:
    """Both are taken; then each is laid down, first that for the player of the card."""
    me, other = field_of(state, mine), field_of(state, theirs)
    gets, gives = take(state, theirs), take(state, mine)
    _settle(state, me, gets, mine)
    _settle(state, other, gives, theirs)


def _settle(state: Any, seat: Any, card: Any, position: Any) -> None:
    """Where the other one was if it fits, else in the free slot, else it is discarded."""
    slot = free_slot(seat, card)
    if position < FREE_SLOT and NEED[position // NEEDS, position % NEEDS] == card:
        slot = position if takes(state, position // NEEDS, card) else slot
    if preparation_at(state, slot) == NONE:
        put(state, slot, card)
    else:
        to_discard(state, card)


# Ops that ask


def _advance_discards(state: Any, op: Any) -> None:
    """DISCARD_HAND: each seat in turn, as many as it has (R24)."""
    if state.effect_who == NONE:
        _ask_discards_of(state, op, _first_of(state, op[1]))
    seat = np.int64(state.effect_who)
    while op[3] == RANDOM and state.effect_left > 0:
        discard_at_random(state, seat)
        state.effect_left -= 1
    if state.effect_left > 0:
        ask(state, ASK_HAND_DISCARD, np.int64(state.effect_by) if op[3] == BY_ME else seat)
        return
    following = _next_of(state, op[1], seat)
    if following == NONE:
        end_op(state)
    else:
        _ask_discards_of(state, op, following)


def _ask_discards_of(state: Any, op: Any, seat: Any) -> None:
    state.effect_who = seat
    state.effect_left = min(op[2], discardable(state, seat))
    if op[3] == BY_ME:
        learn_hand(state, np.int64(state.effect_by), seat)


def choose_discard(state: Any, card: Any) -> None:
    """A card of the hand that DISCARD_HAND, CHOOSE_DISCARD or PAY_TO_REMOVE is about."""
    discard_from_hand(state, np.int64(state.effect_who), card)
    state.effect_left -= 1
    if state.effect_left == 0 and current_op(state)[0] == PAY_TO_REMOVE:
        discard_obstacle(state, np.int64(state.effect_obstacle))
        end_op(state)


def _advance_look(state: Any, op: Any) -> None:
    """LOOK_TOP: takes the cards, asks which to keep, puts the rest below."""
    if state.effect_who == NONE:
        state.effect_who = state.effect_by
        reshuffle_if_empty(state)
        while state.look_size < op[2] and state.deck_size > 0:
            state.look[state.look_size] = draw_card(state)
            state.look_size += 1
        state.effect_left = min(op[3], np.int64(state.look_size))
    if state.effect_left > 0:
        ask(state, ASK_LOOK_KEEP, state.effect_who)
    else:
        put_below(state, np.int64(state.look_size))
        end_op(state)


def keep(state: Any, card: Any) -> None:
    """The copy nearest the top of the cards looked at goes to the hand."""
    place = 0
    while state.look[place] != card:
        place += 1
    for after in range(place + 1, state.look_size):
        state.look[after - 1] = state.look[after]
    state.look_size -= 1
    state.look[state.look_size] = NONE
    gain(state, np.int64(state.effect_who), card, False)
    state.effect_left -= 1


def _advance_take(state: Any) -> None:
    """TAKE_PREP: into the own field, where it must be placed (R12)."""
    seat = np.int64(state.effect_by)
    if state.effect_who == NONE:
        state.effect_who = seat
        state.limbo = take(state, np.int64(state.targets[0]))
    if state.limbo == NONE:
        end_op(state)
    elif can_place(state, seat, np.int64(state.limbo)):
        ask(state, ASK_PLACE, seat)
    else:
        to_discard(state, state.limbo)
        state.limbo = NONE


def _advance_pay(state: Any, op: Any) -> None:
    """PAY_TO_REMOVE: asks whether, then which cards."""
    if state.effect_who == NONE:
        seat = _first_of(state, op[1])
        if discardable(state, seat) < op[2] or state.effect_obstacle == NONE:
            end_op(state)
        else:
            state.effect_who = seat
            ask(state, ASK_PAY, seat)
    else:
        ask(state, ASK_HAND_DISCARD, state.effect_who)


def pay(state: Any) -> None:
    """The seat asked will discard cards to be rid of the obstacle."""
    state.effect_left = current_op(state)[2]


def _advance_choice(state: Any, op: Any) -> None:
    """CHOOSE_DISCARD and the ops on attached preparations: asks as long as there is a choice."""
    if state.effect_who == NONE:
        state.effect_who = _first_of(state, op[1])
        state.effect_left = op[2]
    if state.effect_left > 0 and _can_choose(state, op[0]):
        ask(state, ASK_CHOICE, state.effect_who)
    else:
        end_op(state)


def _can_choose(state: Any, number: Any) -> Any:
    if number == CHOOSE_DISCARD and discardable(state, np.int64(state.effect_who)) > 0:
        return True
    return state.attached[state.effect_couple] != 0


def choose_preparation(state: Any, position: Any) -> None:
    """An attached preparation is discarded or returned to the hand."""
    state.effect_left -= 1
    if current_op(state)[0] == RETURN_AFFECTED_PREP:
        seat = np.int64(state.effect_who)
        gain(state, seat, take(state, position), True)
    else:
        lose_preparation(state, position)
