"""All tests, benchmarks and training for a machine with a GPU: `make gpu`.

`python -m benchmarks.gpu` runs the tests that need a GPU, the benchmarks, then the training of the
presets that end in `_gpu`, in slices of at most nine minutes which resume.
`benchmarks/gpu_report.md` is written after each task, ready to commit; it starts with targets and
results. State is kept in one folder, `--runs`: later calls skip finished tasks and repeat failed
ones. `--minutes` limits a call. Names select tasks, finished or not.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

import torch
from benchmarks.gpu_report import cells, commit, report
from benchmarks.gpu_tasks import PRESETS, ROOT, Task, tasks

from linkzoo.core.files import write_atomically
from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.runtime import find_device

REPORT = ROOT / "benchmarks" / "gpu_report.md"
RUNS = ROOT / "runs"
STATE = "gpu.json"  # in the folder of the runs: finished tasks
SECONDS = 520.0  # limit of a slice of training, and of any other task
_LEAST = 60.0  # minimum seconds for starting a task
_GRACE = 60.0  # seconds for a stopped task to save itself
_STOPPED = 128 + signal.SIGTERM  # exit status of training that was stopped and saved
_CUT = (-signal.SIGTERM, -signal.SIGKILL)  # exit statuses of killed tasks
_SHOWN = 60  # last lines of output that are shown


def play(task: Task, seconds: float) -> dict[str, Any]:
    """Runs a task for at most `seconds`; training saves itself when stopped."""
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", task.module, *task.arguments],
        cwd=ROOT,
        env={**os.environ, "TERM": "dumb"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # background processes ignore Ctrl-C
            try:
                printed, _ = process.communicate(timeout=_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                printed, _ = process.communicate()
    return {
        "rc": process.returncode,
        "commit": commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "seconds": time.monotonic() - began,
        "printed": "\n".join(printed.splitlines()[-_SHOWN:]),
    }


class Work:
    """The tasks and their results."""

    def __init__(self, planned: list[Task], runs: Path, to: Path, device: torch.device) -> None:
        self.planned, self.to, self.device = planned, to, device
        self.state = runs / STATE
        self.done: dict[str, Any] = {}
        if self.state.exists():
            self.done = json.loads(self.state.read_text(encoding="utf-8"))

    def do(self, chosen: list[str], seconds: float, until: float) -> None:
        """Runs the chosen or unfinished tasks, until a time of `time.monotonic`."""
        for task in self.planned:
            rc = self.done.get(task.name, {}).get("rc")
            goes_on = task.name in chosen if chosen else rc != 0
            while goes_on:
                limit = min(seconds, until - time.monotonic() - _GRACE)
                missing = self._missing(task, limit, anyway=bool(chosen))
                if missing is not None:
                    print(f"{task.name}: not begun, {missing}", flush=True)
                    break
                goes_on = self._once(task, limit)

    def _missing(self, task: Task, limit: float, *, anyway: bool) -> str | None:
        """Returns the reason why a task can't start: too little time, or a missing file."""
        before = self.done.get(task.name, {"rc": None})
        if task.needs is not None and not task.needs.exists():
            return f"there is no {task.needs}"
        if limit < _LEAST:
            return "no time is left"
        if task.run is None and before["rc"] in _CUT and limit <= before["seconds"] and not anyway:
            return f"{before['seconds']:,.0f} seconds were too few"
        return None

    def _once(self, task: Task, limit: float) -> bool:
        """Runs a task or a slice of training and reports; returns whether another slice follows."""
        print(f"{task.name}: {task.command}", flush=True)
        before = _iteration(task)
        found = play(task, limit)
        if task.run is not None and task.name in self.done:
            found["seconds"] += self.done[task.name]["seconds"]
        self.done[task.name] = found
        self.state.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.state, json.dumps(self.done, indent=1).encode())
        write_atomically(self.to, report(self.planned, self.done, self.device).encode())
        print(f"{task.name}: exit status {found['rc']}", flush=True)
        for bar in task.bars:
            print(f"{bar.what}: {' | '.join(cells(bar, found))}")
        # Training that ends in its final evaluation may resume there once.
        return found["rc"] in (_STOPPED, *_CUT) and _iteration(task) > before


def _iteration(task: Task) -> int:
    """Returns a training task's iteration; -1 before the first, and for other tasks."""
    rows = [] if task.run is None else read_metrics(task.run)
    return int(rows[-1]["iteration"]) if rows else -1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TASK", help="default: what isn't done yet")
    parser.add_argument("--list", action="store_true", help="print the names of the tasks")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--presets", nargs="*", default=PRESETS, help="default: %(default)s")
    parser.add_argument("--minutes", type=float, default=inf, help="that this call may take")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="of a slice of training; %(default)s"
    )
    parser.add_argument("--runs", type=Path, default=RUNS, help="a folder; default: runs")
    parser.add_argument("--report", type=Path, default=REPORT)
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    planned = tasks(arguments.device, arguments.presets, arguments.runs.absolute())
    names = [task.name for task in planned]
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"{sorted(unknown)}: no such task; there are {names}")
    if arguments.list:
        print("\n".join(names))
        return
    try:
        device = find_device(arguments.device)
    except ValueError as error:
        parser.error(str(error))
    work = Work(planned, arguments.runs.absolute(), arguments.report, device)
    work.do(arguments.names, arguments.seconds, until)
    print(arguments.report)


if __name__ == "__main__":
    main()
