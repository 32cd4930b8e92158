"""Files that are written whole or not at all."""

import os
from contextlib import suppress
from errno import EINVAL
from pathlib import Path

PART = ".part"  # ends the name of a file that is being written


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under another name, then renames it: readers see the old one or the new.

    What a link leads to is written, not the link. OSError names the path; nothing is left of what
    couldn't be written. What is there and no regular file, such as a device, is never replaced:
    that is an OSError, too.
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
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
