"""Openings of matches: new games after some random plies."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo.core.arguments import shown, string
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.engine.rng import STREAM_SETUP, game_seeds, random_u64s

RANDOM_PLIES = (2, 4)
RANDOM = "{}-{}".format(*RANDOM_PLIES)


def random_openings(
    game: Game, blank: Record, seed: np.uint64, plies: tuple[int, int], indices: Sequence[int]
) -> NDArray[Any]:
    """Returns new games after plies[0]..plies[1] random plies, fewer where a game would end."""
    low, high = plies
    states = np.zeros(len(indices), game.state)
    states[:] = blank
    masks = np.empty((len(states), game.num_actions), np.int8)
    which = np.array(indices, np.uint64)
    seeds, dice = game_seeds(seed, which), random_u64s(seed, STREAM_SETUP, which, 1)
    extra = random_u64s(seed, STREAM_SETUP, which, 0) % np.uint64(high - low + 1)
    kernels(game).reset_rows(states, masks, seeds, dice, low + extra.astype(int))
    return states


def digest(states: NDArray[Any]) -> str:
    """Returns the SHA-256 of records."""
    return hashlib.sha256(states.tobytes()).hexdigest()


def read_openings(text: str | None, game: Game) -> tuple[int, int]:
    """Returns the fewest and most plies of `0` or `2-4` (None is `2-4`); ValueError for others."""
    text = RANDOM if text is None else string("openings", text)
    most = game.facts.max_length
    numbers = re.fullmatch(r"([0-9]{1,999})(?:-([0-9]{1,999}))?", text)
    if numbers is None:
        raise ValueError(f"openings: {shown(text)} is no number of plies such as '0' or '2-4'")
    low, high = int(numbers[1]), int(numbers[2] or numbers[1])
    if not low <= high <= most:
        raise ValueError(f"openings: {text!r} has no numbers of plies in 0..{most}")
    return low, high
