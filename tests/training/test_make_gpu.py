"""`make gpu`, without a GPU: its steps, its report, and that a kill loses nothing."""

import json
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lab import alphazero, gpu, gpu_idle, gpu_play, gpu_preflight, ppo
from lab.gpu_report import cells
from lab.gpu_tasks import GAMES, Bar, Task, When, play_at_random, tasks
from lab.gpu_turn import WAITING

from linkzoo import make_vec
from linkzoo.registry import NAMES
from linkzoo_training.commands.cli import parse_arguments
from linkzoo_training.config.config import AnyConfig, load_config
from tests.common.play import run_python
from tests.gpu.test_training import KINDS, config_of

ROOT = gpu.ROOT
# A task `python -m fake SECONDS ...` notes the times at which it works.
FAKE = """
import sys, time
from pathlib import Path
from lab.gpu_turn import wait_for_turn

name, seconds, status = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
notes = Path(__file__).with_name(f"{name}.notes").open("w", buffering=1)
for other in sys.argv[4:]:  # runs beside this one
    while not Path(__file__).with_name(f"{other}.notes").exists():
        time.sleep(0.01)
print("begun", flush=True)
wait_for_turn()
end = time.monotonic() + seconds
while time.monotonic() < end:
    print(time.monotonic(), file=notes)
    time.sleep(0.01)
print("speed 1,234 steps/s")
sys.exit(status)
"""
SPEED = Bar("speed, steps/s", r"speed ([\d,]+) steps/s", least=1000)


class Fakes:
    """Tasks of a fraction of a second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "fake.py").write_text(FAKE)

    def task(
        self,
        name: str,
        when: When,
        seconds: float = 0.3,
        status: int = 0,
        beside: Sequence[str] = (),
    ) -> Task:
        arguments = "fake", name, str(seconds), str(status), *beside
        return Task(name, when, arguments, (SPEED,), seconds=4.0)

    def run(self, planned: list[Task], *chosen: str, seconds: float = 300.0) -> bool:
        return gpu.Runner(planned, self.folder, self.folder / "out", seconds).run([*chosen])

    def notes(self, name: str) -> list[float]:
        """The times at which a task worked."""
        path = self.folder / f"{name}.notes"
        return [float(line) for line in path.read_text().splitlines()] if path.exists() else []

    def report(self) -> str:
        return (self.folder / "out" / "report.md").read_text()


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(gpu, "_POLL", 0.02)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})  # two tasks run at once
    return Fakes(tmp_path)


def overlap(times: Sequence[float], others: Sequence[float]) -> int:
    """How many of the other times lie among these."""
    return sum(times[0] < other < times[-1] for other in others)


@pytest.mark.slow
def test_what_measures_is_alone_and_training_comes_last(fakes: Fakes) -> None:
    planned = [
        fakes.task("first", When.FIRST, 0.1),
        fakes.task("test", When.BESIDE, beside=["other"]),
        fakes.task("other", When.BESIDE, status=3, beside=["test"]),
        fakes.task("play", When.ALONE),
        fakes.task("ppo", When.ALONE),
        fakes.task("train", When.LAST),
    ]
    assert not fakes.run(planned)  # one failed
    times = {task.name: fakes.notes(task.name) for task in planned}
    assert min(times["test"][0], times["other"][0]) > times["first"][-1]
    for name in ("play", "ppo", "train"):
        others = [time for other in times if other != name for time in times[other]]
        assert overlap(times[name], others) == 0
    assert max(times["test"][-1], times["other"][-1]) < times["play"][0] < times["ppo"][0]
    assert times["train"][0] > times["ppo"][-1]
    text = fakes.report()
    assert "| speed, steps/s | 1,234 | at least 1,000 | met |" in text
    assert re.search(r"\| other \| exit status 3, \d+ s \|", text)
    assert re.search(r"\| ppo \| exit status 0, \d+ s, ready after \d+ s \|", text)
    assert "===== train\nbegun\nspeed" in (fakes.folder / "out" / "log.txt").read_text()


@pytest.mark.slow
def test_the_next_call_runs_what_failed_or_is_missing(fakes: Fakes) -> None:
    first, good = fakes.task("first", When.FIRST, 0.0), fakes.task("good", When.BESIDE, 0.0)
    bad = fakes.task("bad", When.BESIDE, 0.0, status=1)
    assert not fakes.run([first, good, bad])
    for name in ("good", "bad", "first"):
        (fakes.folder / f"{name}.notes").unlink()
    planned = [first, good, fakes.task("bad", When.BESIDE, 0.1), fakes.task("new", When.BESIDE)]
    assert fakes.run(planned)
    assert sorted(path.stem for path in fakes.folder.glob("*.notes")) == ["bad", "first", "new"]
    assert "| good | exit status 0, " in fakes.report()
    assert fakes.run(planned, "good")
    assert (fakes.folder / "good.notes").exists()


@pytest.mark.slow  # the first test is the quick one
def test_measuring_and_training_get_half_of_the_time(fakes: Fakes) -> None:
    """The others pause meanwhile, then go on; at the end they are stopped."""
    planned = [
        fakes.task("endless", When.BESIDE, 100.0),
        fakes.task("play", When.ALONE, 0.2),
        fakes.task("train", When.LAST, 0.2),
    ]
    assert not fakes.run(planned, seconds=4.0)
    endless, play, train = (fakes.notes(task.name) for task in planned)
    assert play[-1] < train[0]
    for times in (play, train):
        assert len(times) > 1
        assert overlap(times, endless) == 0
    assert endless[-1] > train[-1] + 0.1
    assert f"| endless | exit status {-signal.SIGTERM}, " in fakes.report()


def test_without_what_is_needed_nothing_begins(
    fakes: Fakes, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fakes.task("first", When.FIRST, 0.0, status=1)
    assert not fakes.run([first, fakes.task("test", When.BESIDE)])
    assert not fakes.notes("test")
    assert "begun\nspeed" in capsys.readouterr().out
    assert "| test | not begun |" in fakes.report()


MAIN = """
from lab import gpu
from lab.gpu_tasks import Task, When

