"""The board of a Linkage position, at the left of the picture."""

from dataclasses import dataclass

from linkzoo.core.state import Record
from linkzoo.games.linkage import describe
from linkzoo.games.linkage.components import COLOURS, SIZE
from linkzoo.games.linkage.describe import piece_cells, piece_colour
from linkzoo.games.linkage.notation import CELL_NAMES, COLUMNS
from linkzoo.games.linkage.state import HOLE, NONE
from linkzoo.games.linkage.svg import style
from linkzoo.svg.elements import circle, group, rect, text

_SIDE = style.HEIGHT - 2 * style.MARGIN  # of the board in the wide drawing


def draw_board(state: Record, grid: "Grid") -> str:
    """Returns the markup of the board and its contents."""
    board, rims = _empty_board(state, grid), _rims(state, grid)
    pieces = [
        group(
            style.domino(piece_colour(state, index), *grid.box(piece_cells(state, index), 0.07)),
            data_item=f"piece {index}",
        )
        for index in range(state.num_pieces)
    ]
    return "".join([board, rims, *pieces, _counters(state, grid)])


@dataclass(frozen=True)
class Grid:
    """Pixel coordinates of a `size` by `size` board in a square.

    `margin` is to the square's left and above it, `side` the square's, and `edge` the space for
    coordinates around the cells.
    """

    size: int
    margin: int = style.MARGIN
    side: int = _SIDE
    edge: int = 30

    @property
    def cell(self) -> int:
        """The side of a cell; boards of 5 or more fill the square."""
        return min(self.side // 5, (self.side - 2 * self.edge) // self.size)

    @property
    def start(self) -> float:
        """The left edge of the first column and the upper edge of the first row."""
        return self.margin + (self.side - self.size * self.cell) / 2

    def middle(self, cell: int) -> tuple[float, float]:
        """Returns the centre (x, y) of a cell (7r + c)."""
        row, column = divmod(cell, SIZE)
        return self.start + (column + 0.5) * self.cell, self.start + (row + 0.5) * self.cell

    def box(self, cells: tuple[int, ...], inset: float) -> tuple[float, float, float, float]:
        """Returns x, y, width, height of the box around cells, shrunk by `inset` cells per side."""
        xs, ys = zip(*map(self.middle, cells), strict=True)
        reach = (0.5 - inset) * self.cell
        corner = min(xs) - reach, min(ys) - reach
        return *corner, max(xs) - min(xs) + 2 * reach, max(ys) - min(ys) + 2 * reach


def _empty_board(state: Record, grid: Grid) -> str:
    corner, side = grid.start - grid.edge, grid.size * grid.cell + 2 * grid.edge
    covered, closed = describe.piece_indices(state), describe.closed_cells(state)
    cells = []
    for cell in describe.board_cells(state):
        if cell not in covered:
            box, fill = grid.box((cell,), 0.03), style.CLOSED if cell in closed else style.CELL
            face = rect(*box, 0.1 * grid.cell, fill=fill)
            whole = rect(*grid.box((cell,), 0), fill_opacity=0)  # no dead clicks between cells
            cells.append(group(whole, face, data_part=CELL_NAMES[cell]))
    board = rect(corner, corner, side, side, 18, fill=style.FRAME)
    return board + "".join(cells) + _coordinates(grid)


def _coordinates(grid: Grid) -> str:
    before, letter = grid.start - grid.edge / 2, max(grid.edge / 2, 13)
    names = []
    for index in range(grid.size):
        along = grid.start + (index + 0.5) * grid.cell
        names.append(text(COLUMNS[index], along, before + letter / 3, letter))
        names.append(text(str(index + 1), before, along + letter / 3, letter))
    return group(*names, text_anchor="middle", fill=style.COORDINATE, font_weight="bold")


def _rims(state: Record, grid: Grid) -> str:
    """Returns a dark rim around each group (R9), which also fills the gaps between its pieces."""
    pieces, rims = describe.piece_indices(state), []
    for letter in COLOURS:
        own = {cell for cell, piece in pieces.items() if piece_colour(state, piece) == letter}
        boxes = [
            rect(*grid.box(cells, 0.02), 0.18 * grid.cell)
            for cell in sorted(own)
            for cells in _blocks(cell)
            if own.issuperset(cells)
        ]
        rims.append(group(*boxes, fill=style.PAINTS[letter].rim))
    return "".join(rims)


def _blocks(cell: int) -> list[tuple[int, ...]]:
    """Returns the cell with its right neighbour, with its lower one, and with three in a square."""
    down = cell, cell + SIZE
    if cell % SIZE == SIZE - 1:
        return [down]
    return [(cell, cell + 1), down, (cell, cell + 1, cell + SIZE, cell + SIZE + 1)]


def _counters(state: Record, grid: Grid) -> str:
    """Returns the hole and the green counter, and dots where the hole can be placed."""
    counters = ""
    if state.hole != NONE:
        hole = style.hole(*grid.middle(int(state.hole)), 0.36 * grid.cell)
        counters += group(hole, data_item="hole")
    if state.phase == HOLE:
        places = map(grid.middle, describe.board_cells(state))
        dots = [circle(*place, 0.09 * grid.cell) for place in places]
        counters += group(*dots, fill=style.BLACK, fill_opacity=0.3, pointer_events="none")
    if state.counter != NONE:
        first, second = map(grid.middle, piece_cells(state, state.counter))
        middle = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
        counters += group(style.counter(*middle, 0.2 * grid.cell), pointer_events="none")
    return counters
