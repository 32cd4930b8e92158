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
_ALONE = 550_000  # longer pages have no room for drawings for narrow screens, which are longer
_STATIC = Path(__file__).with_name("static")
_MODULES = (
    "waiting api curve faces geometry marks selection shares walk board log score replayer".split()
)

Views = list[list[dict[str, Any]]]  # by viewer and ply, each with its pictures


def as_html(
    record: GameRecord, file: Path, agent: Agent | None = None, progress: Progress = lambda *_: None
) -> None:
    """Writes a self-contained page: the views of all seats, the moves, a policy's values.

    It includes the drawings for narrow screens if it stays within MOST_BYTES with them.

    Args:
        record: The game.
        file: The file.
        agent: The policy whose values are plotted; None for no plot.
        progress: Called as `progress(label, done, total)`.

    Raises:
        ValueError: The page would exceed MOST_BYTES, or the agent has no values.
    """
    replay = Replay(record)
    values: dict[str, Any] | None = None
    if agent is not None:
        values = values_along(agent, record).to_dict()
    views = _described(replay)
    _draw(replay, views, progress)
    page = _page(replay, views, values)
    if len(page) <= _ALONE:
        _draw(replay, views, progress, tall=True)
        with_tall = _page(replay, views, values)
        if len(with_tall) <= MOST_BYTES:
            page = with_tall
    if len(page) > MOST_BYTES:
        raise ValueError(f"{file}: the page would be longer than {MOST_BYTES} bytes")
    write_atomically(file, page)


def _page(replay: Replay, views: Views, values: dict[str, Any] | None) -> bytes:
    data = {**_packed(replay, views), "values": values}
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


def _described(replay: Replay) -> Views:
    """Returns the views without pictures."""
    plies = range(len(replay.positions))
    return [
        [{**replay.words(ply, viewer), "svgs": []} for ply in plies] for viewer in replay.viewers
    ]


def _draw(replay: Replay, views: Views, progress: Progress, *, tall: bool = False) -> None:
    """Adds a picture to each view, `tall` for narrow screens."""
    label = "positions"
    if tall:
        label = "positions on narrow screens"
    done = 0
    for viewer, seen in zip(replay.viewers, views, strict=True):
        for ply, view in enumerate(seen):
            view["svgs"].append(replay.picture(ply, viewer, tall=tall))
            done += 1
            progress(label, done, len(views) * len(seen))


def _packed(replay: Replay, views: Views) -> dict[str, Any]:
    """Returns heads and views by viewer; an SVG is a list of indices into `pieces`."""
    pieces: dict[str, int] = {}

    def pack(svg: str) -> list[int]:
        *ended, rest = svg.split(">")  # a regular expression takes four times as long
        tags = [f"{piece}>" for piece in ended]
        return [pieces.setdefault(piece, len(pieces)) for piece in (*tags, rest)]

    packed = [[{**view, "svgs": list(map(pack, view["svgs"]))} for view in seen] for seen in views]
    heads = [replay.head(viewer) for viewer in replay.viewers]
    return {"heads": heads, "views": packed, "pieces": list(pieces)}
