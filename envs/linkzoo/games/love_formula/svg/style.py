"""Style of Love Formula: colours, and cards as strips.

Nothing depends on hue alone: each type of card has a mark, seats have their numbers.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import KINDS, PREPARATION, REACTION, Card
from linkzoo.svg import panel
from linkzoo.svg.elements import described, group, path, rect, text
from linkzoo.svg.letters import fit, width_of

WIDTH = 1200
HEIGHT = 900
MARGIN = 16
INK = "#33262b"
GREY = "#7d6a70"
LINE = "#e6d5d9"
PAGE = "#fbf3f3"
CARD = "#ffffff"
BACK = "#c9b1b8"  # hidden cards
SEATS = ("#2c5aa8", "#b2452c", "#2a7d4f", "#8a5a0f")

STRIP = 22  # height of a strip
PITCH = 25  # distance between the upper edges of strips
_SIZE = 12  # letter size in a strip
MIN_SIZE = 10
_BAND = 31  # width of the band with the mark
DISC = 0.7  # radius of the disc with the seat, by the smallest letter size
LEAST = 12.3  # smallest letter size on a page: the numbers in discs are 2 % smaller
_TEXT = 10.5  # letter size of a card's text
_LINE = 13  # line height of a card's text


class Look(NamedTuple):
    """Colours of a type of card, and the mark in its band."""

    face: str
    band: str
    mark: str


LOOKS = {
    "event": Look("#fff1d6", "#b9770e", "◆"),
    "location": Look("#e0f2e4", "#3a8457", "▲"),
    "item": Look("#ddeaf7", "#3d6fa8", "■"),
    "couple": Look("#fbdbe6", "#c93d72", "♥"),
    "obstacle": Look("#e3dfe3", "#4a434c", "✗"),
    "action": Look("#e9e0f6", "#7650b0", "★"),
    "reaction": Look("#fcdfd2", "#c2501f", "!"),
}

# A couple's box: background, rim and mark.
INCOMPLETE = ("#fdf0f4", LOOKS["couple"].band, LOOKS["couple"].mark)
COMPLETE = ("#fdeebb", "#c98a10", "★")

# Replacements for these colours in the dark; bands and marks keep theirs.
DARK = {
    LOOKS["event"].face: "#473613",
    LOOKS["location"].face: "#213d2a",
    LOOKS["item"].face: "#22364d",
    LOOKS["couple"].face: "#4d2636",
    LOOKS["obstacle"].face: "#3f3a42",
    LOOKS["action"].face: "#372c52",
    LOOKS["reaction"].face: "#4f2c20",
    INK: "#f4e9ec",
    GREY: "#c4b0b6",
    LINE: "#5a4a4f",
    PAGE: "#1f1a1b",
    CARD: "#2b2426",
    BACK: "#6d5a60",
    INCOMPLETE[0]: "#3a2630",
    COMPLETE[0]: "#4a3d16",
    SEATS[0]: "#8fb2f0",
    SEATS[1]: "#f09a84",
    SEATS[2]: "#7fd0a4",
    SEATS[3]: "#e0b25e",
}


def times(number: int) -> str:
    """Returns `×2` for two copies of a card, "" for one."""
    return f"×{number}" if number > 1 else ""


@lru_cache(2**14)  # a game's pictures repeat most of their cards
def strip(  # noqa: PLR0913  # plain values, which are the cache's key
    card: Card,
    x: float,
    y: float,
    width: float,
    note: str = "",
    *,
    by: int | None = None,
    cancelled: bool = False,
    least: float = MIN_SIZE,
    height: float = STRIP,
) -> str:
    """Returns a card as a strip: mark and priority, name, a note, and its owner's seat.

    Its title and description have the whole card.
    """
    left = x + _BAND + 5
    right = x + width - 5  # end of the note
    disc = DISC * least
    if by is not None:
        right -= 2 * disc + 3
    room = right - left
    if note:
        room -= width_of(note, _SIZE, True) + 5
    baseline = y + height / 2 + 4.5
    length, name = _line(card.name, left, baseline, room, least)
    marks = []
    if note:
        marks.append(text(note, right, baseline, _SIZE, text_anchor="end", font_weight="bold"))
    if by is not None:
        marks.append(seat_mark(by, x + width - disc - 4, y + height / 2, disc))
    if cancelled:
        marks.append(path("M", left, baseline - 5.5, "h", length, stroke=INK))
    return group(
        described(card.name, describe.face(card)),
        _ground(card, x, y, width, height),
        name,
        *marks,
        fill=INK,
        data_card=card.name,
    )


def chip(card: Card, x: float, y: float, width: float, height: float) -> str:
    """Returns a card without its name: mark and priority."""
    return group(
        described(card.name, describe.face(card)),
        _ground(card, x, y, width, height),
        fill=INK,
        data_card=card.name,
    )


def selectable(card: Card, markup: str) -> str:
    """Returns a card's markup as a part that can be selected."""
    return group(markup, data_part=f"CARD {card.name}")


