"""Love Formula: the worth of a position after a decision, for greedy play.

The worth is in hundredths of a point: the expected points of the own field and cards, less the mean
of the other fields. It counts only information of the seat. The numbers are estimates.
"""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION, REACTION
from linkzoo.games.love_formula.components import BITS, NEEDS, NONE, int64
from linkzoo.games.love_formula.rules import fields, scoring, targets
from linkzoo.games.love_formula.tables import CARDS, op_of

# Worth of an incomplete couple beyond its point, by requirements (2 or 3) and those met.
_PROMISE = np.array([[50, 190, 0], [50, 150, 420]])
_COMPLETION = np.array([300, 800])  # points that completing a couple adds
_HELD = 3  # tenths of its worth that a card in hand counts


@compiled
def heuristic(before: Record, after: Record, seat: int) -> float:
    """Returns the worth of the position after a decision, for the seat that made it."""
    worth = int64(field(after, seat) + cards(after, seat))
    others = int64(0)
    for other in range(after.num_players):
        if other != seat:
            others += field(after, other)
    if after.decision == decisions.DISCARD_MENU and after.seat == seat:
        worth -= 1  # else the menu would be as good as passing
    return float(worth - others // (int64(after.num_players) - 1))


@compiled
def field(state: Record, seat: int) -> int:
    """Returns the worth of a field: points, couples under way, and obstacles."""
    worth = int64(100 * scoring.points(state, seat))
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat and not fields.is_complete(state, couple):
            worth += promise(state, couple, BITS[state.attached[couple]])
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            worth -= burden(state, place)
    return worth


@compiled
def promise(state: Record, couple: int, met: int) -> int:
    """Returns the expected points of an incomplete couple in the rest of the game."""
    size = BITS[CARDS.all_met[couple]]
    turns = CARDS.halves * CARDS.phase_turns - int64(state.turn)
    return int64(_PROMISE[size - 2, met] * min(turns, 6) // 6)


@compiled
def burden(state: Record, place: int) -> int:
    """Returns the cost of an obstacle for the owner of its couple, beyond points."""
    card = int64(state.obstacle_type[place])
    couple = state.obstacle_couple[place]
    cost = int64(30 * CARDS.reveal_hand[card] - 20 * CARDS.priority_mod[card])
    if CARDS.op_count[card, ops.ON_TURN_START] > 0:
        cost += 60 * max(int64(state.turns_left[place]), 1)
    if not fields.is_complete(state, couple):
        cost += 120 * CARDS.no_attach[card]
        if CARDS.op_count[card, ops.ON_EXPIRE] > 0:
            cost += 150
    return cost


@compiled
def cards(state: Record, seat: int) -> int:
    """Returns the worth of hand, pile, selected card and moving preparation."""
    worth = int64(0)
    for card in range(CARDS.num_types):
        count = held(state, seat, card)
        if count > 0 and card != CARDS.job:
            worth += _worth(state, seat, card) * _HELD // 10
            worth += (count - 1) * _worth(state, seat, card) * _HELD // 20  # further copies: half
    if state.selected[seat] != NONE:
        worth += _played(state, seat, int64(state.selected[seat]))
    if state.moving != NONE and state.seat == seat:
        worth += _moved(state, seat)
    return worth


@compiled
def _played(state: Record, seat: int, card: int) -> int:
    """Returns the worth of the selected card."""
    kind = CARDS.kind[card]
    if kind in (PREPARATION, COUPLE):
        return _worth(state, seat, card)
    worth = int64(0)
    if CARDS.target[card] == ops.NO_TARGET or targets.has_target(state, seat, card):
        for index in range(CARDS.op_count[card, ops.ON_RESOLVE]):
            op = op_of(card, ops.ON_RESOLVE, index)
            if op.kind == ops.DRAW:
                worth += 30 * op.number
            elif op.kind != ops.SELF_TO_HAND:
                worth += 40
        if CARDS.target[card] != ops.NO_TARGET:
            worth += 80
    return worth


@compiled
def _worth(state: Record, seat: int, card: int) -> int:
    """Returns the worth of a card in hand when it is played."""
    kind = CARDS.kind[card]
    if kind == PREPARATION:
        return _preparation(state, seat, card)
    if kind == COUPLE:
        return _couple(state, seat, CARDS.number[card])
    if kind == OBSTACLE:
        return int64(130)
    if kind == REACTION:
        return int64(120)
    return int64(110)


@compiled
def _preparation(state: Record, seat: int, card: int) -> int:
    """Returns the best worth of a preparation: at a couple in the field or in hand, or free."""
    best = int64(100 if fields.slot_is_empty(state, seat, card) else 10)
    for couple in range(CARDS.num_couples):
        if CARDS.need_place[couple, card] == NONE:
            continue
        if state.owner[couple] == seat:
            if fields.takes(state, couple, card):
                best = max(best, 100 + _step(state, couple))
        elif held(state, seat, CARDS.couple_type[couple]) > 0:
            best = max(best, 160)
    return best


@compiled
def _step(state: Record, couple: int) -> int:
    """Returns the worth that one more preparation adds to a couple."""
    size = BITS[CARDS.all_met[couple]]
    met = BITS[state.attached[couple]]
    now = promise(state, couple, met)
    if met + 1 == size:
        return int64(_COMPLETION[size - 2]) - now
    return promise(state, couple, met + 1) - now


@compiled
def held(state: Record, seat: int, card: int) -> int:
    """Returns the copies of a card in hand and on the pile."""
    return int64(state.hands[seat, card]) + int64(state.piles[seat, card])


@compiled
def _couple(state: Record, seat: int, couple: int) -> int:
    """Returns the worth of a couple in hand: more for each preparation in hand or a free slot."""
    worth = 100 + promise(state, couple, 0)
    for place in range(NEEDS):
        card = CARDS.needs[couple, place]
        if card == NONE:
            continue
        if held(state, seat, card) > 0:
            worth += 70
        if state.free[seat, CARDS.subtype[card]] == card:
            worth += 70
    return worth


@compiled
def _moved(state: Record, seat: int) -> int:
    """Returns the most that the moving preparation can add; slightly below 0 for nothing."""
    card = fields.preparation_at(state, int64(state.moving))
    best = int64(-2)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat and fields.takes(state, couple, card):
            best = max(best, _step(state, couple) - 2)
    return best
