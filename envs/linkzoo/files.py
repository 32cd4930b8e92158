"""Files that are written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

PART = ".part"  # ends the name of a file that is being written


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file under another name, then renames it: readers see the old one or the new.

    OSError names the path; nothing is left of what couldn't be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
