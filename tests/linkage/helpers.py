"""Short ways to drive the game, and the option combinations that the tests run over."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.games import get_game
from tests.linkage.oracle import ACTIONS, Setup, placement_cells
from tests.linkage.oracle import Place as PlaceMove

GAME = get_game("linkage")

STANDARD = Setup()
SETUPS: tuple[Setup, ...] = (
    STANDARD,
    Setup(free_hole=True),
    Setup(threshold=8),
    Setup(threshold=30),
    Setup(board_size=3, threshold=3),
    Setup(board_size=4, threshold=6),
    Setup(board_size=5, threshold=8),
    Setup(board_size=6, threshold=10),
    Setup(free_hole=True, board_size=3, threshold=3),
    Setup(free_hole=True, board_size=4, threshold=6),
    Setup(free_hole=True, board_size=5, threshold=8),
    Setup(free_hole=True, board_size=6, threshold=10),
)

W, B, R, Y = range(4)


def start(setup: Setup = STANDARD, seed: int = 0) -> np.record:
    """A new game."""
    state = GAME.blank(options=setup.kwargs())
    GAME.new_game(state, np.uint64(seed))
    return state


def legal_mask(state: np.record) -> NDArray[np.int8]:
    """The game's mask; the array starts dirty, so that every element has to be written."""
    mask = np.full(GAME.num_actions, 7, np.int8)
    GAME.legal_actions(state, mask)
    return mask


def legal_list(state: np.record) -> NDArray[np.intp]:
    """The legal action numbers."""
    return np.flatnonzero(legal_mask(state))


def clone(state: np.record) -> np.record:
    """An independent copy."""
    return GAME.from_bytes(state.tobytes())


def payoffs(state: np.record) -> list[float]:
    """Payoffs of both seats."""
    out = np.full(2, 99, np.float32)
    GAME.payoffs(state, out)
    return [float(value) for value in out]


def margins(state: np.record) -> list[float]:
    """Margins of both seats."""
    out = np.full(2, 99, np.float32)
    GAME.margins(state, out)
    return [float(value) for value in out]


def observe(state: np.record, seat: int) -> NDArray[Any]:
    """The flat observation of a seat; it starts dirty as well."""
    out = np.full(GAME.observation.size, 77, GAME.observation.dtype)
    GAME.observe(state, seat, out)
    return out


def piece(state: np.record, name: str, seat: int = 0) -> NDArray[Any]:
    """One named piece of a seat's observation."""
    return GAME.observation.view(observe(state, seat), name)


def place(colour: int, first: tuple[int, int], second: tuple[int, int]) -> int:
    """The action number of a placement, from section 5's table."""
    return ACTIONS[PlaceMove(colour, (first, second))]


def play(state: np.record, actions: Iterable[int]) -> np.record:
    """Plays actions after checking that each is legal."""
    for action in actions:
        assert legal_mask(state)[action] == 1, f"{action} is illegal at ply {state.ply}"
        GAME.apply(state, int(action))
    return state


def play_text(state: np.record, moves: str) -> np.record:
    """Plays moves written as `W a1-b1, B c1-d1`."""
    for text in moves.split(", "):
        play(state, [GAME.text_to_action(state, text)])
    return state


def play_random(state: np.record, rng: np.random.Generator, plies: int = 99) -> np.record:
    """Plays uniform legal actions until the end, or for some plies."""
    while state.seat >= 0 and plies > 0:
        GAME.apply(state, int(rng.choice(legal_list(state))))
        plies -= 1
    return state


def fitting_pairs(state: np.record) -> int:
    """Placements that fit when the counter is ignored, from the observation's empty cells."""
    empty = piece(state, "empty")
    cells = [placement_cells(index) for index in range(84)]
    return sum(int(empty[first] and empty[second]) for first, second in cells)
