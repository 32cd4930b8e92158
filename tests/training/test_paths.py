"""Paths in cards and configurations mean the same from any folder, or are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo import Positions, get_game, load_positions, make_vec, save_positions
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import AgentSpec, digests_of
from linkzoo_training.algorithms.resume import contents_of, find_changes
from linkzoo_training.checkpoints.checkpoint import load_card, load_weights, save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import read_config
from linkzoo_training.config.fields import flat
from linkzoo_training.evaluation.tournament import Tournament, _digest
from linkzoo_training.networks.flat import make_network
from tests.training import test_ppo

NET = """
from math import prod
from torch import nn

class Net(nn.Module):
    def __init__(self, spec, actions, seats):
        super().__init__()
        self.policy = nn.Linear(prod(spec.shape), actions)
        self.value = nn.Linear(prod(spec.shape), seats)

    def forward(self, observation):
        seen = observation.flatten(1) * SCALE
        return self.policy(seen), self.value(seen)
"""
GAME = """
from dataclasses import replace
from linkzoo import get_game

OWN = replace(get_game("linkage"), name="own_linkage")
"""
LINKAGE = get_game("linkage")
SETTINGS = {"width": 1, "blocks": 1}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders, each with a file net.py of another content; the first is the current one."""
    here = tmp_path / "here"
    there = tmp_path / "there"
    for folder, scale in ((here, "0.25"), (there, "-3.0")):
        folder.mkdir()
        (folder / "net.py").write_text(NET.replace("SCALE", scale))
    monkeypatch.chdir(here)
    return here, there


def saved(folder: Path) -> Path:
    """A checkpoint of the network net.py:Net of the current folder."""
    torch.manual_seed(3)
    network = make_network(LINKAGE, "net.py:Net", **SETTINGS)
    card = {"network": {"kind": "net.py:Net", **SETTINGS}, "views": 1}
    save_checkpoint(folder / "checkpoint", network, LINKAGE, card)
    return folder / "checkpoint"


def values(checkpoint: Path) -> Any:
    vec = make_vec("linkage", 4)
    vec.reset(2)
    positions = Positions(vec.game, vec.states.copy(), np.zeros(4, np.uint64))
    return load_agent(checkpoint).evaluate(positions)[1]