@lru_cache(2**14)
def face(
    card: Card,
    width: float,
    note: str,
    *,
    by: int | None = None,
    named: bool = False,
    least: float = MIN_SIZE,
    kind: bool = False,
) -> panel.Part:
    """Returns a strip with the card's text below it, from (0, 0) on, and the height.

    A card without a text has its kind below it if wanted.
    """
    words = card.text
    if kind and not words:
        words = kind_of(card)
    lines: list[str] = []
    if words:
        lines, _ = fit(words, width - 12, _TEXT, _TEXT, 12)
    height = STRIP
    ground = ""
    if lines:
        height += _LINE * len(lines) + 6
        ground = rect(0, 0, width, height, 4, fill=CARD, stroke=look_of(card).band)
    markup = group(
        ground,
        strip(card, 0, 0, width, note, by=by, least=least),
        *(text(line, 7, STRIP + _LINE * n - 1, _TEXT) for n, line in enumerate(lines, 1)),
        fill=INK,
        data_part=f"CARD {card.name}" if named else None,
    )
    return markup, height


def look_of(card: Card) -> Look:
    """Returns the colours and the mark of a card."""
    if card.kind == PREPARATION:
        return LOOKS[card.subtype]
    return LOOKS[KINDS[card.kind]]


def _line(
    words: str, x: float, baseline: float, room: float, least: float, **look: str
) -> tuple[float, str]:
    """Returns text in a strip, at most `room` wide: its width and the markup."""
    lines, size = fit(words, room, max(_SIZE, least), least)
    fitted = " ".join(lines)
    return width_of(fitted, size), text(fitted, x, baseline, size, **look)


def _ground(card: Card, x: float, y: float, width: float, height: float) -> str:
    """Returns the background of a strip, with the mark and the priority in its band."""
    paint = look_of(card)
    words = paint.mark
    if card.kind != REACTION:
        words += f" {card.priority}"
    band: list[str | float] = ["M", x + _BAND, y, "h", 4 - _BAND, "a", 4, 4, 0, 0, 0, -4, 4]
    band += ["v", height - 8, "a", 4, 4, 0, 0, 0, 4, 4, "h", _BAND - 4, "z"]
    mark: dict[str, Any] = {"text_anchor": "middle", "font_weight": "bold", "fill": "#fff"}
    return (
        rect(x, y, width, height, 4, fill=paint.face, stroke=paint.band)
        + path(*band, fill=paint.band)
        + text(words, x + _BAND / 2, y + height / 2 + 4.5, _SIZE, **mark)
    )


def kind_of(card: Card) -> str:
    """Returns a card's kind in words, such as `Preparation, event`."""
    return ", ".join(filter(None, (KINDS[card.kind].capitalize(), card.subtype)))


def place(
    words: str,
    subtype: str,
    x: float,
    y: float,
    width: float,
    least: float = MIN_SIZE,
    height: float = STRIP,
) -> str:
    """Returns an empty place for a preparation, of the size of a strip."""
    paint = LOOKS[subtype]
    baseline = y + height / 2 + 4.5
    return group(
        rect(x, y, width, height, 4, fill="none", stroke=paint.band, stroke_dasharray="3 3"),
        text(paint.mark, x + _BAND / 2, baseline, _SIZE, text_anchor="middle", fill=paint.band),
        _line(words, x + _BAND + 5, baseline, width - _BAND - 10, least, fill=GREY)[1],
    )


def seat_mark(seat: int, x: float, y: float, radius: float) -> str:
    """Returns a seat's number in a disc of its colour around (x, y)."""
    return panel.seat_mark(seat, x, y, radius, SEATS[seat])
