"""The panel beside the board: the turn, scores and hands, the bag and a key."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from linkzoo.games.link_o import text as words
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.text import Json
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit
from linkzoo.svg.panel import (
    CARD,
    GREY,
    INK,
    LINE,
    TALL,
    Part,
    banner,
    heading,
    moved,
    seat_mark,
)

_INSET = 14  # from a card's edge to its content
_BOTTOM, _KEY = 636, 644  # lower edge of the cards and the bag; upper edge of the key
_HEAD, _BACKS, _GAP = 32, 18, 6  # heights: a card's first line, a row of backs; gap between cards
_NOTES = 20  # height of a line for notes, where the first one has no room for them
_LETTER = 15  # width of a colour's letter before its tiles
_SCALES = (1.2, 1, 0.9, 0.8, 0.7, 0.64, 0.58, 0.52, 0.46, 0.4, 0.34, 0.3)  # for tiles in hands
_TALL = 0.85
_SMALL = 13.5  # of the smallest letters, where there is room


class Column(NamedTuple):
    """Where the panel is, and the scale of the tiles in it."""

    left: float
    right: float
    scale: float

    @property
    def room(self) -> float:
        """The width for tiles."""
        return self.right - self.left - 2 * _INSET

    @property
    def narrow(self) -> bool:
        """Whether notes have a line of their own."""
        return self.room < 400


def draw_panel(view: Json, seat: int | None, paints: style.Paints) -> str:
    """Returns the panel's markup, at the right of a picture of 1200 x 720 pixels."""
    top: float = 148 if view["last_round"] else 126  # first card
    for scale in _SCALES:
        column = Column(732, style.WIDTH - style.MARGIN, scale)
        cards, end = _cards(view, range(view["num_players"]), seat, column, top, paints)
        if end <= _BOTTOM:
            break
    turn, _ = _turn(view, column, 0)
    return group(turn, cards, _key(paints, column, _KEY), fill=INK)


def draw_below(view: Json, seat: int | None, paints: style.Paints, top: float) -> tuple[str, float]:
    """Returns the panel below the board, and where it ends; the hand that plays comes first."""
    column = Column(4, TALL - 4, _TALL)
    first = next((each for each in (seat, view["seat"]) if each is not None), 0)
    order = [(first + step) % view["num_players"] for step in range(view["num_players"])]
    cards, end = _cards(view, order, seat, column, top, paints)
    turn, end = _turn(view, column, end - 12)
    return group(cards, turn, _key(paints, column, end), fill=INK), end + 96


def _turn(view: Json, column: Column, top: float) -> tuple[str, float]:
    """Returns the game's name, the round, the turn and how the last round ended; its lower edge."""
    width, said = column.right - column.left, (words.turn(view), words.remark(view))
    last, size = fit(words.last_round(view), width - 32, _SMALL, 12.5, 2)
    down = 24 if column.narrow else 0  # for the round
    parts = (
        heading("LINK-O", "" if down else words.stage(view), 0, width),
        text(words.stage(view), 0, 70, _SMALL, fill=GREY) if down else "",
        moved(banner(*said, 0, width, INK, over=view["seat"] is None), 0, down),
        *(text(line, 16, 136 + 16 * row + down, size, fill=GREY) for row, line in enumerate(last)),
    )
    return moved("".join(parts), column.left, top), top + 132 + down + 16 * len(last)


def _cards(
    view: Json,
    order: Iterable[int],
    seat: int | None,
    column: Column,
    top: float,
    paints: style.Paints,
) -> tuple[str, float]:
    """Returns the players' cards and the bag, from `top` on, and where they end."""
    cards = []
    for player in order:
        card, height = _card(view, player, seat, column, top, paints)
        cards.append(card)
        top += height + _GAP
    cards.append(_bag(view, column, top, paints))
    return "".join(cards), top + _HEAD + _height(view["bag"], column)


def _height(tiles: list[str] | int, column: Column) -> float:
    """Returns the height of the tiles of a hand or of the bag."""
    if isinstance(tiles, int) or not tiles:
        return _BACKS if tiles else 0
    last_row, _, _ = _places(tiles, column)[-1]
    return (1 + last_row) * _pitch(style.BREADTH, column.scale) + 4


