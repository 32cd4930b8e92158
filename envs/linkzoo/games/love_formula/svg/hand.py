"""The cards that a player holds, as cards with their texts, across the picture of a page."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import REACTION, Card
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.fields import is_selectable
from linkzoo.svg.elements import described, group, path, rect, text
from linkzoo.svg.letters import fit, width_of
from linkzoo.svg.panel import Part, moved, stacked

_HEIGHT = 76  # smallest height of a card
_COLUMNS = range(4, 8)  # numbers of columns to try
_STRIP = 1.2  # scale of cards that can't be selected
_STRIPS = 4  # columns of them
_GAP = 6  # between cards
_LABEL = 22  # height of a label above cards
_LETTER = 12.5  # letter size
_LINE = 14.5  # line height
_BAND = 34  # width of the mark and the priority


def draw_hand(view: Json, player: int, table: Table, width: float) -> Part:
    """Returns the cards that a player holds, below one another, and their height."""
    parts = []
    held = describe.held(view, player)
    for label in sorted(held, key=("pack", "pile", "hand").index):
        cards = held[label]
        if isinstance(cards, int) or not cards:
            continue
        title = text(f"{label.capitalize()}, {len(cards)}", 0, 15, 13, font_weight="bold")
        named = is_selectable(view, player, label)
        if named or view["stage"] != "draft":
            rows, height = _cards(cards, table, width, named=named)
        else:
            rows, height = _strips(cards, table, width)
        parts.append((title + moved(rows, 0, _LABEL), _LABEL + height))
    markup, height = stacked(parts, 0, 0)
    return group(markup, fill=style.INK), height


def _strips(cards: list[str], table: Table, width: float) -> Part:
    """Returns cards without their texts, in columns."""
    step = (width + _GAP) / _STRIP / _STRIPS
    drawn = []
    numbers = describe.copies(cards)
    for index, (name, number) in enumerate(numbers.items()):
        row, column = divmod(index, _STRIPS)
        place = step * column, style.PITCH * row, step - _GAP
        drawn.append(style.strip(table[name], *place, style.times(number)))
    rows = -(-len(numbers) // _STRIPS)
    return moved("".join(drawn), 0, 0, _STRIP), _STRIP * style.PITCH * rows + 4


def _cards(cards: list[str], table: Table, width: float, *, named: bool) -> Part:
    """Returns cards in rows of equal height, in the number of columns that needs the least."""
    numbers = describe.copies(cards)
    layouts = [_rows(list(numbers), table, width, columns) for columns in _COLUMNS]
    columns, heights = min(zip(_COLUMNS, layouts, strict=True), key=lambda layout: sum(layout[1]))
    step = (width + _GAP) / columns
    rows = []
    for row, height in enumerate(heights):
        drawn = []
        for column, name in enumerate(list(numbers)[row * columns : (row + 1) * columns]):
            note = style.times(numbers[name])
            card = _card(table[name], step - _GAP, height, note, named=named)
            drawn.append(moved(card, step * column, 0))
        rows.append(("".join(drawn), height + _GAP))
    return stacked(rows, 0, 0)


def _rows(names: list[str], table: Table, width: float, columns: int) -> list[float]:
    """Returns the height of each row of cards."""
    inner = (width + _GAP) / columns - _GAP
    heights = [_height(table[name], inner) for name in names]
    return [max(heights[first : first + columns]) for first in range(0, len(names), columns)]


def _height(card: Card, width: float) -> float:
    """Returns the height that a card needs; with the note of several copies, whether or not."""
    lines = len(_name(card, width, style.times(2))) + len(_words(card, width))
    return max(_HEIGHT, 14 + _LINE * lines)


def _name(card: Card, width: float, note: str) -> list[str]:
    """Returns the lines of a card's name, beside its mark and its note."""
    room = width - _BAND - 12 - width_of(note, _LETTER, True)
    lines, _ = fit(card.name, room, _LETTER, _LETTER, 3, bold=True)
    return lines


def _words(card: Card, width: float) -> list[str]:
    """Returns the lines of a card's text; without one, of its kind."""
    lines, _ = fit(card.text or style.kind_of(card), width - 12, _LETTER, 12, 14)
    return lines


def _card(card: Card, width: float, height: float, note: str, *, named: bool) -> str:
    """Returns a card from (0, 0) on: mark and priority, name, number of copies, and text."""
    look = style.look_of(card)
    name = _name(card, width, note)
    head = 8 + _LINE * len(name)
    band: list[str | float] = ["M", _BAND, 0, "h", 4 - _BAND, "a", 4, 4, 0, 0, 0, -4, 4]
    band += ["v", head - 4, "h", _BAND, "z"]
    mark = look.mark
    if card.kind != REACTION:
        mark += f" {card.priority}"
    lines = [
        text(line, _BAND + 5, 16 + _LINE * row, _LETTER, font_weight="bold")
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
