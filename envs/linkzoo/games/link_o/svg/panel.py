"""The panel beside the board: the turn, scores and hands, the bag and a key."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

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
    banner,
    heading,
    moved,
    seat_mark,
)

PAGE_WIDTH = 915  # of the picture for a page: on a screen of 1280, letters of 12.5 have 12
PAGE_HEIGHT = 764
_INSET = 14  # from a card's edge to its content
_BOTTOM = 636  # lower edge of the cards and the bag
_KEY = 644  # upper edge of the key
_KEY_COLOUR = 2  # of the tile in the key, or the last colour of a smaller board
_HEAD = 32  # height of a card's first line
_BACKS = 18  # height of a row of backs
_GAP = 6  # between cards
_NOTES = 20  # height of a second line for notes, in a narrow column
_LETTER = 15  # width of a colour's letter before its tiles
_SCALES = (1.2, 1, 0.9, 0.8, 0.7, 0.64, 0.58, 0.52, 0.46, 0.4, 0.34, 0.3)  # of tiles in hands
_TALL = 0.85  # the scale below the board
_SMALL = 13.5  # size of small letters, if there is room
_SMALLEST = 12.5  # size of small letters otherwise


class Column(NamedTuple):
    """The column of the panel.

    Attributes:
        left: Its left edge.
        right: Its right edge.
        scale: The scale of the tiles in it.
    """

    left: float
    right: float
    scale: float

    @property
    def room(self) -> float:
        """The width for tiles."""
        return self.right - self.left - 2 * _INSET

    @property
    def narrow(self) -> bool:
        """Whether notes have their own line."""
        return self.room < 400


def draw_panel(view: Json, seat: int | None, paints: style.Paints) -> str:
    """Returns the panel's markup, at the right of a picture of 1200 x 720 pixels."""
    top: float = 148 if view["last_round"] else 126  # first card
    largest = Column(732, style.WIDTH - style.MARGIN, _SCALES[0])
    column = _fitting(view, largest, top, _BOTTOM)
    cards, _ = _cards(view, range(view["num_players"]), seat, column, top, paints)
    turn, _ = _turn(view, column, 0)
    return group(turn, cards, _key(paints, column, _KEY), fill=INK)


def draw_beside(view: Json, seat: int | None, paints: style.Paints, left: float) -> str:
    """Returns the panel without the game's name and the turn, at the right of a page's picture."""
    key = PAGE_HEIGHT - (style.HEIGHT - _KEY) - 16
    largest = Column(left, PAGE_WIDTH - _GAP - 6, _SCALES[0])
    stage, top = _stage(view, largest, 8)
    column = _fitting(view, largest, top, key - 8)
    cards, _ = _cards(view, range(view["num_players"]), seat, column, top, paints)
    return group(stage, cards, _key(paints, column, key), fill=INK)


def draw_below(view: Json, seat: int | None, paints: style.Paints, top: float) -> tuple[str, float]:
    """Returns the panel below the board and its lower edge.

    The observer's hand comes first, else the hand of the seat to act.
    """
    column = Column(4, TALL - 4, _TALL)
    first = seat
    if first is None:
        first = view["seat"] or 0
    order = [(first + step) % view["num_players"] for step in range(view["num_players"])]
    cards, end = _cards(view, order, seat, column, top, paints)
    stage, end = _stage(view, column, end)
    return group(cards, stage, _key(paints, column, end), fill=INK), end + 96


def _stage(view: Json, column: Column, top: float) -> tuple[str, float]:
    """Returns the round and the last round's end, and their lower edge."""
    lines, size = fit(words.last_round(view), column.right - column.left, _SMALL, _SMALLEST, 3)
    drawn = [
        text(line, column.left, top + 18 + 16 * row, size, fill=GREY)
        for row, line in enumerate([words.stage(view), *lines])
    ]
    return "".join(drawn), top + 28 + 16 * len(lines)


