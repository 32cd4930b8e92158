"""Writes `positions_GAME.jsonl`: positions with the actions that keep their value.

`python -m lab.race.positions GAME`, half a minute. For each of some plies, half of the positions
come from uniform play, most of which a tactic decides, and half from games of `uct-100` against
itself after the race's random opening. In each of them some legal actions keep the value and others
don't.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from lab.race import solver_connect_four, solver_hex
from lab.race.games import GAMES, RaceGame

from linkzoo import Game, Positions, Record, get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.make import make_agent

Actions = list[int]


class Solver(NamedTuple):
    """A solver, its `move_values(actions, table)`, and the positions that it solves."""

    plies: range
    each: int  # positions of a ply from uniform play, and as many from a search
    games: int  # of the search
    new_table: Callable[[], Any]
    move_values: Callable[[Sequence[int], Any], dict[int, int]]


SOLVERS = {
    "connect_four": Solver(
        range(11, 31), 20, 400, solver_connect_four.new_table, solver_connect_four.move_values
    ),
    "hex": Solver(range(20, 24), 50, 2000, solver_hex.new_table, solver_hex.move_values),
}


def beginning(game: Game) -> Record:
    """Returns the position at the beginning."""
    state = game.blank(2, {})
    game.rules.new_game(state, np.uint64(0))
    return state


def uniform(race: RaceGame, ply: int, chance: np.random.Generator) -> Actions:
    """Returns the actions of an unfinished random game."""
    game = get_game(race.address)
    mask = np.zeros(game.num_actions, np.int8)
    state = beginning(game)
    actions: Actions = []
    while len(actions) < ply:
        game.rules.legal_actions(state, mask)
        action = int(chance.choice(np.flatnonzero(mask).tolist()))
        game.rules.apply(state, action)
        actions.append(action)
        if state["seat"] < 0:
            state = beginning(game)
            actions = []
    return actions


def games(race: RaceGame, number: int, chance: np.random.Generator) -> list[Actions]:
    """Returns the actions of games of `uct-100` against itself, after a random opening."""
    game = get_game(race.address)
    agent = make_agent("uct-100", race.address)
    played: list[Actions] = [[] for _ in range(number)]
    states = np.zeros(number, game.state)
    states[:] = beginning(game)
    mask = np.zeros(game.num_actions, np.int8)
    while len(rows := np.flatnonzero(states["seat"] >= 0)):
        seeds = chance.integers(2**63, size=len(rows), dtype=np.uint64)
        if len(played[rows[0]]) >= race.opening:
            actions = agent.act(Positions(game, states[rows], seeds)).tolist()
        else:
            actions = []
            for row, seed in zip(rows, seeds, strict=True):
                game.rules.legal_actions(states[row], mask)
                legal = np.flatnonzero(mask)
                actions.append(int(legal[seed % np.uint64(len(legal))]))
        for index, action in zip(rows.tolist(), actions, strict=True):
            game.rules.apply(states[index], action)
            played[index].append(action)
    return played


def solved(source: Iterator[Actions], solver: Solver, table: Any) -> list[str]:
    """Returns lines of the first positions that leave a choice."""
    lines: list[str] = []
    while len(lines) < solver.each:
        actions = next(source)
        values = solver.move_values(actions, table)
        best = [action for action, value in values.items() if value == max(values.values())]
        if len(best) < len(values):
            lines.append(json.dumps({"actions": actions, "best": best}))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=sorted(SOLVERS))
    race = GAMES[parser.parse_args().game]
    solver = SOLVERS[race.name]
    table = solver.new_table()
    chance = np.random.default_rng(0)
    lines: list[str] = []
    played = games(race, solver.games, chance)
    for ply in solver.plies:
        shuffled = [played[number] for number in chance.permutation(len(played))]
        longer = [actions[:ply] for actions in shuffled if len(actions) > ply]
        for source in ((uniform(race, ply, chance) for _ in count()), iter(longer)):
            lines += solved(source, solver, table)
        print(f"ply {ply}", flush=True)
    write_atomically(race.positions, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
