"""A slow model of Linkage in plain Python: cells are tuples, every question is answered by search.

It knows nothing of the package. Comments cite the rules R1-R12; section 5 gives the action
numbers and section 6 the names and the small boards.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Cell = tuple[int, int]

COLOURS = "WBRY"
NUM_ACTIONS = 387
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Place(NamedTuple):
    """A domino of one colour on two cells, the first in row-major order first."""

    colour: int
    cells: tuple[Cell, Cell]


class PutHole(NamedTuple):
    """The hole on a cell."""

    cell: Cell


class Take(NamedTuple):
    """Seat 1's choice of role."""

    more: bool


Move = Place | PutHole | Take


def decode(action: int) -> Move:
    """Returns the meaning of an action number."""
    if action >= 385:
        return Take(action == 385)
    if action >= 336:
        return PutHole(divmod(action - 336, 7))
    colour, placement = divmod(action, 84)
    return Place(colour, placement_cells(placement))


def placement_cells(place: int) -> tuple[Cell, Cell]:
    """The two cells of placement 0..83."""
    if place < 42:
        row, column = divmod(place, 6)
        return (row, column), (row, column + 1)
    row, column = divmod(place - 42, 7)
    return (row, column), (row + 1, column)


MOVES: tuple[Move, ...] = tuple(decode(action) for action in range(NUM_ACTIONS))
ACTIONS: dict[Move, int] = {move: action for action, move in enumerate(MOVES)}


def neighbours(cell: Cell) -> set[Cell]:
    """The four cells beside a cell, off the board too."""
    return {(cell[0] + down, cell[1] + right) for down, right in STEPS}


def cell_name(cell: Cell) -> str:
    """a1 is the top left cell, b1 the one to its right."""
    return "abcdefg"[cell[1]] + str(cell[0] + 1)


def move_text(move: Move) -> str:
    """A move as section 6 writes it."""
    if isinstance(move, Take):
        return "take more" if move.more else "take fewer"
    if isinstance(move, PutHole):
        return f"hole {cell_name(move.cell)}"
    first, second = move.cells
    return f"{COLOURS[move.colour]} {cell_name(first)}-{cell_name(second)}"


def count_groups(colour_at: dict[Cell, int]) -> int:
    """R9: connected components of cells of one colour, by breadth-first search."""
    unseen = set(colour_at)
    groups = 0
    while unseen:
        start = unseen.pop()
        groups += 1
        queue = deque([start])
        while queue:
            for cell in neighbours(queue.popleft()) & unseen:
                if colour_at[cell] == colour_at[start]:
                    unseen.remove(cell)
                    queue.append(cell)
    return groups


def room_left(empty: set[Cell]) -> bool:
    """R8: do two empty cells lie side by side?"""
    return any(neighbours(cell) & empty for cell in empty)


@dataclass(frozen=True)
class Setup:
    """The options of a game."""

    free_hole: bool = False
    board_size: int = 7
    threshold: int | None = None

    def kwargs(self) -> dict[str, Any]:
        """As the options that the package takes."""
        return {
            "free_hole": self.free_hole,
            "board_size": self.board_size,
            "threshold": self.threshold,
        }

    def __str__(self) -> str:
        free = "-free" if self.free_hole else ""
        return f"{self.board_size}x{self.board_size}{free}-{self.threshold or 'standard'}"


