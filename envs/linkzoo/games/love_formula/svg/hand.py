"""The cards that a player holds, as cards with their texts, across the picture of a page."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import REACTION, Card
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.fields import Box, is_selectable
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.elements import described, group, path, rect, text
from linkzoo.svg.letters import fit, width_of
from linkzoo.svg.panel import Part, moved

_HEIGHT = 73  # smallest height of a card
_COLUMNS = (4, 5, 6, 7, 3, 2)  # numbers of columns to try, the preferred ones first
_FEW = 32  # names of cards up to this number are in four columns, more in five
_GAP = 6  # between cards
_LABEL = 20  # height of a label above cards
_LETTER = 12.5  # letter size
_LINE = 14.5  # line height
_LINES = 17  # most lines of a card
_FEW_LINES = 4  # most lines of a low card
_PICKS = ("DRAFT", "SELECT")  # decisions in which a player picks a whole card
_BAND = 34  # width of the mark and the priority


def draw_hand(view: Json, player: int, table: Table, width: float, *, brief: bool = False) -> Part:
    """Returns a player's hand, in a draft the pack, and its height.

    A brief one has low cards, with the beginnings of their texts, where the player picks a whole
    card, and only names elsewhere.
    """
    label = describe.in_use(view)
    cards = describe.held(view, player)[label]
    if isinstance(cards, int) or not cards:
        return "", 0
    title = text(f"{label.capitalize()}, {len(cards)}", 0, 15, 13, font_weight="bold")
    named = is_selectable(view, player, label)
    picks = player == view["seat"] and view["decision"] in _PICKS
    if brief and not picks:
        rows, height = draw_names(list(describe.copies(cards).items()), table, width, named=named)
    else:
        lines = _FEW_LINES if brief else _LINES
        rows, height = _cards(cards, table, width, lines, named=named)
    return group(title, moved(rows, 0, _LABEL), fill=style.INK), _LABEL + height


def draw_names(cards: list[tuple[str, int]], table: Table, width: float, *, named: bool) -> Part:
    """Returns cards by name with their numbers, in rows, and the height."""
    columns = 4 if len(cards) <= _FEW else 5
    step = (width + _GAP) / columns
    drawn = []
    for index, (name, number) in enumerate(cards):
        row, column = divmod(index, columns)
        note = style.times(number)
        strip = style.strip(
            table[name], step * column, PITCH * row, step - _GAP, note, least=style.LEAST
        )
        if named:
            strip = style.selectable(table[name], strip)
        drawn.append(strip)
    return "".join(drawn), PITCH * -(-len(cards) // columns)


def _cards(cards: list[str], table: Table, width: float, lines: int, *, named: bool) -> Part:
    """Returns cards in columns, in the number of columns that needs the least height."""
    numbers = describe.copies(cards)
    layouts = [
        _placed(numbers, table, width, columns, lines)
        for columns in _COLUMNS
        if columns == _COLUMNS[0] or _has_room(numbers, table, width, columns)
    ]
    places, height = min(layouts, key=lambda layout: layout[1])
    drawn = []
    for (name, number), box in zip(numbers.items(), places, strict=True):
        note = style.times(number)
        card = _card(table[name], box.width, box.height, note, lines, named=named)
        drawn.append(moved(card, box.left, box.top))
    return "".join(drawn), height


def _placed(
    numbers: dict[str, int], table: Table, width: float, columns: int, lines: int
) -> tuple[list[Box], float]:
    """Returns the box of each card, in columns of similar heights, and the height of all."""
    step = (width + _GAP) / columns
    heights = [
        _height(table[name], step - _GAP, style.times(number), lines)
        for name, number in numbers.items()
    ]
    tallest_first = sorted(range(len(heights)), key=lambda index: -heights[index])
    ends = [0.0] * columns
    column_of = {}
    for index in tallest_first:
        column_of[index] = min(range(columns), key=ends.__getitem__)
        ends[column_of[index]] += heights[index] + _GAP
    tops = [0.0] * columns
    boxes = []
    for index, height in enumerate(heights):
        column = column_of[index]
        boxes.append(Box(step * column, tops[column], step - _GAP, height))
        tops[column] += height + _GAP
    return boxes, max(ends)


def _has_room(numbers: dict[str, int], table: Table, width: float, columns: int) -> bool:
    """Returns whether columns have room for each word of the cards' names."""
    inner = (width + _GAP) / columns - _GAP
    names = [_name(table[name], inner, style.times(number))[0] for name, number in numbers.items()]
    return not any(line.endswith("…") for lines in names for line in lines)


def _height(card: Card, width: float, note: str, lines: int) -> float:
    """Returns the height that a card needs."""
    name, _ = _name(card, width, note)
    return max(_HEIGHT, 14 + _LINE * (len(name) + len(_words(card, width, lines - len(name)))))


def _name(card: Card, width: float, note: str) -> tuple[list[str], float]:
    """Returns the lines of a card's name and the letter size.

    A note stands beside a single line, or else in the band, below the mark.
    """
    room = width - _BAND - 7
    room_beside = room - 5 - width_of(note, _LETTER, True)
    beside = fit(card.name, room_beside, _LETTER, 12, 3, bold=True)
    if len(beside[0]) == 1:
        return beside
    alone = fit(card.name, room, _LETTER, 12, 3, bold=True)
    return beside if note and len(alone[0]) == 1 else alone


def _words(card: Card, width: float, most: int) -> list[str]:
    """Returns at most so many lines of a card's text; without one, of its kind."""
    lines, _ = fit(card.text or style.kind_of(card), width - 12, _LETTER, _LETTER, most)
    return lines


def _card(card: Card, width: float, height: float, note: str, most: int, *, named: bool) -> str:
    """Returns a card from (0, 0) on: mark and priority, name, number of copies, and text."""
    look = style.look_of(card)
    name, letters = _name(card, width, note)
    head = 8 + _LINE * len(name)
    band: list[str | float] = ["M", _BAND, 0, "h", 4 - _BAND, "a", 4, 4, 0, 0, 0, -4, 4]
    band += ["v", head - 4, "h", _BAND, "z"]
    mark = look.mark
    if card.kind != REACTION:
        mark += f" {card.priority}"
    lines = [
        text(line, _BAND + 5, 16 + _LINE * row, letters, font_weight="bold")
        for row, line in enumerate(name)
    ]
    lines += [
        text(line, 7, head + _LINE * row, _LETTER)
        for row, line in enumerate(_words(card, width, most - len(name)), 1)
    ]
    markup = group(
        described(card.name, describe.face(card)),
        rect(0, 0, width, height, 4, fill=style.CARD, stroke=look.band),
        rect(0.5, 0.5, width - 1, head, 4, fill=look.face),
        path(*band, fill=look.band),
        text(mark, _BAND / 2, 16, 13, text_anchor="middle", font_weight="bold", fill="#fff"),
        _note(note, width, len(name)),
        *lines,
        data_card=card.name,
    )
    if named:
        return style.selectable(card, markup)
    return markup


def _note(note: str, width: float, lines: int) -> str:
    """Returns the number of copies: beside a name of one line, else in the band."""
    if not note:
        return ""
    if lines == 1:
        return text(note, width - 5, 16, _LETTER, text_anchor="end", font_weight="bold")
    return text(
        note,
        _BAND / 2,
        16 + _LINE,
        _LETTER,
        text_anchor="middle",
        font_weight="bold",
        fill="#fff",
    )
