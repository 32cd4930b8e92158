"""The panel beside the board: the turn, scores and hands, the bag and a key."""

from itertools import pairwise

from linkzoo.games.link_o import text as words
from linkzoo.games.link_o.svg import style
from linkzoo.games.link_o.text import Json
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import banner, heading, seat_mark

_LEFT = 732
_RIGHT = style.WIDTH - style.MARGIN
_WIDTH = _RIGHT - _LEFT
_INSET = 14  # from a card's edge to its content
_ROOM = _WIDTH - 2 * _INSET
_BOTTOM = 636  # lower edge of the cards and the bag
_HEAD, _BACKS, _GAP = 32, 18, 6  # heights: a card's first line, a row of backs; gap between cards
_LETTER = 15  # width of a colour's letter before its tiles
_SCALES = (0.9, 0.8, 0.7, 0.64, 0.58, 0.52, 0.46, 0.4, 0.34, 0.3)  # for tiles in hands


def draw_panel(view: Json, seat: int | None, paints: style.Paints) -> str:
    """Returns the panel's markup, at the right of a picture of 1200 x 720 pixels."""
    top: float = 148 if view["last_round"] else 126  # first card
    scale = _scale([*view["hands"], view["bag"]], _BOTTOM - top)
    cards, said = [], (words.turn(view), words.remark(view))
    for player, hand in enumerate(view["hands"]):
        cards.append(_card(view, player, seat, top, scale, paints))
        top += _height(hand, scale) + _GAP
    return group(
        heading("LINK-O", words.stage(view), _LEFT, _RIGHT, style.GREY),
        banner(*said, _LEFT, _WIDTH, style.INK, over=view["seat"] is None, fill="#f8cb4c"),
        text(words.last_round(view), _LEFT + 16, 136, 13, fill=style.GREY),
        *cards,
        _bag(view, top, scale, paints),
        _key(paints),
        fill=style.INK,
    )


def _scale(piles: list[list[str] | int], room: float) -> float:
    """Returns the largest scale at which all hands and the bag fit."""
    for scale in _SCALES:
        if sum(_height(tiles, scale) + _GAP for tiles in piles) - _GAP <= room:
            break
    return scale


def _height(tiles: list[str] | int, scale: float) -> float:
    """Returns the height of a card with a hand or with the bag."""
    if isinstance(tiles, int):
        return _HEAD + (_BACKS if tiles else 0)
    if not tiles:
        return _HEAD
    last_row, _, _ = _places(tiles, scale)[-1]
    return _HEAD + (1 + last_row) * _pitch(style.BREADTH, scale) + 4


def _places(tiles: list[str], scale: float) -> list[tuple[int, float, str]]:
    """Returns the tiles' places: row, left edge, and a letter before the first one of a colour."""
    places, row, left = [], 0, 0.0
    for before, tile in pairwise(["", *tiles]):
        letter = "" if before[:1] == tile[0] else tile[0].upper()
        indent = _LETTER if letter else 0
        if left + indent + style.LENGTH * scale > _ROOM:
            row, left = row + 1, 0.0
        places.append((row, left + indent, letter))
        left += indent + _pitch(style.LENGTH, scale)
    return places


def _pitch(length: float, scale: float) -> float:
    """Returns the distance between adjacent tiles."""
    return length * scale + 4


def _card(
    view: Json, player: int, seat: int | None, top: float, scale: float, paints: style.Paints
) -> str:
    """Returns a player's card: score, events of the latest turn, and hand."""
    hand, who = view["hands"][player], "You" if player == seat else f"Player {player}"
    chosen = player == view["seat"] or player in view["winners"]
    border, colour = (3, style.INK) if chosen else (1, style.LINE)
    height, score = _height(hand, scale), str(view["scores"][player])
    return group(
        rect(_LEFT, top, _WIDTH, height, 10, fill=style.CARD, stroke=colour, stroke_width=border),
        seat_mark(player, _LEFT + 24, top + 17, 10, style.INK),
        text(who, _LEFT + 42, top + 23, 16, font_weight="bold"),
        text(" · ".join(words.notes(view, player)), _LEFT + 126, top + 22, 12.5, fill=style.GREY),
        text(words.tally(hand), _RIGHT - 68, top + 22, 13, text_anchor="end"),
        text(score, _RIGHT - _INSET, top + 25, 21, text_anchor="end", font_weight="bold"),
        _tiles(hand, top + _HEAD, scale, paints, named=player == view["seat"]),
    )


def _bag(view: Json, top: float, scale: float, paints: style.Paints) -> str:
    bag = view["bag"]
    return group(
        text("Bag", _LEFT + _INSET, top + 22, 16, font_weight="bold"),
        text(words.bag_order(view), _LEFT + 56, top + 22, 13, fill=style.GREY),
        text(words.tally(bag), _RIGHT - _INSET, top + 22, 13, text_anchor="end"),
        _tiles(bag, top + _HEAD, scale, paints),
    )


def _tiles(
    tiles: list[str] | int, top: float, scale: float, paints: style.Paints, *, named: bool = False
) -> str:
    """Returns tiles in rows below `top`, or backs in one row; playable tiles are `named`."""
    left = _LEFT + _INSET
    if isinstance(tiles, int):
        step = min(11, _ROOM / max(tiles, 1))
        backs = [rect(left + step * i, top - 1, 0.8 * step, 11, 2) for i in range(tiles)]
        return group(*backs, fill=style.BACK)
    markup = []
    for tile, (row, indent, letter) in zip(tiles, _places(tiles, scale), strict=True):
        x, y = left + indent, top + style.BREADTH * scale / 2 + row * _pitch(style.BREADTH, scale)
        if letter:
            markup.append(text(letter, x - _LETTER, y + 5, 14, font_weight="bold"))
        picture = style.tile(tile, paints, x + style.LENGTH * scale / 2, y, scale)
        markup.append(group(picture, data_part=tile) if named else picture)
    return "".join(markup)


def _key(paints: style.Paints) -> str:
    left, wildness = _LEFT + 46, "a LINK-O is wild; on a connector it holds one number (? none yet)"
    wild = style.face(f"{list(paints)[2]} LINK-O", paints, "3")
    frames = [rect(_LEFT + x, 681, 15, 19, 4) for x in (2, 19)]
    return group(
        path("M", _LEFT, 644, "h", _WIDTH, stroke=style.LINE, stroke_width=1.5),
        group(wild, transform=f"translate({_LEFT + 18} 664) scale(0.6)"),
        text(wildness, left, 669, 12),
        group(*frames, fill=style.CARD, stroke=style.INK, stroke_width=3),
        text("linked connectors: doubles, LINK-Os", left, 695, 12),
        seat_mark(0, _LEFT + 310, 691, 6, style.INK),
        text("who placed the tile", _LEFT + 322, 695, 12),
    )
