"""CPU seconds to solve a position from an empty table.

`python -m lab.solver linkage` solves the games of the solved positions at several plies;
`python -m lab.solver linkage board_size=5 threshold=8` a new game with these options.
"""

import argparse
import time

import numpy as np
import yaml
from lab.solved_positions import positions_after

from linkzoo import get_game
from linkzoo.core.solver import Solver
from linkzoo.core.state import Record
from linkzoo.position_file import read_position_file
from linkzoo_training.evaluation.solved_positions import SOLVED_POSITIONS
from linkzoo_training.search.solver import solver


def seconds(exact: Solver, state: Record) -> float:
    exact.forget()
    start = time.process_time()
    exact.winner(state)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("options", metavar="OPTION=VALUE", nargs="*")
    parser.add_argument("--plies", type=int, nargs="*", default=[10, 11, 12, 13, 14, 15, 16])
    parser.add_argument("--count", type=int, default=100, help="positions of a ply")
    parsed = parser.parse_args()
    game = get_game(parsed.game)
    exact = solver(game)
    if parsed.options:
        pairs = (option.split("=") for option in parsed.options)
        state = game.blank(options={name: yaml.safe_load(text) for name, text in pairs})
        game.rules.new_game(state, np.uint64(0))
        exact.winner(state)  # compiles
        score = exact.score(state)
        print(f"{seconds(exact, state):.2f} s, {score} at the end under perfect play")
        return
    file = read_position_file(SOLVED_POSITIONS / f"{game.name}.jsonl", game)
    print("| ply | positions | median | 90 % | longest |\n|---:|---:|---:|---:|---:|")
    for ply in parsed.plies:
        entries = [
            {"opening": line["opening"], "actions": line["actions"][: ply - state["ply"] or None]}
            for line, state in zip(file.lines, file.states, strict=True)
            if state["ply"] >= ply
        ]
        states, _ = positions_after(game, file.about, entries[: parsed.count])
        exact.winner(states[-1])  # compiles
        taken = np.array([seconds(exact, state) for state in states])
        median, most = np.quantile(taken, [0.5, 0.9])
        print(f"| {ply} | {len(taken)} | {median:.4f} s | {most:.3f} s | {taken.max():.3f} s |")


if __name__ == "__main__":
    main()
