"""Positions of LINK-O as SVG: the board at the left, the players at the right."""

from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.svg.board import draw_board
from linkzoo.games.link_o.svg.panel import draw_panel
from linkzoo.games.link_o.text import Json, turn
from linkzoo.svg.elements import document, rect


def draw_svg(view: Json, board: Board, seat: int | None = None) -> str:
    """Returns a seat's or the referee's view as an SVG of 1200 x 720 pixels; marks the `seat`."""
    paints = style.paints(board.colours)
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"LINK-O: {turn(view)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        draw_board(view, board, paints),
        draw_panel(view, seat, paints),
    )
