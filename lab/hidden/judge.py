"""The part that all algorithms of the benchmark share: arguments, clock and measurements."""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from lab.hidden.columns import COLUMNS, Column
from lab.hidden.trials import TRIALS
from numpy.typing import NDArray

from linkzoo import Agent, exact
from linkzoo.exact.exploitability import exploitability_of
from linkzoo.exact.policy import policy_of
from linkzoo.exact.values import Evaluator
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.mixed_tables import mixed_tables
from linkzoo_training.evaluation.statistics import Estimate

# The policy so far: an agent with probabilities, or the entries of the tree, float64[K].
Policy = Callable[[], Agent | NDArray[np.float64]]

SOLVED = 1e-4  # NashConv at which a run ends before its time
_FIRST = 2.5  # seconds before the second point of a curve; then twice as many, and so on
_OPPONENTS = ("linear", "greedy")
_DEALS_SEED = 2026113001  # the deals are the same for all
_CURVE_GAMES, _GAMES = 300, 2000


class Judge(Protocol):
    """Measures policies."""

    measure: str

    def value(self, policy: Policy) -> float:
        """Returns the measure of the policy so far."""
        ...

    def is_solved(self, value: float, /) -> bool:
        """Returns whether a policy with this measure leaves nothing to learn."""
        ...

    def facts(self, policy: Policy, /) -> dict[str, Any]:
        """Returns further facts of the last policy for its row."""
        ...


class ExactJudge:
    """Measures NashConv over the whole tree.

    Attributes:
        measure: Its name in rows.
        tree: The game's tree.
    """

    measure = "nash_conv"

    def __init__(self, column: Column) -> None:
        self.tree = exact.tree(column.game, column.num_players, column.options)
        self._evaluator = Evaluator(self.tree)

    def value(self, policy: Policy) -> float:
        """Returns NashConv."""
        entries = policy_of(policy(), self.tree)
        return exploitability_of(self._evaluator, self.tree, entries).nash_conv

    def is_solved(self, value: float, /) -> bool:
        """Returns whether NashConv is below .0001."""
        return value < SOLVED

    def facts(self, _policy: Policy, /) -> dict[str, Any]:
        """Returns no further facts."""
        return {}


class MatchJudge:
    """Measures shares of wins at fixed deals, where equal agents have one half.

    Two players play a match, more share mixed tables. The opponents are `linear`, by the digest of
    its weights, and `greedy`; every agent plays its likeliest action.

    Attributes:
        measure: Its name in rows: the share against `linear`.
    """

    measure = "wins_v_linear"

    def __init__(self, column: Column) -> None:
        self._column = column

    def value(self, policy: Policy) -> float:
        """Returns the share against `linear` in some hundred games."""
        return self._against("linear", policy, _CURVE_GAMES).mean

    def is_solved(self, _value: float, /) -> bool:
        """Returns False: a stronger policy may always be found."""
        return False

    def facts(self, policy: Policy, /) -> dict[str, Any]:
        """Returns the shares in 2,000 games against each opponent, and digests of weights."""
        shares = {name: self._against(name, policy, _GAMES)._asdict() for name in _OPPONENTS}
        digest = AgentSpec.parse("linear").digest(self._column.game)
        return {"matches": shares, "linear": digest}

    def _against(self, name: str, policy: Policy, games: int) -> Estimate:
        game = self._column.game
        players = self._column.num_players
        agent = policy()
        assert not isinstance(agent, np.ndarray)
        opponent = NamedAgent(AgentSpec.parse(name), game)
        blocks = blocks_of(game, players, games)
        if players == 2:
            match = Match(game, agent, opponent, blocks, _DEALS_SEED, num_players=players)
            return match.play(timed=False).win_share()
        return mixed_tables(game, agent, opponent, blocks, num_players=players, seed=_DEALS_SEED)


class Runner:
    """One training run in this process: call `goes_on` after each iteration.

    The clock is the process's CPU time after the first iteration, which compiles. The policy is
    measured at the start, and whenever the time has doubled; that isn't on the clock.

    Attributes:
        algorithm: Its name.
        column: The game.
        seed: The run's seed.
        seconds: The budget.
        trial: The factors of its settings.
    """

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("algorithm")
        parser.add_argument("--column", choices=list(COLUMNS), required=True)
        parser.add_argument("--seconds", type=float, required=True)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--trial", type=int, choices=range(len(TRIALS)), required=True)
        arguments = parser.parse_args()
        self.algorithm: str = arguments.algorithm
        self.column = COLUMNS[arguments.column]
        self.seconds: float = arguments.seconds
        self.seed: int = arguments.seed
        self.trial = TRIALS[arguments.trial]
        self._judge: Judge = (ExactJudge if self.column.exact else MatchJudge)(self.column)
        self._began = time.process_time()
        self._startup = 0.0
        self._measuring = 0.0
        self._started: float | None = None
        self._first_steps = 0
        self._due = 0.0
        self._is_solved = False
        self._curve: list[tuple[float, int, float]] = []
        self._policy: Policy | None = None

    @property
    def tree(self) -> exact.GameTree:
        """The tree of an exact column."""
        assert isinstance(self._judge, ExactJudge)
        return self._judge.tree

    @property
    def spent(self) -> float:
        """CPU seconds on the clock."""
        if self._started is None:
            return 0.0
        return time.process_time() - self._started - self._measuring

    def goes_on(self, policy: Policy, steps: int) -> bool:
        """Measures now and then; returns whether time and something to learn are left.

        Args:
            policy: Returns the policy so far, the average one where the algorithm has one.
            steps: Decisions sampled so far, or nodes visited.
        """
        self._policy = policy
        if self._started is None:
            self._started = time.process_time()
            self._startup = self._started - self._began
            self._first_steps = steps
        spent = self.spent
        if spent >= self._due or spent >= self.seconds:
            before = time.process_time()
            value = self._judge.value(policy)
            self._curve.append((round(spent, 1), steps, round(value, 5)))
            self._is_solved = self._judge.is_solved(value)
            print(f"  {spent:6.1f} s  {value:.4f}  {steps:,}", file=sys.stderr, flush=True)
            self._due = max(_FIRST, 2 * spent)
            self._measuring += time.process_time() - before
        return spent < self.seconds and not self._is_solved

    def finish(self, steps: int, **facts: Any) -> None:
        """Prints the run's row as JSON.

        Args:
            steps: As in `goes_on`.
            facts: Further facts, such as the last losses.
        """
        assert self._policy is not None
        spent = self.spent
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = {
            self._judge.measure: self._curve[-1][2],
            "curve": self._curve,
            "cpu_seconds": round(spent, 1),
            "startup": round(self._startup, 1),
            "steps": steps,
            "steps_per_second": round((steps - self._first_steps) / max(spent, 1e-9)),
            "megabytes": round(peak),
            "digest": self.column.rules().digest,
            **self._judge.facts(self._policy),
            **facts,
        }
        print(json.dumps(row))
