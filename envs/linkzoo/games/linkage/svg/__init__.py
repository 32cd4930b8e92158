"""Linkage as SVG. Nothing is hidden (R12): all seats see the same."""

from linkzoo.core.state import Record
from linkzoo.games.linkage.describe import turn
from linkzoo.games.linkage.svg import style
from linkzoo.games.linkage.svg.board import draw_board
from linkzoo.games.linkage.svg.panel import draw_panel
from linkzoo.svg.elements import document, rect


def draw_svg(state: Record, seat: int | None = None) -> str:
    """Returns the position as an SVG document of 896 x 592 pixels; all seats see the same."""
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Linkage: {turn(state)}",
        style.definitions(),
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        draw_board(state),
        draw_panel(state),
    )
