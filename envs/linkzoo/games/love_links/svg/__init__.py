"""Love Links as SVG: the players at the left, the bracelets at the right, or below one another."""

from linkzoo.games.love_links.describe import Json, side_of, turn
from linkzoo.games.love_links.links import LinkSet
from linkzoo.games.love_links.svg import panel, style
from linkzoo.games.love_links.svg.bracelets import Layout, draw_bracelets
from linkzoo.svg.elements import document, group, rect
from linkzoo.svg.panel import INK, PAGE, TALL, stacked

_MARGIN = 20
_PANEL = 400  # width
_PAGE_WIDTH = 950  # on a screen of 1280, letters of 13 have 12
_PAGE_HEIGHT = 792
_PAGE_PANEL = 340
_PAGE_PER_LINE = 3  # links in a line of a hand, so that they are as large as the bracelets'
_BOARD = _MARGIN + _PANEL + 16  # left edge


def draw_svg(position: Json, link_set: LinkSet) -> str:
    """Returns a position, as JSON, as an SVG document of 1200 x 640 pixels."""
    width = style.WIDTH - _MARGIN - _BOARD
    height = style.HEIGHT - 2 * _MARGIN
    layout = Layout.fitting(position, _BOARD, _MARGIN, width, height)
    parts = [
        panel.draw_turn(position, _PANEL),
        *panel.draw_sides(position, _PANEL),
        panel.draw_supply(position, _PANEL),
        panel.draw_key(_PANEL),
    ]
    column, _ = stacked(parts, _MARGIN, 0)
    board = draw_bracelets(position, layout, link_set.closed_length)
    return _document(position, style.WIDTH, style.HEIGHT, board, group(column, fill=INK))


def draw_page(position: Json, link_set: LinkSet) -> str:
    """Returns a position for a page that shows the turn itself; 950 x 792 pixels."""
    left = _MARGIN + _PAGE_PANEL + 16
    size = _PAGE_WIDTH - _MARGIN - left, _PAGE_HEIGHT - 2 * _MARGIN
    layout = Layout.fitting(position, left, _MARGIN, *size)
    parts = [
        panel.draw_stage(position),
        *panel.draw_sides(position, _PAGE_PANEL, _PAGE_PER_LINE),
        panel.draw_supply(position, _PAGE_PANEL),
        panel.draw_key(_PAGE_PANEL),
    ]
    column, _ = stacked(parts, _MARGIN, 12)
    board = draw_bracelets(position, layout, link_set.closed_length)
    return _document(position, _PAGE_WIDTH, _PAGE_HEIGHT, board, group(column, fill=INK))


def draw_tall(position: Json, link_set: LinkSet) -> str:
    """Returns a position for a narrow screen, with the hands below the bracelets."""
    layout = Layout.tall(position, 4, 4, TALL - 8)
    width = TALL - 16
    first = 0  # side
    if position["seat"] is not None:
        first = side_of(position, position["seat"])
    sides = panel.draw_sides(position, width)
    parts = [
        *sides[first:],
        *sides[:first],
        panel.draw_stage(position),
        panel.draw_supply(position, width),
        panel.draw_key(width),
    ]
    below, height = stacked(parts, 8, layout.height + 16)
    board = draw_bracelets(position, layout, link_set.closed_length)
    return _document(position, TALL, height, board, group(below, fill=INK))


def _document(position: Json, width: float, height: float, *parts: str) -> str:
    title = f"Love Links: {turn(position)}"
    page = rect(0, 0, width, height, fill=PAGE)
    return document(width, height, title, page, *parts, name="love_links", dark=style.DARK)
