"""A player's field: points, free slots, couples with their obstacles, and cards held."""

from collections.abc import Callable
from typing import NamedTuple

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import Card
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.elements import group, rect, text
from linkzoo.svg.letters import fit
from linkzoo.svg.panel import moved

_HEAD, _INSET, _GAP = 36, 10, 7
_COLUMN = 150  # minimum width of a column of couples and cards
_LINE, _NAME = 15, 12  # line height and letter size of a couple's name
_LABEL = 22  # height of a label above cards
# Scales, and whether cards that are held show their texts.
FACES = 0.9  # the least scale with them
_LOOKS = [(percent / 100, True) for percent in range(150, 85, -5)]
_LOOKS += [(percent / 100, False) for percent in range(150, 20, -5)]
TALL = 1.36  # scale for narrow screens


class Box(NamedTuple):
    """A rectangle of the picture."""

    left: float
    top: float
    width: float
    height: float


class _Block(NamedTuple):
    """A block of known height; `draw` returns its markup, starting at (0, 0)."""

    height: float
    draw: Callable[[], str]


def draw_field(
    view: Json, player: int, seat: int | None, table: Table, box: Box, given: float = 0
) -> str:
    """Returns a player's field in a box, with the texts of cards if there is room.

    It has the largest scale that fits, or the one `given`.
    """
    chosen = player == view["seat"] or player in view["winners"]
    border, colour = (3, style.SEATS[player]) if chosen else (1, style.LINE)
    for scale, faces in [(given, True)] if given else _LOOKS:
        content = _laid_out(view, player, table, (box.width - 2 * _INSET) / scale, faces=faces)
        if content.height * scale <= box.height - _HEAD - _INSET / 2:
            break
    moved = f"translate({box.left + _INSET:.2f} {box.top + _HEAD:.2f}) scale({scale:g})"
    return group(
        rect(*box, 10, fill=style.CARD, stroke=colour, stroke_width=border),
        _head(view, player, seat, box),
        group(content.draw(), transform=moved),
        fill=style.INK,
        data_field=str(player),
        data_part=f"PLAYER {player}",
    )


def room_for(
    view: Json, player: int, table: Table, width: float, scale: float = 1, *, faces: bool = True
) -> float:
    """Returns the height of a field of some width, at a scale, with or without cards' texts."""
    content = _laid_out(view, player, table, (width - 2 * _INSET) / scale, faces=faces)
    return _HEAD + content.height * scale + _INSET / 2 + 0.1


def _head(view: Json, player: int, seat: int | None, box: Box) -> str:
    y, right = box.top + 24, box.left + box.width - _INSET
    narrow, own = box.width < 400, player == seat
    who = "You" if narrow and own else f"Player {player}" + " (you)" * own
    note = describe.shield(view, player)
    points = str(view["vp"][player])
    return group(
        style.seat_mark(player, box.left + 21, y - 6, 11),
        text(who, box.left + 40, y, 17, font_weight="bold"),
        text(note, right - 84, y, 13, text_anchor="end") if note else "",
        text("points", right, y, 12.5, text_anchor="end", fill=style.GREY),
        text(points, right + _INSET - 58, y + 1, 21, text_anchor="end", font_weight="bold"),
    )


def _laid_out(view: Json, player: int, table: Table, width: float, *, faces: bool) -> _Block:
    """Lays out free slots and couples in balanced columns, with the cards held below."""
    columns = max(int((width + _GAP) / (_COLUMN + _GAP)), 1)
    step = (width + _GAP) / columns
    couples = view["fields"][player]["couples"]
    blocks = [_free(view, player, table, step - _GAP)]
    blocks += [_couple(view, couple, table, step - _GAP) for couple in couples]
    ends = [0.0] * columns
    placed = []
    for block in blocks:
        column = min(range(columns), key=ends.__getitem__)
        placed.append((block, step * column, ends[column]))
        ends[column] += block.height + _GAP
    height = max(ends)
    for label, cards in describe.held(view, player).items():
        if describe.size(cards):
            picked = "pack" if view["stage"] == "draft" else "hand"
            named = player == view["seat"] and label == picked
            if faces and isinstance(cards, list):
                block = _faces(label, cards, table, step, columns, named=named)
            else:
                block = _cards(label, cards, table, step, columns, named=named)
            placed.append((block, 0.0, height))
            height += block.height
    return _Block(
        height,
        lambda: "".join(moved(block.draw(), x, y) for block, x, y in placed),
    )


