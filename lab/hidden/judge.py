"""The part that all algorithms of the benchmark share: arguments, clock and exact NashConv."""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from lab.hidden.columns import COLUMNS
from numpy.typing import NDArray

from linkzoo import Agent
from linkzoo.exact.exploitability import exploitability_of
from linkzoo.exact.policy import policy_of
from linkzoo.exact.values import Evaluator

# The policy so far: an agent with probabilities, or the entries of the tree, float64[K].
Policy = Callable[[], Agent | NDArray[np.float64]]

_FIRST = 2.5  # seconds before the second point of a curve; then twice as many, and so on


class Runner:
    """One training run in this process: call `goes_on` after each iteration.

    The clock is the process's CPU time after the first iteration, which compiles. NashConv is
    measured at the start, and whenever the time has doubled; that isn't on the clock.

    Attributes:
        algorithm: Its name.
        column: The game.
        tree: The game's tree.
        seed: The run's seed.
        seconds: The budget.
    """

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("algorithm")
        parser.add_argument("--column", choices=list(COLUMNS), required=True)
        parser.add_argument("--seconds", type=float, required=True)
        parser.add_argument("--seed", type=int, required=True)
        arguments = parser.parse_args()
        self.algorithm: str = arguments.algorithm
        self.column = COLUMNS[arguments.column]
        self.seconds: float = arguments.seconds
        self.seed: int = arguments.seed
        self.tree = self.column.tree()
        self._evaluator = Evaluator(self.tree)
        self._began = time.process_time()
        self._startup = 0.0
        self._measuring = 0.0
        self._started: float | None = None
        self._first_steps = 0
        self._due = 0.0
        self._curve: list[tuple[float, int, float]] = []

    @property
    def spent(self) -> float:
        """CPU seconds on the clock."""
        if self._started is None:
            return 0.0
        return time.process_time() - self._started - self._measuring

    def goes_on(self, policy: Policy, steps: int) -> bool:
        """Measures now and then; returns whether time is left.

        Args:
            policy: Returns the policy so far, the average one where the algorithm has one.
            steps: Decisions sampled so far, or nodes visited.
        """
        if self._started is None:
            self._started = time.process_time()
            self._startup = self._started - self._began
            self._first_steps = steps
        spent = self.spent
        if spent >= self._due or spent >= self.seconds:
            before = time.process_time()
            entries = policy_of(policy(), self.tree)
            nash_conv = exploitability_of(self._evaluator, self.tree, entries).nash_conv
            self._curve.append((round(spent, 1), steps, round(nash_conv, 5)))
            print(f"  {spent:6.1f} s  {nash_conv:.4f}  {steps:,}", file=sys.stderr, flush=True)
            self._due = max(_FIRST, 2 * spent)
            self._measuring += time.process_time() - before
        return spent < self.seconds

    def finish(self, steps: int, **facts: Any) -> None:
        """Prints the run's row as JSON.

        Args:
            steps: As in `goes_on`.
            facts: Further facts, such as the last losses.
        """
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = {
            "nash_conv": self._curve[-1][2],
            "curve": self._curve,
            "cpu_seconds": round(self.spent, 1),
            "startup": round(self._startup, 1),
            "steps": steps,
            "steps_per_second": round((steps - self._first_steps) / max(self.spent, 1e-9)),
            "megabytes": round(peak),
            "digest": self.tree.game.digest,
            **facts,
        }
        print(json.dumps(row))
