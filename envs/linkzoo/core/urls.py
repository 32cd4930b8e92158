"""Copies of files and folders that a user names by a URL, such as `s3://bucket/file` (fsspec).

A file or folder is fetched once, when it is first needed. Workers use the copies of the user's
process: those on this machine find them by an environment variable, others get them as
`user_files` says.
"""

import atexit
import os
import re
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from linkzoo.core.installing import install_command
from linkzoo.core.user_files import URL_COPIES, local

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://(.+)")


def is_url(path: str | Path) -> bool:
    """Returns whether a text is a URL; a Path never is."""
    return isinstance(path, str) and _URL.fullmatch(path) is not None


def open_store(url: str) -> tuple[Any, str]:
    """Returns the file system of a URL (fsspec), and the path in it.

    Raises:
        ValueError: fsspec or the package for this kind of URL isn't installed, or the URL is wrong.
    """
    try:
        import fsspec  # the extra `storage`

        # Other machines write there too: listings from before would lack their files.
        files, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except (ValueError, ImportError) as error:
        raise ValueError(
            f"{url}: {error}: {install_command('storage')}, and s3fs or gcsfs"
        ) from error
    return files, root


def fetched(path: str | Path) -> str | Path:
    """Returns a path as it is, and for a URL the path of its copy, which is fetched if necessary.

    There is no copy if there is nothing at the URL.

    Raises:
        ValueError: As `open_store`.
        OSError: The store can't be reached.
    """
    if not is_url(path):
        return path
    copy = _copy(str(path))
    if not local(copy).exists():
        fetch(str(path), copy)
    return copy


def local_copy(path: str | Path) -> Path:
    """Returns the local path of a file or folder that a user named, or of its copy (`user_files`).

    Raises:
        ValueError: As `open_store`.
        OSError: The store can't be reached.
    """
    return local(fetched(path))


def fetch(url: str, target: Path) -> None:
    """Copies a file or folder; an unfinished copy has another name."""
    files, root = open_store(url)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    if files.isfile(root):
        target.parent.mkdir(parents=True, exist_ok=True)
        files.get_file(root, str(unfinished))
    else:
        names = files.find(root)
        for name in names:
            file = unfinished / Path(name).relative_to(root)
            file.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(name, str(file))
        if not names:
            return
    unfinished.rename(target)


def _copy(url: str) -> Path:
    """Returns where the copy of a URL is, or will be."""
    match = _URL.fullmatch(url)
    assert match is not None
    parts = [part for part in match[2].split("/") if part not in ("", ".", "..")]
    return Path(_copies(), match[1], *parts)


def _copies() -> str:
    """Returns the folder of copies; the first process makes it, and deletes it at its end."""
    if URL_COPIES not in os.environ:
        folder = mkdtemp(prefix="linkzoo-urls-")
        os.environ[URL_COPIES] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return os.environ[URL_COPIES]
