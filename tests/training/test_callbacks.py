"""Callbacks: their calls, their effects, and the callbacks of the examples."""

import csv
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples.callbacks import CsvLogger, TrackerLogger

from linkzoo_training import load_agent
from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.callbacks import Callback, load_callback
from linkzoo_training.commands.cli import main
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.runtime import StopSignal
from linkzoo_training.train import train
from tests.training import test_ppo
from tests.training.helpers import ppo_config

# 10 iterations; matches after the 5th and the 10th, and at the end.
CONFIG = ppo_config(
    {
        **test_ppo.QUICK,
        "save_every": 100,
        "eval": {**test_ppo.QUICK["eval"], "opponents": ["random"]},
    }
)


class Notes(Callback):
    """Writes down its calls; acts after the second iteration."""

    def __init__(self, act: str = "") -> None:
        self.calls: list[Any] = []
        self.act = act

    def on_start(self, run: Any) -> None:
        self.calls.append(("start", run.iteration))

    def on_iteration(self, run: Any, metrics: Any) -> None:
        assert metrics["steps"] == run.steps
        self.calls.append((run.iteration, (run.folder / STATE_FILE).exists()))
        if run.iteration == 2 and self.act:
            getattr(run, self.act)()

    def on_evaluation(self, run: Any, results: Any) -> None:
        self.calls.append(("evaluation", run.iteration, [result.agents[1] for result in results]))

    def on_end(self, run: Any) -> None:
        self.calls.append(("end", (run.folder / "checkpoint" / "card.json").exists()))


@pytest.mark.slow
def test_calls_and_examples(tmp_path: Path) -> None:
    notes = Notes("save")
    folder = train(CONFIG, folder=tmp_path / "run", callbacks=[notes, CsvLogger(), TrackerLogger()])
    assert notes.calls == [
        ("start", 0),
        *[(i, i > 2) for i in range(1, 5)],
        ("evaluation", 5, ["random"]),
        *[(i, True) for i in range(5, 10)],
        ("evaluation", 10, ["random"]),
        (10, True),
        ("evaluation", 10, ["random"]),
        ("end", True),
    ]
    rows = read_metrics(folder)
    with (folder / "metrics.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["steps"]) for row in table] == [rows[4]["steps"], *[rows[9]["steps"]] * 2]
    roles = [value for name, value in rows[4].items() if name.startswith("win/")]
    assert float(table[0]["share"]) == pytest.approx(sum(roles) / len(roles), abs=1e-3)
    first, *logged = map(json.loads, (folder / "tracker.jsonl").read_text().splitlines())
    assert first == {"name": "tiny", "config": CONFIG.to_dict()}
    assert [{k: v for k, v in row.items() if k != "step"} for row in logged] == rows


@pytest.mark.slow
def test_stop_publishes(tmp_path: Path) -> None:
    notes = Notes("stop")
    folder = train(CONFIG, folder=tmp_path / "run", callbacks=[notes])
    assert notes.calls[-3:] == [(2, False), ("evaluation", 2, ["random"]), ("end", True)]
    assert load_agent(folder / "checkpoint").card["trained"]["steps"] == 2 * 16 * 24
    again = Notes()
    train(CONFIG, folder=folder, resume=True, callbacks=[again])
    assert again.calls[:2] == [("start", 2), (3, True)]
    assert again.calls[-1] == ("end", True)


@pytest.mark.slow
def test_the_command_stops_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from examples.callbacks import StopWhenStrong\n\ndef stop():\n"
        "    return StopWhenStrong(share=0.0)\n"
    )
    Path("c.yaml").write_text(json.dumps(CONFIG.to_dict()))
    assert main(["train", "c.yaml", "--callback", "mine.py:stop"]) == 0
    assert len(read_metrics(Path("runs/tiny"))) == 5
    assert load_agent("runs/tiny/strong").game.name == "linkage"
    assert "stopped by a callback after 1,920 of 3,840 steps" in capsys.readouterr().out


def test_the_end_of_an_interrupted_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, notes = StopSignal(), Notes()
    stop.exit_code = 143
    train(CONFIG, folder=tmp_path / "run", stop=stop, callbacks=[notes])
    assert notes.calls == [("start", 0), ("end", False)]

    def fails(_trainer: PPOTrainer) -> dict[str, float]:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(PPOTrainer, "iterate", fails)
    with pytest.raises(RuntimeError, match="out of luck"):
        train(CONFIG, folder=tmp_path / "other", callbacks=[notes])
    assert notes.calls[2:] == notes.calls[:2]


def test_a_signal_ends_matches_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is saved after it, and other errors of matches are raised."""

    def interrupted(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the match went on")

    monkeypatch.setattr(PPOTrainer, "evaluate", interrupted)
    stop, notes = StopSignal(), Notes()
    config = replace(CONFIG, eval=replace(CONFIG.eval, every=1))
    train(config, folder=tmp_path / "run", stop=stop, callbacks=[notes])
    assert stop.exit_code == 143
    assert notes.calls == [("start", 0), (1, False), ("end", False)]
    assert (tmp_path / "run" / STATE_FILE).exists()


class Fails(Notes):
    """Raises in one of its methods, after its note."""

    def __init__(self, method: str, error: type[BaseException] = KeyError) -> None:
        super().__init__()
        self.method = method
        self.error = error

    def on_start(self, run: Any) -> None:
        super().on_start(run)
        if self.method == "start":
            raise self.error("no file")

    def on_end(self, run: Any) -> None:
        super().on_end(run)
        if self.method == "end":
            raise self.error("no file")


def stopped_run(folder: Path, *callbacks: Callback) -> None:
    """A run that is stopped before its first iteration."""
    stop = StopSignal()
    stop.exit_code = 130
    train(CONFIG, folder=folder, stop=stop, callbacks=callbacks)


@pytest.mark.parametrize("error", [OSError, ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_one_end_that_fails_leaves_the_others(tmp_path: Path, error: type[BaseException]) -> None:
    first, second, third = Notes(), Fails("end", error), Notes()
    with pytest.raises(error, match="no file"):
        stopped_run(tmp_path / "run", first, second, third)
    for callback in (first, second, third):
        assert callback.calls == [("start", 0), ("end", False)]


def test_all_ends_that_fail_are_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no file") as raised:
        stopped_run(tmp_path / "run", Fails("end", OSError), Notes(), Fails("end", KeyError))
    assert raised.value.__notes__ == ["another callback's on_end: KeyError: 'no file'"]


@pytest.mark.parametrize("position", range(3))
def test_only_started_callbacks_end(tmp_path: Path, position: int) -> None:
    callbacks = [Notes(), Notes(), Notes()]
    callbacks[position] = Fails("start")
    with pytest.raises(KeyError, match="no file"):
        stopped_run(tmp_path / "run", *callbacks)
    for index, callback in enumerate(callbacks):
        calls = [("start", 0), ("end", False)]
        if index >= position:
            calls = calls[: index == position]
        assert callback.calls == calls


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("mine.py:missing", "mine.py has no missing"),
        ("mine.py:Plain", "is no Callback"),
        ("mine.py:fails", "ZeroDivisionError"),
        ("other.py:NAME", "FileNotFoundError"),
    ],
)
def test_what_is_no_callback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("class Plain: pass\n\ndef fails():\n    return 1 / 0\n")
    with pytest.raises(ValueError, match=rf"callback '{path}': .*{text}"):
        load_callback(path)
    with pytest.raises(ValueError, match="callbacks: 'print' is no Callback"):
        train(CONFIG, folder=tmp_path, callbacks=["print"])  # type: ignore[list-item]
