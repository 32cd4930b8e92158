"""The field of a player: points, free slots, couples with their obstacles, and the cards held."""

from collections.abc import Callable
from dataclasses import dataclass

from linkzoo.svg.letters import fit
from linkzoo.svg.elements import group, rect, text
from linkzoo.games.love_formula.drawing import style
from linkzoo.games.love_formula.drawing.style import PITCH
from linkzoo.games.love_formula.drawing.view import (
    Json,
    Table,
    copies,
    copy_of,
    held,
    needs,
    obstacles_at,
    shield,
    size,
)

_HEAD, _INSET, _GAP = 36, 10, 7
_COLUMN = 150  # the least width of a column of couples and cards
_LINE, _NAME = 15, 12  # of a couple's name: from line to line, and its letters
_LABEL = 22  # the height of a label above cards
_SCALES = tuple(percent / 100 for percent in range(120, 20, -5))


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width


@dataclass(frozen=True)
class _Block:
    """Something of a known height; `draw` gives its markup, which begins at (0, 0)."""

    height: float
    draw: Callable[[], str]


def draw_field(view: Json, player: int, seat: int | None, table: Table, box: Box) -> str:
    """A player's field in a box, at the largest scale at which all of it fits."""
    chosen = player == view["seat"] or player in view["winners"]
    border, colour = (3, style.SEATS[player]) if chosen else (1, style.LINE)
    scale, content = _content(view, player, table, box)
    return group(
        rect(
            *(box.left, box.top, box.width, box.height, 10),
            fill=style.CARD,
            stroke=colour,
            stroke_width=border,
        ),
        _head(view, player, seat, box),
        group(
            content.draw(),
            transform=f"translate({box.left + _INSET:.2f} {box.top + _HEAD:.2f}) scale({scale:g})",
        ),
        fill=style.INK,
        data_field=str(player),
        data_part=f"PLAYER {player}",
    )


def room_for(view: Json, player: int, table: Table, width: float) -> float:
    """The height that a field of some width takes at full size."""
    return _HEAD + _laid_out(view, player, table, width - 2 * _INSET).height + _INSET / 2


def _head(view: Json, player: int, seat: int | None, box: Box) -> str:
    """Whose field it is, what protects it, and the points."""
    y = box.top + 24
    who = f"Player {player}" + " (you)" * (player == seat)
    note = shield(view, player)
    points = str(view["vp"][player])
    return group(
        style.seat_mark(player, box.left + 21, y - 6, 11),
        text(who, box.left + 40, y, 17, font_weight="bold"),
        text(note, box.left + box.width / 2, y, 13, text_anchor="middle") if note else "",
        text("points", box.right - _INSET, y, 12.5, text_anchor="end", fill=style.GREY),
        text(points, box.right - 58, y + 1, 21, text_anchor="end", font_weight="bold"),
    )


def _content(view: Json, player: int, table: Table, box: Box) -> tuple[float, _Block]:
    """What lies in a field and its scale."""
    for scale in _SCALES:
        content = _laid_out(view, player, table, (box.width - 2 * _INSET) / scale)
        if content.height * scale <= box.height - _HEAD - _INSET / 2:
            break
    return scale, content


def _laid_out(view: Json, player: int, table: Table, width: float) -> _Block:
    """Free slots and couples, each in the column that is shortest; below them the cards held."""
    columns = int((width + _GAP) / (_COLUMN + _GAP))
    step = (width + _GAP) / columns
    boxes = [_free(view, player, table, step - _GAP)]
    boxes += [
        _couple(view, couple, table, step - _GAP) for couple in view["fields"][player]["couples"]
    ]
    ends = [0.0] * columns
    placed = []
    for block in boxes:
        column = min(range(columns), key=ends.__getitem__)
        placed.append((block, step * column, ends[column]))
        ends[column] += block.height + _GAP
    height = max(ends)
    for label, cards in held(view, player).items():
        if size(cards):
            block = _cards(label, cards, table, step, columns)
            placed.append((block, 0.0, height))
            height += block.height
    return _Block(height, lambda: "".join(_moved(*one) for one in placed))


