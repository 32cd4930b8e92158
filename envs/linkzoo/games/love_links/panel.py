"""The panel beside the bracelets: the turn, scores and hands, the supplies and a key."""

from linkzoo.svg.elements import group, path, rect, text
from linkzoo.games.love_links import style
from linkzoo.games.love_links.pieces import LINK_NUMBERS, METALS, STONES
from linkzoo.games.love_links.view import (
    Json,
    remark,
    seats_of,
    side_name,
    side_of,
    side_range,
    stage,
    turn,
    winners,
)

_LEFT, _WIDTH = style.MARGIN, 334
_RIGHT = _LEFT + _WIDTH
_HEAD, _HAND = 44, 50  # heights of a side's card
_SCALE = 0.66  # of the links in the hands


def draw_panel(view: Json) -> str:
    """The panel's markup, at the left of a picture of 1200 x 720 pixels."""
    cards, top = [], 126
    for side in side_range(view):
        cards.append(_card(view, side, top))
        top += _HEAD + _HAND * len(seats_of(view, side)) + 12
    return group(
        text("Love Links", _LEFT, 46, 27, font_weight="bold"),
        text(stage(view), _RIGHT, 46, 15, text_anchor="end", fill=style.GREY),
        _banner(view),
        *cards,
        *(_supply(view, metal) for metal in range(len(METALS))),
        _key(),
        fill=style.INK,
    )


def _banner(view: Json) -> str:
    """Whose turn it is, or who has won."""
    won = winners(view)
    side = won[0] if len(won) == 1 else None
    if view["seat"] is not None:
        side = side_of(view, view["seat"])
    colour = style.INK if side is None else style.SIDES[side]
    words = group(
        text(turn(view), _LEFT + 16, 84, 17, font_weight="bold"),
        text(remark(view), _LEFT + 16, 104, 14),
        text("★", _RIGHT - 14, 98, 30, text_anchor="end") if won else "",
        fill="#fff",
    )
    return rect(_LEFT, 60, _WIDTH, 54, 10, fill=colour) + words


def _card(view: Json, side: int, top: float) -> str:
    """A side's mark, score and captured stones, and the hands of its seats."""
    seats, colour = seats_of(view, side), style.SIDES[side]
    border = 3 if view["seat"] in seats or side in winners(view) else 1
    height = _HEAD + _HAND * len(seats)
    captured = text(
        f"{view['captured'][side]} captured", _RIGHT - 74, top + 29, 13, text_anchor="end"
    )
    score = str(view["scores"][side])
    return group(
        rect(_LEFT, top, _WIDTH, height, 10, fill="#fff", stroke=colour, stroke_width=border),
        style.mark(side, _LEFT + 20, top + 23, 10),
        text(side_name(view, side), _LEFT + 38, top + 29, 17, font_weight="bold", fill=colour),
        captured,
        text(score, _RIGHT - 14, top + 32, 24, text_anchor="end", font_weight="bold"),
        *(_hand(view, seat, top + _HEAD + _HAND * row) for row, seat in enumerate(seats)),
    )


def _hand(view: Json, seat: int, top: float) -> str:
    """A hand; the one of the seat to act is on a tinted ground."""
    ground = ""
    if seat == view["seat"]:
        tint = style.SIDES[side_of(view, seat)]
        ground = rect(_LEFT + 6, top - 2, _WIDTH - 12, 42, 8, fill=tint, fill_opacity=0.16)
    links = [
        group(
            style.link(LINK_NUMBERS[words], _LEFT + 32 + 60 * place, top + 6, _SCALE),
            data_part=words if seat == view["seat"] else None,
        )
        for place, words in enumerate(view["hands"][seat])
    ]
    name = text(str(seat), _LEFT + 11, top + 24, 13, fill=style.GREY)
    return group(ground, name, *links)


def _supply(view: Json, metal: int) -> str:
    """A metal, its points, and how many of its links are still to come."""
    paint, x = style.PAINTS[metal], _LEFT + 114 * metal
    left = len(view["supply"][METALS[metal]])
    return group(
        rect(x, 546, 106, 52, 8, fill=paint.face, stroke=paint.rim, stroke_width=1.5),
        text(METALS[metal], x + 10, 565, 14, font_weight="bold"),
        text(f"{metal + 1} pt", x + 10, 588, 13),
        text(str(left), x + 96, 589, 24, text_anchor="end", font_weight="bold"),
    )


def _key() -> str:
    """What discs, holes and stones mean."""
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
