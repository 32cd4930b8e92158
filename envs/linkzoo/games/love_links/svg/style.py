"""Style of Love Links: colours and links.

Nothing depends on hue alone: metals differ in lightness, stones and side marks in shape.
"""

from typing import Any

from linkzoo.games.love_links.components import LINK_TEXTS, STONES
from linkzoo.games.love_links.tables import LINKS
from linkzoo.svg import panel
from linkzoo.svg.elements import circle, group, path, rect, text

WIDTH = 1200
HEIGHT = 640
TABLE = "#efe7d6"  # below the bracelets
LETTERS = "#2b2a29"  # on links
SIDES = ("#7240a8", "#0e7f7a", "#c2417c")
# Replacements in the dark; links keep their colours.
DARK = panel.DARK | {
    TABLE: "#353129",
    SIDES[0]: "#c3a0f0",
    SIDES[1]: "#57c4bd",
    SIDES[2]: "#f08fb9",
}

# Links, by metal.
FACES = ("#c98d5e", "#d3d8de", "#f5cb46")
RIMS = ("#6f4220", "#697482", "#8f6a08")
_STONES = dict(zip(STONES[1:], ("#fffffe", "#d21f3c", "#12934b", "#2456c9"), strict=True))
_HOLE = "#3a352e"

# A link in its own units: its left edge is at 0, the centre of the key's disc.
LINK_WIDTH = 72
LINK_HEIGHT = 36
KEY_RADIUS = 13
_MIDDLE = LINK_HEIGHT / 2


def link(number: int, x: float, y: float, scale: float, side: int | None = None) -> str:
    """Returns a link of type `number` with its left edge at x and its upper edge at y.

    The key is the disc at the left. The lock is the number beside the hole at the right, which
    takes the next link's disc. The mark below shows the side that placed the link.
    """
    metal = LINKS.metal[number]
    face = FACES[metal]
    rim = RIMS[metal]
    key, lock = LINK_TEXTS[number].split("-")
    owner = ""
    if side is not None:
        owner = mark(side, 24, LINK_HEIGHT + 1, 7)
    return group(
        rect(0, 0, LINK_WIDTH, LINK_HEIGHT, 5, fill=face, stroke=rim, stroke_width=1.5),
        path("M", LINK_WIDTH, _MIDDLE - 15, "a", 15, 15, 0, 0, 0, 0, 30, "z", fill=_HOLE),
        circle(0, _MIDDLE, KEY_RADIUS, fill="#fffdf6", stroke=rim, stroke_width=2),
        _word(key, 0),
        _word(lock, 44) if len(lock) == 1 else _word(lock, 42.5, letter_spacing=-1.5),
        stone(STONES[LINKS.stone[number]], 24, _MIDDLE, 7.5),
        owner,
        transform=f"translate({x:.2f} {y:.2f}) scale({scale:.4f})",
        data_link=LINK_TEXTS[number],
    )


def _word(words: str, x: float, letter_spacing: float | None = None) -> str:
    look: dict[str, Any] = {"text_anchor": "middle", "font_weight": "bold", "fill": LETTERS}
    return text(words, x, _MIDDLE + 6.3, 17.5, letter_spacing=letter_spacing, **look)


def stone(name: str, x: float, y: float, r: float) -> str:
    """Returns a stone around (x, y): diamond, round ruby, square emerald or hexagonal sapphire."""
    if not name:
        return ""
    look: dict[str, Any] = {"fill": _STONES[name], "stroke": LETTERS, "stroke_width": 1.2}
    if name == "diamond":
        return path("M", x, y - r, "l", r, r, -r, r, -r, -r, "z", **look)
    if name == "ruby":
        return circle(x, y, 0.85 * r, **look)
    if name == "emerald":
        return rect(x - 0.8 * r, y - 0.8 * r, 1.6 * r, 1.6 * r, 1, **look)
    upper = 0.5 * r, -0.87 * r, r, 0, 0.5 * r, 0.87 * r
    return path("M", x - r, y, "l", *upper, -0.5 * r, 0.87 * r, -r, 0, "z", **look)


def mark(side: int, x: float, y: float, r: float) -> str:
    """Returns a side's mark on its links, around (x, y): a lozenge, a disc or a triangle."""
    look: dict[str, Any] = {"fill": SIDES[side], "stroke": panel.CARD, "stroke_width": 0.22 * r}
    if side == 0:
        return path("M", x, y - r, "l", 1.2 * r, r, -1.2 * r, r, -1.2 * r, -r, "z", **look)
    if side == 1:
        return circle(x, y, 0.9 * r, **look)
    return path("M", x, y - r, "l", 1.1 * r, 1.9 * r, -2.2 * r, 0, "z", **look)
