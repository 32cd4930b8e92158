"""Makes a file of solved positions, in minutes; after Ctrl-C it resumes.

    python -m lab.solved_positions linkage

The shipped files were made with the settings below; the command reproduces them.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from linkzoo import Agent, Game, game_names, get_game, save_positions
from linkzoo.core.files import write_atomically
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import NOBODY, play_games
from linkzoo_training.evaluation.openings import RANDOM_PLIES, RandomPlies
from linkzoo_training.evaluation.solved_positions import SOLVED_POSITIONS
from linkzoo_training.search.solver import solver, winning_actions

_SEED = 1_000_033  # for openings and players; unlike the ladder's
_PLAYERS = ("greedy", "uct-100", "uct-1000")  # each plays every seat
_PLIES = (12, 13, 14, 15, 16, 17)  # stopping points
_BATCH = 60  # games per save, in lock-step with the same players


def make_solved_positions(
    game: Game, count: int, work: Path, players: Sequence[str] = _PLAYERS
) -> dict[str, Any]:
    """Returns the first `count` positions per ply with a win to lose, as JSON data.

    All are from different games. `work` is the file to resume from; ValueError if its settings
    differ.
    """
    settings = {
        "game": game.name,
        "seed": _SEED,
        "opening_plies": list(RANDOM_PLIES),
        "players": list(players),
        "plies": list(_PLIES),
        "count": count,
    }
    done: dict[str, Any] = {**settings, "games": 0, "positions": []}
    if work.is_file():
        done = json.loads(work.read_text(encoding="utf-8"))
        if done | settings != done:
            raise ValueError(f"{work} has other settings: move it away")
    pairs = list(product([make_agent(name, game.name) for name in players], repeat=2))
    found, total = done["positions"], count * len(_PLIES)
    columns = *Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns) as bar:
        task = bar.add_task("positions", total=total, completed=len(found))
        while len(found) < total:
            wanted = {ply: count - sum(entry["ply"] == ply for entry in found) for ply in _PLIES}
            indices = range(done["games"], done["games"] + _BATCH)
            players_of_batch = pairs[done["games"] // _BATCH % len(pairs)]
            for entry in _played(game, settings, players_of_batch, indices, wanted):
                if wanted[entry["ply"]] > 0 and (solved := _solved(game, settings, entry)):
                    wanted[entry["ply"]] -= 1
                    found.append(solved)
                    bar.update(task, completed=len(found))
            done["games"] += _BATCH
            write_atomically(work, json.dumps(done).encode())
    return done


def save_solved_positions(path: Path, game: Game, data: dict[str, Any]) -> None:
    """Writes the result of `make_solved_positions` as a file of positions."""
    states, _ = positions_after(game, data, data["positions"])
    fields = [
        {
            "values": [1 if digit == "1" else -1 for digit in entry["wins"]],
            "opening": entry["opening"],
            "actions": entry["actions"],
        }
        for entry in data["positions"]
    ]
    about = {name: value for name, value in data.items() if name != "positions"}
    save_positions(path, game, states, fields, about)


def positions_after(
    game: Game, settings: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Returns records [N] and masks [N, num_actions] after each entry's `opening` and `actions`.

    An opening is the number of a block of RandomPlies.
    """
    openings, seed = RandomPlies(*settings["opening_plies"]), np.uint64(settings["seed"])
    states = openings.begin(game, game.blank(), seed, [entry["opening"] for entry in entries])
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    games = [entry["actions"] for entry in entries]
    for turn in range(max(map(len, games), default=0)):
        actions = [played[turn] if turn < len(played) else -1 for played in games]
        kernels(game).play(states, np.array(actions, np.int64), masks)
    return states, masks


def _played(
    game: Game,
    settings: dict[str, Any],
    players: Sequence[Agent],
    indices: range,
    wanted: dict[int, int],
) -> list[dict[str, Any]]:
    """Plays the games with these indices up to the wanted plies."""
    entries: list[dict[str, Any]] = []
    for index in indices:
        ply = _PLIES[index % len(_PLIES)]
        if wanted[ply]:
            entries.append({"opening": index, "ply": ply, "actions": []})
    states, _ = positions_after(game, settings, entries)
    openings, ends = (np.array([entry[name] for entry in entries]) for name in ("opening", "ply"))

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.where(states["ply"] < ends, states["seat"], NOBODY)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return random_u64s(_SEED, STREAM_ACTION, openings[rows], states["ply"][rows])

    for actions in play_games(game, states, players, acting, seeds):
        for entry, action in zip(entries, actions.tolist(), strict=True):
            entry["actions"] += [action] if action != NOBODY else []
    return entries


def _solved(game: Game, settings: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any] | None:
    """Returns an entry with the wins of its legal actions; None if no win can be thrown away."""
    states, masks = positions_after(game, settings, [entry])
    if states[0]["seat"] < 0:
        return None
    wins = winning_actions(game, solver(game), states[0])[masks[0] == 1].tolist()
    return {**entry, "wins": "".join(map(str, wins))} if len(set(wins)) == 2 else None


def main() -> int:
    """Runs the command; returns 130 if it was interrupted."""
    parser = argparse.ArgumentParser(description=make_solved_positions.__doc__)
    parser.add_argument("game", choices=game_names())
    parser.add_argument("--count", type=int, default=350, help="positions of each ply")
    parser.add_argument("--work", type=Path, help="default: runs/solved_positions_GAME.json")
    parsed = parser.parse_args()
    work = parsed.work or Path("runs") / f"solved_positions_{parsed.game}.json"
    try:
        data = make_solved_positions(get_game(parsed.game), parsed.count, work)
    except KeyboardInterrupt:
        print(f"stopped; the same command resumes from {work}")
        return 130
    path = SOLVED_POSITIONS / f"{parsed.game}.jsonl"
    save_solved_positions(path, get_game(parsed.game), data)
    work.unlink()
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
