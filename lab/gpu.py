"""Tests, benchmarks and a minute of training on a machine with a GPU: `make gpu`.

All tasks start side by side, one per core. One that is ready to measure waits until nothing else
runs; after half of the time it gets its turn anyway, and the others pause. Training comes last.

Needs the standard library only; the first task says what else is missing. `--out` gets three files,
rewritten every few seconds: `report.md`, `log.txt` and `runs.tgz`, the training run. Outputs and
exit statuses stay in `--folder`: the next call runs what failed or is missing.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NoReturn

from lab.gpu_report import report
from lab.gpu_tasks import Task, When, tasks
from lab.gpu_turn import TURNS, WAITING

ROOT = Path(__file__).parents[1]
STATE = "tasks.json"  # exit status and seconds of each finished task
RUNS = "runs"  # folder of training runs
_POLL = 0.2  # seconds between looks at the tasks
_WRITE = 3.0  # seconds between reports
_GRACE = 6.0  # seconds for a stopped task to save itself
_LOGGED = 200_000  # last bytes of each output
_PACKED = 4_000_000  # bytes of the largest file in runs.tgz
_PATHS = "envs", "training", "examples/connect_four"


@dataclass
class Job:
    """A task that runs, waits for its turn, or is paused."""

    task: Task
    process: subprocess.Popen[bytes]
    begun: float
    ready: int | None = None  # seconds until it was ready to measure
    waits: bool = False
    paused: bool = False

    @property
    def stdin(self) -> IO[bytes]:
        """Gets a line when the task's turn comes."""
        assert self.process.stdin is not None
        return self.process.stdin

    def send(self, number: int) -> None:
        """Sends a signal to the task's processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def pause(self) -> None:
        self.paused = True
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.paused = False
        self.send(signal.SIGCONT)


class Runner:
    """The tasks of one call."""

    def __init__(self, planned: list[Task], folder: Path, out: Path, seconds: float) -> None:
        self.planned, self.folder, self.out = planned, folder, out
        self.start, self.seconds = time.monotonic(), seconds
        self.cores = len(os.sched_getaffinity(0))
        self.queue: list[Task] = []
        self.jobs: list[Job] = []
        self.turn: Job | None = None  # runs alone
        self.done: dict[str, Any] = {}
        for path in (folder, out):
            path.mkdir(parents=True, exist_ok=True)
        if (folder / STATE).exists():
            self.done = json.loads((folder / STATE).read_text(encoding="utf-8"))

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def run(self, chosen: list[str]) -> bool:
        """Runs the chosen or unfinished tasks; returns whether all of them ended with 0."""
        for task in self.planned:
            again = task.name in chosen if chosen else not self.succeeded(task)
            if again or task.when is When.FIRST:
                self.done.pop(task.name, None)
                self.log(task).unlink(missing_ok=True)
                self.queue.append(task)
        wanted, written = self.queue.copy(), 0.0
        try:
            while (self.queue or self.jobs) and self.now < self.seconds:
                while (begun := self._next()) is not None:
                    self._launch(begun)
                time.sleep(_POLL)
                self._look()
                self._share()
                if self.now - written > _WRITE:
                    self.write()
                    written = self.now
        finally:
            self._stop()
            self.write()
        return all(self.succeeded(task) for task in wanted)

    def succeeded(self, task: Task) -> bool:
        return bool(self.done.get(task.name, {"rc": 1})["rc"] == 0)

    def log(self, task: Task) -> Path:
        """Returns the file of a task's output."""
        return self.folder / f"{task.name}.txt"

    def _next(self) -> Task | None:
        """Returns the task to begin now: one per core, the last one alone."""
        if not self.queue or self.turn or any(job.task.when is When.FIRST for job in self.jobs):
            return None
        task, last, left = self.queue[0], self.queue[-1], self.seconds - self.now
        if last.when is When.LAST and left <= min(last.seconds, self.seconds / 2):
            return last
        if task.when is When.LAST:
            return None if self.jobs else task
        return task if sum(not job.waits for job in self.jobs) < self.cores else None

    def _launch(self, task: Task) -> None:
        self.queue.remove(task)
        paths = [*(str(ROOT / path) for path in _PATHS), os.environ.get("PYTHONPATH", "")]
        settings = {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
            "TERM": "dumb",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # JAX would take most of the GPU's memory
            **({TURNS: "1"} if task.when is When.ALONE else {}),
        }
        with self.log(task).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *task.arguments],
                cwd=ROOT,
                env={**os.environ, **settings},
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self.jobs.append(Job(task, process, self.now))
        if task.when is When.LAST:
            self._give(self.jobs[-1])

    def _look(self) -> None:
        """Finds the tasks that ended or are ready to measure."""
        for job in self.jobs.copy():
            rc = job.process.poll()
            if rc is None:
                measures = job.task.when is When.ALONE and job is not self.turn
                job.waits = measures and self.read(job.task).endswith(f"{WAITING}\n")
                if job.waits and job.ready is None:
                    job.ready = round(self.now - job.begun)
                continue
            self.jobs.remove(job)
            job.stdin.close()
            seconds = round(self.now - job.begun)
            self.done[job.task.name] = {"rc": rc, "seconds": seconds, "ready": job.ready}
            print(f"{self.now:4.0f} s  {job.task.name}: exit status {rc}", flush=True)
            if job is self.turn:
                self.turn = None
            if job.task.when is When.FIRST and rc:
                print(self.read(job.task))
                self.queue.clear()

    def _share(self) -> None:
        """Lets one task measure alone, or all others run."""
        if self.turn is not None:
            return
        ready = [job for job in self.jobs if job.waits]
        if ready and (len(ready) == len(self.jobs) or self.now > self.seconds / 2):
            self._give(ready[0])
            return
        for job in self.jobs:
            if job.paused:
                job.resume()

    def _give(self, job: Job) -> None:
        """Pauses the other tasks and lets this one go on."""
        for other in self.jobs:
            if other is not job and not other.waits:
                other.pause()
        self.turn, job.waits = job, False
        job.resume()
        with suppress(BrokenPipeError):
            job.stdin.write(b"\n")

    def _stop(self) -> None:
        """Ends the running tasks; training saves its state."""
        for number, seconds in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
            until = self.now + seconds
            for job in self.jobs:
                job.send(number)
                job.resume()
            while self.jobs and self.now < until:
                self._look()
                time.sleep(_POLL)

    def read(self, task: Task) -> str:
        """Returns the end of a task's output."""
        with suppress(FileNotFoundError):
            return self.log(task).read_bytes()[-_LOGGED:].decode(errors="replace")
        return ""

    def write(self) -> None:
        """Writes the files of `--out`, each at once."""
        printed = {task.name: self.read(task) for task in self.planned if self.log(task).exists()}
        states = {task.name: self._state(task) for task in self.planned}
        text = report(self.planned, states, printed, f"{self.now:,.0f} of {self.seconds:,.0f} s")
        logs = [f"\n===== {name}\n{output}" for name, output in printed.items()]
        replace(self.folder / STATE, json.dumps(self.done, indent=1).encode())
        replace(self.out / "report.md", text.encode())
        replace(self.out / "log.txt", "".join(logs).encode())
        if any(task.when is When.LAST and task.name in printed for task in self.planned):
            with suppress(OSError):  # a file that is being written
                replace(self.out / "runs.tgz", packed(self.folder / RUNS))

    def _state(self, task: Task) -> str:
        for job in self.jobs:
            if job.task is task:
                what = "waits" if job.waits else "pauses" if job.paused else "runs"
                return f"{what}, {self.now - job.begun:,.0f} s"
        if task.name not in self.done:
            return "not begun"
        found = self.done[task.name]
        ready = "" if found["ready"] is None else f", ready after {found['ready']:,.0f} s"
        return f"exit status {found['rc']}, {found['seconds']:,.0f} s{ready}"


