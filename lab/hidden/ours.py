"""Our algorithms in the benchmark: `ppo`, `ppo_kl`, `alphazero`, `linear` and `cfr_plus`."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from lab.hidden.judge import Runner
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo.exact.equilibrium import CfrPlus
from linkzoo.exact.values import Evaluator
from linkzoo_training.agents.make import make_agent
from linkzoo_training.config.config import load_config
from linkzoo_training.linear.natural_gradient import ImproveSettings, improve
from linkzoo_training.train import make_trainer

_CONFIGS = Path(__file__).parents[1] / "nash_conv"
# The configuration of each algorithm, and the fields that differ.
_SETTINGS = {
    "ppo": ("ppo.yaml", ["kl_coef=0"]),
    "ppo_kl": ("ppo.yaml", []),
    "alphazero": ("alphazero.yaml", []),
}
_TEMPERATURE, _DECISIONS = 10, 100_000


class Softmax:
    """A scorer's policy as `improve` trains it: the softmax of its scores."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.name = agent.name
        self.act = agent.act

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the softmax at N positions, [N, num_actions]."""
        shares, _ = self._agent.distribution(positions)
        return np.asarray(shares, np.float64)


def train(runner: Runner) -> None:
    """Trains a network."""
    file, changes = _SETTINGS[runner.algorithm]
    config = load_config(
        _CONFIGS / file,
        [
            f"game={runner.column.game}",
            f"options={json.dumps(dict(runner.column.options))}",
            f"seed={runner.seed}",
            f"max_seconds={runner.seconds}",
            "total_steps=1e12",
            *changes,
        ],
    )
    trainer = make_trainer(config)
    metrics = {}
    going = True
    while going:
        metrics = trainer.iterate()
        going = runner.goes_on(lambda: trainer.agent(1, 1.0), trainer.steps)
        trainer.seconds = runner.spent  # CPU seconds: schedules follow them
    losses = {name: value for name, value in metrics.items() if "loss" in name}
    runner.finish(trainer.steps, losses=losses)


def solve(runner: Runner) -> None:
    """CFR+ on the whole tree: steps are nodes."""
    learner = CfrPlus(Evaluator(runner.tree), runner.tree)
    going = True
    while going:
        learner.iterate()
        steps = learner.iterations * runner.tree.num_nodes
        going = runner.goes_on(learner.average, steps)
    runner.finish(steps)


def linear(runner: Runner) -> None:
    """Natural policy gradient on the game's linear scorer, the softmax of its scores."""
    settings = ImproveSettings(
        game=runner.column.game,
        options=dict(runner.column.options),
        players=(2,),
        scorer="linear",
        temperature=_TEMPERATURE,
        decisions=_DECISIONS,
        learning_rate=5.0,
        score_margin_weight=0.0,
        seed=runner.seed,
    )
    decisions = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "linear.json"

        def scorer() -> Softmax:
            return Softmax(make_agent(str(file), runner.column.game, runner.column.options))

        for step in improve(settings, 10**6, file, lambda _: None):
            decisions += step.decisions
            if not runner.goes_on(scorer, decisions):
                break
    runner.finish(decisions)


def main() -> None:
    runner = Runner()
    if runner.algorithm == "cfr_plus":
        solve(runner)
    elif runner.algorithm == "linear":
        linear(runner)
    else:
        train(runner)


if __name__ == "__main__":
    main()
