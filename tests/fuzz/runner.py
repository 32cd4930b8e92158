"""Spreads mutants over children, survives what they don't, and says what was found."""

import json
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import environ, pathsep
from pathlib import Path
from signal import SIGXCPU, Signals
from typing import Any

from tests.fuzz.worker import WARMING, Board

_ROOT = Path(__file__).parents[2]
_SLICE = 2.0  # seconds that a job lasts
_WARM_UP = 600.0  # seconds on the clock that preparing and compiling may take
_LAST = 2**62
_ROW = "{:<15} {:<14} {:>9} {:>9} {:>9} {:>9} {:>7}"


@dataclass(frozen=True)
class Limits:
    """What a mutant may use."""

    seconds: float = 10.0  # of the processor
    clock: float = 300.0  # seconds on the clock, for those that wait; machines may be busy
    gib: float = 8.0  # of address space, for the whole child


@dataclass
class Finding:
    """One kind of fault, by the first mutant that showed it."""

    subject: str
    game: str
    kind: str  # the exception's type, or how the child ended
    where: str
    message: str
    note: str
    trace: str
    first: int  # the mutants that repeat it: one, if it needs no others before it
    last: int
    times: int = 1

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for what is probably one fault."""
        said = re.split(r"[\d'(\[]", self.message)[0] if self.kind == "AssertionError" else ""
        return (self.subject, self.kind, self.where, said)

    def command(self, seed: int) -> str:
        """Repeats exactly this."""
        numbers = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return (
            f"python -m tests.fuzz --seed {seed} --subject {self.subject} --game {self.game} "
            f"--mutant {numbers}"
        )


@dataclass
class Cell:
    """A subject with a game, and what was tried of it."""

    subject: str
    game: str
    next: int = 0
    spent: float = 0.0
    refused: int = 0
    accepted: int = 0
    findings: int = 0
    hopeless: bool = False  # it can't be prepared

    @property
    def tried(self) -> int:
        """How many mutants."""
        return self.refused + self.accepted + self.findings


@dataclass
class Tally:
    """What all children found, with a lock for the threads that watch over them."""

    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, finding: Finding) -> bool:
        """Whether the finding is a new one."""
        with self.lock:
            known = self.findings.get(finding.key)
            if known is None:
                self.findings[finding.key] = finding
            else:
                known.times += 1
            return known is None


class Child:
    """A worker process, started at its first job and again after each death."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder, self._limits = folder, limits
        folder.mkdir()
        self._process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what a dead child didn't read
                        pipe.close()

    def _start(self) -> subprocess.Popen[str]:
        self._errors = self._folder / "stderr"
        self._board = Board(self._folder / "board")
        paths = [str(_ROOT), *(path for path in sys.path if path)]
        limits = [str(self._limits.seconds), str(self._limits.gib)]
        with self._errors.open("w") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker", str(self._folder), *limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,  # Ctrl-C is for the runner
                env={"OMP_WAIT_POLICY": "passive", **environ, "PYTHONPATH": pathsep.join(paths)},
            )

    def run(self, job: dict[str, Any], stop: threading.Event) -> dict[str, Any]:
        """The worker's answer to a job; after its death an answer that says what it died of."""
        if self._process is None:
            self._process = self._start()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        self._board.write(WARMING, 0, 0)
        died = None
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            died = "the child ended"
        before, since = None, time.monotonic()
        while died is None:
            if select.select([process.stdout], [], [], 0.1)[0]:
                line = process.stdout.readline()
                if line:
                    answer: dict[str, Any] = json.loads(line)
                    return answer
                died = "the child ended"
            number = self._board.read_numbers()[0]
            if number != before:
                before, since = number, time.monotonic()
            limit = _WARM_UP if number == WARMING else self._limits.clock
            if died is None and time.monotonic() - since > limit:
                died = f"no end in {limit:g} s"
            if died is None and stop.is_set():
                died = "stopped"
        number, refused, accepted, _ = self._board.read_numbers()
        note = self._board.read_note()
        if died == "the child ended":
            process.wait()
        self.close()
        if died == "stopped":
            found = []
        else:
            found = [self._post_mortem(died, process.returncode, number, note)]
        return {"next": number + 1, "refused": refused, "accepted": accepted, "found": found}

    def _post_mortem(self, died: str, status: int, number: int, note: str) -> dict[str, Any]:
        kind = died
        if died == "the child ended":
            if status == -SIGXCPU:
                kind = f"no end in {self._limits.seconds:g} s of the processor"
            else:
                kind = Signals(-status).name if status < 0 else f"exit {status}"
        errors = self._errors.read_text(encoding="utf-8", errors="replace")
        frames = [
            line.strip()
            for line in errors.splitlines()
            if line.startswith("  File ") and ("/envs/" in line or "/training/" in line)
        ]
        place = frames[0].replace(f'File "{_ROOT}/', "").replace('"', "") if frames else ""
        return {
            "number": number,
            "kind": kind,
            "where": place,
            "message": "while it was warmed up" if number == WARMING else "",
            "note": note,
            "trace": errors[-20_000:],
            "died": True,
        }


