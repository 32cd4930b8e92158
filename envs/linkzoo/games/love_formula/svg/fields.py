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
_GAP = 7
_COLUMN = 150  # minimum width of a column of couples and cards
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
        titled: Whether the free slots have a title.
        held: Whether the visible cards that the player holds are in the field.
        least: The smallest letter size of names.
    """

    scale: float
    faces: bool = True
    full: bool = False
    counted: bool = False
    titled: bool = True
    held: bool = True
    least: float = 10


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
        content = _laid_out(view, player, table, (box.width - 2 * _INSET) / look.scale, look)
        if content.height * look.scale <= box.height - _HEAD - _INSET / 2:
            break
    border = 1
    colour = style.LINE
    if player == view["seat"] or player in view["winners"]:
        border = 3
        colour = style.SEATS[player]
    transform = f"translate({box.left + _INSET:.2f} {box.top + _HEAD:.2f}) scale({look.scale:g})"
    return group(
        rect(*box, 10, fill=style.CARD, stroke=colour, stroke_width=border),
        _head(view, player, seat, table, box),
        group(content.draw(), transform=transform),
        fill=style.INK,
        data_field=str(player),
        data_part=f"PLAYER {player}",
    )


def room_for(view: Json, player: int, table: Table, width: float, look: Look) -> float:
    """Returns the height of a field of some width."""
    content = _laid_out(view, player, table, (width - 2 * _INSET) / look.scale, look)
    return _HEAD + content.height * look.scale + _INSET / 2 + 0.1


def _head(view: Json, player: int, seat: int | None, table: Table, box: Box) -> str:
    """Returns the player's number, shield and points."""
    y = box.top + 24
    right = box.left + box.width - _INSET
    name = f"Player {player}"
    if player == seat:
        name = f"{name} (you)"
        if box.width < _WIDE:
            name = "You"
    shield = describe.shield(view, player, table.course)
    points = str(view["vp"][player])
    mark = style.seat_mark(player, box.left + 21, y - 6, 11)
    if box.width < _NARROW:
        shield = ""  # it has a line of its own
    if (shield or box.width < _NARROW) and box.width < _WIDE:
        return group(
            mark,
            text(name, box.left + 38, y, 14, font_weight="bold"),
            text(shield, right - 34, y, 12.5, text_anchor="end"),
            text(points, right, y + 1, 21, text_anchor="end", font_weight="bold"),
        )
    return group(
        mark,
        text(name, box.left + 40, y, 17, font_weight="bold"),
        text(shield, right - 84, y, 13, text_anchor="end") if shield else "",
        text("points", right, y, 12.5, text_anchor="end", fill=style.GREY),
        text(points, right + _INSET - 58, y + 1, 21, text_anchor="end", font_weight="bold"),
    )


def _laid_out(view: Json, player: int, table: Table, width: float, look: Look) -> _Block:
    """Lays out free slots and couples in balanced columns, with the cards held below."""
    columns = max(int((width + _GAP) / (_COLUMN + _GAP)), 1)
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
    height = max(ends)
    held = describe.held(view, player)
    if look.counted:
        hidden = {name: cards for name, cards in held.items() if isinstance(cards, int)}
        lines = [" · ".join(f"{name.capitalize()} {cards}" for name, cards in hidden.items())]
        if width * look.scale < _NARROW - 2 * _INSET:
            lines.append(describe.shield(view, player, table.course).capitalize())
        for words in filter(None, lines):
            line = _line(words, width, look)
            placed.append((line, 0.0, height))
            height += line.height
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
    top = 24 if look.titled else 5
    height = top + PITCH * len(slots) + 2

    def draw() -> str:
        rows = []
        if look.titled:
            rows.append(text("Free slots", 7, 17, _NAME, font_weight="bold", fill=style.GREY))
        for row, (subtype, name) in enumerate(slots.items()):
            y = top + PITCH * row
            card = table[name] if name else None
            rows.append(_position(f"{player}/{subtype}", card, subtype, subtype, y, width, look))
        return group(
            rect(0, 0, width, height, 7, fill=style.PAGE, stroke=style.LINE),
            *rows,
            data_part="FREE" if player == view["seat"] else None,
        )

    return _Block(height, draw)


def _couple(view: Json, couple: Json, table: Table, width: float, look: Look) -> _Block:
    """Returns a couple's block: its requirements, filled or empty, and its obstacles."""
    lines, letters = fit(couple["card"], width - 30, _NAME, look.least, 2, bold=True)
    needs = describe.needs(table, couple)
    obstacles = [
        _obstacle(view, entry, table, width, look) for entry in describe.obstacles_at(view, couple)
    ]
    top = 8 + _LINE * len(lines)
    height = top + PITCH * len(needs) + sum(obstacle.height for obstacle in obstacles) + 2

    def draw() -> str:
        face, rim, mark = style.COMPLETE if all(needs.values()) else style.INCOMPLETE
        head = [
            rect(0, 0, width, height, 7, fill=face, stroke=rim, stroke_width=1.5),
            text(mark, 7, 17, 14, fill=rim),
        ]
        for number, line in enumerate(lines):
            head.append(text(line, 23, 16 + _LINE * number, letters, font_weight="bold"))
        rows = []
        y = top
        for name, attached in needs.items():
            card = table[name] if attached else None
            position = f"{couple['card']}/{name}"
            rows.append(_position(position, card, name, table[name].subtype, y, width, look))
            y += PITCH
        bottom = float(y)
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
        drawn = style.strip(card, 0, 0, width - 10, turns, by=entry["by"], least=look.least)
        height = style.STRIP

    def draw() -> str:
        name = f"OBSTACLE {describe.copy_of(view, entry)}"
        return group(drawn, data_part=name, data_item=name)

    return _Block(height + PITCH - style.STRIP, draw)


def _position(
    name: str, card: Card | None, label: str, subtype: str, y: float, width: float, look: Look
) -> str:
    """Returns a position with its preparation, or an empty one with its label and subtype."""
    if card is None:
        strip = style.place(label, subtype, 5, y, width - 10, look.least)
    else:
        strip = style.strip(card, 5, y, width - 10, least=look.least)
    return group(strip, data_part=f"POS {name}", data_item=f"POS {name}")


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
            y = _LABEL + PITCH * row
            strip = style.strip(table[card], x, y, step - _GAP, note, least=look.least)
            if named:
                strip = style.selectable(table[card], strip)
            markup += strip
        return markup

    return _Block(_LABEL + PITCH * rows + 4, draw)
