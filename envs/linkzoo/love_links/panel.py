"""The panel beside the bracelets: the turn, scores and hands, the supplies and a key."""

from linkzoo.compiled import Record
from linkzoo.drawing.svg import group, path, rect, text
from linkzoo.love_links import style
from linkzoo.love_links.pieces import LINK_TEXTS, METALS, STONES
from linkzoo.love_links.table import NONE, side_of
from linkzoo.love_links.view import (
    remark,
    seats_of,
    side_name,
    side_range,
    stage,
    turn,
    winners,
)

_LEFT, _WIDTH = style.MARGIN, 334
_RIGHT = _LEFT + _WIDTH
_HEAD, _HAND = 44, 50  # heights of a side's card
_SCALE = 0.66  # of the links in the hands


def draw_panel(state: Record) -> str:
    """The panel's markup, at the left of a picture of 1200 x 720 pixels."""
    cards, top = [], 126
    for side in side_range(state):
        cards.append(_card(state, side, top))
        top += _HEAD + _HAND * len(seats_of(state, side)) + 12
    return group(
        text("Love Links", _LEFT, 46, 27, font_weight="bold"),
        text(stage(state), _RIGHT, 46, 15, text_anchor="end", fill=style.GREY),
        _banner(state),
        *cards,
        *(_supply(state, metal) for metal in range(len(METALS))),
        _key(),
        fill=style.INK,
    )


def _banner(state: Record) -> str:
    """Whose turn it is, or who has won."""
    won = winners(state)
    side = won[0] if len(won) == 1 else None
    if state.seat != NONE:
        side = int(side_of(state, state.seat))
    colour = style.INK if side is None else style.SIDES[side]
    words = group(
        text(turn(state), _LEFT + 16, 84, 17, font_weight="bold"),
        text(remark(state), _LEFT + 16, 104, 14),
        text("★", _RIGHT - 14, 98, 30, text_anchor="end") if won else "",
        fill="#fff",
    )
    return rect(_LEFT, 60, _WIDTH, 54, 10, fill=colour) + words


def _card(state: Record, side: int, top: float) -> str:
    """A side's mark, score and captured stones, and the hands of its seats."""
    seats, colour = seats_of(state, side), style.SIDES[side]
    border = 3 if state.seat in seats or side in winners(state) else 1
    height = _HEAD + _HAND * len(seats)
    captured = text(
        f"{state.captured[side]} captured", _RIGHT - 74, top + 29, 13, text_anchor="end"
    )
    score = str(state.scores[side])
    return group(
        rect(_LEFT, top, _WIDTH, height, 10, fill="#fff", stroke=colour, stroke_width=border),
        style.mark(side, _LEFT + 20, top + 23, 10),
        text(side_name(state, side), _LEFT + 38, top + 29, 17, font_weight="bold", fill=colour),
        captured,
        text(score, _RIGHT - 14, top + 32, 24, text_anchor="end", font_weight="bold"),
        *(_hand(state, seat, top + _HEAD + _HAND * row) for row, seat in enumerate(seats)),
    )


def _hand(state: Record, seat: int, top: float) -> str:
    """A hand; the one of the seat to act is on a tinted ground."""
    ground = ""
    if seat == state.seat:
        tint = style.SIDES[int(side_of(state, seat))]
        ground = rect(_LEFT + 6, top - 2, _WIDTH - 12, 42, 8, fill=tint, fill_opacity=0.16)
    links = [
        group(
            style.link(int(number), _LEFT + 32 + 60 * place, top + 6, _SCALE),
            data_part=LINK_TEXTS[number] if seat == state.seat else None,
        )
        for place, number in enumerate(state.hands[seat, : state.hand_size[seat]])
    ]
    name = text(str(seat), _LEFT + 11, top + 24, 13, fill=style.GREY)
    return group(ground, name, *links)


def _supply(state: Record, metal: int) -> str:
    """A metal, its points, and how many of its links are still to come."""
    paint, x = style.PAINTS[metal], _LEFT + 114 * metal
    return group(
        rect(x, 546, 106, 52, 8, fill=paint.face, stroke=paint.rim, stroke_width=1.5),
        text(METALS[metal], x + 10, 565, 14, font_weight="bold"),
        text(f"{metal + 1} pt", x + 10, 588, 13),
        text(str(state.supply_size[metal]), x + 96, 589, 24, text_anchor="end", font_weight="bold"),
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
