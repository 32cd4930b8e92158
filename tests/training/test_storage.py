"""Runs whose folder is kept in an object store."""

import json
import signal
import time
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from linkzoo import get_game
from linkzoo.core.files import write_atomically
from linkzoo.core.urls import fetched, open_store
from linkzoo_training.agents.make import make_agent
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.checkpoints import checkpoint
from linkzoo_training.checkpoints.checkpoint import load_tensors, save_checkpoint
from linkzoo_training.commands import common
from linkzoo_training.commands.cli import main
from linkzoo_training.networks.flat import make_network
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.selfplay.league import League, load_snapshot
from linkzoo_training.storage import Storage, outputs_sent, stored_name
from linkzoo_training.train import train
from tests.training import test_ppo
from tests.training.helpers import ppo_config

EVAL = {**test_ppo.QUICK["eval"], "every": 100}
CONFIG = ppo_config({**test_ppo.QUICK, "total_steps": 5 * 16 * 24, "eval": EVAL})


def stop_after(iteration: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets TERM come at the end of an iteration."""
    iterate = PPOTrainer.iterate

    def interrupted(trainer: PPOTrainer) -> dict[str, float]:
        metrics = iterate(trainer)
        if trainer.iteration == iteration:
            signal.raise_signal(signal.SIGTERM)
        return metrics

    monkeypatch.setattr(PPOTrainer, "iterate", interrupted)


def check_a_run_goes_on_elsewhere(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped on one machine, resumed on another, and found by a third: the same weights."""
    whole = train(CONFIG, folder=folder / "whole")
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        train(CONFIG, folder=folder / "first" / "run", storage=url)
    with pytest.raises(ValueError, match=f"{url}/run has a run: continue with --resume"):
        train(CONFIG, folder=folder / "second" / "run", storage=url)
    train(CONFIG, folder=folder / "second" / "run", storage=url, resume=True)
    third = Storage(f"{url}/run", folder / "third" / "run")
    third.fetch()
    for name in ("checkpoint/model.safetensors", "checkpoint/card.json", "metrics.jsonl"):
        assert (third.folder / name).read_bytes() == (folder / "second" / "run" / name).read_bytes()
    weights = "checkpoint/model.safetensors"
    assert (third.folder / weights).read_bytes() == (whole / weights).read_bytes()
    assert not list(third.folder.glob("run.*"))


@pytest.mark.slow
def test_a_run_goes_on_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_a_run_goes_on_elsewhere("memory://bucket/runs", tmp_path, monkeypatch)


def check_commands_take_urls(url: str, folder: Path, executor: str) -> None:
    """Agents, inputs and outputs: the results are those of local files, on workers too."""
    linkage = ["--game", "linkage", "board_size=3", "threshold=4"]
    network = make_network(get_game("linkage"), "flat", 4, 1)
    about = {"network": {"kind": "flat", "width": 4, "blocks": 1}, "views": 1}
    save_checkpoint(folder / "tiny", network, get_game("linkage"), about)
    with Storage(f"{url}/tiny", folder / "tiny"):
        pass
    files, root = open_store(url)
    match = ["evaluate", f"{url}/tiny~1:2", "random", "--games", "2", "--game", "linkage"]
    assert main([*match, "--json", f"{url}/results/match.json"]) == 0
    assert f'"{url}/tiny~1:2"' in files.cat_file(f"{root}/results/match.json").decode()
    with pytest.raises(SystemExit):  # it exists
        main([*match, "--json", f"{url}/results/match.json"])
    results = ["--json", f"{url}/results/workers.json"]
    assert main([*match, "--executor", executor, "--workers", "1", *results]) == 0
    found = [
        json.loads(files.cat_file(f"{root}/results/{name}.json")) for name in ("match", "workers")
    ]
    assert found[0]["block_shares"] == found[1]["block_shares"]
    played = ["tournament", "random", "greedy", "--games", "2", *linkage]
    assert main([*played, "--output", f"{url}/results/rated"]) == 0
    times = {name: files.modified(name) for name in files.glob(f"{root}/results/rated/*/*.json")}
    assert main([*played, "uct-2", "--output", f"{url}/results/rated"]) == 0
    assert times
    assert times.items() <= {name: files.modified(name) for name in files.find(root)}.items()
    labels = ["linear", "labels", "love_links", "short=true", "--playouts", "1", "--players", "2"]
    for positions in ("1", "400"):  # the second time it goes on
        out = ["--positions", positions, "--out", f"{url}/labels.npz"]
        assert main([*labels, *out]) == 0
    assert main([*labels, "--positions", "400", "--out", str(folder / "labels.npz")]) == 0
    assert files.cat_file(f"{root}/labels.npz") == (folder / "labels.npz").read_bytes()


@pytest.mark.nightly  # quick: the next test but one
@pytest.mark.last
def test_commands_take_urls(tmp_path: Path) -> None:
    check_commands_take_urls("memory://bucket/things", tmp_path, "processes")


def check_runs_share_urls(url: str, folder: Path, *executor: str) -> None:
    """A sweep that goes on, a league of its runs, and its ratings; `executor` are options."""
    fields = {**CONFIG.to_dict(), "name": "tiny", "total_steps": 4 * 16 * 24}
    fields["eval"] |= {"final_opponents": ["random"], "final_blocks": 2}
    fields["pool"] |= {"size": 4, "share": 0.5, "snapshot_every": 2, "league": f"{url}/league"}
    path = folder / "tiny.yaml"
    path.write_text(json.dumps(fields))
    sweep = ["experiment", "sweep", str(path), "--folder", f"{url}/sweep"]
    assert main([*sweep, "seed=1,2"]) == 0
    files, root = open_store(url)
    stored = {name: files.modified(name) for name in files.find(f"{root}/sweep")}
    assert f"{root}/sweep/seed=2/checkpoint/card.json" in stored
    assert main([*sweep, "seed=1..3"]) == 0
    finished = [name for name in stored if "/checkpoint/" in name]
    assert all(files.modified(name) == stored[name] for name in finished)
    run = ["train", str(path), "seed=4", "--folder", str(folder / "run")]
    assert main([*run, "--storage", f"{url}/runs", *executor]) == 0
    assert files.exists(f"{root}/runs/run/checkpoint/card.json")
    members = sorted(Path(name).name for name in files.ls(f"{root}/league", detail=False))
    assert members == [f"tiny-{seed}" for seed in (1, 2, 3, 4)]
    rate = ["experiment", "league", f"{url}/league", "--games", "2", "--every", "2"]
    assert main([*rate, *executor]) == 0
    ratings = json.loads(files.cat_file(f"{root}/league/ratings/ratings.json"))
    assert f"{url}/league/tiny-1/00000000" in json.dumps(ratings)
    assert files.exists(f"{root}/league/ratings/league.png")


@pytest.mark.nightly  # quick: test_members_of_a_league_exchange_snapshots_by_its_url, the next test
@pytest.mark.last
def test_runs_share_urls(tmp_path: Path) -> None:
    check_runs_share_urls("memory://bucket/shared", tmp_path)


def test_urls_have_local_copies(capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs are sent and their copies deleted; inputs are fetched once."""
    url = "memory://quick"
    files, root = open_store(url)
    for name in ("a.json", "a.npz", "b.json"):
        files.pipe_file(f"{root}/{name}", b"old")
    assert Path(fetched(f"{url}/b.json")).read_bytes() == b"old"
    path = common.continued_file(f"{url}/a.json")
    assert sorted(file.name for file in path.parent.iterdir()) == ["a.json", "a.npz"]
    with outputs_sent():
        path.write_bytes(b"newer")
        (path.parent / "c.json").write_bytes(b"new")
        assert stored_name(path) == f"{url}/a.json"
    assert capsys.readouterr().out == f"{url}/a.json\n"
    assert not path.parent.exists()
    assert files.cat_file(f"{root}/a.json") == b"newer"
    assert files.cat_file(f"{root}/c.json") == b"new"
    files.pipe_file(f"{root}/b.json", b"newer")
    assert common.input_path(f"{url}/b.json").read_bytes() == b"old"
    assert not common.input_path(f"{url}/d.json").exists()
    with outputs_sent():
        for new, name, reason in (
            (common.new_file, "/a.json", "exists"),
            (common.new_folder, "", "isn't empty"),
            (common.continued_folder, "/a.json", "can't be written: it is a file"),
        ):
            with pytest.raises(ArgumentTypeError, match=f"{url}{name} {reason}"):
                new(f"{url}{name}")
    with pytest.raises(ArgumentTypeError, match="nowhere://bucket/a can't be written"):
        common.continued_folder("nowhere://bucket/a")
    with pytest.raises(ValueError, match="no checkpoint 'memory://quick/e'"):
        make_agent("memory://quick/e", "linkage")


def test_members_of_a_league_exchange_snapshots_by_its_url(tmp_path: Path) -> None:
    url = "memory://league"
    network = make_network(get_game("linkage"), "flat", 4, 1)
    about = {"network": {"kind": "flat", "width": 4, "blocks": 1}, "views": 1}
    one = League(url, "one-1")
    one.check_name()
    other = League(url, "other-1")
    save_checkpoint(one.own(8), network, get_game("linkage"), about)
    one.exchange()
    deadline = time.monotonic() + 60
    while (newer := other.newer(0)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert newer == ("one-1", other.folder / "one-1" / "00000008")
    load_snapshot(network, get_game("linkage"), newer[1])
    with pytest.raises(ValueError, match="one-1 exists"):
        League(url, "one-1").check_name()


@pytest.mark.slow
def test_a_store_that_fails_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on, and its folder is complete."""

    def fails(*_: Any) -> None:
        raise OSError("no such bucket")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.pipe_file", fails)
    message = r"memory://failing/run lacks the last files, .*/run: no such bucket"
    with pytest.raises(OSError, match=message):
        train(CONFIG, folder=tmp_path / "run", storage="memory://failing")
    assert (tmp_path / "run" / "checkpoint" / "card.json").exists()
    with pytest.raises(ValueError, match="nowhere://bucket"):
        train(CONFIG, folder=tmp_path / "other", storage="nowhere://bucket")


def test_learning_does_not_wait_for_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow disk delays the next save, and the state is that of the time of the call."""
    seconds = 0.3
    trainer = PPOTrainer(replace(CONFIG, save_every=100))
    trainer.save(tmp_path)
    expected, _ = load_tensors(tmp_path / STATE_FILE)
    write = write_atomically

    def write_slowly(path: Path, data: bytes) -> None:
        time.sleep(seconds)
        write(path, data)

    monkeypatch.setattr(checkpoint, "write_atomically", write_slowly)
    (tmp_path / STATE_FILE).unlink()
    started = time.perf_counter()
    saved: list[bool] = []
    trainer.save(tmp_path, wait=False, saved=lambda: saved.append(True))
    assert time.perf_counter() - started < seconds
    next(trainer.network.parameters()).data.zero_()
    trainer.save(tmp_path / "next")
    assert saved == [True]
    written, _ = load_tensors(tmp_path / STATE_FILE)
    assert all(torch.equal(written[name], tensor) for name, tensor in expected.items())
