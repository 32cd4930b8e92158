"""Beside the bracelets: the turn, scores and hands, supplies and a key. Parts have a height."""

from linkzoo.games.love_links import describe
from linkzoo.games.love_links.components import LINK_NUMBERS, METALS, STONES
from linkzoo.games.love_links.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import CARD, GREY, INK, LINE, Part, banner, heading

_HEAD, _HAND, _GAP = 44, 44, 10  # heights: a side's first line, a hand; between cards
_BEFORE = 28  # space before the first link of a hand
_SMALL = 13.5  # of the smallest letters


def draw_turn(position: describe.Json, width: float) -> Part:
    """Returns the game's name, the round and the turn."""
    won = describe.winners(position)
    side = won[0] if len(won) == 1 else None
    if position["seat"] is not None:
        side = describe.side_of(position, position["seat"])
    colour = INK if side is None else style.SIDES[side]
    words = describe.turn(position), describe.remark(position)
    head = heading("Love Links", describe.stage(position), 0, width)
    return head + banner(*words, 0, width, colour, over=bool(won)), 126


def draw_sides(position: describe.Json, width: float) -> list[Part]:
    """Returns a card for each side: its score and captured stones, and the hands of its seats."""
    return [_card(position, side, width) for side in range(len(position["scores"]))]


def _card(position: describe.Json, side: int, width: float) -> Part:
    seats, colour = describe.seats_of(position, side), style.SIDES[side]
    border = 3 if position["seat"] in seats or side in describe.winners(position) else 1
    height = _HEAD + _HAND * len(seats)
    name, score = describe.side_name(position, side), str(position["scores"][side])
    captured = f"{position['captured'][side]} captured"
    card = group(
        rect(1, 0, width - 2, height, 10, fill=CARD, stroke=colour, stroke_width=border),
        style.mark(side, 20, 23, 10),
        text(name, 38, 29, 17, font_weight="bold", fill=colour),
        text(captured, width - 80, 29, _SMALL, text_anchor="end"),
        text(score, width - 14, 32, 24, text_anchor="end", font_weight="bold"),
        *(_hand(position, seat, width, _HEAD + _HAND * row) for row, seat in enumerate(seats)),
        data_item=f"side {side}",
    )
    return card, height + _GAP


def _hand(position: describe.Json, seat: int, width: float, top: float) -> str:
    """Returns a hand; the hand of the seat to act has a tinted background."""
    acts, ground = seat == position["seat"], ""
    if acts:
        tint = style.SIDES[describe.side_of(position, seat)]
        ground = rect(6, top - 4, width - 12, 42, 8, fill=tint, fill_opacity=0.16)
    pitch = (width - _BEFORE - 4) / 5
    scale = min(1, (pitch - 1) / (style.LINK_WIDTH + style.KEY_RADIUS))
    links = []
    for place, words in enumerate(position["hands"][seat]):
        left = _BEFORE + pitch * place
        y = top + 17 - style.LINK_HEIGHT * scale / 2
        whole = rect(left - style.KEY_RADIUS * scale, top - 2, pitch - 2, 38, fill_opacity=0)
        link = style.link(LINK_NUMBERS[words], left, y, scale)
        links.append(group(whole, link, data_part=words) if acts else link)
    alone = len(describe.seats_of(position, describe.side_of(position, seat))) == 1
    name = "" if alone else text(str(seat), 8, top + 22, _SMALL, fill=GREY)
    return group(ground, name, *links)


def draw_supply(position: describe.Json, width: float) -> Part:
    """Returns each metal, its points, and the number of its links left."""
    step = (width + 8) / len(METALS)
    boxes = []
    for metal, name in enumerate(METALS):
        x, left = step * metal, len(position["supply"][name])
        look = {"fill": style.FACES[metal], "stroke": style.RIMS[metal]}
        number = text(str(left), x + step - 18, 61, 24, text_anchor="end", font_weight="bold")
        boxes += [
            rect(x, 18, step - 8, 52, 8, **look),
            text(name, x + 10, 37, 14, font_weight="bold"),
            text(f"{metal + 1} pt", x + 10, 60, _SMALL),
            number,
        ]
    words = text("links left in the supplies", 0, 11, _SMALL, fill=GREY)
    return words + group(*boxes, fill=style.LETTERS), 84


def draw_key(width: float) -> Part:
    """Returns an explanation of links and stones."""
    stones = [
        style.stone(name, 9 + width / 2 * (index % 2), 86 + 24 * (index // 2), 8)
        + text(
            f"{name} {10 if name == 'diamond' else 5} points",
            *(24 + width / 2 * (index % 2), 91 + 24 * (index // 2), _SMALL),
        )
        for index, name in enumerate(STONES[1:])
    ]
    key = group(
        path("M", 0, 0, "h", width, stroke=LINE, stroke_width=1.5),
        style.link(0, 13, 12, 0.8),
        text("key in the disc, lock beside the hole,", 82, 24, _SMALL),
        text("below it the mark of who placed it", 82, 41, _SMALL),
        text("+26: points for closing it, without the last link", 0, 65, _SMALL),
        *stones,
    )
    return key, 124
