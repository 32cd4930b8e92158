"""Imports of users' objects: `path/to/file.py:NAME` and `package.module:NAME`."""

import re
from importlib.util import find_spec
from typing import Any

from linkzoo.core import imports
from linkzoo.core.imports import import_hint, import_home
from linkzoo.core.user_files import local

_IMPORT_PATH = re.compile(r"(?:.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def is_import_path(text: str) -> bool:
    """Returns whether a text has the form of an import path, whether or not it exists."""
    return _IMPORT_PATH.fullmatch(text) is not None


def check_import_path(path: str, kind: str) -> None:
    """Checks that the file or package of an import path exists; runs none of its code.

    Args:
        path: The import path.
        kind: The kind of the object, such as "agent", for the message.

    Raises:
        ValueError: There is no such file or package.
    """
    home = path.rpartition(":")[0]
    if home.endswith(".py"):
        if not local(home).is_file():
            raise ValueError(f"{kind} {path!r}: there is no file {home}")
    elif find_spec(home.partition(".")[0]) is None:
        raise ValueError(f"{kind} {path!r}: there is no module {home}")


def import_object(path: str, kind: str) -> Any:
    """Imports the object of an import path.

    A file can import modules from its own folder, like a script.

    Args:
        path: The import path.
        kind: The kind of the object, such as "agent", for messages.

    Returns:
        The object.

    Raises:
        ValueError: The file, module or name doesn't exist or fails to import.
    """
    home, _, name = path.rpartition(":")
    try:
        value = getattr(import_home(home), name, None)
    except Exception as error:  # user code can raise anything
        reason = f"{type(error).__name__}: {error}{import_hint(home, error)}"
        raise ValueError(f"{kind} {path!r}: {reason}") from error
    if value is None:
        raise ValueError(f"{kind} {path!r}: {home} has no {name}, or it is None")
    return value


def source_digest(path: str, kind: str) -> str:
    """Returns the SHA-256 of the code of an import path: `linkzoo.core.imports.source_digest`.

    Args:
        path: The import path.
        kind: The kind of the object, such as "network", for the message.

    Raises:
        ValueError: There is no such file, or the module has none.
    """
    check_import_path(path, kind)
    digest = imports.source_digest(path.rpartition(":")[0])
    if digest is None:
        raise ValueError(f"{kind} {path!r}: its module has no file")
    return digest
