"""Custom agents: by a file or a module, in every command."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import Positions, RandomAgent, get_game
from linkzoo_training import play_match
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import read_config
from linkzoo_training.train import make_trainer
from tests.training.helpers import begin
from tests.training.test_ppo import QUICK

AGENTS = """
class FirstLegal:
    name = "first"
    def act(self, positions):
        return positions.action_mask.argmax(1)
class Cheater(FirstLegal):
    name = "cheater"
    def act(self, positions):
        return 0 * super().act(positions) - 1
class Nameless:
    act = FirstLegal.act
ready = FirstLegal()
def made():
    return FirstLegal()
def chooses(observation, mask):
    return mask.argmax(1)
def broken():
    raise RuntimeError("out of order")
number = 3
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of agents, which is a module too."""
    (tmp_path / "my_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(tmp_path)
    return str(tmp_path / "my_agents.py")


@pytest.mark.parametrize("name", ["FirstLegal", "ready", "made"])
def test_a_class_an_object_or_a_function(file: str, name: str) -> None:
    positions = begin(get_game("linkage"), 5)
    for home in (file, "my_agents"):
        agent = make_agent(f"{home}:{name}", "linkage")
        assert agent.name == "first"
        assert (agent.act(positions) == positions.action_mask.argmax(1)).all()
    spec = AgentSpec.parse(f"{file}:{name}")
    assert spec.checkpoint("linkage") is None
    assert spec.with_simulations(50) == spec
    assert str(spec) == f"{file}:{name}"


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("{file}:Missing", "has no Missing"),
        ("{file}:Nameless", "a `name` and a method `act"),
        ("{file}:number", "TypeError"),
        ("{file}:broken", "RuntimeError: out of order"),
        ("{file}:chooses", "needs observation, mask: .*FunctionAgent"),
        ("elsewhere/no_such.py:Agent", "there is no file elsewhere/no_such.py"),
        ("no_such_package.agents:Agent", "there is no module no_such_package.agents"),
        ("my_agents.inner:Agent", "ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_is_said(file: str, spec: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make_agent(spec.format(file=file), "linkage")


def test_checking_runs_nothing(file: str) -> None:
    """Reading somebody's configuration isn't running somebody's program."""
    AgentSpec.parse(f"{file}:broken").check("linkage")
    read_config({**QUICK, "pool": {"fixed_opponents": [f"{file}:broken"]}})
    with pytest.raises(ValueError, match="there is no file"):
        read_config({**QUICK, "pool": {"fixed_opponents": ["no_such.py:Agent"]}})


def test_a_file_imports_a_module_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "beside_my_agent.py").write_text(AGENTS)
    (tmp_path / "mine.py").write_text("from beside_my_agent import FirstLegal\n")
    assert make_agent(f"{tmp_path}/mine.py:FirstLegal", "linkage").name == "first"


def test_an_object_that_is_no_agent_is_refused() -> None:
    class Nameless:
        def act(self, positions: Positions) -> Any:
            return positions.action_mask.argmax(1)

    nameless: Any = Nameless()
    with pytest.raises(ValueError, match=r"agent B: .*Nameless.* is no agent: one has a `name`"):
        play_match("linkage", RandomAgent(), nameless, blocks=1, seed=1)
    with pytest.raises(ValueError, match=r"agent: .* is no agent"):
        checked_actions(nameless, begin(get_game("linkage"), 1))
    with pytest.raises(ValueError, match=r"agent: .* is no agent"):
        checked_actions(None, begin(get_game("linkage"), 1))  # type: ignore[arg-type]


def test_commands_take_them(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate = ["evaluate", "my_agents.py:FirstLegal", "random", "--game", "linkage"]
    assert main([*evaluate, "--games", "20"]) == 0
    assert "my_agents.py:FirstLegal against random" in capsys.readouterr().out
    assert main(["tournament", "random", f"{file}:made", "--games", "4", "--output", "t"]) == 0
    assert main(["evaluate", f"{file}:Cheater", "random", "--games", "2"]) == 2
    assert ":Cheater (agent A) played the illegal action -1" in capsys.readouterr().err


def test_they_are_met_in_training(file: str) -> None:
    """A fixed opponent of PPO's; one that breaks the rules ends the training with its name."""
    pool = {"fixed_opponents": [f"{file}:FirstLegal"]}
    trainer = make_trainer(read_config({**QUICK, "pool": pool}))
    assert np.isfinite(trainer.iterate()["loss/policy"])
    pool = {"fixed_opponents": [f"{file}:Cheater"]}
    with pytest.raises(ValueError, match="cheater played the illegal action"):
        make_trainer(read_config({**QUICK, "pool": pool})).iterate()