gpu._WRITE, gpu._POLL = 0.1, 0.02
gpu.tasks = lambda runs: [
    Task("long", When.BESIDE, ("fake", "long", "5", "0")),
    Task("play", When.ALONE, ("fake", "play", "5", "0")),
]
gpu.main()
"""


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_leaves_what_was_printed(fakes: Fakes, number: signal.Signals) -> None:
    out = fakes.folder / "out"
    command = [sys.executable, "-c", MAIN, "--folder", str(fakes.folder), "--out", str(out)]
    log, task = out / "log.txt", fakes.folder / "play.txt"
    both = "===== long\nbegun\n\n===== play\nbegun\n"
    with subprocess.Popen(command, cwd=ROOT) as process:
        wait_until(lambda: log.exists() and log.read_text().endswith(f"{both}{WAITING}\n"))
        process.send_signal(number)
    assert process.returncode == (128 + number if number == signal.SIGTERM else -number)
    assert "| play | " in fakes.report()
    assert both in log.read_text()
    assert {path.name for path in out.glob("[a-z]*")} == {"report.md", "log.txt"}
    if number == signal.SIGTERM:
        assert "| long | exit status -15, " in fakes.report()
    else:  # an orphan ends
        wait_until(lambda: "lab.gpu has ended" in task.read_text())


def test_the_run_is_packed_without_its_large_files(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "metrics.jsonl").write_text("{}")
    (tmp_path / "runs" / "training.safetensors").write_bytes(bytes(gpu._PACKED + 1))
    with tarfile.open(fileobj=BytesIO(gpu.packed(tmp_path / "runs"))) as packed:
        assert packed.getnames() == ["metrics.jsonl"]


def test_an_unknown_task_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab.gpu", "nothing"])
    with pytest.raises(SystemExit):
        gpu.main()
    assert "['nothing']: no such task; there are ['preflight', 'tests-" in capsys.readouterr().err


def test_the_tasks_need_the_standard_library_alone() -> None:
    names = run_python("-S", "-m", "lab.gpu", "--list", PYTHONPATH="").splitlines()
    assert [names[0], names[-1]] == ["preflight", "train-linkage_ppo_gpu"]
    assert len(set(names)) == len(names) > 20
    assert {f"play-{name}" for name in NAMES} < {*names}


class StartedError(Exception):
    """A trainer was made from this configuration."""


def test_every_task_is_a_command_that_its_module_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(config: AnyConfig, *_: object) -> None:
        raise StartedError(config)

    monkeypatch.setattr(ppo, "PPOTrainer", start)
    monkeypatch.setattr(alphazero, "Watched", start)
    mains = {"lab.ppo": ppo.main, "lab.alphazero": alphazero.main}
    started = {}
    for task in tasks(Path("runs")):
        module, *arguments = task.arguments
        if module in mains:
            monkeypatch.setattr(sys, "argv", [module, *arguments])
            with pytest.raises(StartedError) as made:
                mains[module]()
            started[task.name] = made.value.args[0]
        elif module == "linkzoo_training":
            command = parse_arguments(arguments)
            started[task.name] = load_config(command.config, command.settings)
    assert len(started) == 5
    assert {config.device for config in started.values()} == {"cuda"}
    there = started["ppo-there"]
    assert (there.env_device, there.num_envs) == ("cuda", 32768)
    assert started["ppo-flat"].env_device == "cpu"
    assert started["alphazero"].simulations == (32,)
    assert started["train-linkage_ppo_gpu"].max_seconds == 60


def test_the_runs_of_the_tests_have_configurations_that_fit() -> None:
    for kind in (*KINDS, "alphazero"):
        assert config_of(kind).device == "cuda"


def test_what_needs_a_gpu_lies_in_one_folder() -> None:
    """`make gpu` runs no other."""
    marked = {
        path.parent.relative_to(ROOT)
        for path in (ROOT / "tests").rglob("*.py")
        if "pytest.mark." + "gpu" in path.read_text(encoding="utf-8")
    }
    assert marked == {Path("tests/gpu")}
    named = {argument for task in tasks(Path("runs")) for argument in task.arguments}
    files = {f"tests/gpu/{path.name}" for path in (ROOT / "tests/gpu").glob("test_*.py")}
    assert {argument for argument in named if argument.startswith("tests/")} == files


COLLECT = """
import sys
for name in ("fastapi", "uvicorn"):
    sys.modules[name] = None
