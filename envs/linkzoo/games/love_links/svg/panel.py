"""The panel at the left of the picture: turn, scores and hands, supplies and a key."""

from linkzoo.games.love_links import describe
from linkzoo.games.love_links.components import LINK_NUMBERS, METALS, STONES
from linkzoo.games.love_links.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import banner, heading

_LEFT, _WIDTH = style.MARGIN, 334
_RIGHT = _LEFT + _WIDTH
_HEAD, _HAND = 44, 50  # heights of a side's card
_SCALE = 0.66  # scale of links in hands


def draw_panel(position: describe.Json) -> str:
    """Returns the panel's markup."""
    cards, top = [], 126
    for side in range(len(position["scores"])):
        cards.append(_card(position, side, top))
        top += _HEAD + _HAND * len(describe.seats_of(position, side)) + 12
    return group(
        heading("Love Links", describe.stage(position), _LEFT, _RIGHT, style.GREY),
        _banner(position),
        *cards,
        *(_supply(position, metal) for metal in range(len(METALS))),
        _key(),
        fill=style.INK,
    )


def _banner(position: describe.Json) -> str:
    won = describe.winners(position)
    side = won[0] if len(won) == 1 else None
    if position["seat"] is not None:
        side = describe.side_of(position, position["seat"])
    colour = style.INK if side is None else style.SIDES[side]
    words = describe.turn(position), describe.remark(position)
    return banner(*words, _LEFT, _WIDTH, colour, over=bool(won))


def _card(position: describe.Json, side: int, top: float) -> str:
    """Returns a side's mark, score and captured stones, and the hands of its seats."""
    seats, colour = describe.seats_of(position, side), style.SIDES[side]
    border = 3 if position["seat"] in seats or side in describe.winners(position) else 1
    height = _HEAD + _HAND * len(seats)
    name, score = describe.side_name(position, side), str(position["scores"][side])
    captured = f"{position['captured'][side]} captured"
    return group(
        rect(_LEFT, top, _WIDTH, height, 10, fill="#fff", stroke=colour, stroke_width=border),
        style.mark(side, _LEFT + 20, top + 23, 10),
        text(name, _LEFT + 38, top + 29, 17, font_weight="bold", fill=colour),
        text(captured, _RIGHT - 74, top + 29, 13, text_anchor="end"),
        text(score, _RIGHT - 14, top + 32, 24, text_anchor="end", font_weight="bold"),
        *(_hand(position, seat, top + _HEAD + _HAND * row) for row, seat in enumerate(seats)),
    )


def _hand(position: describe.Json, seat: int, top: float) -> str:
    """Returns a hand; the hand of the seat to act has a tinted background."""
    ground = ""
    if seat == position["seat"]:
        tint = style.SIDES[describe.side_of(position, seat)]
        ground = rect(_LEFT + 6, top - 2, _WIDTH - 12, 42, 8, fill=tint, fill_opacity=0.16)
    links = [
        group(
            style.link(LINK_NUMBERS[words], _LEFT + 32 + 60 * place, top + 6, _SCALE),
            data_part=words if seat == position["seat"] else None,
        )
        for place, words in enumerate(position["hands"][seat])
    ]
    name = text(str(seat), _LEFT + 11, top + 24, 13, fill=style.GREY)
    return group(ground, name, *links)


def _supply(position: describe.Json, metal: int) -> str:
    """Returns a metal, its points, and the number of its links left."""
    face, rim, x = style.FACES[metal], style.RIMS[metal], _LEFT + 114 * metal
    left = len(position["supply"][METALS[metal]])
    return group(
        rect(x, 546, 106, 52, 8, fill=face, stroke=rim, stroke_width=1.5),
        text(METALS[metal], x + 10, 565, 14, font_weight="bold"),
        text(f"{metal + 1} pt", x + 10, 588, 13),
        text(str(left), x + 96, 589, 24, text_anchor="end", font_weight="bold"),
    )


def _key() -> str:
    stones = [
        group(
            style.stone(name, x + 9, 691, 8),
            text(f"{name} {10 if name == 'diamond' else 5}", x + 21, 695, 12),
        )
        for x, name in zip((_LEFT, _LEFT + 96, _LEFT + 160, _LEFT + 247), STONES[1:], strict=True)
    ]
    return group(
        text("links left in the supplies", _LEFT, 537, 13, fill=style.GREY),
        path("M", _LEFT, 611, "h", _WIDTH, stroke=style.LINE, stroke_width=1.5),
        style.link(0, _LEFT + 13, 621, 0.8),
        text("key in the disc, lock beside the hole;", _LEFT + 82, 633, 13),
        text("below it the mark of who placed it", _LEFT + 82, 649, 13),
        text("worth: closed, but for the closing link", _LEFT + 82, 669, 13),
        *stones,
    )