class Oracle:
    """One game of Linkage."""

    def __init__(self, setup: Setup | None = None, seed: int = 0) -> None:
        self.setup = setup or Setup()
        self.seed = seed
        size = self.setup.board_size
        self.threshold = 12 if self.setup.threshold is None else self.setup.threshold  # R10
        self.board = {(row, column) for row in range(size) for column in range(size)}
        # The supply follows from the cells outside the hole; an even board has one only in R11.
        has_hole = self.setup.free_hole or size % 2 == 1
        usable = size * size - (1 if has_hole else 0)
        self.supply = [-(-usable // 8)] * 4  # R2
        self.hole: Cell | None = None
        self.seat: int | None = 0
        self.more: int | None = None
        self.phase = "hole"
        if not self.setup.free_hole:
            self.phase = "play"
            self.more = 0  # R3
            if has_hole:
                self.hole = (size // 2, size // 2)  # R1
        self.pieces: list[Place] = []
        self.colour_at: dict[Cell, int] = {}
        self.counter: int | None = None
        self.ply = 0
        self.passes = 0

    # What is on the board

    def blocked(self) -> set[Cell]:
        """The hole and whatever of the 7x7 grid lies off a smaller board."""
        grid = {(row, column) for row in range(7) for column in range(7)}
        return (grid - self.board) | ({self.hole} if self.hole else set())

    def empty(self) -> set[Cell]:
        """Cells of the board without hole and piece."""
        return self.board - self.blocked() - set(self.colour_at)

    def counter_cells(self) -> set[Cell]:
        """The cells of the piece with the counter."""
        return set() if self.counter is None else set(self.pieces[self.counter].cells)

    def forbidden(self) -> set[Cell]:
        """R4: empty cells beside the counter's piece."""
        touching: set[Cell] = set()
        for cell in self.counter_cells():
            touching |= neighbours(cell)
        return touching & self.empty()

    def groups(self) -> int:
        """R9."""
        return count_groups(self.colour_at)

    def winner(self) -> int | None:
        """R10: the winning seat of a finished game."""
        if self.seat is not None or self.more is None:
            return None
        return self.more if self.groups() >= self.threshold else 1 - self.more

    def payoffs(self) -> list[float]:
        """R10: +1 and -1 at the end."""
        return [1.0 if seat == self.winner() else -1.0 for seat in (0, 1)]

    def margins(self) -> list[float]:
        """R10, `reward="score"`; nobody is ahead before the roles are known."""
        if self.more is None:
            return [0.0, 0.0]
        margin = (self.groups() - self.threshold + 0.5) / 12.5
        return [margin if seat == self.more else -margin for seat in (0, 1)]

    # Moves

    def legal(self, action: int) -> bool:
        """Is this action allowed now?"""
        if self.seat is None:
            return False
        move = MOVES[action]
        if isinstance(move, Take):
            return self.phase == "role"  # R11
        if isinstance(move, PutHole):
            return self.phase == "hole" and move.cell in self.board  # R11
        if self.phase != "play" or self.supply[move.colour] == 0:
            return False
        return self.fits(move.cells) and not set(move.cells) & self.forbidden()  # R4

    def fits(self, cells: tuple[Cell, Cell]) -> bool:
        """Are both cells free for a piece, the counter ignored?"""
        return all(
            cell in self.board and cell != self.hole and cell not in self.colour_at
            for cell in cells
        )

    def mask(self) -> NDArray[np.int8]:
        """Every action asked in turn."""
        return np.array([self.legal(action) for action in range(NUM_ACTIONS)], np.int8)

    def apply(self, action: int) -> None:
        """Plays a legal action, and the passes that follow from it."""
        if not self.legal(action) or self.seat is None:
            raise ValueError(f"illegal: {move_text(MOVES[action])}")
        move = MOVES[action]
        self.ply += 1
        if isinstance(move, PutHole):
            self.hole, self.phase, self.seat = move.cell, "role", 1
        elif isinstance(move, Take):
            self.more = 1 if move.more else 0
            self.phase, self.seat = "play", self.more  # More begins (R3, R11)
        else:
            self.supply[move.colour] -= 1
            self.pieces.append(move)
            for cell in move.cells:
                self.colour_at[cell] = move.colour
            self.counter = len(self.pieces) - 1  # R4, R7
            self.seat = self.next_seat(self.seat)

    def next_seat(self, mover: int) -> int | None:
        """R6 and R8: who is to move after `mover` has placed a piece."""
        if not any(self.fits(placement_cells(placement)) for placement in range(84)):
            return None
        if self.can_place():
            return 1 - mover
        self.counter = None
        self.passes += 1
        assert self.can_place(), "R7: after a pass a piece can be placed"
        return mover

    def can_place(self) -> bool:
        """Has the player to move a placement under R4?"""
        return any(self.legal(action) for action in range(336))

    # How others see it

    def observation(self, seat: int) -> dict[str, NDArray[np.int8]]:
        """Every named piece of section 5."""
        role = 0 if self.more is None else 1 if seat == self.more else 2
        colours = np.stack(
            [_plane({c for c, k in self.colour_at.items() if k == kind}) for kind in range(4)]
        )
        return {
            "colours": colours,
            "empty": _plane(self.empty()),
            "blocked": _plane(self.blocked()),
            "counter": _plane(self.counter_cells()),
            "forbidden": _plane(self.forbidden()),
            "supply": np.stack([_full(count) for count in self.supply]),
            "groups": _full(self.groups()),
            "threshold": _full(min(self.threshold, 25)),
            "pieces": _full(len(self.pieces)),
            "role": _full(role),
            "to_act": _full(int(seat == self.seat)),
            "phase": _full({"play": 0, "hole": 1, "role": 2}[self.phase]),
        }

    def rows(self) -> list[str]:
        """The board as strings."""
        size = self.setup.board_size
        return ["".join(self._letter((r, c)) for c in range(size)) for r in range(size)]

    def _letter(self, cell: Cell) -> str:
        if cell == self.hole:
            return "X"
        return COLOURS[self.colour_at[cell]] if cell in self.colour_at else "."

    def to_dict(self) -> dict[str, Any]:
        """The referee's JSON of section 6."""
        return {
            "game": "linkage",
            "version": 0,
            "options": {
                "free_hole": self.setup.free_hole,
                "board_size": self.setup.board_size,
                "threshold": self.threshold,
                "skip_forced": False,
            },
            "seed": self.seed,
            "num_players": 2,
            "seat": self.seat,
            "ply": self.ply,
            "phase": self.phase,
            "more": self.more,
            "board": self.rows(),
            "pieces": [
                [COLOURS[piece.colour], *(cell_name(cell) for cell in piece.cells)]
                for piece in self.pieces
            ],
            "counter": self.counter,
            "supply": dict(zip(COLOURS, self.supply, strict=True)),
            "groups": self.groups(),
            "winner": self.winner(),
        }


def _plane(cells: set[Cell]) -> NDArray[np.int8]:
    """A 7x7 grid with ones on some cells."""
    plane = np.zeros((7, 7), np.int8)
    for cell in cells:
        plane[cell] = 1
    return plane


def _full(value: int) -> NDArray[np.int8]:
    """A 7x7 grid of one number."""
    return np.full((7, 7), value, np.int8)
