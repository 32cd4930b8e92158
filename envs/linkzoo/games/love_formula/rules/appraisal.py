"""Love Formula: how good a decision was, for greedy play.

A position is worth what the own field promises, with what the own cards can add, less what the
others' fields promise; in hundredths of a point. Only what the seat can see is counted. The numbers
are estimates.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.pieces import (
    ASK_DISCARD_MENU,
    BITS,
    COUPLES,
    DRAW,
    NEEDS,
    NO_TARGET,
    NONE,
    ON_EXPIRE,
    ON_RESOLVE,
    ON_TURN_START,
    SELF_TO_HAND,
    SLOTS,
    TURNS,
)
from linkzoo.games.love_formula.rules.scoring import couple_points
from linkzoo.games.love_formula.rules.table import is_complete, preparation_at, slot_is_empty, takes
from linkzoo.games.love_formula.rules.turns import has_target

# What `bind` gives the cards for.
NUM_TYPES: int
JOB: int
KIND: Any
FULL: Any
NEED: Any
NEED_PLACE: Any
COUPLE_NUMBER: Any
COUPLE_TYPE: Any
TARGET_KIND: Any
NO_ATTACH: Any
PRIORITY_MOD: Any
REVEAL_HAND: Any
VP: Any
OP: Any
OP_COUNT: Any

# What an incomplete couple promises beyond its point, by requirements (2 or 3) and those met.
_PROMISE = np.array([[50, 190, 0], [50, 150, 420]])
_COMPLETION = np.array([300, 800])  # a completed couple's points beyond the one that it had
_HELD = 3  # tenths of its worth that a card has while it isn't played


def appraise(before: Any, after: Any, seat: Any) -> Any:
    """The worth of the position after a decision, for the seat that made it."""
    worth = np.int64(_field(after, seat) + _cards(after, seat))
    others = np.int64(0)
    for other in range(after.num_players):
        if other != seat:
            others += _field(after, other)
    if after.decision == ASK_DISCARD_MENU and after.seat == seat:
        worth -= 1  # a second thought that leads back
    return float(worth - others // (np.int64(after.num_players) - 1))


def _field(state: Any, seat: Any) -> Any:
    """What a field promises: points, couples under way, and obstacles."""
    worth = np.int64(0)
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            worth += 100 * (couple_points(state, couple) + BITS[state.attached[couple]])
            if not is_complete(state, couple):
                worth += _promise(state, couple, BITS[state.attached[couple]])
    for slot in range(SLOTS):
        if state.free[seat, slot] != NONE:
            worth += 100
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            worth -= _burden(state, place)
    return worth


def _promise(state: Any, couple: Any, met: Any) -> Any:
    """What is to come from an incomplete couple, in the turns that are left."""
    size = BITS[FULL[couple]]
    left = 2 * TURNS - np.int64(state.turn)
    return _PROMISE[size - 2, met] * min(left, 6) // 6


def _burden(state: Any, place: Any) -> Any:
    """What an obstacle costs whose couple it lies at."""
    card = np.int64(state.obstacle_type[place])
    couple = state.obstacle_couple[place]
    turns: Any = max(np.int64(state.turns_left[place]), 1)
    burden = -100 * VP[card] - 20 * PRIORITY_MOD[card] + 30 * REVEAL_HAND[card]
    if OP_COUNT[card, ON_TURN_START] > 0:
        burden += 60 * turns
    if not is_complete(state, couple):
        burden += 120 * NO_ATTACH[card]
        if OP_COUNT[card, ON_EXPIRE] > 0:
            burden += 150
    return burden


def _cards(state: Any, seat: Any) -> Any:
    """What the hand, the pile, the selected card and one that is to be placed can add."""
    worth = np.int64(0)
    for card in range(NUM_TYPES):
        count = _held(state, seat, card)
        if count > 0 and card != JOB:
            worth += _worth(state, seat, card) * _HELD // 10
            worth += (count - 1) * _worth(state, seat, card) * _HELD // 20
    if state.selected[seat] != NONE:
        worth += _played(state, seat, np.int64(state.selected[seat]))
    if state.moving != NONE and state.seat == seat:
        worth += _moved(state, seat)
    return worth


def _played(state: Any, seat: Any, card: Any) -> Any:
    """What a card adds that is about to be played."""
    kind = KIND[card]
    if kind in (PREPARATION, COUPLE):
        return _worth(state, seat, card)
    worth = np.int64(0)
    if TARGET_KIND[card] == NO_TARGET or has_target(state, seat, card):
        for index in range(OP_COUNT[card, ON_RESOLVE]):
            op = OP[card, ON_RESOLVE, index]
            if op[0] == DRAW:
                worth += 30 * op[2]
            elif op[0] != SELF_TO_HAND:
                worth += 40
        if TARGET_KIND[card] != NO_TARGET:
            worth += 80
    return worth


def _worth(state: Any, seat: Any, card: Any) -> Any:
    """What a card of the hand would add to the field."""
    kind = KIND[card]
    if kind == PREPARATION:
        return _preparation(state, seat, card)
    if kind == COUPLE:
        return _couple(state, seat, COUPLE_NUMBER[card])
    if kind == OBSTACLE:
        return np.int64(130)
    return np.int64(120 if kind == REACTION else 110)


def _preparation(state: Any, seat: Any, card: Any) -> Any:
    """The best that a preparation can do: at a couple of the field, at one in hand, or free."""
    best: Any = np.int64(100 if slot_is_empty(state, seat, card) else 10)
    for couple in range(COUPLES):
        if NEED_PLACE[couple, card] == NONE:
            continue
        if state.owner[couple] == seat:
            if takes(state, couple, card):
                best = max(best, 100 + _step(state, couple))
        elif _held(state, seat, COUPLE_TYPE[couple]) > 0:
            best = max(best, 160)
    return best


def _step(state: Any, couple: Any) -> Any:
    """What one more preparation does for a couple."""
    size, met = BITS[FULL[couple]], BITS[state.attached[couple]]
    now = _promise(state, couple, met)
    if met + 1 == size:
        return _COMPLETION[size - 2] - now
    return _promise(state, couple, met + 1) - now


def _held(state: Any, seat: Any, card: Any) -> Any:
    """Copies of a card in hand and on the pile."""
    return np.int64(state.hands[seat, card]) + np.int64(state.piles[seat, card])


def _couple(state: Any, seat: Any, couple: Any) -> Any:
    """A couple in hand: its promise, and more for each preparation that waits for it."""
    worth = 100 + _promise(state, couple, 0)
    for place in range(NEEDS):
        card = NEED[couple, place]
        if card == NONE:
            continue
        if _held(state, seat, card) > 0:
            worth += 70
        for slot in range(SLOTS):
            if state.free[seat, slot] == card:
                worth += 70
    return worth


def _moved(state: Any, seat: Any) -> Any:
    """What the move of a preparation can add, once it is chosen; a little less than nothing."""
    card = preparation_at(state, np.int64(state.moving))
    best: Any = np.int64(-2)
    for couple in range(COUPLES):
        if state.owner[couple] == seat and takes(state, couple, card):
            best = max(best, _step(state, couple) - 2)
    return best
