"""An exact solver of Hex on 6x6, for positions from about ply 20 on.

A position is two bit sets, the stones of the seat to move (`own`) and the other seat's. A row has
seven bits, the left cell first; the seventh stays empty. Depth-first search with a transposition
table; a threat to win at once is always parried.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

SIZE = 6
CELLS = SIZE * SIZE
_WIDTH = SIZE + 1  # bits of a row
_SLOTS = (1 << 22) - 3  # of the table, a prime
_ROW = np.uint64(2**SIZE - 1)
_COLUMN = np.uint64(sum(1 << _WIDTH * row for row in range(SIZE)))
_LAST = np.uint64(_WIDTH * (SIZE - 1))
_BOARD = np.uint64(int(_COLUMN) * int(_ROW))
_STEPS = np.array([1, _WIDTH, _WIDTH - 1], np.uint64)  # right, down, down and left
_ONE = np.uint64(1)
_UNKNOWN, _LOST, _WON = 0, 1, 2

# Keys [slots, 2] (own stones, the other's) and values.
Table = tuple[NDArray[np.uint64], NDArray[np.int8]]


def new_table() -> Table:
    """Returns an empty transposition table."""
    return np.zeros((_SLOTS, 2), np.uint64), np.zeros(_SLOTS, np.int8)


@njit(cache=True)
def connects(stones: np.uint64, vertical: bool) -> bool:
    """Returns whether the stones reach from the upper to the lower edge, or from left to right."""
    first = _ROW if vertical else _COLUMN
    last = _ROW << _LAST if vertical else _COLUMN << np.uint64(SIZE - 1)
    chain = np.uint64(0)
    grown = stones & first
    while grown != chain:
        chain = grown
        for step in _STEPS:
            grown |= ((chain << step) | (chain >> step)) & stones
    return bool(chain & last)


@njit(cache=True)
def _completing(stones: np.uint64, empty: np.uint64, vertical: bool) -> np.uint64:
    """Returns the empty cells that win at once."""
    winning = np.uint64(0)
    if not connects(stones | empty, vertical):
        return winning
    cells = empty
    while cells:
        cell = cells & (~cells + _ONE)
        cells ^= cell
        if connects(stones | cell, vertical):
            winning |= cell
    return winning


@njit(cache=True)
def _wins(
    own: np.uint64,
    other: np.uint64,
    vertical: bool,
    keys: NDArray[np.uint64],
    values: NDArray[np.int8],
) -> bool:
    """Returns whether the seat to move wins; `vertical` if it connects the upper and lower edge."""
    slot = (own * np.uint64(0x9E3779B97F4A7C15) ^ other) % np.uint64(len(values))
    if values[slot] != _UNKNOWN and keys[slot, 0] == own and keys[slot, 1] == other:
        return bool(values[slot] == _WON)
    empty = _BOARD & ~(own | other)
    won = bool(_completing(own, empty, vertical))
    moves = empty
    threats = _completing(other, empty, not vertical)
    if threats:
        moves = threats  # with two of them, whatever is played loses at once
    while moves and not won:
        cell = moves & (~moves + _ONE)
        moves ^= cell
        won = not _wins(other, own | cell, not vertical, keys, values)
    keys[slot, 0] = own
    keys[slot, 1] = other
    values[slot] = _WON if won else _LOST
    return won


def stones(actions: Sequence[int]) -> tuple[int, int]:
    """Returns the stones of the seat to move and of the other seat, as bits."""
    own = 0
    other = 0
    for action in actions:
        row, column = divmod(action, SIZE)
        own, other = other, own | 1 << (row * _WIDTH + column)
    return own, other


def move_values(actions: Sequence[int], table: Table) -> dict[int, int]:
    """Returns the values of the empty cells for the seat to move, 1 or -1; the game isn't over."""
    own, other = stones(actions)
    vertical = len(actions) % 2 == 0
    values = {}
    for action in sorted(set(range(CELLS)) - set(actions)):
        row, column = divmod(action, SIZE)
        after = np.uint64(own | 1 << (row * _WIDTH + column))
        if connects(after, vertical):
            values[action] = 1
        else:
            values[action] = -1 if _wins(np.uint64(other), after, not vertical, *table) else 1
    return values
