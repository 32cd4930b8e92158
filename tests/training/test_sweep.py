"""Sweeps of runs, and their learning curves with a band over seeds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo_training.algorithms.curves import learning_curves
from linkzoo_training.algorithms.logger import METRICS_FILE
from linkzoo_training.checkpoints.checkpoint import CARD, load_card, save_tensors
from linkzoo_training.commands.cli import main
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.sweep import LOG, run_sweep, sweep_runs
from tests.training import test_ppo

TINY = {
    **test_ppo.QUICK,
    "total_steps": 2 * 16 * 24,
    "eval": {"every": 1, "blocks": 2, "opponents": ["greedy"], "final_opponents": ["random"]},
}


def written(folder: Path, fields: dict[str, Any], rows: list[dict[str, float]]) -> Path:
    """A run's folder with a configuration and metrics."""
    folder.mkdir()
    save_tensors(folder / STATE_FILE, {}, {"config": fields})
    (folder / METRICS_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def rows(*points: tuple[int, float]) -> list[dict[str, float]]:
    """An iteration per point of steps and share; the first role wins more, the second less."""
    return [
        {
            "iteration": number,
            "steps": steps,
            "seconds": steps / 10,
            "win/More v greedy": share + 0.1,
            "win/Fewer v greedy": share - 0.1,
        }
        for number, (steps, share) in enumerate(points)
    ]


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two learning rates; two seeds of the first, at other steps."""
    fields = {"name": "links", "pool": {"share": 0.5}}
    return [
        written(tmp_path / "a", {**fields, "lr": 1, "seed": 1}, rows((0, 0.2), (100, 0.4))),
        written(tmp_path / "b", {**fields, "lr": 1, "seed": 2}, rows((50, 0.6), (200, 0.6))),
        written(tmp_path / "c", {**fields, "lr": 2, "seed": 1}, rows((0, 0.1))),
    ]


def test_a_curve_is_the_mean_over_seeds(runs: list[Path]) -> None:
    """From the first step that both seeds have to the last one; linear between points."""
    first, second = learning_curves(runs)
    assert (first.label, first.runs) == ("lr=1", 2)
    assert first.x.tolist() == [50, 100]
    assert np.allclose(first.low, [0.3, 0.4])
    assert np.allclose(first.high, [0.6, 0.6])
    assert np.allclose(first.mean, [0.45, 0.5])
    assert (second.label, second.runs) == ("lr=2", 1)
    assert np.allclose([*second.x, *second.mean], [0, 0.1])
    (seconds, _) = learning_curves(runs, "seconds", "win/More v greedy")
    assert seconds.x.tolist() == [5, 10]
    assert np.allclose(seconds.mean, [0.55, 0.6])


def test_names_of_curves(runs: list[Path], tmp_path: Path) -> None:
    """A run's name where the names differ, a folder's without a configuration."""
    (only,) = learning_curves(runs[:2])
    assert only.label == "links"
    other = written(tmp_path / "d", {"name": "other", "lr": 9}, rows((0, 0.5)))
    curves = learning_curves([*runs[:2], other])
    assert [curve.label for curve in curves] == ["links", "other"]
    for run in runs:
        (run / STATE_FILE).unlink()
    curves = learning_curves(runs)
    assert [curve.label for curve in curves] == ["a", "b", "c"]


def test_a_run_that_began_later_is_compared_where_it_began(
    runs: list[Path], tmp_path: Path
) -> None:
    late = written(
        tmp_path / "d", {"name": "links", "pool": {"share": 0.5}, "lr": 1}, rows((900, 1))
    )
    (curve,) = (one for one in learning_curves([*runs, late]) if one.x.tolist() == [900])
    assert np.allclose([*curve.low, *curve.high], [0.4, 1])


def test_what_can_not_be_drawn(runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert len(learning_curves([*runs, tmp_path / "empty"])) == 2
    for folders, y, text in (
        ([tmp_path / "empty"], "steps", f"has a {METRICS_FILE}"),
        ([tmp_path / "missing"], "steps", "there is no folder"),
        (runs, "share against uct-9", "there are .*seconds, share against greedy, steps"),
        (runs, "loss", "no run has 'steps' and 'loss'"),
    ):
        with pytest.raises(ValueError, match=text):
            learning_curves(folders, y=y)
    (runs[0] / STATE_FILE).write_bytes(b"damaged")
    with pytest.raises(ValueError, match="is damaged"):
        learning_curves(runs, y="steps")


def test_every_combination_is_a_run(tmp_path: Path) -> None:
    """Lists, ranges, brackets with commas, and single values, which no folder names."""
    settings = ["learning_rate=1e-3,[3e-4,0]", "seed=1..3", "epochs=2"]
    sweep = sweep_runs("linkage_ppo", settings, tmp_path)
    assert len(sweep) == 6
    assert [run.config.seed for run in sweep] == [1, 2, 3] * 2
    assert {run.config.epochs for run in sweep} == {2}  # type: ignore[union-attr]
    assert [run.config.learning_rate for run in sweep] == [(1e-3, 1e-3)] * 3 + [(3e-4, 0)] * 3
    assert sweep[0].folder == tmp_path / "learning_rate=1e-3,seed=1"
    assert sweep[5].folder == tmp_path / "learning_rate=_3e-4,0_,seed=3"
    (one,) = sweep_runs("linkage_ppo", ["seed=4"])
    assert one.folder == Path("runs/linkage_ppo_sweep/single")
    for setting, text in (
        ("seed", "'seed' is not field=value,value"),
        ("seed=1,1", "would share the folder"),
        ("seed=1,[2", "has no valid YAML values"),
        ("seed=3..1", "a range is LOW..HIGH"),
        ("seed=1..9999", "at most 10,000"),
        ("learning_rat=1,2", "did you mean learning_rate"),
    ):
        with pytest.raises(ValueError, match=text):
            sweep_runs("linkage_ppo", [setting, "epochs=1..2"])


@pytest.mark.parametrize(
    "executor",
    [
        pytest.param("local", marks=pytest.mark.slow),
        # quick: a worker of a sweep is one of an executor (test_executors.py)
        pytest.param("processes", marks=pytest.mark.nightly),
    ],
)
def test_a_sweep_from_the_command_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    executor: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(json.dumps(TINY))
    command = ["experiment", "sweep", "tiny.yaml", "seed=1..2", "--executor", executor]
    assert main(command) == 0
    home = Path("runs/tiny_sweep")
    folders = [home / f"seed={seed}" for seed in (1, 2)]
    cards = [load_card(folder / "checkpoint") for folder in folders]
    assert [card["trained"]["config"]["seed"] for card in cards] == [1, 2]
    assert (folders[0] / LOG).exists() == (executor != "local")
    out = capsys.readouterr().out
    assert "2/2 seed=" in out
    assert f"{100 * cards[0]['strength'][0]['win_share']['mean']:.1f} [" in out
    card = (folders[0] / "checkpoint" / "card.json").stat().st_mtime_ns
    assert main(command) == 0  # nothing is left
    assert (folders[0] / "checkpoint" / "card.json").stat().st_mtime_ns == card
    assert "2/2" not in capsys.readouterr().out
    assert (
        main(["experiment", "plot", *map(str, folders), "--x", "seconds", "--out", "curves.png"])
        == 0
    )
    assert "tiny" in capsys.readouterr().out
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")
    for name in ("plot.png", "plot-2.png"):
        assert main(["experiment", "plot", *map(str, folders), "--x", "seconds"]) == 0
        assert Path(name).exists()


@pytest.mark.slow
def test_a_run_that_fails_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(json.dumps(TINY))
    assert main(["experiment", "sweep", "tiny.yaml", "network=graph,flat"]) == 1
    out = capsys.readouterr().out
    assert "1/2 network=graph: ValueError: network: linkage" in out
    assert "2/2 network=flat: finished" in out


class Chatty(LocalExecutor):
    """An executor of the user's, in this process."""


def fake_training(
    monkeypatch: pytest.MonkeyPatch, errors: Sequence[BaseException | None]
) -> list[int]:
    """Replaces training: run number n of the sweep raises `errors[n]`; returns the seeds."""
    seeds: list[int] = []

    def run(config: Any, **_: Any) -> None:
        print("training", config.seed)
        error = errors[len(seeds)]
        seeds.append(config.seed)
        if error is not None:
            raise error

    monkeypatch.setattr("linkzoo_training.sweep.train", run)
    return seeds


@pytest.mark.parametrize("executor", [None, Chatty()], ids=["here", "executor"])
@pytest.mark.parametrize(
    "error",
    [
        TypeError("no None"),
        KeyError("width"),
        AssertionError("odd"),
        ZeroDivisionError("none"),
        RecursionError("deep"),
        MemoryError("full"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
        StopIteration("over"),
        ExceptionGroup("two", [TypeError("a"), ValueError("b")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_run_raises_the_others_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    executor: LocalExecutor | None,
) -> None:
    (tmp_path / "tiny.yaml").write_text(json.dumps(TINY))
    seeds = fake_training(monkeypatch, [None, error, None])
    runs = sweep_runs(tmp_path / "tiny.yaml", ["seed=1..3"], tmp_path)
    told: list[tuple[str, bool, int]] = []
    failed = run_sweep(
        runs, executor, lambda run, text, done: told.append((run.label, bool(text), done))
    )
    assert seeds == [1, 2, 3]
    assert failed == {"seed=2": f"{type(error).__name__}: {error}"}
    assert told == [("seed=1", False, 1), ("seed=2", True, 2), ("seed=3", False, 3)]
    if executor is not None:
        log = (runs[1].folder / LOG).read_text()
        assert log.startswith("training 2\n")
        assert "Traceback" in log
        assert type(error).__name__ in log


def test_a_folder_that_can_not_be_made_is_an_error_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same on an executor, where the log is opened first."""
    (tmp_path / "tiny.yaml").write_text(json.dumps(TINY))
    seeds = fake_training(monkeypatch, [None, None])
    runs = sweep_runs(tmp_path / "tiny.yaml", ["seed=5..7"], tmp_path)
    runs[0].folder.write_text("a file")
    assert list(run_sweep(runs, Chatty())) == ["seed=5"]
    assert seeds == [6, 7]


@pytest.mark.slow
def test_a_damaged_card_is_an_error_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(json.dumps(TINY))
    runs = sweep_runs("tiny.yaml", ["seed=1..2"])
    (runs[0].folder / "checkpoint").mkdir(parents=True)
    (runs[0].folder / "checkpoint" / CARD).write_text("{")
    assert main(["experiment", "sweep", "tiny.yaml", "seed=1..2"]) == 1
    out = capsys.readouterr().out
    assert "1/2 seed=1: ValueError: " in out
    assert "2/2 seed=2: finished" in out
    assert (runs[0].folder / "checkpoint" / CARD).read_text() == "{"


def test_a_signal_ends_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.yaml").write_text(json.dumps(TINY))
    seeds = fake_training(monkeypatch, [None, KeyboardInterrupt(), None])
    runs = sweep_runs(tmp_path / "tiny.yaml", ["seed=1..3"], tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(runs)
    assert seeds == [1, 2]