def _free(view: Json, player: int, table: Table, width: float) -> _Block:
    slots = view["fields"][player]["free"]
    height = 24 + PITCH * len(slots) + 2

    def draw() -> str:
        return group(
            rect(0, 0, width, height, 7, fill=style.PAGE, stroke=style.LINE),
            text("Free slots", 7, 17, _NAME, font_weight="bold", fill=style.GREY),
            *(
                _place(f"{player}/{kind}", table.get(card), (kind, kind), 24 + PITCH * row, width)
                for row, (kind, card) in enumerate(slots.items())
            ),
            data_part="FREE" if player == view["seat"] else None,
        )

    return _Block(height, draw)


def _couple(view: Json, couple: Json, table: Table, width: float) -> _Block:
    """Returns a couple's block: its requirements, filled or empty, and its obstacles."""
    lines, letters = fit(couple["card"], width - 30, _NAME, 10, 2, bold=True)
    wanted, obstacles = describe.needs(table, couple), describe.obstacles_at(view, couple)
    top = 8 + _LINE * len(lines)
    height = top + PITCH * (len(wanted) + len(obstacles)) + 2

    def draw() -> str:
        face, rim, mark = style.COMPLETE if all(wanted.values()) else style.INCOMPLETE
        rows = [
            text(line, 23, 16 + _LINE * number, letters, font_weight="bold")
            for number, line in enumerate(lines)
        ]
        for row, (name, attached) in enumerate(wanted.items()):
            there, empty = table[name] if attached else None, (name, table[name].subtype)
            rows.append(_place(f"{couple['card']}/{name}", there, empty, top + PITCH * row, width))
        for row, entry in enumerate(obstacles, len(wanted)):
            card = table[entry["card"]]
            left = str(entry["turns_left"]) if card.turns else "∞"
            strip = style.strip(card, 5, top + PITCH * row, width - 10, left, by=entry["by"])
            name = f"OBSTACLE {describe.copy_of(view, entry)}"
            rows.append(group(strip, data_part=name, data_item=name))
        name = f"COUPLE {couple['card']}"
        # Where its preparations can be selected too, it is selected beside them.
        apart = view["decision"] == "DISCARD_MENU"
        head = (
            rect(0, 0, width, height, 7, fill=face, stroke=rim, stroke_width=1.5),
            text(mark, 7, 17, 14, fill=rim),
            *rows[: len(lines)],
        )
        return group(
            group(*head, data_part=name) if apart else "".join(head),
            *rows[len(lines) :],
            data_couple=couple["card"],
            data_item=name,
            data_part=None if apart else name,
        )

    return _Block(height, draw)


def _place(name: str, card: Card | None, empty: tuple[str, str], y: float, width: float) -> str:
    """Returns a position with its preparation, or an empty one with its label and subtype."""
    strip = style.strip(card, 5, y, width - 10) if card else style.place(*empty, 5, y, width - 10)
    return group(strip, data_part=f"POS {name}", data_item=f"POS {name}")


def _faces(
    label: str, cards: list[str], table: Table, step: float, columns: int, *, named: bool
) -> _Block:
    """Returns cards with their texts, in columns."""
    ends = [float(_LABEL)] * columns
    drawn = [text(f"{label.capitalize()}, {len(cards)}", 0, 16, _NAME, font_weight="bold")]
    for name, number in describe.copies(cards).items():
        column = min(range(columns), key=ends.__getitem__)
        note = f"×{number}" if number > 1 else ""
        face, height = style.face(table[name], step - _GAP, note, named=named)
        drawn.append(moved(face, step * column, ends[column]))
        ends[column] += height + 4
    return _Block(max(ends) + 2, lambda: "".join(drawn))


def _cards(
    label: str,
    cards: list[str] | int,
    table: Table,
    step: float,
    columns: int,
    *,
    named: bool,
) -> _Block:
    """Returns cards in rows, or backs in one row."""
    rows = 0 if isinstance(cards, int) else -(-len(describe.copies(cards)) // columns)
    name = f"{label.capitalize()}, {describe.size(cards)}"

    def draw() -> str:
        words = text(name, 0, 16, _NAME, font_weight="bold", fill=style.GREY)
        if isinstance(cards, int):
            pitch = min(11, (step * columns - 80) / cards)
            backs = [rect(72 + pitch * i, 4, 0.75 * pitch, 15, 2) for i in range(cards)]
            return words + group(*backs, fill=style.BACK)
        for index, (card, number) in enumerate(describe.copies(cards).items()):
            row, column = divmod(index, columns)
            note = f"×{number}" if number > 1 else ""
            place = step * column, _LABEL + PITCH * row, step - _GAP
            words += style.strip(table[card], *place, note, named=named)
        return words

    return _Block(_LABEL + PITCH * rows + 4, draw)
