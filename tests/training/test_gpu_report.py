"""`make gpu`, without a GPU: what it runs, that training goes on in slices, and the report."""

import json
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from benchmarks import gpu, gpu_idle
from benchmarks.gpu_report import cells
from benchmarks.gpu_tasks import PRESETS, ROOT, Bar, Task, tasks

from linkzoo_training.config.config import load_config
from tests.common.play import run_python
from tests.gpu.test_training import KINDS, config_of

CPU = ["--device", "cpu", "--presets", "linkage_ppo_gpu"]
TRAIN = "train linkage_ppo_gpu"


class Played:
    """Stands for `gpu.play`: exit statuses by task, else 1; so many slices of training advance."""

    def __init__(self, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs, self.names = runs, list[str]()
        self.statuses: dict[str, list[int]] = {}
        self.printed, self.limits, self.advancing, self.clock = "end", list[float](), 100, 0.0
        monkeypatch.setattr(gpu, "play", self)
        monkeypatch.setattr(gpu, "time", SimpleNamespace(monotonic=lambda: self.clock))

    def __call__(self, task: Task, seconds: float) -> dict[str, Any]:
        about = {"date": "2026-01-01", "commit": "abc", "printed": self.printed}
        if task.name not in self.statuses:
            self.clock += 2.0
            return {"rc": 1, "seconds": 2.0, **about}
        self.clock += seconds
        self.names.append(task.name)
        self.limits.append(seconds)
        if task.run is not None and len(self.names) <= self.advancing:
            task.run.mkdir(parents=True, exist_ok=True)
            row = {"iteration": len(self.names), "steps": 1000 * len(self.names)}
            (task.run / "metrics.jsonl").write_text(json.dumps(row) + "\n")
        return {"rc": self.statuses[task.name].pop(0), "seconds": seconds, **about}

    def run(self, *arguments: str) -> str:
        """Calls the command; returns the report."""
        report = self.runs / "report.md"
        arguments = *CPU, "--runs", str(self.runs), "--report", str(report), *arguments
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["benchmarks.gpu", *arguments])
            gpu.main()
        return report.read_text() if report.exists() else ""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(tmp_path, monkeypatch)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.gpu", *arguments])
    gpu.main()


def test_without_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as end:
        call(monkeypatch, "--runs", str(tmp_path))
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("device: cuda, but torch finds no GPU")
    assert not list(tmp_path.iterdir())


def test_every_preset_for_a_gpu_is_trained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call(monkeypatch, "--list")
    names = capsys.readouterr().out.splitlines()
    presets = ROOT.glob("configs/*_gpu.yaml")
    assert {name for name in names if name.startswith("train ")} == {
        f"train {path.stem}" for path in presets
    }
    with pytest.raises(SystemExit):
        call(monkeypatch, "train nothing")
    assert "['train nothing']: no such task; there are ['tests of " in capsys.readouterr().err


def test_every_task_has_a_configuration_that_fits() -> None:
    for task in tasks("cuda", PRESETS, Path("runs")):
        settings = [argument for argument in task.arguments if re.match(r"\w+=", argument)]
        if settings and task.arguments[0] != "evaluate":
            (config,) = {*task.arguments} & {path.stem for path in (ROOT / "configs").iterdir()}
            assert load_config(config, settings).device == "cuda", task


def test_the_runs_of_the_tests_have_configurations_that_fit() -> None:
    for kind in (*KINDS, "alphazero"):
        assert config_of(kind).device == "cuda"


def test_what_needs_a_gpu_lies_in_one_folder() -> None:
    """`make gpu` runs no other; and nothing that they import needs what .venv-cuda hasn't got."""
    marked = {
        path.parent.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("*.py")
        if "pytest.mark." + "gpu" in path.read_text(encoding="utf-8")
    }
    assert marked == {Path("tests/gpu")}
    run = [task.arguments for task in tasks("cuda", [], Path("runs")) if task.module == "pytest"]
    files = {f"tests/gpu/{path.name}" for path in (ROOT / "tests/gpu").glob("test_*.py")}
    assert {argument for arguments in run for argument in arguments[1:2]} == files


COLLECT = """
import sys
for name in ("fastapi", "uvicorn"):
    sys.modules[name] = None
import pytest
from benchmarks.gpu_tasks import tests

class Kept:
    def pytest_collection_finish(self, session):
        self.ids = [item.nodeid for item in session.items]

def collected(*arguments):
    kept = Kept()
    assert pytest.main(["--collect-only", "-qq", *arguments], [kept]) == 0
    return kept.ids

every = collected("tests/gpu")
parts = [one for task in tests() for one in collected(*task.arguments[1:])]
assert sorted(parts) == sorted(every), set(every).symmetric_difference(parts)
print("so many:", len(every))
"""


@pytest.mark.slow
def test_every_test_on_a_gpu_is_of_one_task() -> None:
    """And collecting them asks for no package of the extra `web`."""
    assert int(run_python("-c", COLLECT).rsplit("so many: ")[1]) > 40


