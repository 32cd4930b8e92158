"""The cards that a player holds, as cards with their texts, across the picture of a page."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import REACTION, Card
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.fields import Box, is_selectable
from linkzoo.svg.elements import described, group, path, rect, text
from linkzoo.svg.letters import fit, width_of
from linkzoo.svg.panel import Part, moved

_HEIGHT = 73  # smallest height of a card
_COLUMNS = range(4, 8)  # numbers of columns to try
_GAP = 6  # between cards
_LABEL = 20  # height of a label above cards
_LETTER = 12.5  # letter size
_LINE = 14.5  # line height
_BAND = 34  # width of the mark and the priority


def draw_hand(view: Json, player: int, table: Table, width: float) -> Part:
    """Returns a player's hand, in a draft the pack, and its height."""
    label = describe.in_use(view)
    cards = describe.held(view, player)[label]
    if isinstance(cards, int) or not cards:
        return "", 0
    title = text(f"{label.capitalize()}, {len(cards)}", 0, 15, 13, font_weight="bold")
    named = is_selectable(view, player, label)
    rows, height = _cards(cards, table, width, named=named)
    return group(title, moved(rows, 0, _LABEL), fill=style.INK), _LABEL + height


def _cards(cards: list[str], table: Table, width: float, *, named: bool) -> Part:
    """Returns cards in columns, in the number of columns that needs the least height."""
    numbers = describe.copies(cards)
    layouts = [
        _placed(numbers, table, width, columns)
        for columns in _COLUMNS
        if columns == _COLUMNS[0] or _has_room(numbers, table, width, columns)
    ]
    places, height = min(layouts, key=lambda layout: layout[1])
    drawn = []
    for (name, number), box in zip(numbers.items(), places, strict=True):
        card = _card(table[name], box.width, box.height, style.times(number), named=named)
        drawn.append(moved(card, box.left, box.top))
    return "".join(drawn), height


def _placed(
    numbers: dict[str, int], table: Table, width: float, columns: int
) -> tuple[list[Box], float]:
    """Returns the box of each card, in columns of similar heights, and the height of all."""
    step = (width + _GAP) / columns
    heights = [
        _height(table[name], step - _GAP, style.times(number)) for name, number in numbers.items()
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


def _height(card: Card, width: float, note: str) -> float:
    """Returns the height that a card needs."""
    name, _ = _name(card, width, note)
    return max(_HEIGHT, 14 + _LINE * (len(name) + len(_words(card, width))))


def _name(card: Card, width: float, note: str) -> tuple[list[str], float]:
    """Returns the lines of a card's name, beside its mark and its note, and the letter size."""
    room = width - _BAND - 12 - width_of(note, _LETTER, True)
    return fit(card.name, room, _LETTER, 12, 3, bold=True)


def _words(card: Card, width: float) -> list[str]:
    """Returns the lines of a card's text; without one, of its kind."""
    lines, _ = fit(card.text or style.kind_of(card), width - 12, _LETTER, 12, 14)
    return lines


def _card(card: Card, width: float, height: float, note: str, *, named: bool) -> str:
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
        for row, line in enumerate(_words(card, width), 1)
    ]
    markup = group(
        described(card.name, describe.face(card)),
        rect(0, 0, width, height, 4, fill=style.CARD, stroke=look.band),
        rect(0.5, 0.5, width - 1, head, 4, fill=look.face),
        path(*band, fill=look.band),
        text(mark, _BAND / 2, 16, 13, text_anchor="middle", font_weight="bold", fill="#fff"),
        text(note, width - 5, 16, _LETTER, text_anchor="end", font_weight="bold") if note else "",
        *lines,
        data_card=card.name,
    )
    if named:
        return style.selectable(card, markup)
    return markup
