"""The positions that a match begins with: new games after some random plies."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_SETUP, game_seeds, words
from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import shown

RANDOM_PLIES = (2, 4)
RANDOM = "{}-{}".format(*RANDOM_PLIES)


@dataclass(frozen=True)
class Openings:
    """How the blocks of a match begin. `name` is what `read_openings` reads."""

    name: str
    plies: tuple[int, int]  # random plies into a new game, ends included
    seed: np.uint64  # of those plies, and of the game's chance

    def positions(self, game: Game, blank: Record, blocks: Sequence[int]) -> NDArray[Any]:
        """The records [len(blocks)] that blocks begin with."""
        return random_openings(game, blank, self.seed, self.plies, blocks)


def random_openings(
    game: Game, blank: Record, seed: np.uint64, plies: tuple[int, int], indices: Sequence[int]
) -> NDArray[Any]:
    """New games after plies[0]..plies[1] random plies, but none that would end the game."""
    low, high = plies
    states = np.zeros(len(indices), game.state)
    states[:] = blank
    masks = np.empty((len(states), game.num_actions), np.int8)
    which = np.array(indices, np.uint64)
    seeds, dice = game_seeds(seed, which), words(seed, STREAM_SETUP, which, 1)
    counts = low + (words(seed, STREAM_SETUP, which, 0) % np.uint64(high - low + 1)).astype(int)
    kernels(game).renew(states, masks, seeds, dice, counts)
    return states


def digest(states: NDArray[Any]) -> str:
    """SHA-256 of records: of positions that a file tells by how they came about."""
    return hashlib.sha256(states.tobytes()).hexdigest()


def read_openings(text: str | None, game: Game, seed: int) -> Openings:
    """Openings by name: some random plies, `0` or `2-4`; None is `2-4`.

    `seed` is that of the match. ValueError names what is wrong.
    """
    text = RANDOM if text is None else text
    numbers = re.fullmatch(r"([0-9]{1,999})(?:-([0-9]{1,999}))?", text)
    if numbers is None:
        raise ValueError(f"openings: {shown(text)} is no number of plies such as '0' or '2-4'")
    low = int(numbers[1])
    high = low if numbers[2] is None else int(numbers[2])
    if not low <= high <= game.max_length:
        raise ValueError(f"openings: {text!r} has no numbers of plies in 0..{game.max_length}")
    return Openings(text, (low, high), np.uint64(seed))
