"""Panel elements shared by several games' drawings."""

from linkzoo.svg.elements import Value, circle, group, rect, text


def heading(game: str, note: str, left: float, right: float, grey: str) -> str:
    """Returns the game's name at the left, and a note on progress in grey at the right."""
    return text(game, left, 46, 27, font_weight="bold") + text(
        note, right, 46, 15, text_anchor="end", fill=grey
    )


def banner(
    words: str, note: str, left: float, width: float, colour: str, *, over: bool, **star: Value
) -> str:
    """Returns the turn on a coloured banner, a note below and, at the end of a game, a star."""
    return rect(left, 60, width, 54, 10, fill=colour) + group(
        text(words, left + 16, 84 if note else 93, 17, font_weight="bold"),
        text(note, left + 16, 104, 14) if note else "",
        text("★", left + width - 14, 98, 30, text_anchor="end", **star) if over else "",
        fill="#fff",
    )


def seat_mark(seat: int, x: float, y: float, radius: float, colour: str) -> str:
    """Returns a seat's number in a disc around (x, y)."""
    place = x, y + 0.5 * radius, 1.4 * radius
    number = text(str(seat), *place, text_anchor="middle", font_weight="bold", fill="#fff")
    return circle(x, y, radius, fill=colour) + number
