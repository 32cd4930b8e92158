"""Panel elements shared by several games' drawings."""

from collections.abc import Iterable

from linkzoo.svg.elements import circle, group, rect, text
from linkzoo.svg.letters import fit

INK = "#2b2a28"
GREY = "#716b5c"
LINE = "#ddd5c3"
PAGE = "#faf7f0"
CARD = "#ffffff"
DARK = {INK: "#f1ede4", GREY: "#b9b2a3", LINE: "#56524a", PAGE: "#1d1c1a", CARD: "#2a2926"}
Part = tuple[str, float]  # markup from (0, 0) on, and its height
TALL = 360  # width of drawings for narrow screens: at 320 pixels, letters of 12.5 have 11


def heading(game: str, note: str, left: float, right: float) -> str:
    """Returns the game's name at the left, and a note on progress in grey at the right."""
    return text(game, left, 46, 27, font_weight="bold") + text(
        note, right, 46, 15, text_anchor="end", fill=GREY
    )


def banner(words: str, note: str, left: float, width: float, colour: str, *, over: bool) -> str:
    """Returns the turn in a banner, a note below and, at the end of a game, a star."""
    margin = 28
    star = ""
    if over:
        margin = 60
        star = text("★", left + width - 14, 98, 30, text_anchor="end")
    baseline = 93
    if note:
        baseline = 84
    lines, size = fit(note, width - margin, 14, 12.5)
    return rect(left, 60, width, 54, 10, fill=colour) + group(
        text(words, left + 14, baseline, 17, font_weight="bold"),
        *(text(line, left + 14, 104, size) for line in lines),
        star,
        fill=CARD,
    )


def moved(markup: str, x: float, y: float, scale: float = 1) -> str:
    """Returns markup moved by (x, y), and scaled."""
    transform = f"translate({x:g} {y:g})"
    if scale != 1:
        transform += f" scale({scale:g})"
    return group(markup, transform=transform)


def stacked(parts: Iterable[Part], x: float, y: float) -> tuple[str, float]:
    """Returns parts below one another, the first one at (x, y), and where they end."""
    stack = []
    for markup, height in parts:
        stack.append(moved(markup, x, y))
        y += height
    return "".join(stack), y


def seat_mark(seat: int, x: float, y: float, radius: float, colour: str) -> str:
    """Returns a seat's number in a disc around (x, y)."""
    number = text(
        str(seat),
        x,
        y + 0.5 * radius,
        1.4 * radius,
        text_anchor="middle",
        font_weight="bold",
        fill=CARD,
    )
    return circle(x, y, radius, fill=colour) + number
