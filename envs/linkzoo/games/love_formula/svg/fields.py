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

_HEAD = 36  # height of the head
_INSET = 10
_WIDE = 400  # width with room for all words in the head
_NARROW = 250  # width without room for the shield in the head
_TINY = 190  # width without room for a note beside the player in the head
_GAP = 7
_COLUMN = 150  # default minimum width of a column
_LINE = 15  # line height of a couple's name
_NAME = 12  # letter size of a couple's name
_LABEL = 22  # height of a label above cards
FACES = 0.9  # the smallest scale at which held cards show their texts


class Look(NamedTuple):
    """How a field is drawn.

    Attributes:
        scale: The scale of its content.
        faces: Whether held cards show their texts.
        full: Whether obstacles show their texts and held preparations their kind.
        counted: Whether a line counts hidden cards.
        titled: Whether the free slots have a title, and empty ones a row each.
        held: Whether the visible cards that the player holds are in the field.
        least: The smallest letter size of names.
        pitch: The distance between the upper edges of strips.
        column: The minimum width of a column of couples and cards.
        inset: The distance of columns from the edges of the field.
        head: The height of the field's head.
        brief: Whether complete couples have only the marks of their preparations, and hidden cards
            are counted in the head.
    """

    scale: float
    faces: bool = True
    full: bool = False
    counted: bool = False
    titled: bool = True
    held: bool = True
    least: float = 10
    pitch: float = PITCH
    column: float = _COLUMN
    inset: float = _INSET
    head: float = _HEAD
    brief: bool = False

    @property
    def least_with_seat(self) -> float:
        """The smallest letter size of names beside a seat's number, which is 2 % smaller."""
        if self.counted:
            return max(self.least, style.LEAST / self.scale)
        return self.least

    @property
    def strip(self) -> float:
        """The height of a strip."""
        return self.pitch - PITCH + style.STRIP


# Looks to try: with and without the texts of held cards.
_LOOKS = [Look(percent / 100, faces=True) for percent in range(150, 85, -5)]
_LOOKS += [Look(percent / 100, faces=False) for percent in range(150, 20, -5)]
TALL = Look(1.36, full=True, counted=True)  # for narrow screens


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
    view: Json, player: int, seat: int | None, table: Table, box: Box, given: Look | None = None
) -> str:
    """Returns a player's field in a box, with the texts of cards if there is room.

    It has the look `given`, else the largest scale that fits.
    """
    looks = _LOOKS if given is None else [given]
    for look in looks:
        content = _laid_out(view, player, table, (box.width - 2 * look.inset) / look.scale, look)
        if content.height * look.scale <= box.height - look.head - _INSET / 2:
            break
    note, _ = _notes(view, player, table, box.width, look)
    border = 1
    colour = style.LINE
    if player == view["seat"] or player in view["winners"]:
        border = 3
        colour = style.SEATS[player]
    transform = (
        f"translate({box.left + look.inset:.2f} {box.top + look.head:.2f}) scale({look.scale:g})"
    )
    return group(
        rect(*box, 10, fill=style.CARD, stroke=colour, stroke_width=border),
        _head(view, player, seat, note, box, look.head),
        group(content.draw(), transform=transform),
        fill=style.INK,
        data_field=str(player),
        data_part=f"PLAYER {player}",
    )


def room_for(view: Json, player: int, table: Table, width: float, look: Look) -> float:
    """Returns the height of a field of some width."""
    content = _laid_out(view, player, table, (width - 2 * look.inset) / look.scale, look)
    return look.head + content.height * look.scale + _INSET / 2 + 0.1


def _head(view: Json, player: int, seat: int | None, note: str, box: Box, height: float) -> str:
    """Returns the player's number, a note and points."""
    y = box.top + height - 12
    right = box.left + box.width - _INSET
    name = f"Player {player}"
    if player == seat:
        name = f"{name} (you)"
        if box.width < _WIDE:
            name = "You"
    if note and box.width < _TINY:  # the mark names the player
        name = note
        note = ""
    points = str(view["vp"][player])
    mark = style.seat_mark(player, box.left + 21, y - 6, 11)
    if (note or box.width < _NARROW) and box.width < _WIDE:
        return group(
            mark,
            text(name, box.left + 38, y, 14, font_weight="bold"),
            text(note, right - 34, y, 12.5, text_anchor="end"),
            text(points, right, y + 1, 21, text_anchor="end", font_weight="bold"),
        )
    return group(
        mark,
        text(name, box.left + 40, y, 17, font_weight="bold"),
        text(note, right - 84, y, 13, text_anchor="end") if note else "",
        text("points", right, y, 12.5, text_anchor="end", fill=style.GREY),
        text(points, right + _INSET - 58, y + 1, 21, text_anchor="end", font_weight="bold"),
    )


