"""Copies of runs' folders in object stores: `s3://`, `gs://` and whatever else fsspec knows.

A run works in its local folder. After each save a thread sends the files that have changed, so
learning doesn't wait. On another machine, `--resume` begins with what is stored.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from linkzoo.core.files import PART
from linkzoo_training.resources import check_installed

_PRIVATE = ("run.lock", "run.pid", "log.txt")  # of the machine that trains


class Storage:
    """The stored copy of a folder, as a context manager that sends the last files on exit.

    Args:
        url: Where the copies of runs are.
        folder: The local folder; its name is that of the copy.

    Raises:
        ValueError: fsspec or the package for this kind of URL isn't installed, or the URL is wrong.
    """

    def __init__(self, url: str, folder: Path) -> None:
        check_installed("storage", "fsspec")
        import fsspec  # the extra `storage`

        self.url = f"{url.rstrip('/')}/{folder.resolve().name}"
        self.folder = folder
        try:
            files, self._root = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise ValueError(f"storage: {url}: {error}") from error
        self._files: Any = files
        self._sent: dict[Path, tuple[int, int]] = {}  # size and time of change of files
        self._thread = ThreadPoolExecutor(1, "storage")
        self._sending: Future[None] | None = None

    def __enter__(self) -> "Storage":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._thread.shutdown()
        try:
            self._send()
        except Exception as failure:
            if kind is None:
                raise OSError(f"storage: {self.url} lacks the last files: {failure}") from failure

    def open_stored(self, name: str) -> Any:
        """Returns a stored file, open for reading; None if it isn't there."""
        path = f"{self._root}/{name}"
        if not self._files.exists(path):
            return None
        return self._files.open(path, "rb")

    def fetch(self) -> None:
        """Copies the stored folder to the local one."""
        for path in self._files.find(self._root):
            target = self.folder / Path(path).relative_to(self._root)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._files.get_file(path, str(target))

    def send(self) -> None:
        """Begins to send files that have changed; one that fails is sent again the next time."""
        if self._sending is None or self._sending.done():
            self._sending = self._thread.submit(self._send)

    def _send(self) -> None:
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or path.name in _PRIVATE or path.suffix == PART:
                continue
            status = path.stat()
            state = (status.st_size, status.st_mtime_ns)
            if self._sent.get(path) == state:
                continue
            target = f"{self._root}/{path.relative_to(self.folder).as_posix()}"
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(target, path.read_bytes())
            self._sent[path] = state
