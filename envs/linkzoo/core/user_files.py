"""Files and folders that a user names, and their copies in workers on other machines.

Whatever opens such a path asks `local` first. In the user's own process it returns the path, and
notes it: `named_files` lists the files that workers need. In a worker that has received copies of
them (`receive`), the same path leads to its copy.
"""

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import invalidate_caches
from pathlib import Path, PurePath
from tempfile import gettempdir
from uuid import uuid4

from linkzoo.core.files import write_atomically

URL_COPIES = "LINKZOO_URL_COPIES"  # environment variable: the folder of `urls.py`
_named: dict[str, None] = {}  # whole paths, in the order in which they were asked for


@dataclass(frozen=True)
class Sender:
    """A process of a user on another machine.

    Attributes:
        key: A name of its own.
        working_folder: Its working folder.
        search_path: Its search path for modules.
        url_copies: The folder with its copies of URLs (`urls.py`); None if it has none so far.
    """

    key: str
    working_folder: str
    search_path: tuple[str, ...]
    url_copies: str | None

    def copy(self, path: str | Path) -> Path:
        """Returns where the copy of a file or folder is, or would be."""
        whole = Path(_whole(path, self.working_folder))
        return Path(below(Path(gettempdir(), f"linkzoo-{self.key}"), whole))


_sender: Sender | None = None  # whose files these are, in a worker


def below(folder: PurePath, whole: PurePath) -> PurePath:
    """Returns a whole path laid below a folder; a drive of Windows becomes a folder there."""
    drive = re.sub(r"[\\/:]", "", whole.drive)  # C: or \\server\share
    return folder.joinpath(drive, *whole.parts[1:])


def _whole(path: str | Path, folder: str | Path) -> str:
    """Returns the whole path of a path in a folder; follows no links."""
    return os.path.normpath(Path(folder, path))


def local(path: str | Path) -> Path:
    """Returns a path that a user named, or that of its copy in a worker elsewhere."""
    if _sender is None:
        if os.path.exists(path):  # noqa: PTH110 - takes any text, also one that is no path
            _named[_whole(path, Path.cwd())] = None
        return Path(path)
    copy = _sender.copy(path)
    if copy.exists():
        return copy
    return Path(_sender.working_folder, path)


def named_files() -> list[str]:
    """Returns the whole paths of the files that `local` was asked for, and of those in folders."""
    files: dict[str, None] = {}
    for name in list(_named):
        path = Path(name)
        if path.is_dir():
            files |= dict.fromkeys(str(file) for file in sorted(path.iterdir()) if file.is_file())
        elif path.is_file():
            files[name] = None
    return list(files)


def this_process() -> Sender:
    """Returns this process as a sender of files."""
    folder = Path.cwd()
    search_path = tuple(_whole(place, folder) for place in sys.path)
    return Sender(uuid4().hex[:12], str(folder), search_path, os.environ.get(URL_COPIES))


def receive(sender: Sender, contents: Mapping[str, bytes]) -> None:
    """Writes copies of files, which `local` and imports find from then on.

    The working folder becomes that of the sender, if there is one here.

    Args:
        sender: Where the files are from, always the same in a process.
        contents: The contents of files by their whole paths there.
    """
    global _sender  # noqa: PLW0603 - of the whole process, like its working folder
    _sender = sender
    for name, data in contents.items():
        write_atomically(sender.copy(name), data)
    if sender.url_copies is not None:
        os.environ[URL_COPIES] = sender.url_copies
    with suppress(OSError):
        os.chdir(sender.working_folder)
    theirs = [str(sender.copy(folder)) for folder in sender.search_path]
    theirs = [place for pair in zip(theirs, sender.search_path, strict=True) for place in pair]
    ours = [place for place in sys.path if place not in theirs]
    sys.path[:] = [*ours, *filter(os.path.isdir, theirs)]
    invalidate_caches()
