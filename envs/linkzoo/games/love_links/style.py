"""The look of Love Links: its colours, and a link.

Nothing is told by its hue alone: metals differ in lightness, stones in form, and the marks of the
sides in form too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkzoo.svg.elements import circle, group, path, rect, text
from linkzoo.games.love_links.pieces import LINK_TEXTS, LINKS, STONES

WIDTH, HEIGHT, MARGIN = 1200, 720, 20
INK, GREY, LINE, PAGE, CARD = "#2b2a28", "#716b5c", "#ddd5c3", "#faf7f0", "#ffffff"
SIDES = ("#7240a8", "#0e7f7a", "#c2417c")


@dataclass(frozen=True)
class Paint:
    """The colours of a metal: a link's face and rim."""

    face: str
    rim: str


PAINTS = (Paint("#c98d5e", "#6f4220"), Paint("#d3d8de", "#697482"), Paint("#f5cb46", "#8f6a08"))
_STONES = ("", "#ffffff", "#d21f3c", "#12934b", "#2456c9")
_HOLE = "#3a352e"

# A link, in units of its own: its left edge is at 0, where the middle of the key's disc lies.
LINK_WIDTH, LINK_HEIGHT, KEY_RADIUS = 70, 36, 13
_MIDDLE = LINK_HEIGHT / 2


def link(number: int, x: float, y: float, scale: float, side: int | None = None) -> str:
    """A link of type `number` with its left edge at x and its upper edge at y.

    The key is the disc at the left, the lock the number beside the hole at the right, which takes
    the next link's disc. Below is the mark of the side that placed it.
    """
    kind = LINKS[number]
    paint = PAINTS[kind.metal]
    key, lock = LINK_TEXTS[number].split("-")
    return group(
        rect(0, 0, LINK_WIDTH, LINK_HEIGHT, 5, fill=paint.face, stroke=paint.rim, stroke_width=1.5),
        path("M", LINK_WIDTH, _MIDDLE - 15, "a", 15, 15, 0, 0, 0, 0, 30, "z", fill=_HOLE),
        circle(0, _MIDDLE, KEY_RADIUS, fill="#fffdf6", stroke=paint.rim, stroke_width=2),
        _word(key, 0),
        _word(lock, 43.5),
        stone(STONES[kind.stone], 24, _MIDDLE, 7.5),
        "" if side is None else mark(side, 24, LINK_HEIGHT + 1, 7),
        transform=f"translate({x:.2f} {y:.2f}) scale({scale:.4f})",
        data_link=LINK_TEXTS[number],
    )


def _word(words: str, x: float) -> str:
    return text(words, x, _MIDDLE + 5.8, 16, text_anchor="middle", font_weight="bold", fill=INK)


def stone(name: str, x: float, y: float, r: float) -> str:
    """A stone around (x, y): a diamond, a round ruby, a square emerald, a sapphire of six sides."""
    if not name:
        return ""
    colour = _STONES[STONES.index(name)]
    look: dict[str, Any] = {"fill": colour, "stroke": INK, "stroke_width": 1.2}
    forms: dict[str, Callable[[], str]] = {
        "diamond": lambda: path("M", x, y - r, "l", r, r, -r, r, -r, -r, "z", **look),
        "ruby": lambda: circle(x, y, 0.85 * r, **look),
        "emerald": lambda: rect(x - 0.8 * r, y - 0.8 * r, 1.6 * r, 1.6 * r, 1, **look),
        "sapphire": lambda: path(
            *("M", x - r, y, "l", 0.5 * r, -0.87 * r, r, 0, 0.5 * r, 0.87 * r),
            *(-0.5 * r, 0.87 * r, -r, 0, "z"),
            **look,
        ),
    }
    return forms[name]()


def mark(side: int, x: float, y: float, r: float) -> str:
    """The stone that a side puts on its links, around (x, y): a lozenge, a disc or a triangle."""
    look: dict[str, Any] = {"fill": SIDES[side], "stroke": "#fff", "stroke_width": 0.22 * r}
    if side == 0:
        return path("M", x, y - r, "l", 1.2 * r, r, -1.2 * r, r, -1.2 * r, -r, "z", **look)
    if side == 1:
        return circle(x, y, 0.9 * r, **look)
    return path("M", x, y - r, "l", 1.1 * r, 1.9 * r, -2.2 * r, 0, "z", **look)
