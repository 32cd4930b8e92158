"""Perfect play in Linkage by trying everything: the end of a game, from the rules alone.

A slow model like the oracle: cells are tuples, and nothing of the package is used.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tests.linkage.oracle import COLOURS, Cell, count_groups, neighbours

Board = frozenset[tuple[Cell, int]]  # the coloured cells


def perfect_groups(position: Mapping[str, Any]) -> int:
    """The groups at the end if More wants many and Fewer wants few, from a position as JSON."""
    rows = position["board"]
    cells = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}
    empty = frozenset(cell for cell, letter in cells.items() if letter == ".")
    board = frozenset((c, COLOURS.index(x)) for c, x in cells.items() if x in COLOURS)
    supply = tuple(position["supply"][letter] for letter in COLOURS)
    last: frozenset[Cell] = frozenset()
    if position["counter"] is not None:
        _, *names = position["pieces"][position["counter"]]
        last = frozenset((int(name[1]) - 1, "abcdefg".index(name[0])) for name in names)
    if position["seat"] is None:
        return count_groups(dict(board))
    return _value(board, empty, supply, last, position["seat"] == position["more"])


@cache
def _value(
    board: Board,
    empty: frozenset[Cell],
    supply: tuple[int, ...],
    last: frozenset[Cell],
    more: bool,
) -> int:
    closed = {beside for cell in last for beside in neighbours(cell)}  # R4
    pairs = list(_pairs(empty - closed))
    if not pairs:
        if not any(_pairs(empty)):
            return count_groups(dict(board))  # R8, R9
        return _value(board, empty, supply, frozenset(), not more)  # R6: a pass
    values = {
        _value(
            board | {(cell, colour) for cell in pair},
            empty - pair,
            tuple(count - (other == colour) for other, count in enumerate(supply)),
            pair,
            not more,
        )
        for pair in pairs
        for colour in range(4)
        if supply[colour] > 0
    }
    return max(values) if more else min(values)


def _pairs(cells: frozenset[Cell]) -> Iterator[frozenset[Cell]]:
    """The pairs of neighbours."""
    for row, column in cells:
        for other in ((row, column + 1), (row + 1, column)):
            if other in cells:
                yield frozenset({(row, column), other})