def test_training_goes_on_in_slices(played: Played) -> None:
    """What was stopped continues in this call or in the next; what is finished stays."""
    played.statuses = {"tests of training": [0], TRAIN: [143, 143, 143, 0]}
    text = played.run("--seconds", "100", "--minutes", "5")
    assert played.names == ["tests of training", TRAIN]
    assert f"| {TRAIN} | 143 | 100 | 2026-01-01 | abc |" in text
    text = played.run("--seconds", "100")
    assert played.names == ["tests of training", *[TRAIN] * 4]
    assert "| tests of training | 0 | 100 |" in text
    assert "| play linkage | 1 | 2 |" in text
    assert f"| {TRAIN} | 0 | 400 |" in text
    assert "| steps | 5,000 |" in text
    played.run()
    assert len(played.names) == 5
    played.statuses["tests of training"] = [1]
    assert "| tests of training | 1 | 520 |" in played.run("tests of training")


def test_slices_end(played: Played) -> None:
    """An evaluation at the end that a slice is too short for is begun once more, not for ever."""
    played.statuses = {TRAIN: [143, *[-signal.SIGTERM] * 10]}
    played.advancing = 2  # the second slice ends in the evaluation
    played.run()
    assert len(played.names) == 3
    played.run()
    assert len(played.names) == 4


def test_what_was_cut_waits_for_more_time(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "tests of transfers"
    played.statuses = {name: [-signal.SIGTERM, -signal.SIGTERM, 0]}
    played.run("--minutes", "5")
    played.run("--minutes", "5")
    assert played.limits == [240.0]
    assert f"{name}: not begun, 240 seconds were too few" in capsys.readouterr().out
    played.run("--minutes", "5", name)
    played.run()
    played.run()
    assert played.limits == [240.0, 240.0, 520.0]
    played.run("--minutes", "1.5")
    assert "play linkage: not begun, no time is left" in capsys.readouterr().out


def test_the_report_begins_with_what_was_to_be_reached(played: Played) -> None:
    played.statuses = {"PPO, flat network": [0], "play linkage": [0], "PPO, board network": [1]}
    played.printed = (
        "end to end 987,654 steps/s, network alone 1 steps/s: 1%\n"
        "GPU idle 12.5%, 3 bytes/ply cross\n  131,072 games in lock-step     210,000,000 steps/s"
    )
    text = played.run()
    assert "no GPU, CUDA " in text
    assert "| PPO, flat network, steps/s | 987,654 | at least 1,000,000 | no |" in text
    assert "| random play of linkage, steps/s | 210,000,000 | at least 200,000,000 | yes |" in text
    assert "| GPU idle in PPO, board network, % | not measured | at most 15 |  |" in text
    assert text.index("987,654") < text.index("exit status")
    idle = Bar("idle", r"GPU idle ([\d.]+)%", most=15)
    assert cells(idle, {"rc": 0, "printed": played.printed}) == ("12.5", "at most 15", "yes")


def test_strength_is_read_from_the_ladders_table(tmp_path: Path) -> None:
    (task,) = (one for one in tasks("cuda", PRESETS, tmp_path) if one.needs is not None)
    (bar,) = task.bars
    table = (
        "│ uct-100 threshold=[13,14]  │       4 / 0 / 0 │  100.0 [20.7, │  2.1 / 0.26 │\n"
        "│ uct-1000 threshold=[13,14] │    735 / 0 / 65 │ 91.9 [90, 93] │   3.3 / 4.9 │\n"
    )
    assert bar.measured(table) == 91.9
    assert "after 60 minutes" in bar.what


def test_strength_waits_for_the_checkpoint(
    played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "strength of linkage_az_gpu"
    played.statuses = {name: [0]}
    played.run("--presets", "linkage_az_gpu")
    assert f"{name}: not begun, there is no " in capsys.readouterr().out
    (played.runs / "linkage_az_gpu" / "checkpoint").mkdir(parents=True)
    played.run("--presets", "linkage_az_gpu")
    assert played.names == [name]


def test_a_task_is_a_command_with_a_limit(tmp_path: Path) -> None:
    found = gpu.play(Task("help", "json.tool", ("--help",)), 60.0)
    assert found["rc"] == 0
    assert found["printed"].startswith("usage: ")
    sleep = "print('begun', flush=True); import time; time.sleep(600)"
    found = gpu.play(Task("sleep", "timeit", ("-n", "1", "-r", "1", sleep)), 2.0)
    assert found["rc"] == -signal.SIGTERM
    assert 2.0 <= found["seconds"] < 300


def test_spans_that_overlap_count_once() -> None:
    assert gpu_idle.covered([(5, 6), (0, 2), (1, 3), (1, 2), (5.5, 7)]) == 5
    assert gpu_idle.covered([]) == 0


def test_idle_is_the_time_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a trace as torch writes it: copies don't count."""

    class Profile:
        def __init__(self, **_: Any) -> None: ...

        def __enter__(self) -> "Profile":
            return self

        def __exit__(self, *_: object) -> None: ...

        def export_chrome_trace(self, path: str) -> None:
            events = [
                {"cat": "kernel", "ts": 1e6, "dur": 2e6},
                {"cat": "kernel", "ts": 2e6, "dur": 2e6},
                {"cat": "gpu_memcpy", "ts": 6e6, "dur": 2e6},
                {"ph": "M"},
            ]
            Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    clock = iter([0.0, 10.0])
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(gpu_idle, "profile", Profile)
    monkeypatch.setattr(gpu_idle, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert gpu_idle.idle_share(lambda: None) == 0.7
