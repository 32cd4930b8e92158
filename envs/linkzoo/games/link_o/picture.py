"""The picture of a LINK-O position: the board at the left, the players at the right."""

from typing import Any

from linkzoo.svg.elements import document, group, path, rect, text
from linkzoo.games.link_o import style
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.layout import Layout, Point
from linkzoo.games.link_o.panel import draw_panel
from linkzoo.games.link_o.view import Json, filled, rings, turn

_SIDE = style.HEIGHT - 2 * style.MARGIN  # of the square that holds the board


def draw(view: Json, board: Board, seat: int | None) -> str:
    """The SVG document."""
    layout = Layout(board, (style.MARGIN, style.MARGIN, _SIDE, _SIDE))
    paints = style.paints(board.colours)
    circles = rings(board).items()
    links = [(one, space.partner) for one, space in enumerate(board.spaces)]
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"LINK-O: {turn(view)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        *(_ring(ring, layout, paints[colour]) for colour, ring in circles),
        *(_link(one, other, layout) for one, other in links if other is not None and one < other),
        *(_circle(view, ring, layout, paints, colour) for colour, ring in circles),
        draw_panel(view, seat, paints),
    )


def _ring(ring: list[int], layout: Layout, look: style.Paint) -> str:
    """The band that the spaces of a circle lie on: a smooth curve through them."""
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
    """The bar between two partners, and the frames around them."""
    bar = path("M", *layout.at(one), "L", *layout.at(other), stroke_width=22 * layout.tile_scale)
    frames = [_place(space, layout, 5, fill=style.INK) for space in (one, other)]
    return group(bar, *frames, stroke=style.INK)


def _place(space: int, layout: Layout, margin: float, **look: Any) -> str:
    """The outline of a space, `margin` wider than a tile at every side."""
    x, y = layout.at(space)
    length, breadth = style.LENGTH + 2 * margin, style.BREADTH + 2 * margin
    return rect(
        *(-length / 2, -breadth / 2, length, breadth, 7 + margin),
        **look,
        transform=f"translate({x:.2f} {y:.2f}) rotate({layout.angle(space):.2f}) "
        f"scale({layout.tile_scale:.4f})",
    )


def _circle(view: Json, ring: list[int], layout: Layout, paints: style.Paints, colour: str) -> str:
    """The spaces of a circle with their tiles, and in the middle its colour."""
    x, y = centre = layout.centre(ring)
    look = paints[colour]
    tally = f"{filled(view, ring)} of {len(ring)}"
    return group(
        text(colour[0].upper(), x, y + 18, 84, font_weight="bold", fill=look.face, stroke=look.rim),
        text(f"{colour}, {tally}", x, y + 46, 15, fill=style.GREY),
        *(_space(view, space, layout, paints, colour, centre) for space in ring),
        text_anchor="middle",
    )


def _space(
    view: Json, space: int, layout: Layout, paints: style.Paints, colour: str, centre: Point
) -> str:
    """An empty place with its number, or a tile with its number and its owner at the inner side."""
    x, y = layout.at(space)
    scale, look = layout.tile_scale, paints[colour]
    lying = view["board"].get(str(space))
    if lying is None:
        place = _place(space, layout, 0, fill=style.CARD, stroke=look.rim, stroke_width=1.5)
        number = text(str(space), x, y + 5, 14, fill=style.INK)
        return group(place, number, data_part=f"@{space}")
    number_x, number_y = layout.inward(space, centre, 51 * scale)
    return group(
        style.tile(lying["tile"], paints, x, y, scale, layout.angle(space), _value(lying)),
        style.seat_mark(lying["by"], *layout.inward(space, centre, 33 * scale), 6),
        text(str(space), number_x, number_y + 3.5, 10, fill=style.GREY),
    )


def _value(lying: Json) -> str:
    """What stands in the ring of a LINK-O on a connector: its value, `?` for none yet."""
    if "value" not in lying:
        return ""
    return "?" if lying["value"] is None else str(lying["value"])
