"""The panel beside the board: the turn, scores and hands, the bag and a key."""

from dataclasses import dataclass
from itertools import pairwise

from linkzoo.svg.elements import group, path, rect, text
from linkzoo.games.link_o import style
from linkzoo.games.link_o.view import (
    Json,
    bag_order,
    count,
    last_round,
    notes,
    remark,
    size,
    stage,
    turn,
)

_LEFT = 732
_RIGHT = style.WIDTH - style.MARGIN
_WIDTH = _RIGHT - _LEFT
_INSET = 14  # from a card's edge to what it holds
_ROOM = _WIDTH - 2 * _INSET
_BOTTOM = 636  # of the cards and the bag
_HEAD, _BACKS, _GAP = 32, 18, 6  # heights: a card's first line, a row of backs; between cards
_LETTER = 15  # the width of a colour's letter before its tiles
_SCALES = (0.9, 0.8, 0.7, 0.64, 0.58, 0.52, 0.46, 0.4, 0.34, 0.3)  # of the tiles in the hands


def draw_panel(view: Json, seat: int | None, paints: style.Paints) -> str:
    """The panel's markup, at the right of a picture of 1200 x 720 pixels."""
    scale = _scale(view)
    cards, top = [], _top(view)
    for player, hand in enumerate(view["hands"]):
        cards.append(_card(view, player, seat, top, scale, paints))
        top += _height(hand, scale) + _GAP
    return group(
        text("LINK-O", _LEFT, 46, 27, font_weight="bold"),
        text(stage(view), _RIGHT, 46, 15, text_anchor="end", fill=style.GREY),
        _banner(view),
        text(last_round(view), _LEFT + 16, 136, 13, fill=style.GREY),
        *cards,
        _bag(view, top, scale, paints),
        _key(paints),
        fill=style.INK,
    )


def _top(view: Json) -> float:
    """The upper edge of the first card."""
    return 148 if view["last_round"] else 126


def _scale(view: Json) -> float:
    """The largest scale at which all hands and the bag fit."""
    piles, room = [*view["hands"], view["bag"]], _BOTTOM - _top(view)

    def fits(scale: float) -> bool:
        return sum(_height(tiles, scale) + _GAP for tiles in piles) - _GAP <= room

    return next(filter(fits, _SCALES), _SCALES[-1])


def _height(tiles: list[str] | int, scale: float) -> float:
    """The height of a card with a hand or with the bag."""
    if isinstance(tiles, int):
        return _HEAD + (_BACKS if tiles else 0)
    rows = 1 + _places(tiles, scale)[-1].row if tiles else 0
    return _HEAD + rows * _pitch(style.BREADTH, scale) + (4 if rows else 0)


@dataclass(frozen=True)
class Place:
    """Where a tile lies in a hand: its row, its left edge, and whether a letter is before it."""

    row: int
    left: float
    lettered: bool


def _places(tiles: list[str], scale: float) -> list[Place]:
    """Tiles in rows; the first one of a colour has its letter before it."""
    places, row, left = [], 0, 0.0
    for before, words in pairwise(["", *tiles]):
        lettered = before[:1] != words[0]
        width = _LETTER * lettered + style.LENGTH * scale
        if left + width > _ROOM:
            row, left = row + 1, 0.0
        places.append(Place(row, left + _LETTER * lettered, lettered))
        left += _LETTER * lettered + _pitch(style.LENGTH, scale)
    return places


def _pitch(length: float, scale: float) -> float:
    """From one tile to the next one beside it or below it."""
    return length * scale + 4


def _banner(view: Json) -> str:
    """Whose turn it is, or who has won."""
    over = view["seat"] is None
    words = group(
        text(turn(view), _LEFT + 16, 84, 17, font_weight="bold"),
        text(remark(view), _LEFT + 16, 104, 14),
        text("★", _RIGHT - 14, 98, 30, text_anchor="end", fill="#f8cb4c") if over else "",
        fill="#fff",
    )
    return rect(_LEFT, 60, _WIDTH, 54, 10, fill=style.INK) + words


def _card(
    view: Json, player: int, seat: int | None, top: float, scale: float, paints: style.Paints
) -> str:
    """A player's score, what happened in the latest turn, and the hand."""
    hand, who = view["hands"][player], "You" if player == seat else f"Player {player}"
    chosen = player == view["seat"] or player in view["winners"]
    border, colour = (3, style.INK) if chosen else (1, style.LINE)
    height = _height(hand, scale)
    return group(
        rect(_LEFT, top, _WIDTH, height, 10, fill=style.CARD, stroke=colour, stroke_width=border),
        style.seat_mark(player, _LEFT + 24, top + 17, 10),
        text(who, _LEFT + 42, top + 23, 16, font_weight="bold"),
        text(" · ".join(notes(view, player)), _LEFT + 126, top + 22, 12.5, fill=style.GREY),
        text(count(size(hand), "tile"), _RIGHT - 68, top + 22, 13, text_anchor="end"),
        text(
            *(str(view["scores"][player]), _RIGHT - _INSET, top + 25, 21),
            text_anchor="end",
            font_weight="bold",
        ),
        _tiles(hand, top + _HEAD, scale, paints, named=player == view["seat"]),
    )


def _bag(view: Json, top: float, scale: float, paints: style.Paints) -> str:
    """What is left in the bag."""
    bag = view["bag"]
    return group(
        text("Bag", _LEFT + _INSET, top + 22, 16, font_weight="bold"),
        text(bag_order(view), _LEFT + 56, top + 22, 13, fill=style.GREY),
        text(count(size(bag), "tile"), _RIGHT - _INSET, top + 22, 13, text_anchor="end"),
        _tiles(bag, top + _HEAD, scale, paints),
    )


def _tiles(
    tiles: list[str] | int, top: float, scale: float, paints: style.Paints, *, named: bool = False
) -> str:
    """Tiles in rows below `top`, or as many backs in one row; those to play from are `named`."""
    left = _LEFT + _INSET
    if isinstance(tiles, int):
        step = min(11, _ROOM / max(tiles, 1))
        backs = [rect(left + step * i, top - 1, 0.8 * step, 11, 2) for i in range(tiles)]
        return group(*backs, fill=style.BACK)
    markup = []
    for words, place in zip(tiles, _places(tiles, scale), strict=True):
        x = left + place.left
        y = top + style.BREADTH * scale / 2 + place.row * _pitch(style.BREADTH, scale)
        if place.lettered:
            letter = words[0].upper()
            markup.append(text(letter, x - _LETTER, y + 5, 14, font_weight="bold"))
        tile = style.tile(words, paints, x + style.LENGTH * scale / 2, y, scale)
        markup.append(group(tile, data_part=words) if named else tile)
    return "".join(markup)


def _key(paints: style.Paints) -> str:
    """What frames, LINK-Os and marks mean."""
    left, words = _LEFT + 46, "a LINK-O is wild; on a connector it holds one number (? none yet)"
    wild = style.face(f"{list(paints)[2]} LINK-O", paints, "3")
    frames = [rect(_LEFT + x, 681, 15, 19, 4) for x in (2, 19)]
    return group(
        path("M", _LEFT, 644, "h", _WIDTH, stroke=style.LINE, stroke_width=1.5),
        group(wild, transform=f"translate({_LEFT + 18} 664) scale(0.6)"),
        text(words, left, 669, 12),
        group(*frames, fill=style.CARD, stroke=style.INK, stroke_width=3),
        text("linked connectors: doubles, LINK-Os", left, 695, 12),
        style.seat_mark(0, _LEFT + 310, 691, 6),
        text("who placed the tile", _LEFT + 322, 695, 12),
    )
