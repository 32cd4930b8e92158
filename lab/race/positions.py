"""Writes `positions.jsonl`: 800 positions with the columns that keep their value.

`python -m lab.race.positions`, half a minute. For each of the plies 11 to 30, 20 positions
come from uniform play, most of which a tactic decides, and 20 from games of `uct-100` against
itself after 4 random plies. In each of them some legal columns keep the value and others don't.
"""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
from lab.race.solver import Table, completing, move_values, new_table, playable, stones

from linkzoo import Positions, get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.make import make_agent

FILE = Path(__file__).with_name("positions.jsonl")
_GAME, _PLIES, _EACH, _GAMES, _OPENING = "connect_four:GAME", range(11, 31), 20, 400, 4


def uniform(ply: int, chance: np.random.Generator) -> str:
    """Returns the columns of an unfinished random game."""
    columns = ""
    while len(columns) < ply:
        own, every = (np.uint64(bits) for bits in stones(columns))
        cells = int(playable(every))
        column = int(chance.choice([one for one in range(7) if cells >> 7 * one & 63]))
        won = int(completing(own, every)) & cells & (63 << 7 * column)
        columns = "" if won else columns + str(column)
    return columns


def games(chance: np.random.Generator) -> list[str]:
    """Returns the columns of games of `uct-100` against itself, after a random opening."""
    game, agent, found = get_game(_GAME), make_agent("uct-100", _GAME), [""] * _GAMES
    states = np.zeros(_GAMES, game.state)
    states[:] = game.blank(2, {})
    for state in states:
        game.rules.new_game(state, np.uint64(0))
    while len(rows := np.flatnonzero(states["seat"] >= 0)):
        seeds = chance.integers(2**63, size=len(rows), dtype=np.uint64)
        actions = (seeds % np.uint64(7)).astype(np.int64)
        if len(found[rows[0]]) >= _OPENING:
            actions = agent.act(Positions(game, states[rows], seeds))
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            game.rules.apply(states[row], action)
            found[row] += str(action)
    return found


def main() -> None:
    table, chance, lines = new_table(), np.random.default_rng(0), []
    played = games(chance)
    for ply in _PLIES:
        longer = [columns[:ply] for columns in chance.permutation(played) if len(columns) > ply]
        for source in ((uniform(ply, chance) for _ in count()), iter(longer)):
            lines += solved(source, table)
        print(f"ply {ply}", flush=True)
    write_atomically(FILE, ("\n".join(lines) + "\n").encode())


def solved(source: Iterator[str], table: Table) -> list[str]:
    """Returns lines of the first positions that leave a choice."""
    lines: list[str] = []
    while len(lines) < _EACH:
        columns = next(source)
        values = move_values(*stones(columns), table)
        best = [column for column, value in values.items() if value == max(values.values())]
        if len(best) < len(values):
            lines.append(json.dumps({"columns": columns, "best": best}))
    return lines


if __name__ == "__main__":
    main()
