"""Our algorithms: `ppo`, `ppo_kl`, `ppo_average`, `alphazero`, `linear` and `cfr_plus`."""

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
from linkzoo_training.agents.linear import load_scorer, save_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.config.config import load_config
from linkzoo_training.linear.natural_gradient import ImproveSettings, improve
from linkzoo_training.train import make_trainer

_CONFIGS = Path(__file__).parents[1] / "nash_conv"
# The configuration of each algorithm, and the fields that differ.
_SETTINGS = {
    "ppo": ("ppo.yaml", ["kl_coef=0"]),
    "ppo_kl": ("ppo.yaml", []),
    "ppo_average": ("ppo.yaml", ["kl_coef=0", "average=50", "entropy=[0.2, 0.1]"]),
    "alphazero": ("alphazero.yaml", []),
}
# Decisions of a step of `linear`; in fewer, no whole game of Love Formula ends.
_DECISIONS = 100_000
_WHOLE_DECISIONS = 400_000
_LINEAR_RATE = 5.0


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
    published = load_config(_CONFIGS / file)
    rates = [rate * runner.trial.rate for rate in published.learning_rate]
    config = load_config(
        _CONFIGS / file,
        [
            f"game={runner.column.game}",
            f"options={json.dumps(dict(runner.column.options))}",
            f"num_players=[{runner.column.num_players}]",
            f"learning_rate={json.dumps(rates)}",
            f"num_envs={published.num_envs * runner.trial.batch}",
            f"seed={runner.seed}",
            f"max_seconds={runner.seconds}",
            "total_steps=1e12",
            *changes,
        ],
    )
    trainer = make_trainer(config)
    # NashConv is that of the policy itself; in matches it plays its likeliest action.
    temperature = 1.0 if runner.column.exact else 0.0
    metrics = {}
    going = True
    while going:
        metrics = trainer.iterate()
        going = runner.goes_on(lambda: trainer.agent(1, temperature), trainer.steps)
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
    """Natural policy gradient on a linear scorer whose weights begin at zero."""
    rules = runner.column.rules()
    step_decisions = _DECISIONS if runner.column.exact else _WHOLE_DECISIONS
    decisions = 0
    with tempfile.TemporaryDirectory() as folder:
        zero = Path(folder) / "zero.json"
        save_scorer(rules, np.zeros_like(load_scorer(rules).weights), zero)
        file = Path(folder) / "linear.json"
        settings = ImproveSettings(
            game=runner.column.game,
            options=dict(runner.column.options),
            players=(runner.column.num_players,),
            scorer=str(zero),
            temperature=1.0,
            decisions=step_decisions * runner.trial.batch,
            learning_rate=_LINEAR_RATE * runner.trial.rate,
            score_margin_weight=0.0,
            seed=runner.seed,
        )

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