def _turn(view: Json, column: Column, top: float) -> tuple[str, float]:
    """Returns the game's name, the round, the turn and the last round's end; its lower edge."""
    width = column.right - column.left
    lines, size = fit(words.last_round(view), width - 32, _SMALL, _SMALLEST, 2)
    stage = words.stage(view)
    if column.narrow:
        down = 24  # a line for the round
        head = heading("LINK-O", "", 0, width) + text(stage, 0, 70, _SMALL, fill=GREY)
    else:
        down = 0
        head = heading("LINK-O", stage, 0, width)
    over = view["seat"] is None
    turn = banner(words.turn(view), words.remark(view), 0, width, INK, over=over)
    last_round = [
        text(line, 16, 136 + 16 * row + down, size, fill=GREY) for row, line in enumerate(lines)
    ]
    markup = "".join([head, moved(turn, 0, down), *last_round])
    return moved(markup, column.left, top), top + 132 + down + 16 * len(lines)


def _fitting(view: Json, column: Column, top: float, bottom: float) -> Column:
    """Returns the column with the largest scale at which its cards end above `bottom`."""
    for scale in _SCALES:
        column = column._replace(scale=scale)
        if _end(view, range(view["num_players"]), column, top) <= bottom:
            break
    return column


def _end(view: Json, order: Sequence[int], column: Column, top: float) -> float:
    """Returns the lower edge of the players' cards and the bag below `top`."""
    for player in order:
        top += _card_height(view, player, column) + _GAP
    return top + _HEAD + _height(view["bag"], column)


def _cards(
    view: Json,
    order: Sequence[int],
    seat: int | None,
    column: Column,
    top: float,
    paints: style.Paints,
) -> tuple[str, float]:
    """Returns the players' cards and the bag below `top`, and their lower edge."""
    end = _end(view, order, column, top)
    cards = []
    for player in order:
        cards.append(_card(view, player, seat, column, top, paints))
        top += _card_height(view, player, column) + _GAP
    cards.append(_bag(view, column, top, paints))
    return "".join(cards), end


def _height(tiles: list[str] | int, column: Column) -> float:
    """Returns the height of the tiles of a hand or of the bag."""
    if not tiles:
        return 0
    if isinstance(tiles, int):
        return _BACKS
    last_row, _, _ = _slots(tiles, column)[-1]
    return (1 + last_row) * _pitch(style.BREADTH, column.scale) + 4


def _slots(tiles: list[str], column: Column) -> list[tuple[int, float, str]]:
    """Returns each tile's row, its left edge, and a letter before the first tile of a colour."""
    slots = []
    row = 0
    left = 0.0
    for before, tile in pairwise(["", *tiles]):
        letter = ""
        indent = 0
        if before[:1] != tile[0]:
            letter = tile[0].upper()
            indent = _LETTER
        if left + indent + style.LENGTH * column.scale > column.room:
            row += 1
            left = 0.0
        slots.append((row, left + indent, letter))
        left += indent + _pitch(style.LENGTH, column.scale)
    return slots


def _pitch(length: float, scale: float) -> float:
    """Returns the distance between adjacent tiles."""
    return length * scale + 4


def _card_height(view: Json, player: int, column: Column) -> float:
    """Returns the height of a player's card."""
    return _head(view, player, column) + _height(view["hands"][player], column)


def _head(view: Json, player: int, column: Column) -> float:
    """Returns the height of a card above the hand; a narrow card has notes on a second line."""
    if column.narrow and words.notes(view, player):
        return _HEAD + _NOTES
    return _HEAD


