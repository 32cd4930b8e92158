"""Asynchronous AlphaZero beside the exact mode: Connect Four in equal CPU seconds.

    pip install examples/connect_four    # or examples/connect_four on PYTHONPATH
    python -m lab.asynchronous --seconds 90 --seeds 1 2 3

Both modes have the same worker processes and parts. CPU seconds are of the learner and its workers,
from the second iteration after all workers have started; schedules follow them. The measure is that
of the race (`lab.race`): the share of best moves in solved positions, by one forward pass. The
learner's idle time is by the clock, so it depends on what else the machine does.
"""

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lab.scaling import start_all, workers_cpu

from linkzoo import Agent, Game, Positions
from linkzoo_training.config.config import load_config
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.train import make_trainer

CONFIG = "examples/connect_four/connect_four_az.yaml"
MODES = ("exact", "asynchronous")
POSITIONS = Path("lab", "race", "positions_connect_four.jsonl")


@dataclass(frozen=True)
class Row:
    """A finished run.

    Attributes:
        mode: `exact` or `asynchronous`.
        seed: Its seed.
        best_moves: The share of best moves.
        steps: Plies in the CPU seconds.
        iterations: Iterations in the CPU seconds.
        idle: The learner's mean waiting share.
        plays: The mean share of its time in which the learner plays.
        staleness: The mean of `staleness p95`; always 1 in the exact mode.
    """

    mode: str
    seed: int
    best_moves: float
    steps: int
    iterations: int
    idle: float
    plays: float
    staleness: float


class Solved:
    """Solved positions."""

    def __init__(self, game: Game) -> None:
        self._game = game
        rows = [json.loads(line) for line in POSITIONS.read_text(encoding="utf-8").splitlines()]
        self._best: list[list[int]] = [row["best"] for row in rows]
        self._states = np.zeros(len(rows), game.state)
        self._states[:] = game.blank(2, {})
        for state, row in zip(self._states, rows, strict=True):
            game.rules.new_game(state, np.uint64(0))
            for action in row["actions"]:
                game.rules.apply(state, action)

    def best_moves(self, agent: Agent) -> float:
        """Returns the share of positions in which the agent plays one of the best moves."""
        seeds = np.arange(len(self._states), dtype=np.uint64)
        actions = agent.act(Positions(self._game, self._states, seeds)).tolist()
        kept = [action in best for action, best in zip(actions, self._best, strict=True)]
        return float(np.mean(kept))


def cpu_seconds() -> float:
    """Returns the CPU seconds of this process and its workers."""
    return time.process_time() + workers_cpu()


def measure(mode: str, seed: int, seconds: float, workers: int, settings: list[str]) -> Row:
    """Trains for some CPU seconds, after two iterations that load compiled code."""
    fields = [f"seed={seed}", f"max_seconds={seconds}", "total_steps=1e12"]
    fields += [f"asynchronous={mode == 'asynchronous'}", f"parts={2 * workers}"]
    config = load_config(CONFIG, [*fields, *settings])
    with ProcessExecutor(workers) as executor:
        trainer = make_trainer(config, executor)
        start_all(executor)
        trainer.iterate()
        trainer.iterate()
        first_steps = trainer.steps
        started = cpu_seconds()
        metrics: list[dict[str, float]] = []
        spent = 0.0
        while spent < seconds:
            trainer.seconds = spent
            metrics.append(trainer.iterate())
            spent = cpu_seconds() - started
    solved = Solved(trainer.game)
    return Row(
        mode,
        seed,
        solved.best_moves(trainer.agent(temperature=0.0)),
        trainer.steps - first_steps,
        len(metrics),
        float(np.mean([row["learner idle"] for row in metrics])),
        float(np.mean([row.get("learner plays", 0.0) for row in metrics])),
        float(np.mean([row.get("staleness p95", 1.0) for row in metrics])),
    )


def main() -> None:
    """Measures, and prints a Markdown table."""
    parser = argparse.ArgumentParser(description="Asynchronous AlphaZero beside the exact mode.")
    parser.add_argument("settings", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--modes", nargs="+", default=MODES, choices=MODES)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    columns = "mode|seed|best moves|plies|iterations|learner idle|learner plays|staleness p95|load"
    print(f"| {columns.replace('|', ' | ')} |", "|---|" + "---:|" * columns.count("|"), sep="\n")
    for seed in args.seeds:
        for mode in args.modes:
            row = measure(mode, seed, args.seconds, args.workers, args.settings)
            print(
                f"| {mode} | {seed} | {row.best_moves:.3f} | {row.steps:,} | {row.iterations} | "
                f"{row.idle:.1%} | {row.plays:.1%} | {row.staleness:.1f} | "
                f"{os.getloadavg()[0]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