class Fuzz:
    """Runs cells for some time, or some mutants of one cell."""

    def __init__(
        self,
        cells: Sequence[Cell],
        seed: int,
        *,
        workers: int = 2,
        limits: Limits | None = None,
        tell: Callable[[str], None] = print,
    ) -> None:
        self.cells, self.seed, self.tell = list(cells), seed, tell
        self.workers, self.limits = min(workers, len(cells)), limits or Limits()
        self.tally = Tally()
        self._stop = threading.Event()

    def run(self, seconds: float) -> None:
        """Tries mutants of all cells, each for about as long, until the time is over.

        The time of each worker doesn't count what it needs to prepare its cells. When it is over,
        those of which nothing was tried have one turn yet.
        """
        end = time.monotonic() + seconds + _WARM_UP
        # Neighbours share a game: a child compiles or loads few of them.
        shares = [
            self.cells[
                len(self.cells) * i // self.workers : len(self.cells) * (i + 1) // self.workers
            ]
            for i in range(self.workers)
        ]
        with self._children(len(shares)) as children:
            threads = [
                threading.Thread(target=self._work, args=(child, share, seconds, end))
                for child, share in zip(children, shares, strict=True)
            ]
            for thread in threads:
                thread.start()
            try:
                for thread in threads:
                    thread.join()
            except KeyboardInterrupt:
                self._stop.set()
                for thread in threads:
                    thread.join()

    def repeat(self, first: int, last: int) -> None:
        """Tries these mutants of the only cell, in one child."""
        cell = self.cells[0]
        with self._children(1) as [child]:
            while cell.next <= last and not self._stop.is_set():
                cell.next = max(cell.next, first)
                self._slice(child, cell, _LAST, last)

    @contextmanager
    def _children(self, count: int) -> Iterator[list[Child]]:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        children = [Child(folder / str(i), self.limits) for i in range(count)]
        try:
            yield children
        finally:
            for child in children:
                child.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _work(self, child: Child, cells: list[Cell], seconds: float, end: float) -> None:
        share = min(_SLICE, seconds / len(cells))
        while time.monotonic() < end and not self._stop.is_set():
            left = seconds - sum(cell.spent for cell in cells)
            going = [cell for cell in cells if not cell.hopeless and (left > 0 or not cell.tried)]
            if not going:
                return
            self._slice(child, min(going, key=lambda cell: cell.spent), share, _LAST)

    def _slice(self, child: Child, cell: Cell, seconds: float, last: int) -> None:
        """One job of a cell; whatever killed the child is tried again, alone."""
        start, first = time.monotonic(), cell.next
        answer = child.run(self._job(cell, first, last, seconds), self._stop)
        cell.refused += answer["refused"]
        cell.accepted += answer["accepted"]
        cell.next = max(answer["next"], first)
        for found in answer["found"]:
            number, died = found.pop("number"), found.pop("died", False)
            if number == WARMING:
                cell.hopeless = True
                cell.next = _LAST
                start = time.monotonic()  # as if it had never been tried
            before = number
            if died and number > first:
                again = child.run(self._job(cell, number, number, 1e9), self._stop)
                before = number if again["found"] else first
            cell.findings += 1
            finding = Finding(cell.subject, cell.game, first=before, last=number, **found)
            if self.tally.add(finding):
                self.tell(self.story(finding))
        cell.spent += time.monotonic() - start - answer.get("warming", 0.0)

    def _job(self, cell: Cell, first: int, last: int, seconds: float) -> dict[str, Any]:
        names = {"subject": cell.subject, "game": cell.game, "seed": self.seed}
        return {**names, "first": first, "last": last, "seconds": seconds}

    def story(self, finding: Finding) -> str:
        """A finding in a few lines, the last of which repeats it."""
        return (
            f"FOUND {finding.subject}, {finding.game}: {finding.kind} {finding.message}\n"
            f"  at     {finding.where}\n"
            f"  mutant {finding.note}\n"
            f"  {finding.command(self.seed)}"
        )

    @property
    def untried(self) -> list[Cell]:
        """The cells of which not one mutant was tried."""
        return [cell for cell in self.cells if not cell.tried]

    def table(self) -> str:
        """What was tried, by subject and game."""
        lines = [_ROW.format("subject", "game", "mutants", "refused", "accepted", "found", "s")]
        total = Cell("all", "")
        for cell in self.cells:
            lines.append(_row(cell))
            for name in ("refused", "accepted", "findings", "spent"):
                setattr(total, name, getattr(total, name) + getattr(cell, name))
        return "\n".join([*lines, _row(total)])


def _row(cell: Cell) -> str:
    numbers = (cell.tried, cell.refused, cell.accepted, cell.findings, round(cell.spent))
    return _ROW.format(cell.subject, cell.game, *(f"{number:,}" for number in numbers))
