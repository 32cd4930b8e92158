"""Where the spaces of a board lie in the picture."""

from collections.abc import Iterable
from math import atan2, degrees, hypot

from linkzoo.games.link_o import style
from linkzoo.games.link_o.board import Board, Space

Point = tuple[float, float]


class Layout:
    """A board, scaled into a box (x, y, width, height) of the picture.

    `tile_scale` is that of the tiles: they fit between their neighbours and the next circle.
    """

    def __init__(self, board: Board, box: tuple[float, float, float, float]) -> None:
        left, top, width, height = box
        self._spaces = board.spaces
        xs, ys = zip(*((space.x, space.y) for space in self._spaces), strict=True)
        steps = [_distance(s, self._spaces[s.next]) for s in self._spaces]
        gaps = [_distance(s, t) for s in self._spaces for t in self._spaces]
        nearest = min(gap for gap in gaps if gap)
        # In the board's own units, then in pixels.
        tile_scale = min(0.84 * nearest / style.BREADTH, 0.86 * min(steps) / style.LENGTH)
        wide = max(xs) - min(xs) + tile_scale * style.LENGTH
        high = max(ys) - min(ys) + tile_scale * style.LENGTH
        self._scale = min(width / wide, height / high)
        self._shift = (
            left + width / 2 - self._scale * (min(xs) + max(xs)) / 2,
            top + height / 2 - self._scale * (min(ys) + max(ys)) / 2,
        )
        self.tile_scale = tile_scale * self._scale

    def at(self, space: int) -> Point:
        """The middle of a space."""
        x, y = self._spaces[space].x, self._spaces[space].y
        return self._shift[0] + self._scale * x, self._shift[1] + self._scale * y

    def angle(self, space: int) -> float:
        """The direction from the space before to the next one, in degrees, clockwise from right."""
        x0, y0 = self.at(self._spaces[space].prev)
        x1, y1 = self.at(self._spaces[space].next)
        return degrees(atan2(y1 - y0, x1 - x0))

    def inward(self, space: int, centre: Point, distance: float) -> Point:
        """The point that lies `distance` from a space towards the middle of its circle."""
        x, y = self.at(space)
        dx, dy = centre[0] - x, centre[1] - y
        part = distance / hypot(dx, dy)
        return x + part * dx, y + part * dy

    def centre(self, spaces: Iterable[int]) -> Point:
        """The middle of some spaces."""
        xs, ys = zip(*map(self.at, spaces), strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)


def _distance(one: Space, other: Space) -> float:
    return hypot(one.x - other.x, one.y - other.y)
