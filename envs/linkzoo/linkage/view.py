"""What both drawings of a Linkage position show."""

from linkzoo.compiled import Record
from linkzoo.linkage.pieces import COLOURS, PLACEMENT_CELLS, PLACEMENTS, SIZE, TOUCHING_BITS
from linkzoo.linkage.rules import HOLE, NONE, ROLE

COLUMNS = "abcdefg"


def board_cells(state: Record) -> list[int]:
    """The cells (7r + c) of the board, the hole included, in row-major order."""
    size = int(state.board_size)
    return [SIZE * row + column for row in range(size) for column in range(size)]


def cell_name(cell: int) -> str:
    """`a1`, `b1`, …: column and row of a cell."""
    return f"{COLUMNS[cell % SIZE]}{cell // SIZE + 1}"


def piece_cells(state: Record, index: int) -> tuple[int, int]:
    """The two cells of a piece, in row-major order."""
    first, second = PLACEMENT_CELLS[state.pieces[index] % PLACEMENTS]
    return int(first), int(second)


def piece_colour(state: Record, index: int) -> str:
    """The colour's letter."""
    return COLOURS[state.pieces[index] // PLACEMENTS]


def owners(state: Record) -> dict[int, int]:
    """The piece (an index into `state.pieces`) on each covered cell."""
    return {cell: index for index in range(state.num_pieces) for cell in piece_cells(state, index)}


def closed_cells(state: Record) -> set[int]:
    """The empty cells that touch the counter's piece (R4)."""
    if state.counter == NONE:
        return set()
    touching = TOUCHING_BITS[state.pieces[state.counter] % PLACEMENTS]
    free = int(touching) & ~int(state.occupied)
    return {cell for cell in board_cells(state) if free >> cell & 1}


def role(state: Record, seat: int) -> str:
    """The seat's role: `More`, `Fewer`, or nothing yet."""
    return "" if state.more == NONE else "More" if seat == state.more else "Fewer"


def acting(state: Record) -> int:
    """The seat to act, or the winner."""
    over = state.seat == NONE
    return int(state.winners).bit_length() - 1 if over else int(state.seat)


def placed(state: Record, letter: str) -> int:
    """How many pieces of a colour are on the board."""
    return sum(piece_colour(state, index) == letter for index in range(state.num_pieces))


def most_groups(state: Record) -> int:
    """A bound of the number of groups: the pieces that fit by area."""
    holes = state.free_hole or state.board_size % 2
    return (int(state.board_size) ** 2 - int(holes)) // 2


def turn(state: Record) -> str:
    """Who is to do what, or who has won."""
    if state.seat == NONE:
        return f"Player {acting(state)} ({role(state, acting(state))}) wins"
    if state.phase == HOLE:
        return f"Player {state.seat} places the hole"
    if state.phase == ROLE:
        return f"Player {state.seat} chooses a role"
    return f"Player {state.seat} ({role(state, state.seat)}) to move"


def remark(state: Record) -> str:
    """What else there is to say about the turn, or nothing."""
    if state.seat == NONE:
        return f"{state.groups} group{'s' if state.groups != 1 else ''}"
    if state.phase == HOLE:
        return "on any cell"
    if state.phase == ROLE:
        return f"player {1 - state.seat} gets the other"
    if state.num_pieces and state.counter == NONE:
        return f"again: player {1 - state.seat} had to pass"
    return ""
