"""What both drawings of a Linkage position show, read from its JSON (`to_dict`)."""

from typing import Any

from linkzoo.games.linkage.pieces import SIZE

Json = dict[str, Any]

COLUMNS = "abcdefg"


def board_cells(view: Json) -> list[int]:
    """The cells (7r + c) of the board, the hole included, in row-major order."""
    size = view["options"]["board_size"]
    return [SIZE * row + column for row in range(size) for column in range(size)]


def cell_name(cell: int) -> str:
    """`a1`, `b1`, …: column and row of a cell."""
    return f"{COLUMNS[cell % SIZE]}{cell // SIZE + 1}"


def content(view: Json, cell: int) -> str:
    """What is on a cell: `.` nothing, `X` the hole, else a colour."""
    letter: str = view["board"][cell // SIZE][cell % SIZE]
    return letter


def hole(view: Json) -> int | None:
    """The cell of the hole, if there is one."""
    return next((cell for cell in board_cells(view) if content(view, cell) == "X"), None)


def piece_cells(view: Json, index: int) -> tuple[int, int]:
    """The two cells of a piece, in row-major order."""
    first, second = (
        SIZE * (int(name[1]) - 1) + COLUMNS.index(name[0]) for name in view["pieces"][index][1:]
    )
    return first, second


def piece_colour(view: Json, index: int) -> str:
    """The colour's letter."""
    letter: str = view["pieces"][index][0]
    return letter


def owners(view: Json) -> dict[int, int]:
    """The piece (an index into `pieces`) on each covered cell."""
    pieces = range(len(view["pieces"]))
    return {cell: index for index in pieces for cell in piece_cells(view, index)}


def closed_cells(view: Json) -> set[int]:
    """The empty cells that touch the counter's piece (R4)."""
    if view["counter"] is None:
        return set()
    counted = [divmod(cell, SIZE) for cell in piece_cells(view, view["counter"])]
    return {
        cell
        for cell in board_cells(view)
        if content(view, cell) == "."
        and any(abs(cell // SIZE - row) + abs(cell % SIZE - column) == 1 for row, column in counted)
    }


def role(view: Json, seat: int) -> str:
    """The seat's role: `More`, `Fewer`, or nothing yet."""
    return "" if view["more"] is None else "More" if seat == view["more"] else "Fewer"


def acting(view: Json) -> int:
    """The seat to act, or the winner."""
    seat: int = view["winner"] if view["seat"] is None else view["seat"]
    return seat


def placed(view: Json, letter: str) -> int:
    """How many pieces of a colour are on the board."""
    return sum(piece[0] == letter for piece in view["pieces"])


def most_groups(view: Json) -> int:
    """A bound of the number of groups: the pieces that fit by area."""
    size = view["options"]["board_size"]
    holes = view["options"]["free_hole"] or size % 2
    return int(size**2 - holes) // 2


def turn(view: Json) -> str:
    """Who is to do what, or who has won."""
    if view["seat"] is None:
        return f"Player {acting(view)} ({role(view, acting(view))}) wins"
    if view["phase"] == "hole":
        return f"Player {view['seat']} places the hole"
    if view["phase"] == "role":
        return f"Player {view['seat']} chooses a role"
    return f"Player {view['seat']} ({role(view, view['seat'])}) to move"


def remark(view: Json) -> str:
    """What else there is to say about the turn, or nothing."""
    if view["seat"] is None:
        return f"{view['groups']} group{'s' if view['groups'] != 1 else ''}"
    if view["phase"] == "hole":
        return "on any cell"
    if view["phase"] == "role":
        return f"player {1 - view['seat']} gets the other"
    if view["pieces"] and view["counter"] is None:
        return f"again: player {1 - view['seat']} had to pass"
    return ""
