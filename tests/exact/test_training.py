"""Trainers learn an edition to a small distance from its equilibrium."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import Positions, exact
from linkzoo_training.agents.linear import LinearAgent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.linear.natural_gradient import ImproveSettings, improve
from tests.driving import first_quick

EDITION: dict[str, Any] = {
    "name": "edition",
    "game": "link_o",
    "options": {"board": "mini2x4a-h3"},  # uniform play has a NashConv of .642
    "num_players": [2],
    "width": 128,
    "blocks": 1,
    "num_envs": 256,
    "horizon": 16,
    "score_margin_weight": 0,
    "pool": {"share": 0},
    "initial_states": {"midgame": 0},
    "num_threads": 1,
    "eval": {"every": 9999, "opponents": ["random"], "blocks": 2}
    | {"final_opponents": ["random"], "final_blocks": 2},
}
PPO: dict[str, Any] = {
    "algorithm": "ppo",
    "critic": "full",
    "learning_rate": [3e-3, 0],
    "entropy": [0.1, 0.02],
    "kl_coef": 0.2,
    "total_steps": 131_072,
}
ALPHAZERO: dict[str, Any] = {
    "algorithm": "alphazero",
    "simulations": [16],
    "total_steps": 81_920,
}
# The algorithm and the NashConv that it must reach; .05 and .15 were seen.
RUNS = [(PPO, 0.12), (ALPHAZERO, 0.3)]


@pytest.mark.slow  # quick: advantages are exact on average (tests/training/miniatures)
@pytest.mark.parametrize(("fields", "bound"), first_quick(RUNS, 0, 0))
def test_an_edition_is_learned(
    fields: dict[str, Any], bound: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edition.yaml").write_text(json.dumps({**EDITION, **fields}), encoding="utf-8")
    command = ["train", "edition.yaml", "--callback", "linkzoo_training.nash_conv:NashConv"]
    assert main(command) == 0
    tree = exact.tree("link_o", 2, EDITION["options"])
    nash_conv = exact.exploitability(load_agent("runs/edition/checkpoint"), tree).nash_conv
    assert nash_conv < bound
    lines = Path("runs/edition/nash_conv.jsonl").read_text(encoding="utf-8").splitlines()
    measured = [json.loads(line)["nash_conv"] for line in lines]
    assert len(measured) >= 10
    assert measured[-1] < measured[0]


@pytest.mark.slow  # quick: tests/training/test_improve.py
@pytest.mark.nightly
def test_a_scorer_comes_nearer_to_an_equilibrium_if_it_explores(tmp_path: Path) -> None:
    """The shipped scorer has .155, by its best action; .092 was seen after three steps.

    At a temperature of 1 its policy plays hardly anything but its best action: what other actions
    are worth isn't learned, and NashConv grows to .88.
    """
    tree = exact.tree("link_o", 2, EDITION["options"])
    path = tmp_path / "scorer.json"
    settings = ImproveSettings("link_o", EDITION["options"], (2,), "linear", 10, 100_000, 5, 0, 0)
    assert len(list(improve(settings, 3, path, lambda _: None))) == 3
    improved = LinearAgent(str(path))
    before = exact.exploitability(LinearAgent(), tree).nash_conv
    assert before > 0.14
    assert exact.exploitability(improved, tree).nash_conv < 0.125
    sampled = exact.exploitability(Softmax(improved), tree).nash_conv
    assert sampled < 0.125
    assert sampled < exact.exploitability(Softmax(LinearAgent(), 10), tree).nash_conv / 2


class Softmax:
    """Plays the softmax of a scorer's scores over the temperature, as `linear improve` does."""

    name = "softmax"

    def __init__(self, agent: LinearAgent, temperature: float = 1) -> None:
        self.act = agent.act
        self._agent = agent
        self._temperature = temperature

    def probabilities(self, positions: Positions) -> Any:
        scores = self._agent.scores(positions)[0].astype(np.float64) / self._temperature
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)
