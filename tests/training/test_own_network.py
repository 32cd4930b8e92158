"""A custom network in PPO, AlphaZero, checkpoints, search and export, and its errors."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

import linkzoo
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import read_config
from linkzoo_training.networks.flat import make_network
from linkzoo_training.networks.own import OwnNet
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import make_trainer, train
from tests.driving import first_quick
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import weights

SOURCE = """
import torch
from math import prod
from torch import nn

class Tiny(nn.Module):
    def __init__(self, spec, actions, seats):
        super().__init__()
        self.hidden = nn.Linear(prod(spec.shape), 8)
        self.policy, self.value = nn.Linear(8, actions), nn.Linear(8, seats)

    def forward(self, observation):
        x = torch.relu(self.hidden(observation.flatten(1) / 4))
        return self.policy(x), self.value(x)

class Seen(Tiny):
    def forward(self, observation):
        self.seen = observation
        return super().forward(observation)

class Wrong(Tiny):
    def __init__(self, spec, actions, seats, change):
        super().__init__(spec, actions, seats)
        self.change = change

    def forward(self, observation):
        return self.change(*super().forward(observation))

def logits(*args):
    return Wrong(*args, lambda logits, values: (logits[:, 1:], values))

def values(*args):
    return Wrong(*args, lambda logits, values: (logits, values[:, 0]))

def alone(*args):
    return Wrong(*args, lambda logits, values: logits)

def unused(*args):
    return Wrong(*args, lambda logits, values: (logits, values.detach() + logits[:, :2]))

def tied(*args):
    made = Tiny(*args)
    made.again = made.hidden
    return made

def broken(*args):
    raise KeyError("width")

def nothing(*args):
    return "a network"
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module's file, without a name."""
    monkeypatch.chdir(tmp_path)
    Path("nets.py").write_text(SOURCE, encoding="utf-8")
    return "nets.py"


def iterated(config: Any, iterations: int, executor: Any = None) -> Trainer:
    trainer = make_trainer(config, executor)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_it_reads_observations(path: str, game: str) -> None:
    """Float32 of the integers that environments show, whatever the features are."""
    network = make_network(linkzoo.get_game(game), f"{path}:Seen", 1, 1)
    assert isinstance(network, OwnNet)
    vec = linkzoo.make_vec(game, 5)
    now = vec.reset(3)
    for ply in range(8):
        now = vec.step(vec.random_actions(ply))
    flat = now.observation.reshape(5, -1)
    logits, values = network(torch.from_numpy(network.encoding.encode(None, now.action_mask, flat)))
    assert (network.module.seen.numpy() == now.observation).all()  # type: ignore[operator]
    assert logits.shape == (5, vec.game.num_actions)
    assert values.shape == (5, vec.game.max_players)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    first_quick(
        [
            {**test_ppo.QUICK, "symmetric": True, "precision": "bf16"},
            {**test_alphazero.TINY, **test_alphazero.POOLED},
        ],
        slow=0,
    ),
    ids=["ppo", "alphazero"],
)
def test_a_resumed_run_is_the_uninterrupted_run(
    path: str, tmp_path: Path, fields: dict[str, Any]
) -> None:
    config = read_config({**fields, "network": f"{path}:Tiny"})
    whole, part = iterated(config, 3), iterated(config, 2)
    part.save(tmp_path)
    resumed = make_trainer(config)
    resumed.load(tmp_path)
    resumed.iterate()
    assert weights(resumed) == weights(whole) != weights(part)


@pytest.mark.slow
@pytest.mark.parametrize("exports", first_quick([False, True], slow=0))  # quick: test_export.py
def test_from_training_to_search_and_export(path: str, tmp_path: Path, exports: bool) -> None:
    fields = {**test_ppo.QUICK, "network": f"{path}:Tiny", "total_steps": 2 * 16 * 24}
    folder = train(read_config(fields), folder=tmp_path / "run") / "checkpoint"
    kind = json.loads((folder / "card.json").read_text())["network"]["kind"]
    assert kind == f"{Path(path).resolve()}:Tiny"
    agent = load_agent(folder)
    env = linkzoo.make("linkage")
    env.reset(seed=1)
    policy = linkzoo.load_policy(folder)
    search = linkzoo.load_policy(f"{folder}:4")
    for one in (policy, search):
        assert env.infos[env.agent_selection]["action_mask"][one.predict(env)] == 1
    fields = {**fields, "initial_checkpoint": str(folder)}
    assert weights(make_trainer(read_config(fields)))
    if not exports:
        return
    assert main(["tools", "export", str(folder), "--onnx", "tiny.onnx"]) == 0
    session = onnxruntime.InferenceSession("tiny.onnx")
    seen = {name: array[None] for name, array in env.observe(env.agent_selection).items()}
    logits, values = session.run(["logits", "values"], seen)
    features = agent.network.map(seen["observation"].reshape(1, -1))
    expected = agent.network(torch.from_numpy(features))
    legal = seen["action_mask"] == 1
    assert np.allclose(logits[legal], expected[0].detach().numpy()[legal], atol=1e-5)
    assert np.allclose(values, expected[1].detach().numpy(), atol=1e-5)


def test_workers_make_it_too(path: str) -> None:
    config = read_config({**test_ppo.QUICK, "network": f"{path}:Tiny"})
    with LocalExecutor() as executor:
        metrics = iterated(config, 2, executor)
    assert metrics.steps == 2 * config.num_envs * config.horizon


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("logits", r"logits are \[3, \d+\] for 3 observations, not \[3, \d+\]"),
        ("values", r"values are \[3\] for 3 observations, not \[3, 2\]"),
        ("alone", r"forward returned a Tensor, not a tuple \(logits, values\)"),
        ("unused", r"forward doesn't use the parameter value.weight"),
        ("tied", r"module.hidden.weight and module.again.weight are one tensor"),
        ("broken", r"KeyError: 'width'"),
        ("nothing", r"it returned a str, no torch.nn.Module"),
        ("absent", r"nets.py has no absent"),
    ],
)
def test_what_is_wrong_is_named(path: str, name: str, text: str) -> None:
    with pytest.raises(ValueError, match=rf"network 'nets.py:{name}': .*{text}"):
        make_network(linkzoo.get_game("linkage"), f"{path}:{name}", 1, 1)


@pytest.mark.parametrize(
    ("network", "text"),
    [
        ("transformer", "network: must be one of flat, board, graph, action, FILE.py:NAME"),
        ("missing.py:make", "network.*'missing.py:make': there is no file missing.py"),
        ("no_such_package.nets:make", "there is no module no_such_package.nets"),
    ],
)
def test_a_configuration_names_a_network_that_there_is(network: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        read_config({**test_ppo.QUICK, "network": network})
    assert "no_such_package" not in sys.modules
