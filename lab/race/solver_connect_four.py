"""An exact solver of Connect Four: won, drawn or lost, for positions from about ply 10 on.

A position is two bit sets, the stones of the side to move (`own`) and all stones (`every`). A
column has seven bits, the lowest cell first; the seventh stays empty. Alpha-beta search with a
transposition table; moves that let the other side win at once aren't tried.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

COLUMNS, ROWS, HEIGHT = 7, 6, 7  # bits of a column
_SLOTS = (1 << 23) - 15  # of the table, a prime
_LOWEST = np.uint64(sum(1 << HEIGHT * column for column in range(COLUMNS)))
_CELLS = np.uint64(int(_LOWEST) * (2**ROWS - 1))
_ORDER = np.array([3, 2, 4, 1, 5, 0, 6])  # columns, the centre first
_STEPS = np.array([1, HEIGHT - 1, HEIGHT, HEIGHT + 1], np.uint64)  # to the next cell of a line
_ONE = np.uint64(1)

# Keys, values 3 * (lower bound + 1) + upper bound + 1, and moves with their order by ply.
Table = tuple[NDArray[np.uint64], NDArray[np.int8], NDArray[np.uint64], NDArray[np.int64]]


def new_table() -> Table:
    """Returns an empty transposition table, with the search's stack."""
    stack = np.zeros((ROWS * COLUMNS, COLUMNS), np.uint64)
    return np.zeros(_SLOTS, np.uint64), np.zeros(_SLOTS, np.int8), stack, stack.astype(np.int64)


@njit(cache=True)
def completing(own: np.uint64, every: np.uint64) -> np.uint64:
    """Returns the empty cells that give `own` four in a line."""
    found = np.uint64(0)
    for step in _STEPS:
        one, two, three = step, step + step, step + step + step
        before, after = (own << one) & (own << two), (own >> one) & (own >> two)
        found |= before & ((own << three) | (own >> one))
        found |= after & ((own >> three) | (own << one))
    return found & _CELLS & ~every


@njit(cache=True)
def playable(every: np.uint64) -> np.uint64:
    """Returns the cells onto which a stone can fall."""
    return (every + _LOWEST) & _CELLS


@njit(cache=True)
def _count(bits: np.uint64) -> int:
    number = 0
    while bits:
        bits &= bits - _ONE
        number += 1
    return number


@njit(cache=True)
def _order(
    own: np.uint64,
    every: np.uint64,
    moves: np.uint64,
    stones: NDArray[np.uint64],
    scores: NDArray[np.int64],
) -> int:
    """Fills `stones` with moves, most threats first; returns their number."""
    count = 0
    for column in _ORDER:
        stone = moves & (np.uint64(2**ROWS - 1) << np.uint64(HEIGHT * column))
        if stone:
            score, at = _count(completing(own | stone, every)), count
            while at and scores[at - 1] < score:
                stones[at], scores[at] = stones[at - 1], scores[at - 1]
                at -= 1
            stones[at], scores[at] = stone, score
            count += 1
    return count


@njit(cache=True)
def _search(
    own: np.uint64,
    every: np.uint64,
    alpha: int,
    beta: int,
    keys: NDArray[np.uint64],
    values: NDArray[np.int8],
    stack: NDArray[np.uint64],
    order: NDArray[np.int64],
) -> int:
    """Returns the value, or a bound outside alpha..beta, if no move wins at once."""
    other = own ^ every
    moves, threats = playable(every), completing(other, every)
    forced = moves & threats
    if forced & (forced - _ONE):
        return -1
    if forced:
        moves = forced
    moves &= ~(threats >> _ONE)
    if moves == 0:
        return -1
    ply = _count(every)
    if ply >= ROWS * COLUMNS - 2:
        return 0
    slot = (own + every) % np.uint64(len(keys))
    if keys[slot] == own + every:
        low, high = values[slot] // 3 - 1, values[slot] % 3 - 1
        if low >= beta or low == high:
            return int(low)
        if high <= alpha:
            return int(high)
        alpha, beta = max(alpha, low), min(beta, high)
    stones = stack[ply]
    best, bound = -1, alpha
    for index in range(_order(own, every, moves, stones, order[ply])):
        value = -_search(other, every | stones[index], -beta, -bound, keys, values, stack, order)
        best = max(best, value)
        bound = max(bound, best)
        if best >= beta:
            break
    keys[slot] = own + every
    lower, upper = (best, 1) if best >= beta else (-1, best) if best <= alpha else (best, best)
    values[slot] = 3 * (lower + 1) + upper + 1
    return best


def value(own: int, every: int, table: Table) -> int:
    """Returns the value for the side to move: 1 won, 0 drawn, -1 lost; the game isn't over."""
    stones = np.uint64(own), np.uint64(every)
    if completing(*stones) & playable(stones[1]):
        return 1
    keys, values, stack, order = table
    return int(_search(*stones, -1, 1, keys, values, stack, order))


def move_values(actions: Sequence[int], table: Table) -> dict[int, int]:
    """Returns the values of the legal columns for the side to move."""
    own, every = stones(actions)
    found: dict[int, int] = {}
    wins, cells = int(completing(np.uint64(own), np.uint64(every))), int(playable(np.uint64(every)))
    for column in range(COLUMNS):
        if stone := cells & ((2**ROWS - 1) << HEIGHT * column):
            after = every | stone
            ended = bool(wins & stone) or after == int(_CELLS)
            then = 0 if ended else value(own ^ every, after, table)
            found[column] = 1 if wins & stone else -then
    return found


def stones(actions: Sequence[int]) -> tuple[int, int]:
    """Returns `own` and `every` after discs into these columns, 0..6."""
    own = every = 0
    for column in actions:
        cell = (every + (1 << HEIGHT * column)) & ((2**HEIGHT - 1) << HEIGHT * column)
        own, every = own ^ every, every | cell
    return own, every