def test_a_custom_network_loads_the_same_from_any_folder(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = folders
    checkpoint = saved(tmp_path)
    expected = values(checkpoint)
    assert load_card(checkpoint)["network"]["kind"] == f"{here / 'net.py'}:Net"
    digest = AgentSpec.parse(str(checkpoint)).digest("linkage")
    for folder in (there, tmp_path):
        monkeypatch.chdir(folder)
        assert (values(checkpoint) == expected).all()
        assert AgentSpec.parse(str(checkpoint)).digest("linkage") == digest


def test_a_changed_or_missing_network_is_refused(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = folders
    checkpoint = saved(tmp_path)
    monkeypatch.chdir(there)
    original = (here / "net.py").read_text()
    (here / "net.py").write_text(original.replace("0.25", "0.5"))
    with pytest.raises(ValueError, match=r"net\.py:Net': its code has changed since training"):
        load_agent(checkpoint)
    (here / "net.py").unlink()
    with pytest.raises(ValueError, match=r"no file .*net\.py; if it was moved, change the card's"):
        load_agent(checkpoint)
    (here / "net.py").write_text(original)
    load_agent(checkpoint)


def test_weights_of_another_network_are_refused(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the start of a run or as a rival in a league, though all shapes are the same."""
    checkpoint = saved(tmp_path)
    load_weights(make_network(LINKAGE, "net.py:Net", **SETTINGS), checkpoint)
    monkeypatch.chdir(folders[1])
    with pytest.raises(ValueError, match=r"has the weights of the network .*here/net\.py:Net"):
        load_weights(make_network(LINKAGE, "net.py:Net", **SETTINGS), checkpoint)


def small_book(path: Path) -> None:
    vec = make_vec("linkage", 3)
    vec.reset(1)
    save_positions(path, LINKAGE, vec.states)
    assert len(load_positions(path, LINKAGE)) == 3


def test_configurations_hold_whole_paths(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Other paths are names of agents and openings: their digests are compared."""
    here, _ = folders
    saved(here)
    small_book(here / "book.jsonl")
    fields = {
        **test_ppo.QUICK,
        "network": "net.py:Net",
        "initial_checkpoint": "checkpoint",
        "initial_states": {"file": "book.jsonl"},
        "pool": {"league": "league", "share": 0.5, "size": 2, "snapshot_every": 2},
    }
    config = flat(read_config(fields).to_dict())
    assert config["network"] == f"{here / 'net.py'}:Net"
    assert config["initial_checkpoint"] == str(here / "checkpoint")
    assert config["initial_states.file"] == str(here / "book.jsonl")
    assert config["pool.league"] == str(here / "league")
    assert read_config(read_config(fields).to_dict()) == read_config(fields)
    shipped = read_config({**test_ppo.QUICK, "initial_checkpoint": "linkage"})
    assert shipped.initial_checkpoint == "linkage"


def edit(path: Path) -> None:
    path.write_text(f"{path.read_text()}\n# edited\n")


def other_weights(checkpoint: Path) -> None:
    torch.manual_seed(4)
    network = make_network(LINKAGE, "net.py:Net", **SETTINGS)
    save_checkpoint(checkpoint, network, LINKAGE, load_card(checkpoint) | {"sha256": ""})


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("network", lambda here: edit(here / "net.py")),
        ("game", lambda here: edit(here / "own_game.py")),
        ("initial_checkpoint", lambda here: other_weights(here / "checkpoint")),
    ],
)
def test_a_resumed_run_has_the_same_code_and_start(
    folders: tuple[Path, Path],
    field: str,
    change: Callable[[Path], None],
    registered_before: None,
) -> None:
    here, _ = folders
    saved(here)
    game = "from linkzoo import get_game\nfrom dataclasses import replace\n"
    game += "OWN = replace(get_game('linkage'), name='own_linkage')\n"
    (here / "own_game.py").write_text(game)
    chosen = {
        "network": "net.py:Net",
        "initial_checkpoint": "checkpoint",
        "game": "own_game.py:OWN",
    }
    config = read_config({**test_ppo.QUICK, field: chosen[field]})
    before = contents_of(config)
    assert find_changes(before, contents_of(config)) == {}
    change(here)
    with pytest.raises(ValueError, match=rf"a resumed run can't have {field}\."):
        find_changes(before, contents_of(config))


def test_results_of_a_changed_game_do_not_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    registered_before: None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_game.py").write_text(GAME)
    command = "data selfplay random --game own_game.py:OWN --openings 0 --games 2 --out games"
    agents = (AgentSpec("random"), AgentSpec("greedy"))
    settings = Tournament("own_game.py:OWN", agents, 1, 0, None, "0")
    assert main(command.split()) == 0
    assert main(command.split()) == 0
    digest = _digest(settings, *agents)
    edit(tmp_path / "own_game.py")
    assert main(command.split()) == 2
    assert "(agent_digests differ)" in capsys.readouterr().err
    assert _digest(settings, *agents) != digest
    assert digests_of("linkage", agents) == {}


def test_code_beside_a_custom_file_counts_as_its_own(
    folders: tuple[Path, Path], tmp_path: Path, registered_before: None
) -> None:
    """Of agents, games and networks alike."""
    here, _ = folders
    (here / "constants_of_net.py").write_text("SCALE = 0.25\n")
    (here / "net.py").write_text(f"from constants_of_net import SCALE\n{NET}")
    (here / "agent.py").write_text("import constants_of_net\nclass Own: ...\n")
    (here / "own_game.py").write_text(f"import constants_of_net\n{GAME}")
    game = "own_game.py:OWN"
    checkpoint = saved(tmp_path)
    config = read_config({**test_ppo.QUICK, "network": "net.py:Net"})
    digests = digests_of(game, ["agent.py:Own"])
    contents = contents_of(config)
    assert len(digests) == 2
    (here / "constants_of_net.py").write_text("SCALE = -3.0\n")
    changed = digests_of(game, ["agent.py:Own"])
    assert not set(changed.values()) & set(digests.values())
    with pytest.raises(ValueError, match=r"a resumed run can't have network\."):
        find_changes(contents, contents_of(config))
    with pytest.raises(ValueError, match=r"net\.py:Net': its code has changed since training"):
        load_agent(checkpoint)
