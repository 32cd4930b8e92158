"""Openings of matches: new games after some random plies, or the positions of a file."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, GameRecord, load_positions
from linkzoo.core.arguments import shown, string
from linkzoo.core.kernels import kernels
from linkzoo.core.options import option_names
from linkzoo.core.state import Record
from linkzoo.core.urls import local_copy
from linkzoo.engine.rng import STREAM_SETUP, game_seeds, random_u64s
from linkzoo_training.resources import file_exists

RANDOM_PLIES = (2, 4)
START = "0"  # the openings of a match of the game itself
_SHORT_GAME = 20  # decisions; in shorter games, random plies are a large part
_PLIES = re.compile(r"([0-9]{1,999})(?:-([0-9]{1,999}))?")


def digest(states: NDArray[Any]) -> str:
    """Returns the SHA-256 of records."""
    return hashlib.sha256(states.tobytes()).hexdigest()


class RandomPlies(NamedTuple):
    """New games after `low` to `high` random plies, uniform, fewer where a game would end."""

    low: int
    high: int

    def begin(
        self, game: Game, blank: Record, seed: np.uint64, blocks: Sequence[int]
    ) -> NDArray[Any]:
        """Returns the first positions of blocks; `blank` has the options and players."""
        states = np.zeros(len(blocks), game.state)
        states[:] = blank
        masks = np.empty((len(states), game.num_actions), np.int8)
        numbers = np.array(blocks, np.uint64)
        seeds = game_seeds(seed, numbers)
        dice = random_u64s(seed, STREAM_SETUP, numbers, 1)
        extra = random_u64s(seed, STREAM_SETUP, numbers, 0) % np.uint64(self.high - self.low + 1)
        kernels(game).reset_rows(states, masks, seeds, dice, self.low + extra.astype(int))
        return states


@dataclass(frozen=True)
class Book:
    """Openings from a file: each begins one block, in an order that the seed of the match draws."""

    states: NDArray[Any]  # [N]

    def begin(
        self,
        game: Game,  # noqa: ARG002 - as in RandomPlies
        blank: Record,  # noqa: ARG002 - its options are those of the states
        seed: np.uint64,
        blocks: Sequence[int],
    ) -> NDArray[Any]:
        """Returns the first positions of blocks; later chance follows from the match's seed."""
        order = np.argsort(random_u64s(seed, STREAM_SETUP, np.arange(len(self.states)), 2))
        numbers = np.array(blocks, np.uint64)
        states = self.states[order[numbers]]
        states["seed"] = game_seeds(seed, numbers)
        return states


Openings = RandomPlies | Book


def begin_record(game: Game, state: Record, openings: Openings) -> GameRecord:
    """Returns the record of a game that begins in a position of the openings."""
    if isinstance(openings, RandomPlies) and state.ply == 0:  # seed and options determine it
        return GameRecord.of(game, state)
    return GameRecord.of(game, state, game.to_dict(state))


def standard_openings(game: Game) -> str:
    """Returns the openings of a match that names none: `0` or `2-4`.

    Random plies vary the games of deterministic agents. With chance the games vary by themselves,
    and a short game after random plies is another game.
    """
    if game.facts.chance or game.facts.max_length < _SHORT_GAME:
        return START
    low, high = RANDOM_PLIES
    return f"{low}-{high}"


def describe_openings(text: str) -> str:
    """Returns the openings of a match as words after the number of its games."""
    match = _PLIES.fullmatch(text)
    if match is None:
        return f"from {text}"
    most = int(match[2] or match[1])
    if most == 0:
        return "from the start"
    plies = "ply" if most == 1 else "plies"
    return f"after {text} random {plies}"


def openings_digest(text: str | None) -> str | None:
    """Returns the SHA-256 of a file of openings; None for other openings."""
    if text is None or not is_file(text):
        return None
    return hashlib.sha256(local_copy(text).read_bytes()).hexdigest()


def is_file(text: str) -> bool:
    """Returns whether openings are a file of positions."""
    return _PLIES.fullmatch(text) is None and file_exists(local_copy(text))


def read_openings(
    text: str | None, game: Game, blanks: Sequence[Record] = (), blocks: int = 0
) -> Openings:
    """Returns the openings of a match.

    Args:
        text: `0` or `2-4` for random plies, or a file of positions; None: `standard_openings`.
        game: The game.
        blanks: Records with the options and the number of players of each variant in a block.
        blocks: The blocks of the match.

    Raises:
        ValueError: The text is neither, or the file has too few positions, or positions with other
            options.
    """
    if text is None:
        text = standard_openings(game)
    string("openings", text)
    if is_file(text):
        return _read_book(text, game, blanks, blocks)
    match = _PLIES.fullmatch(text)
    if match is None:
        raise ValueError(
            f"openings: {shown(text)} is no number of plies such as '0' or '2-4', and no file"
        )
    low = int(match[1])
    high = int(match[2] or low)
    if not low <= high <= game.facts.max_length:
        most = game.facts.max_length
        raise ValueError(f"openings: {text!r} has no numbers of plies in 0..{most}")
    return RandomPlies(low, high)


def _read_book(path: str, game: Game, blanks: Sequence[Record], blocks: int) -> Book:
    """Returns the positions of a file for the match's number of players; ValueError if too few."""
    states = load_positions(path, game)
    for blank in blanks:
        states = states[states["num_players"] == blank["num_players"]]
        for name in set(option_names(game.options)) - set(game.fixed.values):
            if len(others := np.flatnonzero(states[name] != blank[name])):
                value = game.chosen_options(states[others[0]])[name]
                raise ValueError(
                    f"openings: {path} has a position with {name}={value}, but the match is "
                    f"played with {game.chosen_options(blank)[name]}"
                )
    if len(states) < blocks:
        raise ValueError(
            f"openings: {path} has {len(states)} positions for {blanks[0].num_players} players; "
            f"each begins one block, so play at most that many, not {blocks}"
        )
    return Book(states)
