"""Measures an agent, such as a language model, on a game's benchmark positions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkzoo import Agent
from linkzoo_training.agents.playing import actions_digest, actions_in
from linkzoo_training.agents.reports import AgentReport, begin_match, report_of
from linkzoo_training.evaluation.statistics import Estimate, normal_mean, wilson
from linkzoo_training.llm.benchmark_positions import BenchmarkPositions

FROZEN = Path(__file__).parent / "frozen_opponents.json"
OPPONENTS = 3  # the first ones of a game's ladder
_BATCH = 16  # positions in one call of the agent


class PositionsResult(NamedTuple):
    """The costs of an agent's actions in N benchmark positions.

    Attributes:
        game: The game's name.
        title: The topic of the positions.
        positions: N.
        blunders: The share of blunders, with Wilson's interval.
        regret: The mean difference between the best action's value and the agent's, on the scale
            of payoffs.
        random_blunders: The share of blunders of random play.
        random_regret: The regret of random play.
        report: The agent's report, if it has one.
    """

    game: str
    title: str
    positions: int
    blunders: Estimate
    regret: Estimate
    random_blunders: float
    random_regret: float
    report: AgentReport | None

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {
            **self._asdict(),
            "blunders": self.blunders._asdict(),
            "regret": self.regret._asdict(),
            "report": self.report and self.report.data,
        }


def ask_positions(
    benchmark: BenchmarkPositions,
    agent: Agent,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> PositionsResult:
    """Asks an agent for its action in each benchmark position.

    Args:
        benchmark: The positions.
        agent: The agent.
        seed: Determines the agent's seeds.
        progress: Called as `progress(finished, positions)` after each batch.

    Returns:
        The result.

    Raises:
        ValueError: The agent plays an illegal action.
        StopMatchError: The agent can't go on.
    """
    count = len(benchmark.states)
    begin_match(agent)
    actions = actions_in(agent, benchmark.game, benchmark.states, seed, _BATCH, progress)
    lost = benchmark.lost
    regrets = lost[np.arange(count), actions].astype(np.float64)
    is_blunder = np.where(np.isnan(lost), np.nan, lost >= benchmark.blunder)
    return PositionsResult(
        game=benchmark.game.name,
        title=benchmark.title,
        positions=count,
        blunders=wilson(float((regrets >= benchmark.blunder).mean()), count),
        regret=normal_mean(regrets),
        random_blunders=float(np.nanmean(is_blunder, 1).mean()),
        random_regret=float(np.nanmean(lost, 1).mean()),
        report=report_of(agent),
    )


def moves_digest(benchmark: BenchmarkPositions, agent: Agent) -> str:
    """Returns the `actions_digest` of an agent of ours in benchmark positions."""
    return actions_digest(agent, benchmark.game, benchmark.states, 0, _BATCH)


def frozen_digests(game: str) -> dict[str, str]:
    """Returns the `moves_digest` of a game's opponents when the benchmark was made, by name."""
    digests: dict[str, dict[str, str]] = json.loads(FROZEN.read_bytes())
    return digests[game]
