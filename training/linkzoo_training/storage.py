"""Copies of folders in object stores: `s3://`, `gs://` and whatever else fsspec knows.

A command works in a local folder. A thread sends the files that have changed, so the work doesn't
wait. `train --storage` keeps a copy of a run's folder; outputs that are named by a URL are written
to a temporary folder, and sent while the command runs and at its end.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from linkzoo.core.files import PART
from linkzoo.core.urls import open_store

_PRIVATE = ("run.lock", "run.pid", "log.txt")  # of the machine that trains
_SECONDS = 10  # between looks for changed outputs


class Storage:
    """The stored copy of a folder, as a context manager that sends the last files on exit.

    Args:
        url: The URL of the copy.
        folder: The local folder.

    Raises:
        ValueError: fsspec or the package for this kind of URL isn't installed, or the URL is wrong.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url.rstrip("/")
        self.folder = folder
        self._files: Any
        self._files, self._root = open_store(self.url)
        self._sent: dict[Path, tuple[int, int]] = {}  # size and time of change of files
        self._thread = ThreadPoolExecutor(1, "storage")
        self._running: Future[None] | None = None

    def __enter__(self) -> "Storage":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except OSError:
            if kind is None:
                raise

    def close(self) -> None:
        """Sends the last files; OSError if it fails."""
        self._thread.shutdown()
        try:
            self._send()
        except Exception as failure:
            raise OSError(
                f"{self.url} lacks the last files, which are in {self.folder}: {failure}"
            ) from failure

    def open_stored(self, name: str) -> Any:
        """Returns a stored file, open for reading; None if it isn't there."""
        path = f"{self._root}/{name}"
        if not self._files.exists(path):
            return None
        return self._files.open(path, "rb")

    def fetch(self, pattern: str = "*", *, replace: bool = True) -> None:
        """Copies the stored folder to the local one.

        Args:
            pattern: The names of the files and folders at its top.
            replace: Whether to replace local files.
        """
        for path in _in_order(map(Path, self._files.find(self._root))):
            relative = path.relative_to(self._root)
            target = self.folder / relative
            if not Path(relative.parts[0]).match(pattern) or (target.exists() and not replace):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f"{target.name}{PART}")
            self._files.get_file(str(path), str(unfinished))
            unfinished.replace(target)
            self._sent[target] = _state(target)

    def check_writable(self) -> None:
        """Raises OSError, or what the store raises, if files can't be sent."""
        if self._files.isfile(self._root):
            raise NotADirectoryError("it is a file")
        probe = f"{self._root}/probe{PART}"
        self._files.makedirs(self._root, exist_ok=True)
        self._files.pipe_file(probe, b"")
        self._files.rm_file(probe)

    def send(self) -> None:
        """Begins to send files that have changed; one that fails is sent again the next time."""
        self._begin(self._send)

    def exchange(self) -> None:
        """Begins to send files that have changed and to fetch new ones."""
        self._begin(self._exchange)

    def _begin(self, work: Callable[[], None]) -> None:
        if self._running is None or self._running.done():
            self._running = self._thread.submit(work)

    def _exchange(self) -> None:
        self._send()
        self.fetch(replace=False)

    def _send(self) -> None:
        for path in _in_order(self.folder.rglob("*")):
            if not path.is_file() or path.name in _PRIVATE or path.suffix == PART:
                continue
            state = _state(path)
            if self._sent.get(path) == state:
                continue
            target = f"{self._root}/{path.relative_to(self.folder).as_posix()}"
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(target, path.read_bytes())
            self._sent[path] = state


def _in_order(paths: Iterable[Path]) -> list[Path]:
    """Sorts paths, cards of checkpoints last: a checkpoint is there when its card is."""
    return sorted(paths, key=lambda path: (path.name == "card.json", path))


def _state(path: Path) -> tuple[int, int]:
    """Returns the size and the time of the last change of a file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


_outputs: dict[Storage, str] = {}  # of the command that runs, with the URLs that name them


def output_folder(url: str) -> Path:
    """Returns the local folder of an output that a command names by a URL, with its stored files.

    Raises:
        ValueError: As `Storage`.
        OSError: The store can't be reached, or written to.
    """
    storage = _output(url, url)
    storage.fetch()
    return storage.folder


def output_file(url: str) -> Path:
    """Returns the local file of an output; stored files that share its stem are beside it."""
    folder, _, name = url.rpartition("/")
    storage = _output(folder, url)
    storage.fetch(f"{Path(name).stem}.*")
    return storage.folder / name


def _output(url: str, named: str) -> Storage:
    storage = Storage(url, Path(tempfile.gettempdir(), f"linkzoo-output-{uuid4().hex[:12]}"))
    storage.check_writable()
    storage.folder.mkdir()
    _outputs[storage] = named
    return storage


def stored_name(path: Path) -> str:
    """Returns the URL of a path in the local folder of an output, else the path as a text."""
    for storage in _outputs:
        if path.is_relative_to(storage.folder):
            return f"{storage.url}/{path.relative_to(storage.folder).as_posix()}".removesuffix("/.")
    return str(path)


@contextmanager
def outputs_sent() -> Iterator[None]:
    """Sends the outputs of a command to their URLs, while the block runs and at its end.

    It prints the URLs and deletes the local folders then. A folder that can't be sent stays.

    Raises:
        OSError: Outputs couldn't be sent; the message names their folder.
    """
    ended = threading.Event()

    def send_often() -> None:
        while not ended.wait(_SECONDS):
            for storage in _outputs:
                storage.send()

    thread = threading.Thread(target=send_often, name="outputs", daemon=True)
    if _outputs:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        while _outputs:
            storage, url = _outputs.popitem()
            storage.close()
            shutil.rmtree(storage.folder)
            print(url)
