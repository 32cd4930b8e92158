"""Exports recorded games as web pages, animations and images, with the referee's view."""

import difflib
import io
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from linkzoo import Agent, GameRecord, get_game
from linkzoo.core.files import write_atomically
from linkzoo.svg.raster import to_png
from linkzoo_training.agents.values import values_along

MOST_BYTES = 2_000_000  # limit of a page
_STATIC = Path(__file__).with_name("static")
_LINES = re.compile(r"(?<=>)")  # splits an SVG into pieces, of which few differ between plies


def frames(record: GameRecord) -> Iterator[tuple[str, str]]:
    """Yields the referee's SVG of every position with the move that led to it."""
    game = get_game(record.game, record.options)
    move, actions = "the start", iter(record.actions)
    for state in record.replay():
        yield game.draw_svg(state), move
        action = next(actions, None)
        if action is not None:
            move = f"player {state.seat}: {game.notation.action_to_text(state, action)}"


def as_html(record: GameRecord, file: Path, agent: Agent | None = None) -> None:
    """Writes a self-contained page, with a policy's values of the positions.

    ValueError if it would exceed MOST_BYTES, and for an agent without a policy.
    """
    game = get_game(record.game, record.options)
    values = None if agent is None else values_along(agent, record).to_dict()
    curve = (_STATIC / "curve.js").read_text(encoding="utf-8")
    parts = {
        "title": escape(game.title),
        "data": _embedded(_differences(frames(record))),
        "values": _embedded(values),
        "curve": curve.replace("export ", ""),
    }
    page = (_STATIC / "replay.html").read_text(encoding="utf-8")
    content = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page).encode()
    if len(content) > MOST_BYTES:
        raise ValueError(f"{file}: the page would have {len(content)} bytes, above {MOST_BYTES}")
    write_atomically(file, content)


def _embedded(data: object) -> str:
    """Returns JSON that is safe inside a page's script."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")


def _differences(pictures: Iterator[tuple[str, str]]) -> list[list[object]]:
    """Encodes each move with its changes to the previous SVG's pieces: [from, to, pieces]."""
    before: list[str] = []
    found: list[list[object]] = []
    for svg, move in pictures:
        pieces = _LINES.split(svg)
        same = difflib.SequenceMatcher(None, before, pieces, autojunk=False)
        edits = [
            [start, end, pieces[first:last]]
            for kind, start, end, first, last in same.get_opcodes()
            if kind != "equal"
        ]
        found.append([move, edits])
        before = pieces
    return found


def as_gif(record: GameRecord, file: Path, *, width: int = 640, milliseconds: int = 900) -> None:
    """Writes an animation, `width` pixels wide, with one frame per position."""
    from PIL import Image

    images = (Image.open(io.BytesIO(to_png(svg, width))) for svg, _ in frames(record))
    first, *others = (image.convert("RGB").quantize(128) for image in images)
    content, times = io.BytesIO(), [milliseconds] * len(others) + [4 * milliseconds]
    first.save(content, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    write_atomically(file, content.getvalue())


def as_pngs(record: GameRecord, folder: Path, *, width: int = 640) -> int:
    """Writes an image of every position (0000.png, 0001.png, …); returns their number."""
    count = 0
    for count, (svg, _) in enumerate(frames(record), 1):
        write_atomically(folder / f"{count - 1:04}.png", to_png(svg, width))
    return count
