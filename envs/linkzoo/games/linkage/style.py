"""The look of Linkage: its colours, and the things on the table.

The four piece colours differ in lightness and in the mark that they carry, so that nobody needs
the hue to tell them apart.
"""

from dataclasses import dataclass

from linkzoo.svg.elements import circle, element, group, path, rect

WIDTH, HEIGHT, MARGIN = 896, 592, 21
INK, GREY, LINE, PAGE = "#2b2a28", "#716b5c", "#ddd5c3", "#faf7f0"
FRAME, CELL = "#cbb994", "#e7dcc3"
GREEN, BLACK = "#12934b", "#1c1b1a"
ROLES = {"More": "#6a4a9c", "Fewer": "#2f6573"}
CLOSED = "url(#linkage-closed)"  # paint for cells that the counter closes


@dataclass(frozen=True)
class Paint:
    """A colour's name, and the colours of its pieces, their marks and the rim around a group."""

    name: str
    face: str
    mark: str
    rim: str


PAINTS = {
    "W": Paint("white", "#fcfbf7", "#b3ac9c", "#857e6e"),
    "B": Paint("blue", "#3b7cc9", "#a9cbf2", "#143a6b"),
    "R": Paint("red", "#d9523c", "#8c2314", "#6e1c10"),
    "Y": Paint("yellow", "#f8cb4c", "#b0801a", "#8a620c"),
}


def domino(letter: str, x: float, y: float, width: float, height: float) -> str:
    """A piece with its upper left corner at (x, y), a mark on either half."""
    half = max(width, height) / 4
    middle_x, middle_y = x + width / 2, y + height / 2
    across, down = (half, 0.0) if width > height else (0.0, half)
    unit, paint = min(width, height), PAINTS[letter]
    return group(
        rect(x, y, width, height, 0.2 * unit, fill=paint.face),
        _mark(letter, middle_x - across, middle_y - down, 0.19 * unit),
        _mark(letter, middle_x + across, middle_y + down, 0.19 * unit),
    )


def rimmed(letter: str, x: float, y: float) -> str:
    """A small piece of 36 x 19 with its rim."""
    return rect(x, y, 36, 19, 5, fill=PAINTS[letter].rim) + domino(letter, x + 2, y + 2, 32, 15)


def _mark(letter: str, x: float, y: float, r: float) -> str:
    """A colour's mark around (x, y): a ring, a diamond, a cross or a triangle."""
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
    """The black counter around (x, y)."""
    return group(
        circle(x, y, radius, fill=BLACK),
        circle(x, y, 0.68 * radius, fill="none", stroke="#55524d", stroke_width=0.09 * radius),
    )


def counter(x: float, y: float, radius: float) -> str:
    """The green counter around (x, y)."""
    return group(
        circle(x, y, radius, fill=GREEN, stroke="#fff", stroke_width=0.2 * radius),
        circle(x, y, 0.5 * radius, fill="none", stroke="#fff", stroke_width=0.14 * radius),
    )


def definitions() -> str:
    """What a document needs for `CLOSED`: green hatching."""
    stripes = rect(0, 0, 9, 9, fill="#d9dfbd") + rect(0, 0, 2.5, 9, fill="#7fb58b")
    return element(
        "defs",
        element(
            "pattern",
            stripes,
            id="linkage-closed",
            width=9,
            height=9,
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        ),
    )
