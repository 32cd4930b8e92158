"""Style of Linkage: colours, pieces and counters.

Nothing depends on hue alone: the piece colours differ in lightness and in their marks.
"""

from typing import Any, NamedTuple

from linkzoo.svg import panel
from linkzoo.svg.elements import circle, element, group, path, rect

WIDTH = 896
HEIGHT = 592
MARGIN = 21
# The board.
FRAME = "#cbb994"
CELL = "#e7dcc3"
COORDINATE = "#6b5b3a"
CLOSED_CELL = "#d9dfbd"
STRIPE = "#7fb58b"  # of closed cells
# The counters.
GREEN = "#12934b"
BLACK = "#1c1b1a"
WHITE = "#fffffe"
# The roles.
MORE = "#6a4a9c"
FEWER = "#2f6573"
# Replacements in the dark; pieces and counters keep their colours.
DARK = panel.DARK | {
    FRAME: "#4a4232",
    CELL: "#6b6048",
    COORDINATE: "#e0d2ae",
    MORE: "#c3a6ee",
    FEWER: "#7fc3d3",
    STRIPE: "#6fbf86",
    CLOSED_CELL: "#44573f",
}
ROLES = {"More": MORE, "Fewer": FEWER}
CLOSED = "url(#linkage-closed)"  # fill of cells closed by the counter (`definitions`)


class Paint(NamedTuple):
    """Style of a piece colour: pieces, marks and the rim around a group."""

    face: str
    mark: str
    rim: str


PAINTS = {
    "W": Paint("#fcfbf7", "#b3ac9c", "#857e6e"),
    "B": Paint("#3b7cc9", "#a9cbf2", "#143a6b"),
    "R": Paint("#d9523c", "#8c2314", "#6e1c10"),
    "Y": Paint("#f8cb4c", "#b0801a", "#8a620c"),
}


def domino(letter: str, x: float, y: float, width: float, height: float) -> str:
    """Returns a piece with its upper left corner at (x, y) and a mark on either half."""
    middle_x = x + width / 2
    middle_y = y + height / 2
    across = 0.0  # from the middle to that of a half
    down = 0.0
    if width > height:
        across = width / 4
    else:
        down = height / 4
    unit = min(width, height)
    return group(
        rect(x, y, width, height, 0.2 * unit, fill=PAINTS[letter].face),
        _mark(letter, middle_x - across, middle_y - down, 0.19 * unit),
        _mark(letter, middle_x + across, middle_y + down, 0.19 * unit),
    )


def rimmed(letter: str, x: float, y: float) -> str:
    """Returns a small piece of 36 x 19 with its rim."""
    return rect(x, y, 36, 19, 5, fill=PAINTS[letter].rim) + domino(letter, x + 2, y + 2, 32, 15)


def _mark(letter: str, x: float, y: float, r: float) -> str:
    """Returns a colour's mark around (x, y): a ring, a diamond, a cross or a triangle."""
    paint = PAINTS[letter].mark
    if letter == "W":
        return circle(x, y, 0.8 * r, fill="none", stroke=paint, stroke_width=0.45 * r)
    if letter == "B":
        return path("M", x, y - r, "l", r, r, -r, r, -r, -r, "z", fill=paint)
    if letter == "R":
        arms = ("M", x - r, y, "h", 2 * r, "M", x, y - r, "v", 2 * r)
        return path(*arms, stroke=paint, stroke_width=0.6 * r)
    return path("M", x, y - r, "l", r, 1.75 * r, -2 * r, 0, "z", fill=paint)


def hole(x: float, y: float, radius: float) -> str:
    """Returns the black counter around (x, y)."""
    return group(
        circle(x, y, radius, fill=BLACK),
        circle(x, y, 0.68 * radius, fill="none", stroke="#8a857c", stroke_width=0.09 * radius),
    )


def counter(x: float, y: float, radius: float) -> str:
    """Returns the green counter around (x, y)."""
    return group(
        circle(x, y, radius, fill=GREEN, stroke=WHITE, stroke_width=0.2 * radius),
        circle(x, y, 0.5 * radius, fill="none", stroke=WHITE, stroke_width=0.14 * radius),
    )


def definitions() -> str:
    """Returns the definition of `CLOSED`, green hatching, for a document."""
    stripes = rect(0, 0, 9, 9, fill=CLOSED_CELL) + rect(0, 0, 2.5, 9, fill=STRIPE)
    look: dict[str, Any] = {"id": "linkage-closed", "width": 9, "height": 9}
    look |= {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return element("defs", element("pattern", stripes, **look))
