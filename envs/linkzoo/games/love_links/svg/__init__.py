"""Love Links as SVG: the players at the left, the bracelets at the right, or below one another."""

from linkzoo.core.state import Record
from linkzoo.games.love_links.describe import Json, turn
from linkzoo.games.love_links.positions import to_dict
from linkzoo.games.love_links.svg import panel, style
from linkzoo.games.love_links.svg.bracelets import Layout, draw_bracelets
from linkzoo.svg.elements import document, group, rect
from linkzoo.svg.panel import INK, PAGE, TALL, stacked

_MARGIN, _PANEL = 20, 400
_BOARD = _MARGIN + _PANEL + 16  # left edge


def draw_svg(state: Record, seat: int | None = None) -> str:
    """Returns the position as an SVG document of 1200 x 640 pixels; all seats see the same."""
    position = to_dict(state, seat)
    width, height = style.WIDTH - _MARGIN - _BOARD, style.HEIGHT - 2 * _MARGIN
    layout = Layout.fitting(position, _BOARD, _MARGIN, width, height)
    hands = panel.draw_sides(position, _PANEL)
    parts = [panel.draw_turn(position, _PANEL), *hands, panel.draw_supply(position, _PANEL)]
    column, _ = stacked([*parts, panel.draw_key(_PANEL)], _MARGIN, 0)
    board = draw_bracelets(position, layout)
    return _document(position, style.WIDTH, style.HEIGHT, board, group(column, fill=INK))


def draw_tall(state: Record, seat: int | None = None) -> str:
    """Returns the position for a narrow screen, the hands below the bracelets."""
    position = to_dict(state, seat)
    layout = Layout.tall(position, 4, 4, TALL - 8)
    width = TALL - 16
    acting = 0 if position["seat"] is None else position["seat"] % len(position["scores"])
    hands = panel.draw_sides(position, width)
    parts = [*hands[acting:], *hands[:acting], panel.draw_turn(position, width)]
    parts += [panel.draw_supply(position, width), panel.draw_key(width)]
    below, height = stacked(parts, 8, layout.height + 16)
    board = draw_bracelets(position, layout)
    return _document(position, TALL, height, board, group(below, fill=INK))


def _document(position: Json, width: float, height: float, *parts: str) -> str:
    title, page = f"Love Links: {turn(position)}", rect(0, 0, width, height, fill=PAGE)
    return document(width, height, title, page, *parts, name="love_links", dark=style.DARK)