def _card(
    view: Json, player: int, seat: int | None, column: Column, top: float, paints: style.Paints
) -> str:
    """Returns a player's card: score, events of the latest turn, and hand."""
    left = column.left
    right = column.right
    hand = view["hands"][player]
    name = "You" if player == seat else f"Player {player}"
    notes = " · ".join(words.notes(view, player))
    head = _head(view, player, column)
    if head > _HEAD:
        notes_at = (left + _INSET, top + 44)
        notes_end = right - _INSET
    else:
        notes_at = (left + 126, top + 22)
        notes_end = right - 125
    lines, size = fit(notes, notes_end - notes_at[0], _SMALL, _SMALLEST)
    height = _card_height(view, player, column)
    border: dict[str, Any] = {"stroke": LINE, "stroke_width": 1}
    if player == view["seat"] or player in view["winners"]:
        border = {"stroke": INK, "stroke_width": 3}
    score = str(view["scores"][player])
    return group(
        rect(left, top, right - left, height, 10, fill=CARD, **border),
        seat_mark(player, left + 24, top + 17, 10, INK),
        text(name, left + 42, top + 23, 16, font_weight="bold"),
        *(text(line, *notes_at, size, fill=GREY) for line in lines),
        text(words.tally(hand), right - 68, top + 22, _SMALL, text_anchor="end"),
        text(score, right - _INSET, top + 25, 21, text_anchor="end", font_weight="bold"),
        _tiles(hand, column, top + head, paints, named=player == view["seat"]),
        data_item=f"seat {player}",
    )


def _bag(view: Json, column: Column, top: float, paints: style.Paints) -> str:
    """Returns the number of tiles in the bag, and the tiles or their backs."""
    bag = view["bag"]
    return group(
        text("Bag", column.left + _INSET, top + 22, 16, font_weight="bold"),
        text(words.bag_order(view), column.left + 56, top + 22, _SMALL, fill=GREY),
        text(words.tally(bag), column.right - _INSET, top + 22, _SMALL, text_anchor="end"),
        _tiles(bag, column, top + _HEAD, paints),
    )


def _tiles(
    tiles: list[str] | int, column: Column, top: float, paints: style.Paints, *, named: bool = False
) -> str:
    """Returns tiles in rows below `top`, or backs in one row; playable tiles are `named`."""
    left = column.left + _INSET
    scale = column.scale
    if isinstance(tiles, int):
        step = min(11, column.room / max(tiles, 1))
        backs = [rect(left + step * i, top - 1, 0.8 * step, 11, 2) for i in range(tiles)]
        return group(*backs, fill=style.BACK)
    markup = []
    for tile, (row, indent, letter) in zip(tiles, _slots(tiles, column), strict=True):
        x = left + indent
        y = top + style.BREADTH * scale / 2 + row * _pitch(style.BREADTH, scale)
        if letter:
            markup.append(text(letter, x - _LETTER, y + 5, 14, font_weight="bold"))
        picture = style.tile(tile, paints, x + style.LENGTH * scale / 2, y, scale)
        if named:
            picture = group(picture, data_part=tile)
        markup.append(picture)
    return "".join(markup)


def _key(paints: style.Paints, column: Column, top: float) -> str:
    """Returns an explanation of LINK-Os, connectors and owners."""
    width = column.right - column.left
    colour = list(paints)[: _KEY_COLOUR + 1][-1]
    wild = style.face(f"{colour} LINK-O", paints[colour], "3", size=23)
    explanation = "a LINK-O is wild; on a connector it has a value (? none yet)"
    lines, size = fit(explanation, width - 46, _SMALL, _SMALLEST, 2)
    row = 8 + 16 * len(lines)
    doubles = "linked connectors: doubles, LINK-Os"
    (linked,), linked_size = fit(doubles, width - 46, _SMALL, _SMALLEST)
    frames = [rect(x, row + 8, 15, 19, 4) for x in (2, 19)]
    key = group(
        path("M", 0, 0, "h", width, stroke=LINE, stroke_width=1.5),
        moved(wild, 20, 16, 0.6),
        *(text(line, 46, 20 + 16 * index, size) for index, line in enumerate(lines)),
        group(*frames, fill=CARD, stroke=INK, stroke_width=3),
        text(linked, 46, row + 22, linked_size),
        seat_mark(0, 19, row + 39, 9, INK),
        text("who placed the tile", 46, row + 43, _SMALL),
    )
    return moved(key, column.left, top)