def replace(path: Path, content: bytes) -> None:
    """Writes a file at once: a kill leaves the old or the new one."""
    part = path.with_name(f".{path.name}")
    part.write_bytes(content)
    part.replace(path)


def packed(folder: Path) -> bytes:
    """Returns an archive of the small files in a folder."""
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size <= _PACKED:
                files.add(path, path.relative_to(folder))
    return archive.getvalue()


def end(*_: object) -> NoReturn:
    """Ends the process on a signal, after `Runner` has stopped its tasks."""
    raise SystemExit(128 + signal.SIGTERM)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TASK", help="default: what isn't done yet")
    parser.add_argument("--list", action="store_true", help="print the names of the tasks")
    parser.add_argument("--minutes", type=float, default=8.0, help="that this call may take")
    parser.add_argument("--out", type=Path, help="folder of the report; default: --folder")
    parser.add_argument("--folder", type=Path, default=ROOT / "runs/gpu", help="of outputs")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    planned = tasks(folder / RUNS)
    names = [task.name for task in planned]
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"{sorted(unknown)}: no such task; there are {names}")
    if arguments.list:
        print("\n".join(names))
        return
    signal.signal(signal.SIGTERM, end)
    out, seconds = arguments.out or folder, 60 * arguments.minutes - 2 * _GRACE
    sys.exit(not Runner(planned, folder, out, seconds).run(arguments.names))


if __name__ == "__main__":
    main()
