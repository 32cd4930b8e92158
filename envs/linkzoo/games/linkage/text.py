"""Linkage as text. Nothing is hidden (R12): every seat sees the same."""

from itertools import pairwise

from linkzoo.core.state import Record
from linkzoo.games.linkage import describe
from linkzoo.games.linkage.components import COLOURS, SIZE
from linkzoo.games.linkage.notation import COLUMNS
from linkzoo.games.linkage.state import NONE

# Box-drawing characters by their arms: 1 up, 2 right, 4 down, 8 left.
_BOX = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"


def draw_text(state: Record, seat: int | None = None) -> str:
    """Returns the position as lines of text; all seats see the same.

    Each piece has a box around it; the counter's piece has its letters in brackets; `×` closed by
    the counter, `·` any other empty cell, `●` the hole. Then supply, groups, roles and the turn.
    """
    supplies = zip(COLOURS, state.supply, strict=True)
    supply = "  ".join(f"{letter} {number}" for letter, number in supplies)
    more = f"More ≥ {state.threshold}"
    fewer = f"Fewer ≤ {state.threshold - 1}"
    if state.more != NONE:
        more += f" (player {state.more})"
        fewer += f" (player {1 - state.more})"
    turn = describe.turn(state)
    if describe.remark(state):
        turn += f", {describe.remark(state)}"
    lines = [
        *_board(state),
        "",
        f"supply  {supply}",
        f"groups  {state.groups}: {more}, {fewer}",
        turn,
    ]
    return "\n".join(lines) + "\n"


def _board(state: Record) -> list[str]:
    """Returns the lines of the board, with its coordinates."""
    size = int(state.board_size)
    units = _units(state)
    contents = _contents(state)
    lines = ["    " + "   ".join(COLUMNS[:size])]
    for row in range(size + 1):
        lines.append("  " + "".join(_border(units, row, column) for column in range(size + 1)))
        if row < size:
            cells = [contents[SIZE * row + column] for column in range(size)]
            sides = [" " if left == right else "│" for left, right in pairwise(units[row + 1])]
            line = "".join(side + cell for side, cell in zip(sides, [*cells, ""], strict=True))
            lines.append(f"{row + 1} {line}")
    return [line.rstrip() for line in lines]


def _contents(state: Record) -> dict[int, str]:
    """Returns the three characters on each cell."""
    contents = dict.fromkeys(describe.board_cells(state), " · ")
    contents |= dict.fromkeys(describe.closed_cells(state), " × ")
    for cell, index in describe.piece_indices(state).items():
        letter = describe.piece_colour(state, index)
        contents[cell] = f"({letter})" if index == state.counter else f" {letter} "
    if state.hole != NONE:
        contents[int(state.hole)] = " ● "
    return contents


def _units(state: Record) -> list[list[int]]:
    """Returns int[n + 2, n + 2]: the piece on each cell, -1 for a bare cell, -2 in the margin."""
    size = int(state.board_size)
    pieces = describe.piece_indices(state)
    units = [[-2] * (size + 2) for _ in range(size + 2)]
    for cell in describe.board_cells(state):
        row, column = divmod(cell, SIZE)
        units[row + 1][column + 1] = pieces.get(cell, -1)
    return units


def _border(units: list[list[int]], row: int, column: int) -> str:
    """Returns the crossing at the upper left of a cell, and the border above the cell.

    A border runs where two units meet: not inside a piece, not between two bare cells.
    """
    upper_left, upper_right = units[row][column : column + 2]
    lower_left, lower_right = units[row + 1][column : column + 2]
    up = upper_left != upper_right
    right = upper_right != lower_right
    down = lower_left != lower_right
    left = upper_left != lower_left
    crossing = _BOX[up + 2 * right + 4 * down + 8 * left]
    return crossing + ("───" if right else "   ")
