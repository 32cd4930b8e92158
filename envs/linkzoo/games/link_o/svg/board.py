"""The board: rings of spaces with the tiles on them, and the links between the rings."""

from collections.abc import Iterable
from itertools import combinations
from math import atan2, degrees, dist, hypot
from typing import Any

from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.text import Json, connector_value, filled
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import CARD, GREY, INK, seat_mark

Point = tuple[float, float]
_TARGET = 27  # what can be clicked is no smaller: 24 pixels on a screen of 320


class Layout:
    """A board, scaled to a square with a margin around it.

    `tile_scale` makes tiles fit between their neighbours and the next circle. Where that makes them
    small, they don't have owners and numbers (`named`).
    """

    def __init__(self, board: Board, side: float, margin: float) -> None:
        self._spaces = board.spaces
        places = [(space.x, space.y) for space in board.spaces]
        xs, ys = zip(*places, strict=True)
        steps = [dist(places[i], places[space.next]) for i, space in enumerate(board.spaces)]
        nearest = min(gap for pair in combinations(places, 2) if (gap := dist(*pair)))
        # First in the board's units, then in pixels.
        tile_scale = min(0.84 * nearest / style.BREADTH, 0.86 * min(steps) / style.LENGTH)
        wide = max(xs) - min(xs) + tile_scale * style.LENGTH
        high = max(ys) - min(ys) + tile_scale * style.LENGTH
        self._scale = side / max(wide, high)
        middle = margin + side / 2
        self._left = middle - self._scale * (min(xs) + max(xs)) / 2
        self._top = middle - self._scale * (min(ys) + max(ys)) / 2
        self.tile_scale = tile_scale * self._scale
        self.named = self.tile_scale > 0.6

    def at(self, space: int) -> Point:
        """Returns the centre of a space."""
        place = self._spaces[space]
        return self._left + self._scale * place.x, self._top + self._scale * place.y

    def angle(self, space: int) -> float:
        """Returns the angle from the previous to the next space, in degrees clockwise."""
        x0, y0 = self.at(self._spaces[space].prev)
        x1, y1 = self.at(self._spaces[space].next)
        return degrees(atan2(y1 - y0, x1 - x0))

    def inward(self, space: int, centre: Point, distance: float) -> Point:
        """Returns the point at a distance from a space towards the centre of its circle."""
        x, y = self.at(space)
        dx, dy = centre[0] - x, centre[1] - y
        part = distance / hypot(dx, dy)
        return x + part * dx, y + part * dy

    def centre(self, spaces: Iterable[int]) -> Point:
        """Returns the centroid of some spaces."""
        xs, ys = zip(*map(self.at, spaces), strict=True)
        return sum(xs) / len(xs), sum(ys) / len(ys)


def draw_board(view: Json, board: Board, paints: style.Paints, side: float, margin: float) -> str:
    """Returns the board's markup, in a square with a margin around it."""
    layout = Layout(board, side, margin)
    circles = list(zip(board.colours, board.rings, strict=True))
    pairs = [(one, space.partner) for one, space in enumerate(board.spaces)]
    rings = [_ring(ring, layout, paints[colour]) for colour, ring in circles]
    links = [_link(one, to, layout) for one, to in pairs if to is not None and one < to]
    tiles = [_circle(view, ring, layout, paints, colour) for colour, ring in circles]
    return "".join([*rings, *links, *tiles])


def _ring(ring: list[int], layout: Layout, look: style.Paint) -> str:
    """Returns the band below a circle's spaces: a smooth curve through them."""
    places = [layout.at(space) for space in ring]
    count = len(places)
    steps: list[str | float] = ["M", *places[0], "C"]
    for index in range(count):
        before, start, end, after = (places[(index + k) % count] for k in (-1, 0, 1, 2))
        steps += [start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6]
        steps += [end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6, *end]
    width = 1.1 * style.BREADTH * layout.tile_scale
    return path(*steps, "z", fill="none", stroke=look.ring, stroke_width=width)


def _link(one: int, other: int, layout: Layout) -> str:
    """Returns the bar between two partners, with the frames around them."""
    bar = path("M", *layout.at(one), "L", *layout.at(other), stroke_width=22 * layout.tile_scale)
    frames = [_place(space, layout, 5, fill=INK) for space in (one, other)]
    return group(bar, *frames, stroke=INK)


def _place(space: int, layout: Layout, margin: float, **look: Any) -> str:
    """Returns the outline of a space, `margin` wider than a tile on every side."""
    x, y = layout.at(space)
    length, breadth = style.LENGTH + 2 * margin, style.BREADTH + 2 * margin
    return rect(
        *(-length / 2, -breadth / 2, length, breadth, 7 + margin),
        **look,
        transform=f"translate({x:.2f} {y:.2f}) rotate({layout.angle(space):.2f}) "
        f"scale({layout.tile_scale:.4f})",
    )


def _circle(view: Json, ring: list[int], layout: Layout, paints: style.Paints, colour: str) -> str:
    """Returns a circle's spaces with their tiles, and its colour in the centre."""
    x, y = centre = layout.centre(ring)
    look, large = paints[colour], layout.named
    bold: dict[str, Any] = {"font_weight": "bold", "fill": look.face, "stroke": look.rim}
    count = f"{colour}, {filled(view, ring)}"
    return group(
        text(colour[0].upper(), x, y + (18 if large else 8), 84 if large else 40, **bold),
        text(count, x, y + (46 if large else 26), 15 if large else 12.5, fill=GREY),
        *(_space(view, space, layout, paints, colour, centre) for space in ring),
        text_anchor="middle",
    )


def _space(
    view: Json, space: int, layout: Layout, paints: style.Paints, colour: str, centre: Point
) -> str:
    """Returns an empty space with its number, or a tile with number and owner on the inner side."""
    x, y = layout.at(space)
    scale, look = layout.tile_scale, paints[colour]
    lying = view["board"].get(str(space))
    if lying is None:
        place = _place(space, layout, 0, fill=CARD, stroke=look.rim, stroke_width=1.5)
        number = text(str(space), x, y + 5, 14 if layout.named else 12.5, fill=INK)
        return group(_target(space, layout), place, number, data_part=f"@{space}")
    tile = style.tile(
        lying["tile"], paints, x, y, scale, layout.angle(space), connector_value(lying)
    )
    marks = ""
    if layout.named:
        number_x, number_y = layout.inward(space, centre, 60 * scale)
        marks = seat_mark(lying["by"], *layout.inward(space, centre, 35 * scale), 9.7, INK)
        marks += text(str(space), number_x, number_y + 5, 13.5, fill=GREY)
    return group(tile, data_item=f"space {space}") + marks


def _target(space: int, layout: Layout) -> str:
    """Returns what can be clicked of a space: up to halfway to its partner, and inwards."""
    x, y = layout.at(space)
    least, outwards = _TARGET / layout.tile_scale, style.BREADTH / 1.68
    length, breadth = max(style.LENGTH, least), max(2 * outwards, least)
    return rect(
        *(-length / 2, -outwards, length, breadth),
        fill_opacity=0,
        transform=f"translate({x:.2f} {y:.2f}) rotate({layout.angle(space):.2f}) "
        f"scale({layout.tile_scale:.4f})",
    )
