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
    markup = [_empty_board(state, grid), _rims(state, grid)]
    for index in range(state.num_pieces):
        box = grid.box(piece_cells(state, index), 0.07)
        domino = style.domino(piece_colour(state, index), *box)
        markup.append(group(domino, data_item=f"piece {index}"))
    markup.append(_counters(state, grid))
    return "".join(markup)


@dataclass(frozen=True)
class Grid:
    """Pixel coordinates of a board in a square.

    Attributes:
        size: The number of rows and of columns.
        margin: The space to the left of the square and above it.
        side: The side of the square.
        edge: The space for coordinates around the cells.
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
        x = self.start + (column + 0.5) * self.cell
        y = self.start + (row + 0.5) * self.cell
        return x, y

    def box(self, cells: tuple[int, ...], inset: float) -> tuple[float, float, float, float]:
        """Returns x, y, width, height of the box around cells, shrunk by `inset` cells per side."""
        xs, ys = zip(*map(self.middle, cells), strict=True)
        reach = (0.5 - inset) * self.cell
        width = max(xs) - min(xs) + 2 * reach
        height = max(ys) - min(ys) + 2 * reach
        return min(xs) - reach, min(ys) - reach, width, height


def _empty_board(state: Record, grid: Grid) -> str:
    """Returns the frame, the empty cells, which can be clicked, and the coordinates."""
    corner = grid.start - grid.edge
    side = grid.size * grid.cell + 2 * grid.edge
    covered = describe.piece_indices(state)
    closed = describe.closed_cells(state)
    cells = []
    for cell in describe.board_cells(state):
        if cell not in covered:
            fill = style.CLOSED if cell in closed else style.CELL
            face = rect(*grid.box((cell,), 0.03), 0.1 * grid.cell, fill=fill)
            whole = rect(*grid.box((cell,), 0), fill_opacity=0)  # no dead clicks between cells
            cells.append(group(whole, face, data_part=CELL_NAMES[cell]))
    board = rect(corner, corner, side, side, 18, fill=style.FRAME)
    return board + "".join(cells) + _coordinates(grid)


def _coordinates(grid: Grid) -> str:
    """Returns the letters of the columns and the numbers of the rows."""
    edge = grid.start - grid.edge / 2  # middle of the space for coordinates
    size = max(grid.edge / 2, 13)  # of letters
    names = []
    for index in range(grid.size):
        middle = grid.start + (index + 0.5) * grid.cell
        names.append(text(COLUMNS[index], middle, edge + size / 3, size))
        names.append(text(str(index + 1), edge, middle + size / 3, size))
    return group(*names, text_anchor="middle", fill=style.COORDINATE, font_weight="bold")


def _rims(state: Record, grid: Grid) -> str:
    """Returns a dark rim around each group (R9), which also fills the gaps between its pieces."""
    pieces = describe.piece_indices(state)
    rims = []
    for letter in COLOURS:
        coloured = {cell for cell, piece in pieces.items() if piece_colour(state, piece) == letter}
        boxes = [
            rect(*grid.box(cells, 0.02), 0.18 * grid.cell)
            for cell in sorted(coloured)
            for cells in _blocks(cell)
            if coloured.issuperset(cells)
        ]
        rims.append(group(*boxes, fill=style.PAINTS[letter].rim))
    return "".join(rims)


def _blocks(cell: int) -> list[tuple[int, ...]]:
    """Returns a cell with its right neighbour, with its lower neighbour, and the square of four."""
    down = (cell, cell + SIZE)
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
        middles = map(grid.middle, describe.board_cells(state))
        dots = [circle(*middle, 0.09 * grid.cell) for middle in middles]
        counters += group(*dots, fill=style.BLACK, fill_opacity=0.3, pointer_events="none")
    if state.counter != NONE:
        (x0, y0), (x1, y1) = map(grid.middle, piece_cells(state, state.counter))
        counter = style.counter((x0 + x1) / 2, (y0 + y1) / 2, 0.2 * grid.cell)
        counters += group(counter, pointer_events="none")
    return counters
