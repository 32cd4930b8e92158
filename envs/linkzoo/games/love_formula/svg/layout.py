"""The layout of players' fields on a page: rows of fields of equal or unequal widths."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg.fields import Box, Look, room_for

_GAP = 6  # between fields


class Layout(NamedTuple):
    """Rows of fields.

    Attributes:
        widths: The widths of the fields in each row.
        heights: The height of each row.
    """

    widths: list[list[float]]
    heights: list[float]

    @property
    def height(self) -> float:
        """The height of all rows."""
        return sum(self.heights) + _GAP * (len(self.heights) - 1)

    def boxes(self, x: float, y: float, room: float) -> list[Box]:
        """Returns the boxes of the fields from (x, y) on, which fill the room if there is more."""
        gaps = self.height - sum(self.heights)
        share = max((room - gaps) / sum(self.heights), 1)
        boxes = []
        top = y
        for widths, height in zip(self.widths, self.heights, strict=True):
            left = x
            for width in widths:
                boxes.append(Box(left, top, width, height * share))
                left += width + _GAP
            top += height * share + _GAP
        return boxes


def layouts(
    view: Json, table: Table, order: list[int], look: Look, width: float, columns: int
) -> list[Layout]:
    """Returns ways to lay out the fields, first the one with the widest fields.

    Args:
        view: The position.
        table: The cards.
        order: The players in the order of their fields.
        look: The look of the fields.
        width: The width of all fields.
        columns: The number of the narrowest fields in a row; 0 for no narrow ones.
    """

    @cache
    def needed(player: int, field_width: float) -> float:
        return room_for(view, player, table, field_width, look)

    def height_of(row: list[int], widths: list[float]) -> float:
        return max(map(needed, row, widths))

    laid_out = []
    for rows in _groupings(order, columns):
        chosen = []
        heights = []
        for row in rows:
            options = [_widths(parts, width) for parts in _shares(len(row), columns)]
            needs = [height_of(row, widths) for widths in options]
            heights.append(min(needs))
            chosen.append(options[needs.index(min(needs))])
        laid_out.append(Layout(chosen, heights))
    return laid_out


def _groupings(order: list[int], columns: int) -> Iterator[list[list[int]]]:
    """Yields ways to share rows between the fields, first the one with the widest fields."""
    widest = 1 if len(order) == 2 else 2
    for number in range(widest, max(widest, min(columns, len(order))) + 1):
        yield [order[first : first + number] for first in range(0, len(order), number)]


def _shares(fields: int, columns: int) -> Iterator[tuple[int, ...]]:
    """Yields ways to share a row between fields, as proportions, first the equal one."""
    yield (1,) * fields
    if 1 < fields < columns:
        for cuts in combinations(range(1, columns), fields - 1):
            ends = (0, *cuts, columns)
            yield tuple(end - start for start, end in pairwise(ends))


def _widths(shares: tuple[int, ...], width: float) -> list[float]:
    """Returns the widths of fields in proportions, each with the gaps of its columns."""
    column = (width - _GAP * (sum(shares) - 1)) / sum(shares)
    return [column * share + _GAP * (share - 1) for share in shares]