def _laid_out(view: Json, player: int, table: Table, width: float, look: Look) -> _Block:
    """Lays out free slots and couples in balanced columns, with the cards held below."""
    columns = max(int((width + _GAP) / (look.column + _GAP)), 1)
    step = (width + _GAP) / columns
    couples = view["fields"][player]["couples"]
    blocks = [_free(view, player, table, step - _GAP, look)]
    blocks += [_couple(view, couple, table, step - _GAP, look) for couple in couples]
    ends = [0.0] * columns
    placed = []
    for block in blocks:
        column = min(range(columns), key=ends.__getitem__)
        placed.append((block, step * column, ends[column]))
        ends[column] += block.height + _GAP
    held = describe.held(view, player)
    _, lines = _notes(view, player, table, width * look.scale + 2 * look.inset, look)
    for words in lines:
        line = _line(words, step - _GAP, look)
        fitting = (column for column in range(columns) if ends[column] + line.height <= max(ends))
        column = next(fitting, ends.index(min(ends)))
        placed.append((line, step * column, ends[column]))
        ends[column] += line.height
    height = max(ends)
    for label, cards in held.items():
        visible = isinstance(cards, list)
        wanted = look.held if visible else not look.counted
        if describe.size(cards) and wanted:
            named = is_selectable(view, player, label)
            if look.faces and isinstance(cards, list):
                block = _faces(label, cards, table, step, columns, look, named=named)
            else:
                block = _cards(label, cards, table, step, columns, look, named=named)
            placed.append((block, 0.0, height))
            height += block.height

    def draw() -> str:
        return "".join(moved(block.draw(), x, y) for block, x, y in placed)

    return _Block(height, draw)


def _notes(
    view: Json, player: int, table: Table, width: float, look: Look
) -> tuple[str, list[str]]:
    """Returns a note for the head of a field, and notes with lines of their own.

    They count hidden cards, if wanted, and have the shield.
    """
    shield = describe.shield(view, player, table.course)
    if not look.counted:
        return shield, []
    held = describe.held(view, player).items()
    counts = " · ".join(
        f"{name.capitalize()} {cards}" for name, cards in held if isinstance(cards, int)
    )
    if look.brief and view["stage"] != "draft":
        head = counts
        lines = [shield.capitalize()]
    elif width < _NARROW:
        head = ""
        lines = [counts, shield.capitalize()]
    else:
        head = shield
        lines = [counts]
    return head, [line for line in lines if line]


def _line(words: str, width: float, look: Look) -> _Block:
    """Returns words in grey, in a line or two."""
    lines, letters = fit(words, width, _NAME, min(look.least, _NAME), 2, bold=True)

    def draw() -> str:
        rows = [text(line, 0, 16 + _LINE * row, letters) for row, line in enumerate(lines)]
        return group(*rows, font_weight="bold", fill=style.GREY)

    return _Block(_LABEL + 2 + _LINE * (len(lines) - 1), draw)


def is_selectable(view: Json, player: int, label: str) -> bool:
    """Returns whether cards held under a label can be selected: a hand, in a draft a pack."""
    return bool(player == view["seat"] and label == describe.in_use(view))


def _free(view: Json, player: int, table: Table, width: float, look: Look) -> _Block:
    """Returns the block of the free slots."""
    slots = view["fields"][player]["free"]
    rows = [[slot] for slot in slots]
    top = 24
    if not look.titled:
        rows = _shared_rows(slots)
        top = 5
    height = top + look.pitch * len(rows) + 2

    def draw() -> str:
        drawn = []
        if look.titled:
            drawn.append(text("Free slots", 7, 17, _NAME, font_weight="bold", fill=style.GREY))
        for row, subtypes in enumerate(rows):
            y = top + look.pitch * row
            step = (width - 7) / len(subtypes)
            for column, subtype in enumerate(subtypes):
                card = table[slots[subtype]] if slots[subtype] else None
                words = subtype if len(subtypes) == 1 else ""
                box = Box(5 + step * column, y, step - 3, look.strip)
                drawn.append(_position(f"{player}/{subtype}", card, words, subtype, box, look))
        return group(
            rect(0, 0, width, height, 7, fill=style.PAGE, stroke=style.LINE),
            *drawn,
            data_part="FREE" if player == view["seat"] else None,
        )

    return _Block(height, draw)


def _shared_rows(slots: dict[str, str | None]) -> list[list[str]]:
    """Returns rows of free slots: a row for each with a card, one for all empty ones."""
    rows = [[subtype] for subtype, card in slots.items() if card]
    empty = [subtype for subtype, card in slots.items() if not card]
    if empty:
        rows.append(empty)
    return rows


