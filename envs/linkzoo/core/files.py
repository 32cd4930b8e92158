"""Atomic file writes."""

import os
from contextlib import suppress
from errno import EINVAL
from pathlib import Path

PART = ".part"  # suffix of unfinished files


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under another name, then renames it: readers see the old or the new version.

    Follows links. OSError names the path; no partial file is left behind. Anything but a regular
    file, such as a device, is never replaced: that is an OSError too.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(EINVAL, "not a regular file", str(path))
    temporary = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _sync_folder(folder: Path) -> None:
    """Makes the names in a folder survive a loss of power, where the system can."""
    with suppress(OSError):  # some file systems refuse it
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
