"""Love Formula: the turns of a play phase. Numbers (R7..R17) refer to RULES.md.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import shuffle
from linkzoo.engine.compiled import local
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.pieces import (
    ACTION_EVENT,
    ASK_PLACE,
    ASK_RECOVER,
    ASK_SELECT,
    ASK_SWAP_OWN,
    ASK_TARGET_COUPLE,
    ASK_TARGET_OBSTACLE,
    ASK_TARGET_PLAYER,
    ASK_TARGET_PREP,
    ASK_WINDOW,
    AT_EFFECT,
    AT_REACT,
    AT_TARGET,
    COUPLES,
    DISCARD_PREP_OR_COUPLE,
    EFFECT,
    END,
    MAX_PLAYERS,
    NO_STEP,
    NO_TARGET,
    NONE,
    OBSTACLE_EVENT,
    ON_EXPIRE,
    ON_RESOLVE,
    ON_TURN_START,
    OPP,
    OPP_PREP_TAKABLE,
    OVER,
    OWN_OBSTACLE,
    POSITIONS,
    POST,
    PRE,
    RESOLVE,
    SELECT,
    START,
    SWAP_PAIR,
    TURNS,
)
from linkzoo.games.love_formula.rules.draft import start_draft
from linkzoo.games.love_formula.rules.effects import clear_effect, start_effect
from linkzoo.games.love_formula.rules.reactions import can_have, close_event, open_event
from linkzoo.games.love_formula.rules.scoring import set_winners
from linkzoo.games.love_formula.rules.table import (
    TIES_STREAM,
    ask,
    attach_obstacle,
    can_place,
    discard_obstacle,
    free_slot,
    gain,
    is_open,
    learn_openly,
    next_preparation,
    place_at,
    preparation_at,
    put,
    returns_from_discard,
    show,
    to_discard,
)

# What `bind` gives the cards for.
NUM_TYPES: int
JOB: int
KIND: Any
SUBTYPE: Any
PRIORITY: Any
PRIORITY_MOD: Any
COUPLE_NUMBER: Any
TARGET_KIND: Any
TIMER: Any
REVEAL_HAND: Any
HAS_STATIC: Any
OP_COUNT: Any

# T0 and T4


def start_turn(state: Any) -> None:
    """T0 begins."""
    state.stage = START
    state.turn += 1
    state.random_discards = 0
    state.cursor = 0


def advance_start(state: Any) -> None:
    """T0: the turn-start effect of the next obstacle; after the last the seats select."""
    place = np.int64(state.cursor)
    if state.step == EFFECT:
        _end_turn_start(state)
    elif place == state.obstacle_count:
        state.stage = SELECT
        state.cursor = 0
    else:
        state.step = EFFECT
        _start_obstacle_effect(state, ON_TURN_START, place)


def _start_obstacle_effect(state: Any, which: Any, place: Any) -> None:
    card, couple = np.int64(state.obstacle_type[place]), np.int64(state.obstacle_couple[place])
    start_effect(state, which, card, np.int64(state.obstacle_by[place]), couple, place)


def _end_turn_start(state: Any) -> None:
    """T0: counts a timed obstacle down; one that has done all it does is discarded."""
    place, card = np.int64(state.effect_obstacle), state.effect_card
    state.step = NO_STEP
    clear_effect(state)
    if place == NONE:
        return
    if TIMER[card] > 0:
        state.turns_left[place] -= 1
        if state.turns_left[place] == 0 and OP_COUNT[card, ON_TURN_START] and not HAS_STATIC[card]:
            discard_obstacle(state, place)
            return
    state.cursor += 1


def advance_end(state: Any) -> None:
    """T4: the next timed obstacle that is due; after the last the turn is over."""
    place = np.int64(state.cursor)
    if state.step == EFFECT:
        due = np.int64(state.effect_obstacle)
        state.step = NO_STEP
        clear_effect(state)
        if due != NONE:
            discard_obstacle(state, due)
    elif place == state.obstacle_count:
        _end_turn(state)
    elif TIMER[state.obstacle_type[place]] > 0 and state.turns_left[place] == 0:
        state.step = EFFECT
        _start_obstacle_effect(state, ON_EXPIRE, place)
    else:
        state.cursor += 1


def _end_turn(state: Any) -> None:
    state.selected.fill(NONE)
    state.priorities.fill(NONE)
    state.order.fill(NONE)
    state.order_size = 0
    if (state.turn + 1) % TURNS:
        start_turn(state)
    else:
        _end_half(state)


def _end_half(state: Any) -> None:
    """R17: hands are discarded, Part-time Jobs stay; then the second draft, or the end."""
    state.cursor = 0
    if state.half == 2:
        for seat in range(state.num_players):
            state.hand_sizes_at_end[seat] = state.hand_size[seat]
    for seat in range(state.num_players):
        for card in range(NUM_TYPES):
            while card != JOB and state.hands[seat, card] > 0:
                state.hands[seat, card] -= 1
                to_discard(state, card)
        state.hand_size[seat] = state.hands[seat, JOB]
    state.known.fill(0)
    state.taken.fill(0)
    if state.half == 1:
        start_draft(state, 2)
    else:
        state.stage = OVER
        set_winners(state)


# T1 and T2


def advance_select(state: Any) -> None:
    """T1: asks the next seat that has a card to select; after the last all are revealed."""
    while state.cursor < state.num_players:
        if _can_select(state, state.cursor):
            ask(state, ASK_SELECT, state.cursor)
            return
        state.cursor += 1
    _reveal(state)
    state.stage = RESOLVE
    state.cursor = 0
    _open_resolution(state)


def _can_select(state: Any, seat: Any) -> Any:
    for card in range(NUM_TYPES):
        if KIND[card] != REACTION and state.hands[seat, card] > 0:
            return True
    return False


def _reveal(state: Any) -> None:
    """T2: the priorities, and the order: ties are broken by chance."""
    players = np.int64(state.num_players)
    seats = local(MAX_PLAYERS, np.int64)
    for seat in range(MAX_PLAYERS):
        seats[seat] = seat
    shuffle(seats, players, state.seed, TIES_STREAM, state.turn)
    for seat in range(players):
        card = np.int64(state.selected[seat])
        if card != NONE:
            show(state, seat, card)
            state.priorities[seat] = max(0, PRIORITY[card] + priority_change(state, seat))
    for priority in range(max_priority(state), -1, -1):
        for index in range(players):
            if state.priorities[seats[index]] == priority:
                state.order[state.order_size] = seats[index]
                state.order_size += 1


def max_priority(state: Any) -> Any:
    """The highest priority of the turn."""
    highest = np.int64(NONE)
    for seat in range(state.num_players):
        highest = max(highest, np.int64(state.priorities[seat]))
    return highest


def priority_change(state: Any, seat: Any) -> Any:
    """The sum of what obstacles change in the priorities of a seat."""
    change = np.int64(0)
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            change += PRIORITY_MOD[state.obstacle_type[place]]
    return change


# T3


def advance_resolve(state: Any) -> None:
    """T3: window, card, window for each seat in the order."""
    if state.cursor == state.order_size:
        state.stage = END
        state.cursor = 0
        state.step = NO_STEP
    elif state.step == EFFECT:
        _advance_card(state)
    else:
        ask(state, ASK_WINDOW, state.order[state.cursor])


def _open_resolution(state: Any) -> None:
    state.step = PRE
    state.move_used = 0
    state.discard_closed = 0


def close_window(state: Any) -> None:
    """R11: the card takes effect, or the next seat has its turn."""
    state.discard_closed = 0
    if state.step == PRE:
        state.step = EFFECT
    else:
        state.cursor += 1
        _open_resolution(state)


def _advance_card(state: Any) -> None:
    if state.acting_card == NONE:
        _begin_card(state)
    elif state.acting_step == AT_REACT:
        _after_reactions(state)
    else:
        _end_card(state)


def _begin_card(state: Any) -> None:
    seat = np.int64(state.order[state.cursor])
    card = np.int64(state.selected[seat])
    state.acting_card = card
    state.acting_by = seat
    state.acting_step = AT_EFFECT
    if KIND[card] == PREPARATION:
        if can_place(state, seat, card):
            ask(state, ASK_PLACE, seat)
        else:
            _end_card(state)  # R12
    elif KIND[card] == COUPLE:
        state.owner[COUPLE_NUMBER[card]] = seat  # R9
        state.selected[seat] = NONE
        _end_card(state)
    elif TARGET_KIND[card] == NO_TARGET:
        _open_action_event(state)
    elif has_target(state, seat, card):
        state.acting_step = AT_TARGET
        _ask_target(state, seat, TARGET_KIND[card])
    else:
        _end_card(state)  # R13, R14


def place_at_couple(state: Any, couple: Any) -> None:
    """R12: the preparation that is to be placed goes to a couple."""
    card = _placed(state)
    put(state, place_at(couple, card), card)


def place_in_slot(state: Any) -> None:
    """R12: the preparation that is to be placed goes to its free slot."""
    seat = np.int64(state.acting_by)
    card = _placed(state)
    put(state, free_slot(seat, card), card)


def _placed(state: Any) -> Any:
    """Takes the preparation that is to be placed: one that was taken, or the card itself."""
    card = np.int64(state.limbo)
    if card != NONE:
        state.limbo = NONE
        return card
    state.selected[state.acting_by] = NONE
    return np.int64(state.acting_card)


def _ask_target(state: Any, seat: Any, kind: Any) -> None:
    if KIND[state.acting_card] == OBSTACLE:
        ask(state, ASK_TARGET_COUPLE, seat)
    elif kind == OWN_OBSTACLE:
        ask(state, ASK_TARGET_OBSTACLE, seat)
    elif kind == DISCARD_PREP_OR_COUPLE:
        ask(state, ASK_RECOVER, seat)
    elif kind == OPP:
        ask(state, ASK_TARGET_PLAYER, seat)
    else:
        ask(state, ASK_TARGET_PREP, seat)


def choose_target(state: Any, target: Any) -> None:
    """R13, R14: a target of the card that resolves; when all are chosen, others may react."""
    card, seat = np.int64(state.acting_card), np.int64(state.acting_by)
    if state.targets[0] == NONE:
        state.targets[0] = target
        if TARGET_KIND[card] == SWAP_PAIR:
            ask(state, ASK_SWAP_OWN, seat)
            return
    else:
        state.targets[1] = target
    if KIND[card] == OBSTACLE:
        _open_obstacle_event(state)
    else:
        _open_action_event(state)


def _open_obstacle_event(state: Any) -> None:
    """E1 of R19."""
    couple = np.int64(state.targets[0])
    state.acting_step = AT_REACT
    owner = np.int64(state.owner[couple])
    card, seat = np.int64(state.acting_card), np.int64(state.acting_by)
    open_event(state, OBSTACLE_EVENT, seat, card, couple, owner)


def _open_action_event(state: Any) -> None:
    """E2 of R19."""
    state.acting_step = AT_REACT
    card, seat = np.int64(state.acting_card), np.int64(state.acting_by)
    open_event(state, ACTION_EVENT, seat, card)


def _after_reactions(state: Any) -> None:
    """R22: the card was cancelled, is aimed at another couple, or takes effect."""
    cancelled, redirected = state.event_cancelled, state.event_redirected
    close_event(state)
    card, seat = np.int64(state.acting_card), np.int64(state.acting_by)
    if cancelled:
        _end_card(state)
    elif redirected:
        _open_obstacle_event(state)
    else:
        state.acting_step = AT_EFFECT
        couple, place = np.int64(NONE), np.int64(NONE)
        if KIND[card] == OBSTACLE:
            couple, place = np.int64(state.targets[0]), np.int64(state.obstacle_count)
            _attach(state, card, couple, seat)
        start_effect(state, ON_RESOLVE, card, seat, couple, place)


def _attach(state: Any, card: Any, couple: Any, seat: Any) -> None:
    """R13; a hand that comes to lie open is known from now on."""
    attach_obstacle(state, card, couple, seat, max(TIMER[card], 0))
    state.selected[seat] = NONE
    if REVEAL_HAND[card]:
        learn_openly(state, np.int64(state.owner[couple]))


def _end_card(state: Any) -> None:
    """R14: the card is discarded if it still lies there, a Part-time Job returns to the hand."""
    card, seat = np.int64(state.acting_card), np.int64(state.acting_by)
    obstacle = np.int64(state.effect_obstacle)
    clear_effect(state)
    if state.selected[seat] != NONE:
        state.selected[seat] = NONE
        if card == JOB:
            gain(state, seat, card, True)
        else:
            to_discard(state, card)
    elif KIND[card] == OBSTACLE and TIMER[card] < 0 and obstacle != NONE:
        discard_obstacle(state, obstacle)
    state.acting_card = NONE
    state.acting_by = NONE
    state.acting_step = NONE
    state.targets.fill(NONE)
    state.step = POST


# Targets


def has_target(state: Any, seat: Any, card: Any) -> Any:
    """Whether a card has a legal target now."""
    kind = TARGET_KIND[card]
    if KIND[card] == OBSTACLE:
        for couple in range(COUPLES):
            if is_couple_target(state, seat, card, couple):
                return True
    elif kind == OPP:
        return True
    elif kind == DISCARD_PREP_OR_COUPLE:
        for place in range(state.discard_size):
            if returns_from_discard(state.discard[place]):
                return True
    elif kind == OWN_OBSTACLE:
        for place in range(state.obstacle_count):
            if state.owner[state.obstacle_couple[place]] == seat:
                return True
    else:
        for other in range(state.num_players):
            if next_preparation_target(state, seat, kind, other, 0) < POSITIONS:
                return True
    return False


def is_couple_target(state: Any, seat: Any, card: Any, couple: Any) -> Any:
    """R13: whether an obstacle may be attached to this couple by a seat."""
    return state.owner[couple] != seat and can_have(state, couple, card)


def next_preparation_target(state: Any, seat: Any, kind: Any, other: Any, position: Any) -> Any:
    """The next position from this one on of a field that a card may aim at, or POSITIONS."""
    if other == seat:
        return POSITIONS
    position = next_preparation(state, other, position)
    while position < POSITIONS and not _is_preparation_target(state, seat, kind, position):
        position = next_preparation(state, other, position + 1)
    return position


def _is_preparation_target(state: Any, seat: Any, kind: Any, position: Any) -> Any:
    if not is_open(state, position):
        return False
    card = preparation_at(state, position)
    if kind == OPP_PREP_TAKABLE:
        return can_place(state, seat, card)
    if kind == SWAP_PAIR:
        return next_swap(state, seat, card, 0) < POSITIONS
    return True


def next_swap(state: Any, seat: Any, card: Any, position: Any) -> Any:
    """The next own preparation, from a position on, of the subtype of a card, or POSITIONS."""
    position = next_preparation(state, seat, position)
    while position < POSITIONS and SUBTYPE[preparation_at(state, position)] != SUBTYPE[card]:
        position = next_preparation(state, seat, position + 1)
    return position
