"""The end of a stopped run: quick, whatever its workers do."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import Popen

import pytest

RUN = {
    "name": "tiny",
    "game": "linkage",
    "total_steps": 10**9,
    "num_threads": 1,
    "num_envs": 4,
    "horizon": 4,
    "width": 4,
    "blocks": 1,
    "device": "cpu",
    "eval": {"every": 10**6},
}
TICKS = os.sysconf("SC_CLK_TCK") if sys.platform == "linux" else 0


def stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process so far."""
    fields = stat(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                children.setdefault(int(stat(int(path.name))[1]), []).append(int(path.name))
            except OSError:  # it has ended
                continue
    below: list[int] = []
    following = [pid]
    while following:
        found = children.get(following.pop(), [])
        below += found
        following += found
    return below


def is_worker(pid: int) -> bool:
    """Whether a process plays games."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False
    return b"spawn_main" in line or (line.startswith(b"ray::") and b"IDLE" not in line)


def check_a_stopped_run_ends(executor: str, number: signal.Signals, folder: Path) -> None:
    """Stops all workers, sends a signal to the learner, and looks at its end.

    The bound of two seconds holds on a machine with one process per core, and is longer on a busier
    one; the bound of CPU time is the same on all.
    """
    (folder / "run.yaml").write_text(json.dumps(RUN))
    words = ["train", "run.yaml", "--executor", executor, "--workers", "2"]
    command = [sys.executable, "-m", "linkzoo_training", *words]
    with (folder / "output.txt").open("wb") as output:
        learner = Popen(command, cwd=folder, stdout=output, stderr=output)
    metrics = folder / "runs" / "tiny" / "metrics.jsonl"
    while not metrics.exists() or metrics.read_text().count("\n") < 3:
        assert learner.poll() is None, (folder / "output.txt").read_text()
        time.sleep(0.05)
    workers = [pid for pid in descendants(learner.pid) if is_worker(pid)]
    assert len(workers) >= 2
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    lines = -1
    while (now := metrics.read_text().count("\n")) != lines:  # it learns from what was played
        lines = now
        time.sleep(1)
    before = cpu_seconds(learner.pid)
    started = time.monotonic()
    learner.send_signal(number)
    os.waitid(os.P_PID, learner.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.monotonic() - started
    spent = cpu_seconds(learner.pid) - before
    text = (folder / "output.txt").read_text()
    assert learner.wait() == 128 + number, text
    assert "stopped and saved in runs/tiny" in text
    assert spent < 0.4
    print(f"{seconds:.2f} s, {spent:.2f} CPU s, load {os.getloadavg()[0]:.1f}")
    assert seconds < 2 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    deadline = time.monotonic() + 20
    while any(map(is_worker, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.nightly  # quick: the next test, and test_executors.py: a stop while workers are silent
@pytest.mark.last
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_a_run_whose_workers_hang_ends(tmp_path: Path) -> None:
    check_a_stopped_run_ends("processes", signal.SIGTERM, tmp_path)


ENDED = """
import atexit
import sys
from linkzoo_training import __main__
from linkzoo_training.commands import cli
class Slow:
    def __del__(self):
        print("freed")
def command():
    atexit.register(print, "cleaned up")
    sys.slow = Slow()
    return 7
cli.main = command
__main__.run()
"""


@pytest.mark.slow
def test_a_command_ends_without_freeing_everything() -> None:
    """Its functions of `atexit` are called, its output is written, and its exit code is right."""
    done = subprocess.run(
        [sys.executable, "-c", ENDED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "cleaned up\n", "")
