"""Positions of LINK-O as SVG: the board, and the players beside it or below it."""

from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.svg.board import draw_board
from linkzoo.games.link_o.svg.panel import (
    PAGE_HEIGHT,
    PAGE_WIDTH,
    draw_below,
    draw_beside,
    draw_panel,
)
from linkzoo.games.link_o.text import Json, turn
from linkzoo.svg.elements import document, rect
from linkzoo.svg.panel import PAGE, TALL, moved

_PAGE_BOARD = 596  # side of the board on a page
_PAGE_MARGIN = 16


def draw_svg(view: Json, board: Board, seat: int | None = None) -> str:
    """Returns a seat's or the referee's view as an SVG document of 1200 x 720 pixels."""
    paints = style.paints(board.colours)
    side = style.HEIGHT - 2 * style.MARGIN
    drawn = draw_board(view, board, paints, side, style.MARGIN)
    return _document(view, style.WIDTH, style.HEIGHT, drawn, draw_panel(view, seat, paints))


def draw_page(view: Json, board: Board, seat: int | None = None) -> str:
    """Returns a view for a page that shows the turn itself; 915 x 764 pixels."""
    paints = style.paints(board.colours)
    drawn = draw_board(view, board, paints, _PAGE_BOARD, _PAGE_MARGIN)
    drawn = moved(drawn, 0, (PAGE_HEIGHT - _PAGE_BOARD) / 2 - _PAGE_MARGIN)
    panel = draw_beside(view, seat, paints, _PAGE_BOARD + 2 * _PAGE_MARGIN)
    return _document(view, PAGE_WIDTH, PAGE_HEIGHT, drawn, panel)


def draw_tall(view: Json, board: Board, seat: int | None = None) -> str:
    """Returns a view for a narrow screen, with the hands below the board."""
    paints = style.paints(board.colours)
    drawn = draw_board(view, board, paints, TALL - 8, 4)
    below, height = draw_below(view, seat, paints, TALL + 6)
    return _document(view, TALL, height, drawn, below)


def _document(view: Json, width: float, height: float, *parts: str) -> str:
    page = rect(0, 0, width, height, fill=PAGE)
    title = f"LINK-O: {turn(view)}"
    return document(width, height, title, page, *parts, name="link_o", dark=style.DARK)
