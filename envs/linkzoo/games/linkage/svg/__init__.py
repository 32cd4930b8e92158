"""Linkage as SVG. Nothing is hidden (R12): all seats see the same."""

from linkzoo.core.state import Record
from linkzoo.games.linkage.describe import turn
from linkzoo.games.linkage.svg import panel, style
from linkzoo.games.linkage.svg.board import Grid, draw_board
from linkzoo.svg.elements import document, rect
from linkzoo.svg.panel import PAGE, TALL, moved


def draw_svg(state: Record, seat: int | None = None) -> str:
    """Returns the position as an SVG document of 896 x 592 pixels; all seats see the same."""
    board = draw_board(state, Grid(int(state.board_size)))
    return _document(state, style.WIDTH, style.HEIGHT, board, panel.draw_panel(state))


def draw_page(state: Record, seat: int | None = None) -> str:
    """Returns the position for a page that shows the turn itself."""
    board = draw_board(state, Grid(int(state.board_size)))
    beside = moved(panel.draw_beside(state), 0, -panel.ABOVE)
    return _document(state, style.WIDTH, style.HEIGHT, board, beside)


def draw_tall(state: Record, seat: int | None = None) -> str:
    """Returns the position for a narrow screen, the supply below the board."""
    grid = Grid(int(state.board_size), margin=4, side=TALL - 8, edge=18)
    below, height = panel.draw_below(state, TALL, (TALL - 16) / panel.WIDTH)
    return _document(state, TALL, height, draw_board(state, grid), below)


def _document(state: Record, width: float, height: float, *parts: str) -> str:
    title = f"Linkage: {turn(state)}"
    page = rect(0, 0, width, height, fill=PAGE)
    return document(
        width,
        height,
        title,
        style.definitions(),
        page,
        *parts,
        name="linkage",
        dark=style.DARK,
    )
