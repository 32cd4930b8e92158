"""The positions that a match begins with: random plies, or a book from which every side can win.

Random openings can favour one side so much that a match from them says little about its players. A
book is a choice among random openings: those after which a judge that plays itself has won with
every side. As random openings are a function of seed and index, a book is a list of indices.

`make_opening_book` makes them.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo.batch import kernels
from linkzoo.chance import STREAM_SETUP, game_seeds, words
from linkzoo.compiled import Record

BOOK = "book"
RANDOM_PLIES = (2, 4)
RANDOM = "{}-{}".format(*RANDOM_PLIES)
BOOKS = Path(__file__).parent / "openings"


@dataclass(frozen=True)
class Openings:
    """How the blocks of a match begin. `name` is what `read_openings` reads."""

    name: str
    plies: tuple[int, int]  # random plies into a new game, ends included
    seed: np.uint64  # of those plies, and of the game's chance
    indices: NDArray[np.int64] | None = None  # of a book's openings

    @property
    def size(self) -> float:
        """How many different openings there are."""
        return inf if self.indices is None else len(self.indices)

    def positions(self, game: Game, blank: Record, blocks: range) -> NDArray[Any]:
        """The records [len(blocks)] that blocks begin with; ValueError if a book has too few."""
        if self.indices is None:
            return random_openings(game, blank, self.seed, self.plies, blocks)
        if blocks.stop > self.size:
            raise ValueError(
                f"{blocks.stop:,} blocks: the book has {self.size:,} openings; "
                f"random ones, such as {RANDOM!r}, have no end"
            )
        chosen = self.indices[blocks.start : blocks.stop].tolist()
        return random_openings(game, blank, self.seed, self.plies, chosen)


def random_openings(
    game: Game, blank: Record, seed: np.uint64, plies: tuple[int, int], indices: Sequence[int]
) -> NDArray[Any]:
    """New games after plies[0]..plies[1] random plies, but none that would end the game."""
    low, high = plies
    states = np.zeros(len(indices), game.state)
    states[:] = blank
    masks = np.empty((len(states), game.num_actions), np.int8)
    which = np.array(indices, np.uint64)
    kernels(game).begin(states, game_seeds(seed, which), masks)
    counts = low + (words(seed, STREAM_SETUP, which, 0) % np.uint64(high - low + 1)).astype(int)
    kernels(game).random_plies(states, masks, words(seed, STREAM_SETUP, which, 1), counts)
    return states


def digest(states: NDArray[Any]) -> str:
    """SHA-256 of records: of positions that a file tells by how they came about."""
    return hashlib.sha256(states.tobytes()).hexdigest()


def read_openings(text: str | None, game: Game, blank: Record, seed: int, blocks: int) -> Openings:
    """Openings by name for a match of `blocks`: `book`, or some random plies, `0` or `2-4`.

    None is the game's book where it has one for these options, with enough openings, else `2-4`.
    `seed` is that of the match: it draws random plies, and the order in which a book is played.
    """
    path = BOOKS / f"{game.name}.json"
    standard = game.blank()
    fits = path.is_file() and blank.tobytes() == standard.tobytes()
    if text == BOOK or (text is None and fits):
        if not fits:
            books = sorted(file.stem for file in BOOKS.glob("*.json"))
            raise ValueError(
                f"openings: no book for {game.name} with these players and options; there are "
                f"books for {books} with the standard ones"
            )
        book = _load(path, game, seed)
        if text == BOOK or book.size >= blocks:
            return book
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", RANDOM if text is None else text)
    if numbers is None:
        raise ValueError(f"openings: {text!r} is neither {BOOK!r} nor plies such as '0' or '2-4'")
    low = int(numbers[1])
    high = low if numbers[2] is None else int(numbers[2])
    if not low <= high <= game.max_length:
        raise ValueError(f"openings: {text!r} has no numbers of plies in 0..{game.max_length}")
    return Openings(str(numbers[0]), (low, high), np.uint64(seed))


def _load(path: Path, game: Game, seed: int) -> Openings:
    """A book in the order that a match's seed gives it; ValueError if the rules have changed."""
    data = json.loads(path.read_text(encoding="utf-8"))
    indices = np.array(data["indices"], np.int64)
    plies, own = (data["plies"][0], data["plies"][1]), np.uint64(data["seed"])
    states = random_openings(game, game.blank(), own, plies, indices.tolist())
    if digest(states) != data["sha256"]:
        raise ValueError(f"{path} was made for other rules of {game.name}: make it again")
    keys = words(seed, STREAM_SETUP, indices, 2)
    return Openings(BOOK, plies, own, indices[np.argsort(keys)])
