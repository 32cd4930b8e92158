"""A journal of a model's answers: a match that stopped resumes without asking twice."""

import hashlib
import json
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from linkzoo.core.arguments import parse_json
from linkzoo_training.llm.reply import Reply


class Journal:
    """Answers by the requests that they belong to, in a file with a line for each.

    A request of the same content in another decision has another key.

    Args:
        path: The file; an existing one is continued.

    Raises:
        ValueError: The file is no journal. A last line that was cut off is left out.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._replies: dict[str, Reply] = {}
        lines: list[bytes] = []
        if path.exists():
            lines = path.read_bytes().split(b"\n")
            lines.pop()  # empty, or cut off
        for number, line in enumerate(lines, 1):
            try:
                data = parse_json(line)
                key = data.pop("key")
                self._replies[key] = Reply(**data)
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                raise ValueError(f"{path}: line {number}: no answer of a journal") from error
        whole = b"".join(line + b"\n" for line in lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.stat().st_size != len(whole):
            path.write_bytes(whole)

    def find(self, key: str) -> Reply | None:
        """Returns the answer to a request; None if it wasn't asked before."""
        return self._replies.get(key)

    def add(self, key: str, reply: Reply) -> None:
        """Writes an answer."""
        line = json.dumps({"key": key, **reply._asdict()}) + "\n"
        with self._lock:
            self._replies[key] = reply
            with self._path.open("ab") as file:
                file.write(line.encode())


@cache
def open_journal(path: str) -> Journal:
    """Returns the journal of a file; all agents of this process share it."""
    return Journal(Path(path))


def request_key(request: Any, seed: int) -> str:
    """Returns the key of a request.

    Args:
        request: The request as JSON data.
        seed: The seed of the decision.
    """
    text = json.dumps([request, seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
