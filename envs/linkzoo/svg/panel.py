"""Panel elements shared by several games' drawings."""

from collections.abc import Iterable

from linkzoo.svg.elements import circle, group, rect, text
from linkzoo.svg.letters import fit

INK, GREY, LINE, PAGE, CARD = "#2b2a28", "#716b5c", "#ddd5c3", "#faf7f0", "#ffffff"
DARK = dict(
    zip(
        (INK, GREY, LINE, PAGE, CARD),
        "#f1ede4 #b9b2a3 #56524a #1d1c1a #2a2926".split(),
        strict=True,
    )
)
Part = tuple[str, float]  # markup from (0, 0) on, and its height
TALL = 360  # width of drawings for narrow screens: at 320 pixels, letters of 12.5 have 11


def heading(game: str, note: str, left: float, right: float) -> str:
    """Returns the game's name at the left, and a note on progress in grey at the right."""
    return text(game, left, 46, 27, font_weight="bold") + text(
        note, right, 46, 15, text_anchor="end", fill=GREY
    )


def banner(words: str, note: str, left: float, width: float, colour: str, *, over: bool) -> str:
    """Returns the turn in a banner, a note below and, at the end of a game, a star."""
    lines, size = fit(note, width - (60 if over else 28), 14, 12.5)
    return rect(left, 60, width, 54, 10, fill=colour) + group(
        text(words, left + 14, 84 if note else 93, 17, font_weight="bold"),
        *(text(line, left + 14, 104, size) for line in lines),
        text("★", left + width - 14, 98, 30, text_anchor="end") if over else "",
        fill=CARD,
    )


def moved(markup: str, x: float, y: float, scale: float = 1) -> str:
    """Returns markup moved by (x, y), and scaled."""
    scaled = f" scale({scale:g})" if scale != 1 else ""
    return group(markup, transform=f"translate({x:g} {y:g}){scaled}")


def stacked(parts: Iterable[Part], x: float, y: float) -> tuple[str, float]:
    """Returns parts below one another, the first one at (x, y), and where they end."""
    found = []
    for markup, height in parts:
        found.append(moved(markup, x, y))
        y += height
    return "".join(found), y


def seat_mark(seat: int, x: float, y: float, radius: float, colour: str) -> str:
    """Returns a seat's number in a disc around (x, y)."""
    place = x, y + 0.5 * radius, 1.4 * radius
    number = text(str(seat), *place, text_anchor="middle", font_weight="bold", fill=CARD)
    return circle(x, y, radius, fill=colour) + number
