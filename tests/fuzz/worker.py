"""The child: tries one mutant after the other and keeps the runner informed until it dies.

`python -m tests.fuzz.worker FOLDER SECONDS GIB`: jobs come in as lines of JSON, and an answer goes
out for each. What has to survive a crash is on the board, a file in memory that both have mapped.
"""

import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.fuzz.dice import Dice, short

WARMING = -1  # the number on the board while a subject prepares
_HEAD = struct.Struct("qqqq")  # number, refused, accepted, length of the note
_NOTE = 1000  # bytes
_ROOT = Path(__file__).parents[2]
_PACKAGES = tuple(str(_ROOT / name) for name in ("envs", "training"))
_CHECKS = str(_ROOT / "envs" / "linkzoo" / "fields.py")  # whoever calls them says more


class Board:
    """What a worker does at this moment: the mutant's number, a note, counts of its job."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_HEAD.size + _NOTE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def write(self, number: int, refused: int, accepted: int) -> None:
        """Sets the number and the counts; the note is empty then."""
        _HEAD.pack_into(self._map, 0, number, refused, accepted, 0)

    def note(self, text: str) -> None:
        """Sets the note."""
        data = text.encode("utf-8", "backslashreplace")[:_NOTE]
        number, refused, accepted, _ = self.read_numbers()
        self._map[_HEAD.size : _HEAD.size + len(data)] = data
        _HEAD.pack_into(self._map, 0, number, refused, accepted, len(data))

    def read_numbers(self) -> tuple[int, int, int, int]:
        """Number, refused, accepted, length of the note."""
        number, refused, accepted, length = _HEAD.unpack_from(self._map)
        return number, refused, accepted, length

    def read_note(self) -> str:
        """The note."""
        length = self.read_numbers()[3]
        return self._map[_HEAD.size : _HEAD.size + length].decode("utf-8", "replace")


def _limit_cpu(seconds: float) -> None:
    """From now on: SIGXCPU after so many seconds of the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def where(error: BaseException) -> str:
    """The innermost line of the package in a traceback, or else the innermost line."""
    frames = traceback.extract_tb(error.__traceback__)[-100:]
    ours = [
        frame
        for frame in frames
        if frame.filename.startswith(_PACKAGES) and frame.filename != _CHECKS
    ]
    frame = (ours or frames)[-1]
    path = Path(frame.filename)
    name = str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else path.name
    return f"{name}:{frame.lineno} {frame.name}"


def _told(error: BaseException, note: str) -> dict[str, Any]:
    """A finding, from what a mutant raised."""
    kind = type(error).__name__
    lines = traceback.format_exception(error)
    return {
        "kind": kind,
        "where": where(error),
        "message": " ".join(short(str(error)).split()),
        "note": note,
        "trace": "".join(lines[:20] + lines[-40:] if len(lines) > 60 else lines)[-20_000:],
    }


class Worker:
    """Runs jobs: `subject`, `game`, `seed`, and the numbers `first`, `last` or some `seconds`."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self.board = Board(folder / "board")
        self._warm: set[tuple[str, str]] = set()
        self._desk = folder / "desk"  # the current folder, in which nobody leaves a file behind
        self._desk.mkdir(exist_ok=True)
        os.chdir(self._desk)

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job: what was found, how many were refused and accepted."""
        subject, game, seed = job["subject"], job["game"], job["seed"]
        module = import_module(f"tests.fuzz.subjects.{subject}")
        self.board.write(WARMING, 0, 0)
        start = time.monotonic()
        if (subject, game) not in self._warm:
            _limit_cpu(100 * self.seconds)
            module.warm(game, self.folder)
            self._warm.add((subject, game))
        counts, found, number = [0, 0], [], job["first"]
        begun = time.monotonic()
        end = begun + job["seconds"]
        while number <= job["last"] and time.monotonic() < end:
            self.board.write(number, *counts)
            _limit_cpu(self.seconds)
            dice = Dice(seed, subject, game, number, note=self.board.note)
            try:
                accepted = bool(module.attempt(dice, game, self.folder))
                self._check_desk()
                counts[accepted] += 1
            except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001  # what is looked for
                found.append({"number": number, **_told(error, self.board.read_note())})
                if isinstance(error, MemoryError):
                    end = 0.0  # the runner decides how it goes on
            number += 1
        return {
            "next": number,
            "refused": counts[0],
            "accepted": counts[1],
            "found": found,
            "warming": begun - start,
        }

    def _check_desk(self) -> None:
        left = os.listdir(self._desk)  # noqa: PTH208  # faster than Path.iterdir
        if left:
            for name in left:
                path = self._desk / name
                path.rename(self.folder / f"left-{time.monotonic_ns()}")
            raise AssertionError(f"files left behind: {left}")


def main() -> None:
    """Reads jobs until there are no more."""
    folder, seconds, gib = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    jobs, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30), resource.RLIM_INFINITY))
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)
    warnings.simplefilter("error")
    worker = Worker(folder, seconds)
    for line in jobs:
        answers.write(json.dumps(worker.run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