def _moved(block: _Block, x: float, y: float) -> str:
    return group(block.draw(), transform=f"translate({x:.2f} {y:.2f})")


def _free(view: Json, player: int, table: Table, width: float) -> _Block:
    """The free slots."""
    slots = view["fields"][player]["free"]
    height = 24 + PITCH * len(slots) + 2

    def draw() -> str:
        return group(
            rect(0, 0, width, height, 7, fill=style.PAGE, stroke=style.LINE),
            text("Free slots", 7, 17, _NAME, font_weight="bold", fill=style.GREY),
            *(
                group(
                    style.strip(table[card], 5, 24 + PITCH * row, width - 10)
                    if card
                    else style.place(subtype, subtype, 5, 24 + PITCH * row, width - 10),
                    data_part=f"POS {player}/{subtype}",
                )
                for row, (subtype, card) in enumerate(slots.items())
            ),
            data_part="FREE" if player == view["seat"] else None,
        )

    return _Block(height, draw)


def _couple(view: Json, couple: Json, table: Table, width: float) -> _Block:
    """A couple: what it requires, each filled or still a place, and the obstacles."""
    lines, letters = fit(couple["card"], width - 30, _NAME, 10, 2, bold=True)
    wanted, obstacles = needs(table, couple), obstacles_at(view, couple)
    top = 8 + _LINE * len(lines)
    height = top + PITCH * (len(wanted) + len(obstacles)) + 2

    def draw() -> str:
        face, rim, mark = style.COMPLETE if all(wanted.values()) else style.INCOMPLETE
        below = top + PITCH * len(wanted)
        rows = _needed(couple["card"], wanted, table, top, width)
        rows += _obstacles(view, obstacles, table, below, width)
        names = [
            text(line, 23, 16 + _LINE * number, letters, font_weight="bold")
            for number, line in enumerate(lines)
        ]
        return group(
            rect(0, 0, width, height, 7, fill=face, stroke=rim, stroke_width=1.5),
            text(mark, 7, 17, 14, fill=rim),
            *names,
            *rows,
            data_couple=couple["card"],
            data_part=f"COUPLE {couple['card']}",
        )

    return _Block(height, draw)


def _needed(
    couple: str, wanted: dict[str, bool], table: Table, top: float, width: float
) -> list[str]:
    """What a couple requires, in rows."""
    return [
        group(
            style.strip(table[name], 5, top + PITCH * row, width - 10)
            if attached
            else style.place(name, table[name].subtype, 5, top + PITCH * row, width - 10),
            data_part=f"POS {couple}/{name}",
        )
        for row, (name, attached) in enumerate(wanted.items())
    ]


def _obstacles(
    view: Json, obstacles: list[Json], table: Table, top: float, width: float
) -> list[str]:
    """Obstacles in rows, with the turns that are left and who played them."""
    rows = []
    for row, entry in enumerate(obstacles):
        card = table[entry["card"]]
        left = str(entry["turns_left"]) if card.turns else "∞"
        strip = style.strip(card, 5, top + PITCH * row, width - 10, left, by=entry["by"])
        rows.append(group(strip, data_part=f"OBSTACLE {copy_of(view, entry)}"))
    return rows


def _cards(label: str, cards: list[str] | int, table: Table, step: float, columns: int) -> _Block:
    """Cards in rows, or as many backs in one."""
    rows = 0 if isinstance(cards, int) else -(-len(copies(cards)) // columns)
    name = f"{label.capitalize()}, {size(cards)}"

    def draw() -> str:
        words = text(name, 0, 16, _NAME, font_weight="bold", fill=style.GREY)
        if isinstance(cards, int):
            pitch = min(11, (step * columns - 80) / cards)
            backs = [rect(72 + pitch * i, 4, 0.75 * pitch, 15, 2) for i in range(cards)]
            return words + group(*backs, fill=style.BACK)
        return words + "".join(
            style.strip(
                table[card],
                step * (place % columns),
                _LABEL + PITCH * (place // columns),
                step - _GAP,
                f"×{number}" if number > 1 else "",
            )
            for place, (card, number) in enumerate(copies(cards).items())
        )

    return _Block(_LABEL + PITCH * rows + 4, draw)
