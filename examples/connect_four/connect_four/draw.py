"""A position as text."""

from connect_four.notation import LETTERS
from connect_four.rules import BOTH, OVER
from linkzoo.engine.compiled import Record

DISCS = "XO."  # seat 0's, seat 1's, and none (-1)


def draw_text(state: Record, seat: int | None = None) -> str:
    """The grid, the highest row first, and whose turn it is; both seats see the same."""
    rows = [" ".join(DISCS[owner] for owner in row) for row in state.board[::-1]]
    seat, does = (state.seat, "to move") if state.seat != OVER else (state.winners - 1, "wins")
    said = "A draw" if state.winners == BOTH else f"Player {seat} ({DISCS[seat]}) {does}"
    return "\n".join([*rows, " ".join(LETTERS), "", said]) + "\n"
