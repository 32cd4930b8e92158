"""Style of LINK-O: colours and tiles.

Nothing depends on hue alone: the four colours differ in lightness, and their letters appear in the
circles of the board and before the tiles in the hands.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from linkzoo.games.link_o.text import tile_parts
from linkzoo.svg import panel
from linkzoo.svg.elements import circle, group, path, rect, text

WIDTH = 1200
HEIGHT = 720
MARGIN = 20
BACK = "#b9ae98"  # hidden tiles
WHITE = "#fffffe"  # on tiles
BLACK = "#2b2a29"

# A tile in its own units, centred at (0, 0), with its ends at the left and at the right.
LENGTH = 60
BREADTH = 40
_PIP = 5  # radius
_PIPS = (  # per end: offsets of its pips from the middle of its half
    (),
    ((0, 0),),
    ((-7, -11.5), (7, 11.5)),
    ((-7, -11.5), (0, 0), (7, 11.5)),
    ((-7, -11.5), (7, -11.5), (-7, 11.5), (7, 11.5)),
)


class Paint(NamedTuple):
    """Colours of a circle: faces, rims and pips of its tiles, and its ring on the board."""

    face: str
    rim: str
    pip: str
    ring: str


_PAINTS = (
    Paint("#c8402f", "#7a1f14", WHITE, "#f3d3cc"),
    Paint("#244f9e", "#122c5e", WHITE, "#ccd7ec"),
    Paint("#2f9a72", "#14543c", WHITE, "#cde8dc"),
    Paint("#f6c834", "#8a6508", BLACK, "#fbeebf"),
)
# Replacements for these colours in the dark; tiles keep their faces and pips.
_RINGS = "#5b2f28 #2b3a5c #24493b #54481f".split()
_RIMS = "#e58a7c #8ea9e2 #6fcfa6 #e3bd4c".split()
DARK = panel.DARK | {paint.ring: dark for paint, dark in zip(_PAINTS, _RINGS, strict=True)}
DARK |= {paint.rim: dark for paint, dark in zip(_PAINTS, _RIMS, strict=True)}
_NAMES = ("red", "blue", "green", "yellow")
Paints = Mapping[str, Paint]


def paints(colours: Sequence[str]) -> Paints:
    """Returns the paints of a board's colours by name; unknown names get paints in order."""
    if set(colours) <= set(_NAMES):
        by_name = dict(zip(_NAMES, _PAINTS, strict=True))
        return {name: by_name[name] for name in _NAMES if name in colours}
    return dict(zip(colours, _PAINTS, strict=False))


def tile(
    words: str, paints: Paints, x: float, y: float, scale: float, angle: float = 0, value: str = ""
) -> str:
    """Returns the tile `red 1-3` around (x, y), turned clockwise by `angle` degrees.

    A LINK-O has a chain along it, with `value` in its ring.
    """
    colour, _ = tile_parts(words)
    turned = angle if value else 0.0  # only a value looks different after a turn
    return group(
        face(words, paints[colour], value, turned, max(21.5, 12.5 / scale)),
        transform=f"translate({x:.2f} {y:.2f}) rotate({angle:.2f}) scale({scale:.4f})",
        data_tile=words,
    )


@lru_cache(2**12)  # a game's pictures repeat most of their tiles
def face(words: str, look: Paint, value: str = "", angle: float = 0, size: float = 20) -> str:
    """Returns a tile around (0, 0) in its own units.

    Its value, of letter size `size`, is upright after a turn by `angle`.
    """
    _, ends = tile_parts(words)
    ground: dict[str, Any] = {"fill": look.face, "stroke": look.rim, "stroke_width": 2}
    marks = _pips(ends, look) if ends else _chain(look, value, angle, size)
    return group(rect(-LENGTH / 2, -BREADTH / 2, LENGTH, BREADTH, 7, **ground), marks)


def _pips(ends: list[int], look: Paint) -> str:
    """Returns the two halves and the line between them."""
    halves = [
        circle(side * 16.5 + dx, dy, _PIP, fill=look.pip)
        for side, end in zip((-1, 1), ends, strict=True)
        for dx, dy in _PIPS[end]
    ]
    line = path("M", 0, 1 - BREADTH / 2, "v", BREADTH - 2, stroke=look.rim, stroke_width=2)
    return line + "".join(halves)


def _chain(look: Paint, value: str, angle: float, size: float) -> str:
    """Returns a ring with a value, and half of the next ring at either end."""
    links = path(
        *("M", -LENGTH / 2, -10, "h", 5, "a", 10, 10, 0, 0, 1, 0, 20, "h", -5),
        *("M", LENGTH / 2, -10, "h", -5, "a", 10, 10, 0, 0, 0, 0, 20, "h", 5),
        fill="none",
        stroke=look.pip,
        stroke_width=4,
    )
    ring = circle(0, 0, max(14.5, 0.6 * size), fill=WHITE, stroke=BLACK, stroke_width=5)
    if not value:
        return links + ring
    bold: dict[str, Any] = {"text_anchor": "middle", "font_weight": "bold", "fill": BLACK}
    upright = f"rotate({-angle:.2f})"
    return links + ring + text(value, 0, 0.36 * size, size, **bold, transform=upright)
