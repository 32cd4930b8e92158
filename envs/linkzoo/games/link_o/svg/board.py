"""The board: rings of spaces with the tiles on them, and the links between the rings."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from math import atan2, degrees, dist, hypot
from typing import Any

from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.text import Json, connector_value, filled
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import CARD, GREY, INK, seat_mark

Point = tuple[float, float]
_RADIUS = 115  # of a circle with marks inside, in a tile's own units, at least
_INSIDE = 55  # radius of the letter and the words inside a circle with marks, in pixels
_NUMBER_AT = 60  # distance of a number from its tile, in the tile's own units
_TARGET = 27  # smallest side of a clickable space: 24 pixels on a screen of 320


class Layout:
    """A board, scaled to a square with a margin around it.

    Args:
        board: The board.
        side: The side of the square in pixels.
        margin: The space to the left of the square and above it.

    Attributes:
        tile_scale: The scale of tiles, which fit between their neighbours and the next circle.
        named: Whether the tiles are large enough for owners and numbers beside them.
    """

    def __init__(self, board: Board, side: float, margin: float) -> None:
        self._spaces = board.spaces
        centres = [(space.x, space.y) for space in board.spaces]
        xs, ys = zip(*centres, strict=True)
        steps = [
            dist(centre, centres[space.next])
            for centre, space in zip(centres, board.spaces, strict=True)
        ]
        nearest = min(gap for pair in combinations(centres, 2) if (gap := dist(*pair)))
        radius = min(_radius([centres[space] for space in ring]) for ring in board.rings)
        # First in the board's units, then in pixels.
        by_neighbours = min(0.84 * nearest / style.BREADTH, 0.86 * min(steps) / style.LENGTH)
        tile_scale = min(by_neighbours, radius / _RADIUS)
        width = max(xs) - min(xs) + tile_scale * style.LENGTH
        height = max(ys) - min(ys) + tile_scale * style.LENGTH
        self._scale = side / max(width, height)
        middle = margin + side / 2
        self._left = middle - self._scale * (min(xs) + max(xs)) / 2
        self._top = middle - self._scale * (min(ys) + max(ys)) / 2
        self.tile_scale = tile_scale * self._scale
        inside = self._scale * radius - _NUMBER_AT * self.tile_scale
        self.named = self.tile_scale > 0.6 and inside > _INSIDE

    def at(self, space: int) -> Point:
        """Returns the centre of a space."""
        x = self._left + self._scale * self._spaces[space].x
        y = self._top + self._scale * self._spaces[space].y
        return x, y

    def angle(self, space: int) -> float:
        """Returns the angle from the previous to the next space, in degrees clockwise."""
        x0, y0 = self.at(self._spaces[space].prev)
        x1, y1 = self.at(self._spaces[space].next)
        return degrees(atan2(y1 - y0, x1 - x0))

    def inward(self, space: int, centre: Point, distance: float) -> Point:
        """Returns the point at a distance from a space towards the centre of its circle."""
        x, y = self.at(space)
        dx = centre[0] - x
        dy = centre[1] - y
        part = distance / hypot(dx, dy)
        return x + part * dx, y + part * dy

    def frame(self, space: int) -> float:
        """Returns how far a frame reaches beyond a space, in the tile's own units."""
        return 0 if self._spaces[space].partner is None else 6

    def centre(self, spaces: Iterable[int]) -> Point:
        """Returns the centroid of some spaces."""
        return _centroid([self.at(space) for space in spaces])


