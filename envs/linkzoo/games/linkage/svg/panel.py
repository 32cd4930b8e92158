"""The panel beside the board: the turn, the roles, the groups, the supply and a key."""

from linkzoo.core.state import Record
from linkzoo.games.linkage import describe
from linkzoo.games.linkage.components import COLOURS, PLACEMENTS
from linkzoo.games.linkage.state import NONE
from linkzoo.games.linkage.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.panel import CARD, GREY, INK, LINE, banner, heading, moved

WIDTH = 277
_LEFT = style.WIDTH - style.MARGIN - WIDTH - 1
_RIGHT = _LEFT + WIDTH


def draw_panel(state: Record) -> str:
    """Returns the markup of the panel, at the right of a picture of 896 x 592 pixels."""
    parts = (_turn(state), _supplies(state), _key(state))
    return group(*(part for part, _, _ in parts), fill=INK)


def draw_below(state: Record, top: float, scale: float) -> tuple[str, float]:
    """Returns the panel below a board that ends at `top`, and where it ends; supplies first."""
    markup = []
    for part, first, last in (_supplies(state), _turn(state), _key(state)):
        markup.append(moved(part, scale * (8 / scale - _LEFT), top - scale * first, scale))
        top += scale * (last - first)
    return group(*markup, fill=INK), top


# Parts of the panel, each with where it begins and ends.


def _turn(state: Record) -> tuple[str, int, int]:
    parts = (
        heading("Linkage", f"move {state.ply}", _LEFT, _RIGHT),
        _banner(state),
        _role_card(state, "More", _LEFT),
        _role_card(state, "Fewer", _LEFT + 143),
        _gauge(state),
    )
    return "".join(parts), 16, 300


def _supplies(state: Record) -> tuple[str, int, int]:
    return "".join(_supply(state, index) for index in range(len(COLOURS))), 306, 460


def _banner(state: Record) -> str:
    colour = style.ROLES.get(describe.role(state, describe.acting(state)), INK)
    words, over = (describe.turn(state), describe.remark(state)), state.seat == NONE
    return banner(*words, _LEFT, WIDTH, colour, over=over)


def _role_card(state: Record, name: str, left: float) -> str:
    """Returns a role's card; its border is thick for the seat to act or the winner."""
    seat = next((s for s in range(2) if describe.role(state, s) == name), None)
    threshold = int(state.threshold)
    needs = f"groups ≥ {threshold}" if name == "More" else f"groups ≤ {threshold - 1}"
    border, colour = 3 if seat == describe.acting(state) else 1, style.ROLES[name]
    return group(
        rect(left, 127, 134, 76, 10, fill=CARD, stroke=colour, stroke_width=border),
        text(name, left + 14, 150, 18, font_weight="bold", fill=colour),
        text(needs, left + 14, 171, 14, fill=colour),
        text("not taken yet" if seat is None else f"player {seat}", left + 14, 191, 14),
        data_part=f"take {name.lower()}" if seat is None else None,
        data_item=f"role {name}",
    )


def _gauge(state: Record) -> str:
    """Returns a gauge of the groups so far, up to the maximum, with the threshold."""
    size, groups, threshold = int(state.board_size), int(state.groups), int(state.threshold)
    most = (size**2 - int(state.free_hole or size % 2)) // 2  # maximum number of pieces by area
    left, width = _LEFT + 54, WIDTH - 54
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
        text("groups", _LEFT, 229, 15, fill=GREY),
        text(str(groups), _LEFT, 266, 34, font_weight="bold"),
        *bars,
        path("M", turning, 238, "v", 30, stroke=INK, stroke_width=2.5),
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
        rect(_LEFT, y - 8, WIDTH, 36, fill_opacity=0),  # all of the row can be selected
        text(letter, _LEFT + 5, y + 16, 17, font_weight="bold"),
        *(style.rimmed(letter, *slot) for slot in slots[:left]),
        *(
            rect(x + 1, y + 1, 34, 17, 4, fill="none", stroke=LINE, stroke_width=1.5)
            for x, y in slots[left:]
        ),
        text(str(left), _RIGHT - 6, y + 16, 17, text_anchor="end"),
        data_part=letter,
    )


def _key(state: Record) -> tuple[str, int, int]:
    holed = style.hole(_LEFT + 12, 558, 10) + text("the hole", _LEFT + 34, 563, 14)
    parts = (
        path("M", _LEFT, 472, "h", WIDTH, stroke=LINE, stroke_width=1.5),
        style.counter(_LEFT + 12, 496, 10),
        text("on the last piece", _LEFT + 34, 501, 14),
        rect(_LEFT, 514, 24, 24, 4, fill=style.CLOSED),
        text("closed, beside the last piece", _LEFT + 34, 531, 14),
        holed if state.hole != NONE else "",
    )
    return "".join(parts), 466, 584
