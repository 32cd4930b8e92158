"""The positions that a match begins with: random plies, or a book from which every side can win.

Random openings can favour one side so much that a match from them says little about its players. A
book is a choice among random openings: those after which a judge that plays itself has won with
every side. As random openings are a function of seed and index, a book is a list of indices.

    python -m linkzoo_training.openings linkage     # makes the shipped book again, in minutes
"""

import argparse
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from linkzoo import Agent, Game, Positions, games, get_game
from linkzoo.batch import kernels
from linkzoo.chance import STREAM_ACTION, STREAM_SETUP, below, game_seed, word
from linkzoo.compiled import Record
from linkzoo_training.agents import make_agent
from linkzoo_training.checkpoint import write_atomically

BOOK = "book"
RANDOM = "2-4"
_FORMAT = "linkzoo-openings/1"
_FOLDER = Path(__file__).parent / "openings"
_SEED = 1_000_003  # of the book's openings
_GAMES = 8  # of the judge from an opening
_WINS = 2  # of them, at least, that each side has to win
_BATCH = 64


@dataclass(frozen=True)
class Openings:
    """How the blocks of a match begin. `name` is what `read_openings` reads."""

    name: str
    plies: tuple[int, int]  # random plies into a new game, ends included
    seed: np.uint64  # of those plies, and of the game's chance
    indices: NDArray[np.int64] | None = None  # of a book's openings

    def positions(self, game: Game, blank: Record, blocks: range) -> NDArray[Any]:
        """The records [len(blocks)] that blocks begin with; ValueError if a book has too few."""
        if self.indices is None:
            return random_openings(game, blank, self.seed, self.plies, blocks)
        if blocks.stop > len(self.indices):
            raise ValueError(
                f"{blocks.stop:,} blocks: the book has {len(self.indices):,} openings; "
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
    seeds = np.array([game_seed(seed, i, 0) for i in indices], np.uint64)
    kernels(game).begin(states, seeds, masks)
    counts = [low + below(high - low + 1, seed, STREAM_SETUP, i, 0) for i in indices]
    seeds = np.array([word(seed, STREAM_SETUP, i, 1) for i in indices], np.uint64)
    kernels(game).random_plies(states, masks, seeds, np.array(counts, np.int64))
    return states


def read_openings(text: str | None, game: Game, blank: Record, seed: int) -> Openings:
    """Openings by name: `book`, or a number of random plies, `0` or `2-4`.

    None is the game's book where it has one for these options, else `2-4`. `seed` is that of the
    match: it draws random plies, and the order in which a book is played.
    """
    path = _FOLDER / f"{game.name}.json"
    standard = game.blank()
    fits = path.is_file() and blank.tobytes() == standard.tobytes()
    if text == BOOK or (text is None and fits):
        if not fits:
            books = sorted(file.stem for file in _FOLDER.glob("*.json"))
            raise ValueError(
                f"openings: no book for {game.name} with these players and options; there are "
                f"books for {books} with the standard ones"
            )
        return _load(path, game, seed)
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", RANDOM if text is None else text)
    if numbers is None:
        raise ValueError(f"openings: {text!r} is neither {BOOK!r} nor plies such as '0' or '2-4'")
    low = int(numbers[1])
    high = low if numbers[2] is None else int(numbers[2])
    if low > high:
        raise ValueError(f"openings: {text!r} has no numbers of plies")
    return Openings(str(numbers[0]), (low, high), np.uint64(seed))


def _load(path: Path, game: Game, seed: int) -> Openings:
    """A book in the order that a match's seed gives it; ValueError if the rules have changed."""
    data = json.loads(path.read_text(encoding="utf-8"))
    indices = np.array(data["indices"], np.int64)
    plies, own = (data["plies"][0], data["plies"][1]), np.uint64(data["seed"])
    states = random_openings(game, game.blank(), own, plies, indices.tolist())
    if hashlib.sha256(states.tobytes()).hexdigest() != data["sha256"]:
        raise ValueError(f"{path} was made for other rules of {game.name}: make it again")
    keys = [word(np.uint64(seed), STREAM_SETUP, i, 2) for i in indices]
    return Openings(BOOK, plies, own, indices[np.argsort(np.array(keys, np.uint64))])


def make_book(game: Game, judge: Agent, count: int) -> dict[str, Any]:
    """The first `count` random openings from which the judge wins with every side, as JSON data."""
    low, high = (int(plies) for plies in RANDOM.split("-"))
    chosen: list[int] = []
    with Progress() as bar:
        task = bar.add_task("openings", total=count)
        for first in range(0, 2**31, _BATCH):
            batch = range(first, first + _BATCH)
            states = random_openings(game, game.blank(), np.uint64(_SEED), (low, high), batch)
            wins = _wins(game, judge, states, batch)
            chosen += [i for i, won in zip(batch, wins, strict=True) if min(won) >= _WINS]
            bar.update(task, completed=len(chosen))
            if len(chosen) >= count:
                break
    del chosen[count:]
    states = random_openings(game, game.blank(), np.uint64(_SEED), (low, high), chosen)
    return {
        "format": _FORMAT,
        "game": game.name,
        "judge": judge.name,
        "games": _GAMES,
        "wins": _WINS,
        "seed": _SEED,
        "plies": [low, high],
        "sha256": hashlib.sha256(states.tobytes()).hexdigest(),
        "indices": chosen,
    }


def _wins(game: Game, judge: Agent, states: NDArray[Any], indices: range) -> NDArray[np.int64]:
    """How often each side won when the judge played itself from each record; [N, sides]."""
    games = np.repeat(states, _GAMES)
    masks = np.empty((len(games), game.num_actions), np.int8)
    kernels(game).legal(games, masks)
    actions = np.empty(len(games), np.int64)
    luck = [word(np.uint64(_SEED), STREAM_SETUP, i, 3 + k) for i in indices for k in range(_GAMES)]
    drawn = np.array(luck, np.uint64)
    for ply in range(game.max_length):
        rows = np.flatnonzero(games["seat"] >= 0)
        seeds = np.array([word(drawn[row], STREAM_ACTION, ply) for row in rows], np.uint64)
        actions[:] = -1
        actions[rows] = judge.act(Positions(game, games[rows], seeds))
        kernels(game).play(games, actions, masks)
        if (games["seat"] < 0).all():
            break
    sides = game.sides(int(games[0]["num_players"]))
    seats = [sides.index(side) for side in range(max(sides) + 1)]  # one of each side
    won = games["winners"][:, None] >> np.array(seats, np.uint32) & 1
    return np.asarray(won.reshape(len(states), _GAMES, -1).sum(1), np.int64)


def main() -> None:
    """The command that makes a book."""
    parser = argparse.ArgumentParser(description=make_book.__doc__)
    parser.add_argument("game", choices=games)
    parser.add_argument("--judge", default="uct-400", help="an agent")
    parser.add_argument("--count", type=int, default=1024, help="openings")
    parsed = parser.parse_args()
    data = make_book(get_game(parsed.game), make_agent(parsed.judge, parsed.game), parsed.count)
    path = _FOLDER / f"{parsed.game}.json"
    write_atomically(path, (json.dumps(data) + "\n").encode())
    print(path)


if __name__ == "__main__":
    main()
