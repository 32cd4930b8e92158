"""The picture of a Linkage position: the board at the left, a panel at the right."""

from dataclasses import dataclass

from linkzoo.compiled import Record
from linkzoo.drawing.svg import circle, document, group, rect, text
from linkzoo.linkage import style
from linkzoo.linkage.panel import draw_panel
from linkzoo.linkage.pieces import COLOURS, SIZE
from linkzoo.linkage.rules import HOLE, NONE
from linkzoo.linkage.view import (
    COLUMNS,
    board_cells,
    cell_name,
    closed_cells,
    owners,
    piece_cells,
    piece_colour,
    turn,
)

_AREA = style.HEIGHT - 2 * style.MARGIN  # the square that the board is centred in
_EDGE = 30  # between the outermost cells and the board's edge, for the coordinates


def draw(state: Record) -> str:
    """The SVG document."""
    grid = Grid(int(state.board_size))
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Linkage: {turn(state)}",
        style.definitions(),
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        _empty_board(state, grid),
        _rims(state, grid),
        _pieces(state, grid),
        _counters(state, grid),
        draw_panel(state),
    )


@dataclass(frozen=True)
class Grid:
    """Where the cells of a board of `size` by `size` are, in pixels."""

    size: int

    @property
    def cell(self) -> int:
        """The side of a cell; a board of 5 or more fills the square."""
        return min(110, (_AREA - 2 * _EDGE) // self.size)

    @property
    def start(self) -> float:
        """The left edge of the first column, the upper edge of the first row."""
        return style.MARGIN + (_AREA - self.size * self.cell) / 2

    def middle(self, cell: int) -> tuple[float, float]:
        """The middle (x, y) of a cell (7r + c)."""
        row, column = divmod(cell, SIZE)
        return self.start + (column + 0.5) * self.cell, self.start + (row + 0.5) * self.cell

    def box(self, cells: tuple[int, ...], inset: float) -> tuple[float, float, float, float]:
        """x, y, width, height of the box around cells, `inset` (in cells) smaller at each side."""
        xs, ys = zip(*map(self.middle, cells), strict=True)
        reach = (0.5 - inset) * self.cell
        corner = min(xs) - reach, min(ys) - reach
        return *corner, max(xs) - min(xs) + 2 * reach, max(ys) - min(ys) + 2 * reach


def _empty_board(state: Record, grid: Grid) -> str:
    corner, side = grid.start - _EDGE, grid.size * grid.cell + 2 * _EDGE
    covered, closed = owners(state), closed_cells(state)
    cells = [
        rect(
            *grid.box((cell,), 0.03),
            0.1 * grid.cell,
            fill=style.CLOSED if cell in closed else style.CELL,
            data_part=cell_name(cell),
        )
        for cell in board_cells(state)
        if cell not in covered
    ]
    board = rect(corner, corner, side, side, 18, fill=style.FRAME)
    return board + "".join(cells) + _coordinates(grid)


def _coordinates(grid: Grid) -> str:
    before = grid.start - _EDGE / 2
    names = []
    for index in range(grid.size):
        along = grid.start + (index + 0.5) * grid.cell
        names.append(text(COLUMNS[index], along, before + 5, 15))
        names.append(text(str(index + 1), before, along + 5, 15))
    return group(*names, text_anchor="middle", fill="#6b5b3a", font_weight="bold")


def _rims(state: Record, grid: Grid) -> str:
    """A dark rim around each group (R9) that also fills the gaps between its pieces."""
    rims = []
    for letter in COLOURS:
        own = {c for c, index in owners(state).items() if piece_colour(state, index) == letter}
        boxes = [
            rect(*grid.box(cells, 0.02), 0.18 * grid.cell)
            for cell in sorted(own)
            for cells in _blocks(cell)
            if own.issuperset(cells)
        ]
        rims.append(group(*boxes, fill=style.PAINTS[letter].rim))
    return "".join(rims)


def _blocks(cell: int) -> list[tuple[int, ...]]:
    """The cell with its right neighbour, with its lower one, and with three in a square."""
    down = cell, cell + SIZE
    if cell % SIZE == SIZE - 1:
        return [down]
    return [(cell, cell + 1), down, (cell, cell + 1, cell + SIZE, cell + SIZE + 1)]


def _pieces(state: Record, grid: Grid) -> str:
    return "".join(
        style.domino(piece_colour(state, index), *grid.box(piece_cells(state, index), 0.07))
        for index in range(state.num_pieces)
    )


def _counters(state: Record, grid: Grid) -> str:
    """The hole and the green counter; while the hole is to be placed, a dot where it can go."""
    counters = ""
    if state.hole != NONE:
        counters += style.hole(*grid.middle(int(state.hole)), 0.36 * grid.cell)
    if state.phase == HOLE:
        dots = [circle(*grid.middle(cell), 0.09 * grid.cell) for cell in board_cells(state)]
        counters += group(*dots, fill=style.BLACK, fill_opacity=0.3, pointer_events="none")
    if state.counter != NONE:
        first, second = map(grid.middle, piece_cells(state, int(state.counter)))
        middle = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
        counters += style.counter(*middle, 0.2 * grid.cell)
    return counters
