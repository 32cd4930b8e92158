"""Makes a book of openings, in minutes.

    python -m linkzoo_training.evaluation.make_opening_book linkage

The shipped books were made with the settings below; the same command gives the same file.
"""

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from linkzoo import Agent, Game, games, get_game
from linkzoo.chance import STREAM_ACTION, STREAM_SETUP, words
from linkzoo_training.agents.playing import play_games
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.checkpoint import write_atomically
from linkzoo_training.evaluation.openings import (
    BOOKS,
    RANDOM_PLIES,
    digest,
    random_openings,
)
from linkzoo_training.outcomes import win_shares

_FORMAT = "linkzoo-openings/1"
_SEED = 1_000_003  # of the book's openings
_GAMES = 8  # of the agent from an opening
_WINS = 2  # of them, at least, that each side has to win; a draw is nobody's win
_BATCH = 64


def make_book(game: Game, agent: Agent, count: int) -> dict[str, Any]:
    """The first `count` random openings from which an agent wins with every side, as JSON data."""
    chosen: list[int] = []
    with Progress() as bar:
        task = bar.add_task("openings", total=count)
        for first in range(0, 2**31, _BATCH):
            batch = range(first, first + _BATCH)
            states = random_openings(game, game.blank(), np.uint64(_SEED), RANDOM_PLIES, batch)
            wins = _wins(game, agent, states, batch)
            chosen += [i for i, won in zip(batch, wins, strict=True) if min(won) >= _WINS]
            bar.update(task, completed=len(chosen))
            if len(chosen) >= count:
                break
    del chosen[count:]
    states = random_openings(game, game.blank(), np.uint64(_SEED), RANDOM_PLIES, chosen)
    return {
        "format": _FORMAT,
        "game": game.name,
        "agent": agent.name,
        "games": _GAMES,
        "wins": _WINS,
        "seed": _SEED,
        "plies": list(RANDOM_PLIES),
        "sha256": digest(states),
        "indices": chosen,
    }


def _wins(game: Game, agent: Agent, states: NDArray[Any], indices: range) -> NDArray[np.float64]:
    """The wins of each side when the agent played itself from each record; [N, sides].

    A win counts 1, or 1/k if k sides share it, and nothing if all do.
    """
    games = np.repeat(states, _GAMES)
    begun = games["ply"].copy()
    of_game = 3 + np.tile(np.arange(_GAMES), len(indices))
    drawn = words(_SEED, STREAM_SETUP, np.repeat(np.array(indices), _GAMES), of_game)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return words(drawn[rows], STREAM_ACTION, (games["ply"] - begun)[rows])

    for _ in play_games(game, games, [agent], lambda games: np.zeros(len(games), np.int64), seeds):
        pass
    shares = win_shares(
        games["winners"], game.one_of_each_side(int(games[0]["num_players"]))
    ).reshape(len(states), _GAMES, -1)
    drawn_games = shares.all(-1, keepdims=True)
    return np.asarray((shares * ~drawn_games).sum(1))


def main() -> None:
    """The command that makes a book."""
    parser = argparse.ArgumentParser(description=make_book.__doc__)
    parser.add_argument("game", choices=games)
    parser.add_argument("--agent", default="uct-400", help="that plays itself")
    parser.add_argument("--count", type=int, default=1024, help="openings")
    parsed = parser.parse_args()
    data = make_book(get_game(parsed.game), make_agent(parsed.agent, parsed.game), parsed.count)
    path = BOOKS / f"{parsed.game}.json"
    write_atomically(path, (json.dumps(data) + "\n").encode())
    print(path)


if __name__ == "__main__":
    main()