def _centroid(points: list[Point]) -> Point:
    """Returns the mean of some points."""
    xs, ys = zip(*points, strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def _radius(points: list[Point]) -> float:
    """Returns the smallest distance of some points from their centroid."""
    centre = _centroid(points)
    return min(dist(centre, point) for point in points)


def draw_board(view: Json, board: Board, paints: style.Paints, side: float, margin: float) -> str:
    """Returns the board's markup, in a square with a margin around it."""
    layout, ground = _drawn(board, side, margin)
    circles = zip(board.colours, board.rings, strict=True)
    tiles = [_circle(view, ring, layout, paints, colour) for colour, ring in circles]
    return "".join([ground, *tiles])


@lru_cache(16)  # a board has a size in each of the drawings
def _drawn(board: Board, side: float, margin: float) -> tuple[Layout, str]:
    """Returns the layout of a board, and the markup that all positions share."""
    layout = Layout(board, side, margin)
    paints = style.paints(board.colours)
    rings = [
        _ring(ring, layout, paints[colour])
        for colour, ring in zip(board.colours, board.rings, strict=True)
    ]
    links = [
        _link(space, partner, layout)
        for space in board.connectors
        if (partner := board.spaces[space].partner) is not None and space < partner
    ]
    return layout, "".join([*rings, *links])


def _ring(ring: list[int], layout: Layout, look: style.Paint) -> str:
    """Returns the band below a circle's spaces: a smooth curve through them (Catmull-Rom)."""
    points = [layout.at(space) for space in ring]
    count = len(points)
    steps: list[str | float] = ["M", *points[0], "C"]
    for index in range(count):
        before = points[index - 1]
        start = points[index]
        end = points[(index + 1) % count]
        after = points[(index + 2) % count]
        steps += [start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6]
        steps += [end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6, *end]
    width = 1.1 * style.BREADTH * layout.tile_scale
    return path(*steps, "z", fill="none", stroke=look.ring, stroke_width=width)


def _link(space: int, partner: int, layout: Layout) -> str:
    """Returns the bar between two partners, with the frames around them."""
    width = 22 * layout.tile_scale
    bar = path("M", *layout.at(space), "L", *layout.at(partner), stroke_width=width)
    frames = [_outline(end, layout, 5, fill=INK) for end in (space, partner)]
    return group(bar, *frames, stroke=INK)


def _outline(space: int, layout: Layout, margin: float, **look: Any) -> str:
    """Returns the outline of a space, `margin` wider than a tile on every side."""
    length = style.LENGTH + 2 * margin
    breadth = style.BREADTH + 2 * margin
    box = (-length / 2, -breadth / 2, length, breadth, 7 + margin)
    return rect(*box, **look, transform=_transform(space, layout))


def _transform(space: int, layout: Layout) -> str:
    """Returns the SVG transform from a tile's own units to a space."""
    x, y = layout.at(space)
    return (
        f"translate({x:.2f} {y:.2f}) rotate({layout.angle(space):.2f}) "
        f"scale({layout.tile_scale:.4f})"
    )


def _circle(view: Json, ring: list[int], layout: Layout, paints: style.Paints, colour: str) -> str:
    """Returns a circle's spaces with their tiles, and its colour in the centre."""
    centre = layout.centre(ring)
    x, y = centre
    look = paints[colour]
    bold: dict[str, Any] = {"font_weight": "bold", "fill": look.face, "stroke": look.rim}
    letter = colour[0].upper()
    count = f"{colour}, {filled(view, ring)}"
    if layout.named:
        name = text(letter, x, y + 18, 84, **bold) + text(count, x, y + 46, 15, fill=GREY)
    else:
        name = text(letter, x, y + 8, 40, **bold) + text(count, x, y + 26, 12.5, fill=GREY)
    return group(
        name,
        *(_space(view, space, layout, paints, colour, centre) for space in ring),
        text_anchor="middle",
    )


def _space(
    view: Json, space: int, layout: Layout, paints: style.Paints, colour: str, centre: Point
) -> str:
    """Returns an empty space with its number, or a tile with number and owner on the inner side."""
    entry = view["board"].get(str(space))
    if entry is None:
        return _empty(space, layout, paints[colour])
    x, y = layout.at(space)
    value = connector_value(entry)
    angle = layout.angle(space)
    tile = style.tile(entry["tile"], paints, x, y, layout.tile_scale, angle, value)
    return group(tile, data_item=f"space {space}") + _marks(space, layout, centre, entry["by"])


@lru_cache(2**10)
def _empty(space: int, layout: Layout, look: style.Paint) -> str:
    """Returns an empty space with its number."""
    x, y = layout.at(space)
    outline = _outline(space, layout, 0, fill=CARD, stroke=look.rim, stroke_width=1.5)
    size = 14 if layout.named else 12.5
    number = text(str(space), x, y + 5, size, fill=INK)
    return group(_target(space, layout), outline, number, data_part=f"@{space}")


@lru_cache(2**11)
def _marks(space: int, layout: Layout, centre: Point, owner: int) -> str:
    """Returns the number and the owner of a space with a tile, on the inner side."""
    if not layout.named:
        return ""
    scale = layout.tile_scale
    beyond = layout.frame(space)
    number_x, number_y = layout.inward(space, centre, (_NUMBER_AT + beyond) * scale)
    mark_at = layout.inward(space, centre, (35 + beyond) * scale)
    number = text(str(space), number_x, number_y + 5, 13.5, fill=GREY)
    return seat_mark(owner, *mark_at, 9.7, INK) + number


def _target(space: int, layout: Layout) -> str:
    """Returns the clickable area of a space: up to halfway to its partner, and inwards."""
    smallest = _TARGET / layout.tile_scale
    outwards = style.BREADTH / 1.68
    length = max(style.LENGTH, smallest)
    breadth = max(2 * outwards, smallest)
    box = (-length / 2, -outwards, length, breadth)
    return rect(*box, fill_opacity=0, transform=_transform(space, layout))
