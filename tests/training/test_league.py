"""Leagues: runs that play each other's latest snapshots, and their ratings."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoints.checkpoint import WEIGHTS
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import AnyConfig, read_config
from linkzoo_training.selfplay.league import League, find_snapshots
from linkzoo_training.train import make_trainer, train
from tests.driving import first_quick
from tests.training.helpers import ppo_config

TINY = {
    "name": "x",
    "game": "linkage",
    "num_envs": 8,
    "horizon": 24,
    "width": 8,
    "blocks": 0,
    "num_threads": 1,
    "precision": "fp32",
    "minibatches": 1,
    "epochs": 1,
    "total_steps": 10**6,
}


def member(folder: Path, **changes: Any) -> Trainer:
    pool = {"share": 1.0, "size": 4, "snapshot_every": 2, "league": str(folder)}
    return make_trainer(ppo_config({**TINY, "pool": pool, **changes}))


def weights(network: torch.nn.Module) -> bytes:
    return b"".join(t.numpy().tobytes() for t in network.state_dict().values())


@pytest.mark.slow
def test_runs_meet_each_others_latest_snapshots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (member(tmp_path, seed=seed) for seed in (1, 2))
    first = {trainer: weights(trainer.network) for trainer in (one, other)}
    one.iterate()
    other.iterate()
    assert len(one.pool.networks) == len(other.pool.networks) == 1  # their own
    assert {name: list(snapshots) for name, snapshots in find_snapshots(tmp_path).items()} == {
        "x-1": [0],
        "x-2": [0],
    }
    metrics = one.iterate()
    assert [weights(network) for network in one.pool.networks] == [first[one], first[other]]
    assert 0 <= metrics["league/x-2"] <= 1
    for _ in range(3):
        other.iterate()  # publishes after 2 iterations
    second = weights(other.network)
    for _ in range(2):
        one.iterate()
    latest = find_snapshots(tmp_path)["x-2"]
    assert list(latest) == [0, 2]
    assert len(one.pool.networks) == 4  # its own twice, the other's twice
    assert weights(one.pool.networks[3]) not in (first[other], second)
    # Rated: every snapshot against every other.
    assert (
        main(["experiment", "league", str(tmp_path), "random", "--games", "4", "--every", "2"]) == 0
    )
    data = json.loads((tmp_path / "ratings" / "ratings.json").read_text())
    names = [str(path) for run in find_snapshots(tmp_path).values() for path in run.values()]
    assert sorted(data["agents"]) == sorted([*names, "random"])
    assert (tmp_path / "ratings" / "league.png").read_bytes().startswith(b"\x89PNG")
    assert "league.png" in capsys.readouterr().out


def config_of(folder: Path, algorithm: str = "ppo") -> AnyConfig:
    """A run of 4 iterations that saves its state after the last one."""
    fields: dict[str, Any] = {
        **TINY,
        "algorithm": algorithm,
        "pool": {"share": 1.0, "size": 4, "snapshot_every": 2, "league": str(folder)},
        "total_steps": 4 * 8 * 24,
        "save_every": 100,
        "eval": {"every": 100, "final_blocks": 1, "final_opponents": ["random"]},
    }
    if algorithm == "alphazero":
        del fields["minibatches"], fields["epochs"]
        fields["simulations"] = [2]
    return read_config(fields)


@pytest.mark.slow
def test_a_name_is_taken_once(tmp_path: Path) -> None:
    league = tmp_path / "league"
    train(config_of(league), folder=tmp_path / "one")
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"pool\.league: .*x-0 exists: continue that run with"):
            train(config_of(league), folder=tmp_path / "two", resume=resume)
    assert not (tmp_path / "two").exists()
    assert list(find_snapshots(league)["x-0"]) == [0, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", first_quick(["publish", "learn", "add_opponent", "end_iteration"], slow=0)
)
@pytest.mark.parametrize("algorithm", first_quick(["ppo", "alphazero"], slow=0))
def test_a_member_killed_early_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, moment: str
) -> None:
    """Before, while and after it plays its first games: it ends with the usual weights."""
    usual = train(config_of(tmp_path / "a", algorithm), folder=tmp_path / "usual")

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    config = config_of(tmp_path / "b", algorithm)
    with monkeypatch.context() as patch:
        for kind in (PPOTrainer, AlphaZeroTrainer):
            patch.setattr(kind, moment, killed)
        with pytest.raises(KeyboardInterrupt):
            train(config, folder=tmp_path / "run")
    folder = train(config, folder=tmp_path / "run", resume=True)
    weights = [(path / "checkpoint" / WEIGHTS).read_bytes() for path in (usual, folder)]
    assert weights[0] == weights[1]
    assert list(find_snapshots(tmp_path / "b")["x-0"]) == [0, 2]


def test_other_networks_are_refused(tmp_path: Path) -> None:
    member(tmp_path, seed=1, width=16).iterate()
    mine = member(tmp_path)
    mine.iterate()
    with pytest.raises(ValueError, match=r"pool\.league: all runs need the same network: .*x-1"):
        mine.iterate()


def test_rivals_are_looked_at_in_turn(tmp_path: Path) -> None:
    for name in ("a", "b", "me"):
        for iteration in (0, 7):
            folder = tmp_path / name / f"{iteration:08}"
            folder.mkdir(parents=True)
            (folder / "card.json").write_text("{}")
    league = League(str(tmp_path), "me")
    snapshots = [league.newer(turn) for turn in range(4)]
    assert snapshots[:2] == [(name, tmp_path / name / "00000007") for name in ("a", "b")]
    assert snapshots[2:] == [None, None]
    league.added(3, "a")
    league.added(2, "b")
    league.added(3)
    assert league._slots == {"b": 2}


@pytest.mark.parametrize("pool", [{"snapshot_every": 1}, {"share": 0.0}, {"size": 0}])
def test_a_league_needs_a_pool(pool: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pool\.league: needs pool\.snapshot_every of 2 or more"):
        ppo_config({**TINY, "pool": {"league": "x", **pool}})


def test_an_empty_league_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "league", str(tmp_path)]) == 2
    assert "no snapshots of a league" in capsys.readouterr().err
