"""A recorded game as a page of its own, as an animation, and as pictures: all of it is seen."""

import difflib
import io
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from linkzoo import Agent, GameRecord, get_game
from linkzoo.svg.raster import to_png
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.values import values_along

MOST_BYTES = 2_000_000  # of a page
_STATIC = Path(__file__).with_name("web") / "static"
_LINES = re.compile(r"(?<=>)")  # an SVG in pieces: what differs between plies is few of them


def frames(record: GameRecord) -> Iterator[tuple[str, str]]:
    """The referee's picture (SVG) of every position, and the move that led there."""
    game = get_game(record.game, record.options)
    move, actions = "the start", iter(record.actions)
    for state in record.replay():
        yield game.draw_svg(state), move
        action = next(actions, None)
        if action is not None:
            move = f"player {state.seat}: {game.action_to_text(state, action)}"


def as_html(record: GameRecord, file: Path, agent: Agent | None = None) -> None:
    """One page that needs nothing else, with the values that a policy gives the positions.

    ValueError if it would be larger than MOST_BYTES, and for an agent without a policy.
    """
    game = get_game(record.game, record.options)
    values = None if agent is None else values_along(agent, record).to_dict()
    curve = (_STATIC / "curve.js").read_text(encoding="utf-8")
    content = _filled(
        (_STATIC / "replay.html").read_text(encoding="utf-8"),
        title=escape(game.title),
        data=_embedded(_differences(frames(record))),
        values=_embedded(values),
        curve=curve.replace("export ", ""),
    ).encode()
    if len(content) > MOST_BYTES:
        raise ValueError(f"{file}: the page would have {len(content)} bytes, above {MOST_BYTES}")
    write_atomically(file, content)


def _filled(page: str, **parts: str) -> str:
    """A page with its `{{parts}}`."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def _embedded(data: object) -> str:
    """JSON that can stand in a page's script."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")


def _differences(pictures: Iterator[tuple[str, str]]) -> list[list[object]]:
    """Each move with what changes in the pieces of the picture before: [from, to, pieces]."""
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
    """An animation that is `width` pixels wide and shows every position for so long."""
    from PIL import Image

    pictures = [
        Image.open(io.BytesIO(to_png(svg, width))).convert("RGB").quantize(128)
        for svg, _ in frames(record)
    ]
    content = io.BytesIO()
    pictures[0].save(
        content,
        "GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=[milliseconds] * (len(pictures) - 1) + [4 * milliseconds],
        loop=0,
    )
    write_atomically(file, content.getvalue())


def as_pngs(record: GameRecord, folder: Path, *, width: int = 640) -> int:
    """A picture of every position: 0000.png, 0001.png, …; how many there are."""
    count = 0
    for count, (svg, _) in enumerate(frames(record), 1):
        write_atomically(folder / f"{count - 1:04}.png", to_png(svg, width))
    return count