def _couple(view: Json, couple: Json, table: Table, width: float, look: Look) -> _Block:
    """Returns a couple's block: its requirements, filled or empty, and its obstacles."""
    lines, letters = fit(couple["card"], width - 30, _NAME, look.least, 2, bold=True)
    needs = describe.needs(table, couple)
    obstacles = [
        _obstacle(view, entry, table, width, look) for entry in describe.obstacles_at(view, couple)
    ]
    top = 8 + _LINE * len(lines)
    brief = look.brief and all(needs.values())
    rows_height = look.pitch if brief else look.pitch * len(needs)
    height = top + rows_height + sum(obstacle.height for obstacle in obstacles) + 2

    def draw() -> str:
        face, rim, mark = style.COMPLETE if all(needs.values()) else style.INCOMPLETE
        head = [
            rect(0, 0, width, height, 7, fill=face, stroke=rim, stroke_width=1.5),
            text(mark, 7, 17, 14, fill=rim),
        ]
        for number, line in enumerate(lines):
            head.append(text(line, 23, 16 + _LINE * number, letters, font_weight="bold"))
        rows = []
        for number, (name, attached) in enumerate(needs.items()):
            card = table[name] if attached else None
            if brief:
                step = (width - 7) / len(needs)
                box = Box(5 + step * number, top, step - 3, look.strip)
            else:
                box = Box(5, top + look.pitch * number, width - 10, look.strip)
            position = f"{couple['card']}/{name}"
            subtype = table[name].subtype
            rows.append(_position(position, card, name, subtype, box, look, brief=brief))
        bottom = float(top + rows_height)
        for obstacle in obstacles:
            rows.append(moved(obstacle.draw(), 5, bottom))
            bottom += obstacle.height
        name = f"COUPLE {couple['card']}"
        if view["decision"] == "DISCARD_MENU":  # its preparations can be selected, too
            return group(
                group(*head, data_part=name), *rows, data_couple=couple["card"], data_item=name
            )
        return group(*head, *rows, data_couple=couple["card"], data_item=name, data_part=name)

    return _Block(height, draw)


def _obstacle(view: Json, entry: Json, table: Table, width: float, look: Look) -> _Block:
    """Returns the block of an obstacle at a couple, with its turns left and its player."""
    card = table[entry["card"]]
    turns = str(entry["turns_left"]) if card.turns else "∞"
    if look.full:
        drawn, height = style.face(card, width - 10, turns, by=entry["by"], least=look.least)
    else:
        drawn = style.strip(
            card,
            0,
            0,
            width - 10,
            turns,
            by=entry["by"],
            least=look.least_with_seat,
            height=look.strip,
        )
        height = look.strip

    def draw() -> str:
        name = f"OBSTACLE {describe.copy_of(view, entry)}"
        return group(drawn, data_part=name, data_item=name)

    return _Block(height + PITCH - style.STRIP, draw)


def _position(
    name: str,
    card: Card | None,
    label: str,
    subtype: str,
    box: Box,
    look: Look,
    *,
    brief: bool = False,
) -> str:
    """Returns a position with its preparation, or an empty one with its label and subtype."""
    if card is None:
        drawn = style.place(label, subtype, *box[:3], look.least, box.height)
    elif brief:
        drawn = style.chip(card, *box)
    else:
        drawn = style.strip(card, *box[:3], least=look.least, height=box.height)
    return group(drawn, data_part=f"POS {name}", data_item=f"POS {name}")


def _faces(
    label: str,
    cards: list[str],
    table: Table,
    step: float,
    columns: int,
    look: Look,
    *,
    named: bool,
) -> _Block:
    """Returns cards with their texts, in columns."""
    ends = [float(_LABEL)] * columns
    faces = []
    for name, number in describe.copies(cards).items():
        column = min(range(columns), key=ends.__getitem__)
        note = style.times(number)
        card = table[name]
        face, height = style.face(
            card, step - _GAP, note, named=named, least=look.least, kind=look.full
        )
        faces.append((face, step * column, ends[column]))
        ends[column] += height + 4

    def draw() -> str:
        title = text(f"{label.capitalize()}, {len(cards)}", 0, 16, _NAME, font_weight="bold")
        return title + "".join(moved(*face) for face in faces)

    return _Block(max(ends) + 2, draw)


def _cards(
    label: str,
    cards: list[str] | int,
    table: Table,
    step: float,
    columns: int,
    look: Look,
    *,
    named: bool,
) -> _Block:
    """Returns cards in rows, or backs in one row."""
    rows = 0
    if isinstance(cards, list):
        rows = -(-len(describe.copies(cards)) // columns)
    title = f"{label.capitalize()}, {describe.size(cards)}"

    def draw() -> str:
        markup = text(title, 0, 16, _NAME, font_weight="bold", fill=style.GREY)
        if isinstance(cards, int):
            pitch = min(11, (step * columns - 80) / cards)
            backs = [rect(72 + pitch * i, 4, 0.75 * pitch, 15, 2) for i in range(cards)]
            return markup + group(*backs, fill=style.BACK)
        for index, (card, number) in enumerate(describe.copies(cards).items()):
            row, column = divmod(index, columns)
            note = style.times(number)
            x = step * column
            y = _LABEL + look.pitch * row
            strip = style.strip(
                table[card], x, y, step - _GAP, note, least=look.least, height=look.strip
            )
            if named:
                strip = style.selectable(table[card], strip)
            markup += strip
        return markup

    return _Block(_LABEL + look.pitch * rows + 4, draw)
