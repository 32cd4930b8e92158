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
_ROLES = 119  # upper edge of the roles, below the name and the turn
ABOVE = _ROLES - 12  # height of the name and the turn


def draw_panel(state: Record) -> str:
    """Returns the markup of the panel, at the right of a picture of 896 x 592 pixels."""
    head = heading("Linkage", f"move {state.ply}", _LEFT, _RIGHT)
    return group(head, _banner(state), draw_beside(state), fill=INK)


def draw_beside(state: Record) -> str:
    """Returns the markup of the panel without the game's name and the turn."""
    parts = (_roles(state), _supplies(state), _key(state))
    return group(*(part for part, _, _ in parts), fill=INK)


def draw_below(state: Record, top: float, scale: float) -> tuple[str, float]:
    """Returns the panel below a board that ends at `top`, supplies first, and its lower edge."""
    markup = []
    for part, start, end in (_supplies(state), _roles(state), _key(state)):
        markup.append(moved(part, scale * (8 / scale - _LEFT), top - scale * start, scale))
        top += scale * (end - start)
    return group(*markup, fill=INK), top


# Parts of the panel, each with its upper and lower edge.


def _roles(state: Record) -> tuple[str, int, int]:
    parts = (
        _role_card(state, "More", _LEFT),
        _role_card(state, "Fewer", _LEFT + 143),
        _gauge(state),
    )
    return "".join(parts), _ROLES, 300


def _supplies(state: Record) -> tuple[str, int, int]:
    return "".join(_supply(state, index) for index in range(len(COLOURS))), 306, 460


def _banner(state: Record) -> str:
    colour = style.ROLES.get(describe.role(state, describe.acting(state)), INK)
    turn = describe.turn(state)
    remark = describe.remark(state)
    return banner(turn, remark, _LEFT, WIDTH, colour, over=state.seat == NONE)


def _role_card(state: Record, name: str, left: float) -> str:
    """Returns a role's card; its border is thick for the seat to act or the winner."""
    goals = {"More": f"groups ≥ {state.threshold}", "Fewer": f"groups ≤ {state.threshold - 1}"}
    colour = style.ROLES[name]
    border = 1
    player = "not taken yet"
    part: str | None = f"take {name.lower()}"
    for seat in range(2):
        if describe.role(state, seat) == name:
            player = f"player {seat}"
            part = None
            if seat == describe.acting(state):
                border = 3
    return group(
        rect(left, 127, 134, 76, 10, fill=CARD, stroke=colour, stroke_width=border),
        text(name, left + 14, 150, 18, font_weight="bold", fill=colour),
        text(goals[name], left + 14, 171, 14, fill=colour),
        text(player, left + 14, 191, 14),
        data_part=part,
        data_item=f"role {name}",
    )


def _gauge(state: Record) -> str:
    """Returns a gauge of the groups so far, up to the maximum, with the threshold."""
    size = int(state.board_size)
    threshold = int(state.threshold)
    most = (size**2 - int(state.free_hole or size % 2)) // 2  # maximum number of pieces by area
    left = _LEFT + 54
    step = (WIDTH - 54) / most
    bars = []
    for groups in range(1, most + 1):
        role = "More" if groups >= threshold else "Fewer"
        opacity = None if groups <= state.groups else 0.16
        box = (left + step * (groups - 1) + 1, 242, step - 2, 22, 2)
        bars.append(rect(*box, fill=style.ROLES[role], fill_opacity=opacity))
    turning = left + step * min(threshold - 1, most)
    anchor = "middle" if turning < _RIGHT - 9 else "end"
    return group(
        text("groups", _LEFT, 229, 15, fill=GREY),
        text(str(state.groups), _LEFT, 266, 34, font_weight="bold"),
        *bars,
        path("M", turning, 238, "v", 30, stroke=INK, stroke_width=2.5),
        text(str(threshold), turning, 233, 14, text_anchor=anchor, font_weight="bold"),
        text("Fewer wins", left, 286, 13, fill=style.ROLES["Fewer"]),
        text("More wins", _RIGHT, 286, 13, fill=style.ROLES["More"], text_anchor="end"),
    )


def _supply(state: Record, index: int) -> str:
    """Returns a colour's letter, its remaining pieces, outlines of the placed, and the count."""
    letter = COLOURS[index]
    y = 316 + 36 * index
    remaining = int(state.supply[index])
    placed = int((state.pieces[: state.num_pieces] // PLACEMENTS == index).sum())
    pieces = []
    for number in range(remaining + placed):
        x = _LEFT + 28 + 38 * number
        if number < remaining:
            pieces.append(style.rimmed(letter, x, y))
        else:
            outline = rect(x + 1, y + 1, 34, 17, 4, fill="none", stroke=LINE, stroke_width=1.5)
            pieces.append(outline)
    return group(
        rect(_LEFT, y - 8, WIDTH, 36, fill_opacity=0),  # all of the row can be clicked
        text(letter, _LEFT + 5, y + 16, 17, font_weight="bold"),
        *pieces,
        text(str(remaining), _RIGHT - 6, y + 16, 17, text_anchor="end"),
        data_part=letter,
    )


def _key(state: Record) -> tuple[str, int, int]:
    parts = [
        path("M", _LEFT, 472, "h", WIDTH, stroke=LINE, stroke_width=1.5),
        style.counter(_LEFT + 12, 496, 10),
        text("on the last piece", _LEFT + 34, 501, 14),
        rect(_LEFT, 514, 24, 24, 4, fill=style.CLOSED),
        text("closed, beside the last piece", _LEFT + 34, 531, 14),
    ]
    if state.hole != NONE:
        parts.append(style.hole(_LEFT + 12, 558, 10))
        parts.append(text("the hole", _LEFT + 34, 563, 14))
    return "".join(parts), 466, 584
