"""Descriptions of a Linkage position, shared by text and SVG."""

from linkzoo.core.guide import count
from linkzoo.core.state import Record
from linkzoo.games.linkage import components
from linkzoo.games.linkage.state import HOLE, NONE, ROLE


def board_cells(state: Record) -> list[int]:
    """Returns the board's cells (7r + c), the hole included, in row-major order."""
    size = int(state.board_size)
    return [components.SIZE * row + column for row in range(size) for column in range(size)]


def piece_cells(state: Record, index: int) -> tuple[int, int]:
    """Returns the two cells of a piece, in row-major order."""
    first, second = components.PLACEMENT_CELLS[state.pieces[index] % components.PLACEMENTS].tolist()
    return first, second


def piece_colour(state: Record, index: int) -> str:
    """Returns the letter of a piece's colour."""
    return components.COLOURS[state.pieces[index] // components.PLACEMENTS]


def piece_indices(state: Record) -> dict[int, int]:
    """Returns the piece (an index into `pieces`) on each covered cell."""
    pieces = range(state.num_pieces)
    return {cell: index for index in pieces for cell in piece_cells(state, index)}


def closed_cells(state: Record) -> set[int]:
    """Returns the empty cells adjacent to the counter's piece (R4)."""
    if state.counter == NONE:
        return set()
    placement = state.pieces[state.counter] % components.PLACEMENTS
    closed = int(components.BOARD.touching[placement] & ~state.occupied)
    return {cell for cell in board_cells(state) if closed >> cell & 1}


def role(state: Record, seat: int) -> str:
    """Returns the seat's role: `More` or `Fewer`; "" before it is chosen."""
    if state.more == NONE:
        return ""
    return "More" if seat == state.more else "Fewer"


def acting(state: Record) -> int:
    """Returns the seat to act, or the winner."""
    if state.seat == NONE:
        return int(state.winners).bit_length() - 1
    return int(state.seat)


def turn(state: Record) -> str:
    """Returns the turn or the winner as text."""
    seat = acting(state)
    if state.seat == NONE:
        return f"Player {seat} ({role(state, seat)}) wins"
    if state.phase == HOLE:
        return f"Player {seat} places the hole"
    if state.phase == ROLE:
        return f"Player {seat} chooses a role"
    return f"Player {seat} ({role(state, seat)}) to move"


def remark(state: Record) -> str:
    """Returns a remark on the turn, or ""."""
    if state.seat == NONE:
        return count(state.groups, "group")
    if state.phase == HOLE:
        return "on any cell"
    if state.phase == ROLE:
        return f"player {1 - state.seat} gets the other"
    if state.num_pieces > 0 and state.counter == NONE:
        return f"again: player {1 - state.seat} had to pass"
    return ""
