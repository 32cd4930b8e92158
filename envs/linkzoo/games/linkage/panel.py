"""The panel beside the board: the turn, the roles, the groups, the supply and a key."""

from linkzoo.svg.elements import group, path, rect, text
from linkzoo.games.linkage import style
from linkzoo.games.linkage.pieces import COLOURS
from linkzoo.games.linkage.view import Json, acting, hole, most_groups, placed, remark, role, turn

_LEFT, _WIDTH = 598, 277
_RIGHT = _LEFT + _WIDTH


def draw_panel(view: Json) -> str:
    """The panel's markup, at the right of a picture of 896 x 592 pixels."""
    return group(
        text("Linkage", _LEFT, 46, 27, font_weight="bold"),
        text(f"move {view['ply']}", _RIGHT, 46, 15, text_anchor="end", fill=style.GREY),
        _banner(view),
        _role_card(view, "More", _LEFT),
        _role_card(view, "Fewer", _LEFT + 143),
        _gauge(view),
        *(_supply(view, index) for index in range(len(COLOURS))),
        _key(view),
        fill=style.INK,
    )


def _banner(view: Json) -> str:
    """Whose turn it is, or who has won."""
    said = remark(view)
    colour = style.ROLES.get(role(view, acting(view)), style.INK)
    lines = text(turn(view), _LEFT + 16, 84 if said else 93, 17, font_weight="bold")
    lines += text(said, _LEFT + 16, 104, 14) if said else ""
    if view["seat"] is None:
        lines += text("★", _RIGHT - 14, 98, 30, text_anchor="end", fill="#f8cb4c")
    return rect(_LEFT, 60, _WIDTH, 54, 10, fill=colour) + group(lines, fill="#fff")


def _role_card(view: Json, name: str, left: float) -> str:
    """A role, its groups and who plays it; a thick border for the seat to act or the winner."""
    seat = next((s for s in range(2) if role(view, s) == name), None)
    threshold = view["options"]["threshold"]
    needs = f"groups ≥ {threshold}" if name == "More" else f"groups ≤ {threshold - 1}"
    border, colour = 3 if seat == acting(view) else 1, style.ROLES[name]
    return group(
        rect(left, 127, 134, 76, 10, fill="#fff", stroke=colour, stroke_width=border),
        text(name, left + 14, 150, 18, font_weight="bold", fill=colour),
        text(needs, left + 14, 171, 14, fill=colour),
        text("not taken yet" if seat is None else f"player {seat}", left + 14, 191, 14),
        data_part=f"take {name.lower()}" if seat is None else None,
    )


def _gauge(view: Json) -> str:
    """The groups so far, on a scale that ends at the most there can be, with the threshold."""
    most, groups, threshold = most_groups(view), view["groups"], view["options"]["threshold"]
    left, width = _LEFT + 54, _WIDTH - 54
    step = width / most
    turning = left + step * min(threshold - 1, most)
    anchor = "middle" if turning < _RIGHT - 9 else "end"
    bars = [
        rect(
            left + step * i + 1,
            242,
            step - 2,
            22,
            2,
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


def _supply(view: Json, index: int) -> str:
    """A colour's letter, its pieces that are left, outlines of those placed, and their number."""
    letter, left, y = COLOURS[index], view["supply"][COLOURS[index]], 316 + 36 * index
    slots = [(_LEFT + 28 + 38 * i, y) for i in range(left + placed(view, letter))]
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


def _key(view: Json) -> str:
    """What the counters and the hatching mean."""
    holed = style.hole(_LEFT + 12, 558, 10) + text("the hole", _LEFT + 34, 563, 14)
    return group(
        path("M", _LEFT, 472, "h", _WIDTH, stroke=style.LINE, stroke_width=1.5),
        style.counter(_LEFT + 12, 496, 10),
        text("on the last piece", _LEFT + 34, 501, 14),
        rect(_LEFT, 514, 24, 24, 4, fill=style.CLOSED),
        text("closed, beside the last piece", _LEFT + 34, 531, 14),
        holed if hole(view) is not None else "",
    )