import pytest
from lab.gpu_tasks import tests

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


@pytest.mark.nightly
def test_every_test_on_a_gpu_is_of_one_task() -> None:
    """And collecting them asks for no package of the extra `web`."""
    assert int(run_python("-c", COLLECT).rsplit("so many: ")[1]) > 40


def test_targets() -> None:
    idle = Bar("idle", r"GPU idle ([\d.]+)%", most=15)
    printed = "GPU idle 12.5%, 3 bytes/ply cross"
    assert cells(idle, printed) == ("12.5", "at most 15", "met")
    assert cells(idle, "GPU idle 15.1%") == ("15.1", "at most 15", "missed")
    assert cells(idle, "") == ("not measured", "at most 15", "")


@pytest.mark.slow
def test_the_preflight_names_all_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = {"numpy": "2.5.0", "torch": "2.11.0+cu130"}

    def version(name: str) -> str:
        if name in ("gymnasium", "pydantic"):
            raise PackageNotFoundError(name)
        return versions.get(name, "99")

    def broken() -> str:
        raise RuntimeError("torch finds no CUDA GPU")

    monkeypatch.setattr(gpu_preflight, "version", version)
    checks: dict[str, Callable[[], str]] = {"packages": gpu_preflight.packages, "GPU": broken}
    monkeypatch.setattr(gpu_preflight, "CHECKS", checks)
    for status in (1, 0):
        with pytest.raises(SystemExit) as end:
            gpu_preflight.main()
        assert end.value.code == status
        checks["GPU"] = lambda: "works"  # which decides
    printed = capsys.readouterr().out
    assert "gymnasium is not installed; " in printed
    assert "pydantic is not installed; " in printed
    assert "numpy is 2.5.0, not <2.5" in printed
    assert "torch is" not in printed
    assert "GPU: FAILED, RuntimeError: torch finds no CUDA GPU\n" in printed


def test_random_play_prints_what_is_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A target is of the middle size; calls get legal actions."""
    games = "linkage"
    monkeypatch.setattr(gpu_play, "vector_steps", lambda *_, **settings: lambda: 10**6)
    monkeypatch.setattr(gpu_play, "make_vec", lambda name, n, **_: make_vec(name, 8))
    monkeypatch.setattr(gpu_play, "_SECONDS", 0.01)

    def timed(prepare: Callable[[int], Any], call: Callable[[Any], object]) -> tuple[float, float]:
        for i in range(5):
            call(prepare(i))
        return 1234.5, 67.0

    monkeypatch.setattr(gpu_play, "call_times", timed)
    monkeypatch.setattr(sys, "argv", ["gpu_play", games])
    gpu_play.main()
    printed = capsys.readouterr().out
    (bar,) = play_at_random(games, GAMES[games]).bars
    assert (bar.measured(printed) or 0) > 1e6
    for what in ("step", "random_actions", "refresh"):
        assert f"{what} of 131,072 games: 1,234 µs on the GPU, 67 µs of the host\n" in printed


def test_pgx_is_measured_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_play, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["gpu_play", "connect_four", "--pgx"])
    gpu_play.main()
    assert capsys.readouterr().out == "not measured: jax and pgx can't be imported\n"


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