def _places(tiles: list[str], column: Column) -> list[tuple[int, float, str]]:
    """Returns the tiles' places: row, left edge, and a letter before the first one of a colour."""
    places, row, left, scale = [], 0, 0.0, column.scale
    for before, tile in pairwise(["", *tiles]):
        letter = "" if before[:1] == tile[0] else tile[0].upper()
        indent = _LETTER if letter else 0
        if left + indent + style.LENGTH * scale > column.room:
            row, left = row + 1, 0.0
        places.append((row, left + indent, letter))
        left += indent + _pitch(style.LENGTH, scale)
    return places


def _pitch(length: float, scale: float) -> float:
    """Returns the distance between adjacent tiles."""
    return length * scale + 4


def _card(
    view: Json, player: int, seat: int | None, column: Column, top: float, paints: style.Paints
) -> Part:
    """Returns a player's card: score, events of the latest turn, and hand; and its height."""
    left, right = column.left, column.right
    hand, who = view["hands"][player], "You" if player == seat else f"Player {player}"
    chosen = player == view["seat"] or player in view["winners"]
    border, colour = (3, INK) if chosen else (1, LINE)
    said = " · ".join(words.notes(view, player))
    below = column.narrow and said
    head = _HEAD + _NOTES if below else _HEAD
    height, score = head + _height(hand, column), str(view["scores"][player])
    notes = (left + _INSET, top + 44) if below else (left + 126, top + 22)
    lines, size = fit(said, right - notes[0] - (_INSET if below else 125), _SMALL, 12.5)
    card = group(
        rect(left, top, right - left, height, 10, fill=CARD, stroke=colour, stroke_width=border),
        seat_mark(player, left + 24, top + 17, 10, INK),
        text(who, left + 42, top + 23, 16, font_weight="bold"),
        *(text(line, *notes, size, fill=GREY) for line in lines),
        text(words.tally(hand), right - 68, top + 22, _SMALL, text_anchor="end"),
        text(score, right - _INSET, top + 25, 21, text_anchor="end", font_weight="bold"),
        _tiles(hand, column, top + head, paints, named=player == view["seat"]),
        data_item=f"seat {player}",
    )
    return card, height


def _bag(view: Json, column: Column, top: float, paints: style.Paints) -> str:
    left, right = column.left, column.right
    bag = view["bag"]
    return group(
        text("Bag", left + _INSET, top + 22, 16, font_weight="bold"),
        text(words.bag_order(view), left + 56, top + 22, _SMALL, fill=GREY),
        text(words.tally(bag), right - _INSET, top + 22, _SMALL, text_anchor="end"),
        _tiles(bag, column, top + _HEAD, paints),
    )


def _tiles(
    tiles: list[str] | int, column: Column, top: float, paints: style.Paints, *, named: bool = False
) -> str:
    """Returns tiles in rows below `top`, or backs in one row; playable tiles are `named`."""
    left, scale = column.left + _INSET, column.scale
    if isinstance(tiles, int):
        step = min(11, column.room / max(tiles, 1))
        backs = [rect(left + step * i, top - 1, 0.8 * step, 11, 2) for i in range(tiles)]
        return group(*backs, fill=style.BACK)
    markup = []
    for tile, (row, indent, letter) in zip(tiles, _places(tiles, column), strict=True):
        x, y = left + indent, top + style.BREADTH * scale / 2 + row * _pitch(style.BREADTH, scale)
        if letter:
            markup.append(text(letter, x - _LETTER, y + 5, 14, font_weight="bold"))
        picture = style.tile(tile, paints, x + style.LENGTH * scale / 2, y, scale)
        markup.append(group(picture, data_part=tile) if named else picture)
    return "".join(markup)


def _key(paints: style.Paints, column: Column, top: float) -> str:
    width = column.right - column.left
    wild = style.face(f"{list(paints)[2]} LINK-O", paints, "3", size=23)
    wildness = "a LINK-O is wild; on a connector it has a value (? none yet)"
    lines, size = fit(wildness, width - 46, _SMALL, 12.5, 2)
    row = 8 + 16 * len(lines)
    frames = [rect(x, row + 8, 15, 19, 4) for x in (2, 19)]
    key = group(
        path("M", 0, 0, "h", width, stroke=LINE, stroke_width=1.5),
        moved(wild, 20, 16, 0.6),
        *(text(line, 46, 20 + 16 * index, size) for index, line in enumerate(lines)),
        group(*frames, fill=CARD, stroke=INK, stroke_width=3),
        text("linked connectors: doubles, LINK-Os", 46, row + 22, _SMALL),
        seat_mark(0, 19, row + 39, 9, INK),
        text("who placed the tile", 46, row + 43, _SMALL),
    )
    return moved(key, column.left, top)
