"""The games of the race, as all systems see them; NumPy alone."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# int8[N, 2, rows, columns]: the mover's stones and the other seat's
Boards = NDArray[np.int8]


class RaceGame(NamedTuple):
    """A game of two seats that put stones on a board."""

    name: str
    address: str  # in linkzoo
    open_spiel: str  # in OpenSpiel
    rows: int
    columns: int
    num_actions: int
    opening: int  # random plies before a match game, too few for a win
    cell: Callable[[NDArray[np.int8], int], tuple[int, int]]  # of occupied cells and an action
    illegal: Callable[[NDArray[np.int8]], NDArray[np.bool_]]  # of occupied cells [N, rows, columns]
    observe: Callable[[Boards], NDArray[np.int8]]  # linkzoo's observations [N, cells of its parts]

    @property
    def positions(self) -> Path:
        """Solved positions: a line of JSON each, with `actions` and the `best` next ones."""
        return Path(__file__).with_name(f"positions_{self.name}.jsonl")

    def board(self, actions: Sequence[int]) -> NDArray[np.int8]:
        """Returns the mover's and the other's stones after these actions, [2, rows, columns]."""
        board = np.zeros((2, self.rows, self.columns), np.int8)
        for action in actions:
            board[0][self.cell(board.sum(0), action)] = 1
            board = board[::-1].copy()  # the mover becomes the other
        return board

    def chosen(self, logits: NDArray[np.floating], boards: Boards) -> list[int]:
        """Returns the legal actions of the highest logits [N, num_actions]."""
        masked = np.where(self.illegal(boards.sum(1)), -np.inf, logits)
        actions: list[int] = masked.argmax(1).tolist()
        return actions


def _lowest_empty_cell(occupied: NDArray[np.int8], action: int) -> tuple[int, int]:
    return int(occupied[:, action].sum()), action


def _full_columns(occupied: NDArray[np.int8]) -> NDArray[np.bool_]:
    full: NDArray[np.bool_] = occupied[:, -1] > 0  # row 0 is the lowest
    return full


def _flat(boards: Boards) -> NDArray[np.int8]:
    return boards.reshape(len(boards), -1)


_HEX = 6


def _cell_of_number(_: NDArray[np.int8], action: int) -> tuple[int, int]:
    return divmod(action, _HEX)


def _occupied_cells(occupied: NDArray[np.int8]) -> NDArray[np.bool_]:
    taken: NDArray[np.bool_] = _flat(occupied) > 0
    return taken


def hex_seats(boards: Boards) -> NDArray[np.int8]:
    """Returns the mover's seats [N]: seat 0 begins, and every ply adds a stone."""
    seats: NDArray[np.int8] = boards.sum((1, 2, 3), dtype=np.int8) % 2
    return seats


def _hex_observations(boards: Boards) -> NDArray[np.int8]:
    vertical = 1 - hex_seats(boards)
    plane = np.broadcast_to(vertical[:, None, None, None], boards[:, :1].shape)
    return _flat(np.concatenate([boards, plane], 1))


GAMES = {
    "connect_four": RaceGame(
        name="connect_four",
        address="connect_four:GAME",
        open_spiel="connect_four",
        rows=6,
        columns=7,
        num_actions=7,
        opening=4,
        cell=_lowest_empty_cell,
        illegal=_full_columns,
        observe=_flat,
    ),
    "hex": RaceGame(
        name="hex",
        address="hex_6x6:GAME",
        open_spiel=f"hex(board_size={_HEX})",
        rows=_HEX,
        columns=_HEX,
        num_actions=_HEX * _HEX,
        opening=2,
        cell=_cell_of_number,
        illegal=_occupied_cells,
        observe=_hex_observations,
    ),
}
