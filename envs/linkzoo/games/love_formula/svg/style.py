"""Style of Love Formula: colours, and cards as strips.

Nothing depends on hue alone: each type of card has a mark, seats have their numbers.
"""

from typing import Any, NamedTuple

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import KINDS, PREPARATION, REACTION, Card
from linkzoo.svg import panel
from linkzoo.svg.elements import described, group, path, rect, text
from linkzoo.svg.letters import fit, width_of

WIDTH, HEIGHT, MARGIN = 1200, 900, 16
INK, GREY, LINE, PAGE, CARD = "#33262b", "#7d6a70", "#e6d5d9", "#fbf3f3", "#ffffff"
BACK = "#c9b1b8"  # hidden cards
SEATS = ("#2c5aa8", "#b2452c", "#2a7d4f", "#8a5a0f")

STRIP, PITCH = 22, 25  # height of a strip, and distance between strips
_SIZE, _MIN_SIZE, _BAND, _DISC = 12, 10, 31, 7
_TEXT, _LINE = 10.5, 13  # letter size and line height of a card's text


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
_FACES = "#473613 #213d2a #22364d #4d2636 #3f3a42 #372c52 #4f2c20".split()
DARK = {look.face: dark for look, dark in zip(LOOKS.values(), _FACES, strict=True)}
_GROUND = (INK, GREY, LINE, PAGE, CARD, BACK, INCOMPLETE[0], COMPLETE[0])
_DARK = "#f4e9ec #c4b0b6 #5a4a4f #1f1a1b #2b2426 #6d5a60 #3a2630 #4a3d16".split()
DARK |= dict(zip(_GROUND, _DARK, strict=True))
DARK |= dict(zip(SEATS, "#8fb2f0 #f09a84 #7fd0a4 #e0b25e".split(), strict=True))


def strip(
    card: Card,
    x: float,
    y: float,
    width: float,
    note: str = "",
    *,
    by: int | None = None,
    cancelled: bool = False,
    named: bool = False,
) -> str:
    """Returns a card of height STRIP: mark and priority, name, a note, and its owner's seat.

    Its title and description say all that stands on it. It can be selected if `named`.
    """
    left, disc = x + _BAND + 5, x + width - _DISC - 4
    right = x + width - 5 - (0 if by is None else 2 * _DISC + 3)
    room = right - left - (width_of(note, _SIZE, True) + 5 if note else 0)
    length, drawn = _line(card.name, left, y, room)
    return group(
        described(card.name, describe.face(card)),
        _ground(card, x, y, width),
        drawn,
        text(note, right, y + 15.5, _SIZE, text_anchor="end", font_weight="bold") if note else "",
        "" if by is None else seat_mark(by, disc, y + STRIP / 2, _DISC),
        path("M", left, y + 10, "h", length, stroke=INK) if cancelled else "",
        fill=INK,
        data_card=card.name,
        data_part=f"CARD {card.name}" if named else None,
    )


def face(card: Card, width: float, note: str, *, named: bool) -> tuple[str, float]:
    """Returns a strip with the card's text below it, from (0, 0) on, and the height."""
    lines = fit(card.text, width - 12, _TEXT, _TEXT, 12)[0] if card.text else []
    height = STRIP + (_LINE * len(lines) + 6 if lines else 0)
    paint = _look(card)
    ground = rect(0, 0, width, height, 4, fill=CARD, stroke=paint.band) if lines else ""
    return group(
        ground,
        strip(card, 0, 0, width, note),
        *(text(line, 7, STRIP + _LINE * n - 1, _TEXT) for n, line in enumerate(lines, 1)),
        fill=INK,
        data_part=f"CARD {card.name}" if named else None,
    ), height


def _look(card: Card) -> Look:
    return LOOKS[card.subtype if card.kind == PREPARATION else KINDS[card.kind]]


def _line(words: str, x: float, y: float, room: float, **look: str) -> tuple[float, str]:
    """Returns text in a strip, at most `room` wide: its width and the markup."""
    lines, size = fit(words, room, _SIZE, _MIN_SIZE)
    drawn = " ".join(lines)
    return width_of(drawn, size), text(drawn, x, y + 15.5, size, **look)


def _ground(card: Card, x: float, y: float, width: float) -> str:
    paint = _look(card)
    sign = paint.mark if card.kind == REACTION else f"{paint.mark} {card.priority}"
    band: list[str | float] = ["M", x + _BAND, y, "h", 4 - _BAND, "a", 4, 4, 0, 0, 0, -4, 4]
    band += ["v", STRIP - 8, "a", 4, 4, 0, 0, 0, 4, 4, "h", _BAND - 4, "z"]
    mark: dict[str, Any] = {"text_anchor": "middle", "font_weight": "bold", "fill": "#fff"}
    return (
        rect(x, y, width, STRIP, 4, fill=paint.face, stroke=paint.band)
        + path(*band, fill=paint.band)
        + text(sign, x + _BAND / 2, y + 15.5, _SIZE, **mark)
    )


def place(words: str, subtype: str, x: float, y: float, width: float) -> str:
    """Returns an empty place for a preparation, of the size of a strip."""
    paint = LOOKS[subtype]
    return group(
        rect(x, y, width, STRIP, 4, fill="none", stroke=paint.band, stroke_dasharray="3 3"),
        text(paint.mark, x + _BAND / 2, y + 15.5, _SIZE, text_anchor="middle", fill=paint.band),
        _line(words, x + _BAND + 5, y, width - _BAND - 10, fill=GREY)[1],
    )


def seat_mark(seat: int, x: float, y: float, radius: float) -> str:
    """Returns a seat's number in a disc of its colour around (x, y)."""
    return panel.seat_mark(seat, x, y, radius, SEATS[seat])
