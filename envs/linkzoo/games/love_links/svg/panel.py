"""Beside the bracelets: the turn, scores and hands, supplies and a key. Parts have a height."""

from math import ceil

from linkzoo.games.love_links import describe
from linkzoo.games.love_links.components import LINK_NUMBERS, METALS, STONES
from linkzoo.games.love_links.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit, width_of
from linkzoo.svg.panel import CARD, GREY, INK, LINE, Part, banner, heading

_HEAD = 44  # height of a card's first line
_HAND = 44  # height of a line of a hand
_PER_HAND = 5  # links of a full hand
_GAP = 10  # between cards
_INDENT = 28  # space before the first link of a hand
_LARGE_INDENT = 36  # the same before large links
_SMALL = 13.5  # size of the smallest letters


def draw_turn(position: describe.Json, width: float) -> Part:
    """Returns the game's name, the round and the turn."""
    winners = describe.winners(position)
    colour = INK
    if position["seat"] is not None:
        colour = style.SIDES[describe.side_of(position, position["seat"])]
    elif len(winners) == 1:
        colour = style.SIDES[winners[0]]
    turn = describe.turn(position)
    remark = describe.remark(position)
    head = heading("Love Links", describe.stage(position), 0, width)
    return head + banner(turn, remark, 0, width, colour, over=bool(winners)), 126


def draw_stage(position: describe.Json) -> Part:
    """Returns the round."""
    return text(describe.stage(position), 0, 18, 15, fill=GREY), 28


def draw_sides(position: describe.Json, width: float, per_line: int = _PER_HAND) -> list[Part]:
    """Returns a card for each side: its score and captured stones, and the hands of its seats.

    A line of a hand has `per_line` links.
    """
    return [_card(position, side, width, per_line) for side in range(len(position["scores"]))]


def _card(position: describe.Json, side: int, width: float, per_line: int) -> Part:
    """Returns a side's card; its border is thick for the side to act or a winner."""
    hand_height = _HAND * ceil(_PER_HAND / per_line)
    seats = describe.seats_of(position, side)
    colour = style.SIDES[side]
    border = 1
    if position["seat"] in seats or side in describe.winners(position):
        border = 3
    height = _HEAD + hand_height * len(seats)
    name = describe.side_name(position, side)
    score = str(position["scores"][side])
    captured = f"{position['captured'][side]} captured"
    room = width - 126 - width_of(captured, _SMALL)
    (title,), letters = fit(name, room, 17, _SMALL, bold=True)
    card = group(
        rect(1, 0, width - 2, height, 10, fill=CARD, stroke=colour, stroke_width=border),
        style.mark(side, 20, 23, 10),
        text(title, 38, 29, letters, font_weight="bold", fill=colour),
        text(captured, width - 80, 29, _SMALL, text_anchor="end"),
        text(score, width - 14, 32, 24, text_anchor="end", font_weight="bold"),
        *(
            _hand(position, seat, width, _HEAD + hand_height * row, per_line)
            for row, seat in enumerate(seats)
        ),
        data_item=f"side {side}",
    )
    return card, height + _GAP


def _hand(position: describe.Json, seat: int, width: float, top: float, per_line: int) -> str:
    """Returns a hand; the hand of the seat to act has a tinted background."""
    acts = seat == position["seat"]
    lines = ceil(_PER_HAND / per_line)
    side = describe.side_of(position, seat)
    parts = []
    if acts:
        tint = style.SIDES[side]
        parts.append(
            rect(6, top - 4, width - 12, _HAND * lines - 2, 8, fill=tint, fill_opacity=0.16)
        )
    if len(describe.seats_of(position, side)) > 1:
        parts.append(text(str(seat), 8, top + 22, _SMALL, fill=GREY))
    indent = _INDENT if lines == 1 else _LARGE_INDENT
    pitch = (width - indent - 4) / per_line
    scale = min(1, (pitch - 1) / (style.LINK_WIDTH + style.KEY_RADIUS))
    for place, words in enumerate(position["hands"][seat]):
        line, column = divmod(place, per_line)
        left = indent + pitch * column
        first = top + _HAND * line  # of the line
        y = first + 17 - style.LINK_HEIGHT * scale / 2
        link = style.link(LINK_NUMBERS[words], left, y, scale)
        if acts:
            area = rect(left - style.KEY_RADIUS * scale, first - 2, pitch - 2, 38, fill_opacity=0)
            link = group(area, link, data_part=words)
        parts.append(link)
    return group(*parts)


def draw_supply(position: describe.Json, width: float) -> Part:
    """Returns each metal, its points, and the number of links in its supply."""
    step = (width + 8) / len(METALS)
    boxes = []
    for metal, name in enumerate(METALS):
        x = step * metal
        number = str(len(position["supply"][name]))
        boxes += [
            rect(x, 18, step - 8, 52, 8, fill=style.FACES[metal], stroke=style.RIMS[metal]),
            text(name, x + 10, 37, 14, font_weight="bold"),
            text(f"{metal + 1} pt", x + 10, 60, _SMALL),
            text(number, x + step - 18, 61, 24, text_anchor="end", font_weight="bold"),
        ]
    words = text("links left in the supplies", 0, 11, _SMALL, fill=GREY)
    return words + group(*boxes, fill=style.LETTERS), 84


def draw_key(width: float) -> Part:
    """Returns an explanation of links and stones."""
    stones = []
    for index, name in enumerate(STONES[1:]):
        row, column = divmod(index, 2)
        x = width / 2 * column
        y = 86 + 24 * row
        points = 10 if name == "diamond" else 5
        stones.append(style.stone(name, 9 + x, y, 8))
        stones.append(text(f"{name} {points} points", 24 + x, y + 5, _SMALL))
    key = group(
        path("M", 0, 0, "h", width, stroke=LINE, stroke_width=1.5),
        style.link(0, 13, 12, 0.8),
        text("key in the disc, lock beside the hole,", 82, 24, _SMALL),
        text("below it the mark of who placed it", 82, 41, _SMALL),
        text("+26: points for closing it, without the last link", 0, 65, _SMALL),
        *stones,
    )
    return key, 124
