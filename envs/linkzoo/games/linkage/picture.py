"""The picture of a Linkage position: the board at the left, a panel at the right."""

from dataclasses import dataclass

from linkzoo.svg.elements import circle, document, group, rect, text
from linkzoo.games.linkage import style
from linkzoo.games.linkage.panel import draw_panel
from linkzoo.games.linkage.pieces import COLOURS, SIZE
from linkzoo.games.linkage.view import (
    COLUMNS,
    Json,
    board_cells,
    cell_name,
    closed_cells,
    hole,
    owners,
    piece_cells,
    piece_colour,
    turn,
)

_AREA = style.HEIGHT - 2 * style.MARGIN  # the square that the board is centred in
_EDGE = 30  # between the outermost cells and the board's edge, for the coordinates


def draw(view: Json) -> str:
    """The SVG document."""
    grid = Grid(view["options"]["board_size"])
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Linkage: {turn(view)}",
        style.definitions(),
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        _empty_board(view, grid),
        _rims(view, grid),
        _pieces(view, grid),
        _counters(view, grid),
        draw_panel(view),
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


def _empty_board(view: Json, grid: Grid) -> str:
    corner, side = grid.start - _EDGE, grid.size * grid.cell + 2 * _EDGE
    covered, closed = owners(view), closed_cells(view)
    cells = [
        rect(
            *grid.box((cell,), 0.03),
            0.1 * grid.cell,
            fill=style.CLOSED if cell in closed else style.CELL,
            data_part=cell_name(cell),
        )
        for cell in board_cells(view)
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


def _rims(view: Json, grid: Grid) -> str:
    """A dark rim around each group (R9) that also fills the gaps between its pieces."""
    rims = []
    for letter in COLOURS:
        own = {c for c, index in owners(view).items() if piece_colour(view, index) == letter}
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


def _pieces(view: Json, grid: Grid) -> str:
    return "".join(
        style.domino(piece_colour(view, index), *grid.box(piece_cells(view, index), 0.07))
        for index in range(len(view["pieces"]))
    )


def _counters(view: Json, grid: Grid) -> str:
    """The hole and the green counter; while the hole is to be placed, a dot where it can go."""
    counters = ""
    if (cell_of_hole := hole(view)) is not None:
        counters += style.hole(*grid.middle(cell_of_hole), 0.36 * grid.cell)
    if view["phase"] == "hole":
        dots = [circle(*grid.middle(cell), 0.09 * grid.cell) for cell in board_cells(view)]
        counters += group(*dots, fill=style.BLACK, fill_opacity=0.3, pointer_events="none")
    if view["counter"] is not None:
        first, second = map(grid.middle, piece_cells(view, view["counter"]))
        middle = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
        counters += style.counter(*middle, 0.2 * grid.cell)
    return counters
