"""Linkage as text and as a picture. Nothing is hidden (R12): every seat sees the same."""

from linkzoo.engine.compiled import Record
from linkzoo.games.linkage import picture
from linkzoo.games.linkage.notation import to_dict
from linkzoo.games.linkage.pieces import SIZE
from linkzoo.games.linkage.view import (
    COLUMNS,
    Json,
    board_cells,
    closed_cells,
    hole,
    owners,
    piece_colour,
    remark,
    turn,
)

# Box-drawing characters by their arms: 1 up, 2 right, 4 down, 8 left.
_BOX = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"


def draw_svg(state: Record, seat: int | None = None) -> str:
    """The position as an SVG document of 896 x 592 pixels; all seats see the same."""
    return picture.draw(to_dict(state, seat))


def draw_text(state: Record, seat: int | None = None) -> str:
    """The position as lines of text; all seats see the same.

    Each piece has a box around it; the counter's piece has its letters in brackets; `×` closed by
    the counter, `·` any other empty cell, `●` the hole. Then supply, groups, roles and the turn.
    """
    view = to_dict(state, seat)
    supply = "  ".join(f"{letter} {left}" for letter, left in view["supply"].items())
    threshold = view["options"]["threshold"]
    more, fewer = f"More ≥ {threshold}", f"Fewer ≤ {threshold - 1}"
    if view["more"] is not None:
        more += f" (player {view['more']})"
        fewer += f" (player {1 - view['more']})"
    said = ", ".join(filter(None, [turn(view), remark(view)]))
    below = f"\nsupply  {supply}\ngroups  {view['groups']}: {more}, {fewer}\n{said}\n"
    return "\n".join(_board(view)) + "\n" + below


def _board(view: Json) -> list[str]:
    size = view["options"]["board_size"]
    units, contents = _units(view), _contents(view)
    lines = ["    " + "   ".join(COLUMNS[:size])]
    for row in range(size + 1):
        lines.append("  " + "".join(_border(units, row, column) for column in range(size + 1)))
        if row < size:
            line = "".join(
                _side(units, row, column) + contents[SIZE * row + column] for column in range(size)
            )
            lines.append(f"{row + 1} {line}{_side(units, row, size)}")
    return [line.rstrip() for line in lines]


def _contents(view: Json) -> dict[int, str]:
    """The three characters on each cell."""
    contents = dict.fromkeys(board_cells(view), " · ") | dict.fromkeys(closed_cells(view), " × ")
    for cell, index in owners(view).items():
        letter = piece_colour(view, index)
        contents[cell] = f"({letter})" if index == view["counter"] else f" {letter} "
    if (cell_of_hole := hole(view)) is not None:
        contents[cell_of_hole] = " ● "
    return contents


def _units(view: Json) -> list[list[int]]:
    """int[n + 2, n + 2]: the piece on each cell, -1 on a bare cell, -2 in the margin around."""
    size, pieces = view["options"]["board_size"], owners(view)
    units = [[-2] * (size + 2) for _ in range(size + 2)]
    for cell in board_cells(view):
        row, column = divmod(cell, SIZE)
        units[row + 1][column + 1] = pieces.get(cell, -1)
    return units


def _border(units: list[list[int]], row: int, column: int) -> str:
    """The crossing at the upper left of a cell, and the border above the cell.

    A border runs where two units meet: not inside a piece, not between two bare cells.
    """
    (a, b), (c, d) = units[row][column : column + 2], units[row + 1][column : column + 2]
    crossing = _BOX[(a != b) + 2 * (b != d) + 4 * (c != d) + 8 * (a != c)]
    return crossing + ("───" if b != d else "   ")


def _side(units: list[list[int]], row: int, column: int) -> str:
    """The border at the left of a cell."""
    left, unit = units[row + 1][column : column + 2]
    return "│" if left != unit else " "
