"""The panel beside the board: the turn, the roles, the groups, the supply and a key."""

from linkzoo.core.state import Record
from linkzoo.games.linkage import describe
from linkzoo.games.linkage.components import COLOURS, PLACEMENTS
from linkzoo.games.linkage.state import NONE
from linkzoo.games.linkage.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import banner, heading

_LEFT, _WIDTH = 598, 277
_RIGHT = _LEFT + _WIDTH


def draw_panel(state: Record) -> str:
    """Returns the markup of the panel, at the right of a picture of 896 x 592 pixels."""
    return group(
        heading("Linkage", f"move {state.ply}", _LEFT, _RIGHT, style.GREY),
        _banner(state),
        _role_card(state, "More", _LEFT),
        _role_card(state, "Fewer", _LEFT + 143),
        _gauge(state),
        *(_supply(state, index) for index in range(len(COLOURS))),
        _key(state),
        fill=style.INK,
    )


def _banner(state: Record) -> str:
    colour = style.ROLES.get(describe.role(state, describe.acting(state)), style.INK)
    words, over = (describe.turn(state), describe.remark(state)), state.seat == NONE
    return banner(*words, _LEFT, _WIDTH, colour, over=over, fill="#f8cb4c")


def _role_card(state: Record, name: str, left: float) -> str:
    """Returns a role's card; its border is thick for the seat to act or the winner."""
    seat = next((s for s in range(2) if describe.role(state, s) == name), None)
    threshold = int(state.threshold)
    needs = f"groups ≥ {threshold}" if name == "More" else f"groups ≤ {threshold - 1}"
    border, colour = 3 if seat == describe.acting(state) else 1, style.ROLES[name]
    return group(
        rect(left, 127, 134, 76, 10, fill="#fff", stroke=colour, stroke_width=border),
        text(name, left + 14, 150, 18, font_weight="bold", fill=colour),
        text(needs, left + 14, 171, 14, fill=colour),
        text("not taken yet" if seat is None else f"player {seat}", left + 14, 191, 14),
        data_part=f"take {name.lower()}" if seat is None else None,
    )


def _gauge(state: Record) -> str:
    """Returns a gauge of the groups so far, up to the maximum, with the threshold."""
    size, groups, threshold = int(state.board_size), int(state.groups), int(state.threshold)
    most = (size**2 - int(state.free_hole or size % 2)) // 2  # maximum number of pieces by area
    left, width = _LEFT + 54, _WIDTH - 54
    step = width / most
    turning = left + step * min(threshold - 1, most)
    anchor = "middle" if turning < _RIGHT - 9 else "end"
    bars = [
        rect(
            *(left + step * i + 1, 242, step - 2, 22, 2),
            fill=style.ROLES["More" if i + 1 >= threshold else "Fewer"],
            fill_opacity=None if i < groups else 0.16,
        )
        for i in range(most)
    ]
    return group(
        text("groups", _LEFT, 229, 15, fill=style.GREY),
        text(str(groups), _LEFT, 266, 34, font_weight="bold"),
        *bars,
        path("M", turning, 238, "v", 30, stroke=style.INK, stroke_width=2.5),
        text(str(threshold), turning, 233, 14, text_anchor=anchor, font_weight="bold"),
        text("Fewer wins", left, 286, 13, fill=style.ROLES["Fewer"]),
        text("More wins", _RIGHT, 286, 13, fill=style.ROLES["More"], text_anchor="end"),
    )


def _supply(state: Record, index: int) -> str:
    """Returns a colour's letter, its remaining pieces, outlines of those placed, and the count."""
    letter, left, y = COLOURS[index], int(state.supply[index]), 316 + 36 * index
    placed = int((state.pieces[: state.num_pieces] // PLACEMENTS == index).sum())
    slots = [(_LEFT + 28 + 38 * i, y) for i in range(left + placed)]
    return group(
        text(letter, _LEFT, y + 16, 17, font_weight="bold"),
        *(style.rimmed(letter, *slot) for slot in slots[:left]),
        *(
            rect(x + 1, y + 1, 34, 17, 4, fill="none", stroke=style.LINE, stroke_width=1.5)
            for x, y in slots[left:]
        ),
        text(str(left), _RIGHT, y + 16, 17, text_anchor="end"),
        data_part=letter,
    )


def _key(state: Record) -> str:
    holed = style.hole(_LEFT + 12, 558, 10) + text("the hole", _LEFT + 34, 563, 14)
    return group(
        path("M", _LEFT, 472, "h", _WIDTH, stroke=style.LINE, stroke_width=1.5),
        style.counter(_LEFT + 12, 496, 10),
        text("on the last piece", _LEFT + 34, 501, 14),
        rect(_LEFT, 514, 24, 24, 4, fill=style.CLOSED),
        text("closed, beside the last piece", _LEFT + 34, 531, 14),
        holed if state.hole != NONE else "",
    )
