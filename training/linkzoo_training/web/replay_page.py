"""Exports recorded games as self-contained web pages."""

import gzip
import json
import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

from linkzoo import Agent, GameRecord
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.values import values_along
from linkzoo_training.web.pictures import Progress
from linkzoo_training.web.replays import Replay

MOST_BYTES = 1_000_000  # limit of a page
_STATIC = Path(__file__).with_name("static")
_MODULES = (
    "waiting api curve faces geometry marks selection shares walk board log score replayer".split()
)


def as_html(
    record: GameRecord, file: Path, agent: Agent | None = None, progress: Progress = lambda *_: None
) -> None:
    """Writes a self-contained page: the views of all seats, the moves, a policy's values.

    It includes the drawings for narrow screens if it stays within MOST_BYTES with them.

    Args:
        record: The game.
        file: The file.
        agent: The policy whose values are plotted; None for no plot.
        progress: Called as `progress("positions", done, total)`.

    Raises:
        ValueError: The page would exceed MOST_BYTES, or the agent has no values.
    """
    replay = Replay(record)
    values: dict[str, Any] | None = None
    if agent is not None:
        values = values_along(agent, record).to_dict()
    views = _drawn(replay, progress)
    for shapes in (2, 1):
        page = _page(replay, {**_packed(replay, views, shapes), "values": values})
        if len(page) <= MOST_BYTES:
            write_atomically(file, page)
            return
    raise ValueError(f"{file}: the page would be longer than {MOST_BYTES} bytes")


def _page(replay: Replay, data: dict[str, Any]) -> bytes:
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)
    parts = {
        "title": escape(replay.game.title),
        "style": _static("style.css") + _static("layout.css") + _static("board.css"),
        "modules": json.dumps({"imports": {name: _module(name) for name in _MODULES}}),
        "data": b64encode(packed).decode(),
    }
    page = _static("replay.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], page).encode()


def _module(name: str) -> str:
    """Returns a module as a data URL; it imports others by their names."""
    script = re.sub(r'from "\./(\w+)\.js"', r'from "\1"', _static(f"{name}.js"))
    return f"data:text/javascript;base64,{b64encode(script.encode()).decode()}"


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")


def _drawn(replay: Replay, progress: Progress) -> list[list[dict[str, Any]]]:
    """Returns the views by viewer and ply, each with a wide and a tall picture."""
    views: list[list[dict[str, Any]]] = []
    plies = len(replay.positions)
    for viewer in replay.viewers:
        views.append([])
        for ply in range(plies):
            svgs = [replay.picture(ply, viewer, tall=tall) for tall in (False, True)]
            views[-1].append({**replay.words(ply, viewer), "svgs": svgs})
            progress("positions", sum(map(len, views)), len(replay.viewers) * plies)
    return views


def _packed(replay: Replay, views: list[list[dict[str, Any]]], shapes: int) -> dict[str, Any]:
    """Returns heads and views by viewer; an SVG is a list of indices into `pieces`.

    A view keeps the first `shapes` of its pictures.
    """
    pieces: dict[str, int] = {}

    def pack(svg: str) -> list[int]:
        *ended, rest = svg.split(">")  # a regular expression takes four times as long
        tags = [f"{piece}>" for piece in ended]
        return [pieces.setdefault(piece, len(pieces)) for piece in (*tags, rest)]

    packed = [
        [{**view, "svgs": [pack(svg) for svg in view["svgs"][:shapes]]} for view in seen]
        for seen in views
    ]
    heads = [replay.head(viewer) for viewer in replay.viewers]
    return {"heads": heads, "views": packed, "pieces": list(pieces)}
