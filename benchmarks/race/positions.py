"""Writes `positions.jsonl`: 800 positions with the columns that keep their value.

`python -m benchmarks.race.positions`, seconds. Positions come from uniform play, 40 for each of the
plies 11 to 30; in each of them some legal columns keep the value and others don't.
"""

import json
from pathlib import Path

import numpy as np
from benchmarks.race.solver import completing, move_values, new_table, playable, stones

from linkzoo.core.files import write_atomically

FILE = Path(__file__).with_name("positions.jsonl")
_PLIES, _EACH = range(11, 31), 40


def position(ply: int, chance: np.random.Generator) -> str:
    """Returns the columns of an unfinished random game."""
    columns = ""
    while len(columns) < ply:
        own, every = (np.uint64(bits) for bits in stones(columns))
        cells = int(playable(every))
        column = int(chance.choice([one for one in range(7) if cells >> 7 * one & 63]))
        won = int(completing(own, every)) & cells & (63 << 7 * column)
        columns = "" if won else columns + str(column)
    return columns


def main() -> None:
    table, chance, lines = new_table(), np.random.default_rng(0), []
    for ply in _PLIES:
        found = 0
        while found < _EACH:
            columns = position(ply, chance)
            values = move_values(*stones(columns), table)
            best = [column for column, value in values.items() if value == max(values.values())]
            if len(best) < len(values):
                found += 1
                lines.append(json.dumps({"columns": columns, "best": best}))
        print(f"ply {ply}", flush=True)
    write_atomically(FILE, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
