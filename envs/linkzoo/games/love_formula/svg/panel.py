"""The panel beside the fields: turn, order of cards, pending cards, deck, discards and a key."""

from collections.abc import Iterator

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.describe import Entry, Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.hand import draw_names
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit
from linkzoo.svg.panel import Part, moved

WIDTH = 270
LEFT = style.WIDTH - style.MARGIN - WIDTH
_RIGHT = style.WIDTH - style.MARGIN
_LABEL = 24  # height of a label above its rows
_NOTE = 12  # letter size of a note below a card
_LINE = 15  # line height of a note
_SCALES = tuple(percent / 100 for percent in range(100, 40, -10))
_CARD = 130  # minimum width of a card in a pile
_DISCARDS = 3  # rows for the discard pile beside fields at least
_FEW = 6  # pending cards up to this number have two lines of notes
_CELLS = 12  # visible cards up to this number are in four columns, more in five
_KEY = style.HEIGHT - 112  # upper edge of the key


def draw_panel(view: Json, table: Table) -> str:
    """Returns the panel's markup, at the right of the picture."""
    title = text("Love Formula", LEFT, 42, 27, font_weight="bold")
    stage = text(describe.stage(view, table.course), LEFT, 64, 14, fill=style.GREY)
    cards, top = _cards_of_turn(view, table, 136)
    piles, _ = draw_piles(view, table, top, _KEY)
    return group(title, stage, _banner(view), cards, piles, _key(_KEY), fill=style.INK)


def draw_beside(
    view: Json, table: Table, seat: int | None, bottom: float, most: float
) -> tuple[str, float]:
    """Returns the panel without the turn, down to `bottom` or below, and its lower edge.

    It has the visible cards that are neither in fields nor in the seat's hand (in a draft its
    pack). The key is left out if the panel reached below `most` with it.
    """
    turn, top = draw_turn(view, table, 8)
    if seat is not None:
        for title, cards in _held_elsewhere(view, seat):
            drawn, top = _column(title, list(describe.copies(cards).items()), table, top)
            turn += drawn
    if view["decision"] == "RECOVER":  # the discard pile is below the fields
        piles = ""
        end = top
    else:
        least = top + _LABEL
        if least + _DISCARDS * PITCH < most:
            least += _DISCARDS * PITCH
        key = max(bottom - 106, least)
        piles, height = _discards(view, table, top, key, small=False)
        end = top + height
    if end > max(bottom, most) - 106:
        return group(turn, piles, fill=style.INK), end
    key = max(bottom - 106, end)
    return group(turn, piles, _key(key), fill=style.INK), key + 106


def draw_above(view: Json, table: Table, seat: int | None, width: float) -> Part:
    """Returns the panel without the key and the discards, across a picture, and its height."""
    words = describe.stage(view, table.course)
    players = _in_turn(view)
    if players:
        words += "; cards of this turn, with priorities:"
    sizes = _piles(view).partition(",")[0]
    drawn = [
        text(words, 0, 16, 14, fill=style.GREY),
        group(
            text(sizes, width, 16, 12.5, text_anchor="end", fill=style.GREY), data_item="discard"
        ),
    ]
    top = 24.0
    step = (width + 6) / max(len(players), 1)
    for column, player in enumerate(players):
        card = _turn_card(view, table, player, step * column, top, step - 6, style.LEAST)
        drawn.append(card)
    if players:
        top += PITCH
    for entry in describe.happening(view):
        part, height = _wide_entry(entry, table, width)
        drawn.append(moved(part, 0, top))
        top += height
    if seat is not None:
        held, height = _row_by_row(list(_held_elsewhere(view, seat)), table, width)
        drawn.append(moved(held, 0, top))
        top += height
    return group(*drawn, fill=style.INK), top


def _row_by_row(held: list[tuple[str, list[str]]], table: Table, width: float) -> Part:
    """Returns cards by name in rows, with their titles between them, and the height."""
    cells = [
        cell for title, cards in held for cell in ((title, 0), *describe.copies(cards).items())
    ]
    columns = 4 if len(cells) <= _CELLS else 5
    step = (width + 6) / columns
    drawn = []
    for index, (words, number) in enumerate(cells):
        row, column = divmod(index, columns)
        if number:
            note = style.times(number)
            strip = style.strip(
                table[words], step * column, PITCH * row, step - 6, note, least=style.LEAST
            )
            drawn.append(strip)
        else:
            drawn.append(text(words, step * column, PITCH * row + 15, 13, font_weight="bold"))
    return "".join(drawn), PITCH * -(-len(cells) // columns)


def _held_elsewhere(view: Json, seat: int) -> Iterator[tuple[str, list[str]]]:
    """Yields a title and the cards: the seat's hand and pile in a draft, visible ones of others."""
    for player in range(view["num_players"]):
        held = describe.held(view, player)
        for label in sorted(held, reverse=True):
            cards = held[label]
            if not isinstance(cards, list) or not cards:
                continue
            if player != seat:
                yield f"{label.capitalize()} of player {player}, {len(cards)}", cards
            elif label != describe.in_use(view):
                yield f"{label.capitalize()}, {len(cards)}", cards


def _column(
    title: str, numbers: list[tuple[str, int]], table: Table, top: float
) -> tuple[str, float]:
    """Returns all of the cards in one column, with a title, and the lower edge."""
    end = top + _LABEL + 6 + PITCH * len(numbers)
    drawn, height = _cards(title, numbers, table, top, end, named=False, small=False)
    return drawn, top + height


def draw_choices(view: Json, table: Table, width: float) -> Part:
    """Returns cards to choose from that nobody holds, across a picture, and their height.

    They are the cards looked at, or the whole discard pile.
    """
    looked = [(card, 1) for card in describe.looked_at(view)]
    if looked:
        return _across("Looked at", looked, table, width)
    if view["decision"] == "RECOVER":
        discards = list(describe.copies(view["discard"][::-1]).items())
        drawn, height = _across(_piles(view), discards, table, width)
        return group(drawn, data_item="discard"), height
    return "", 0


def _across(title: str, cards: list[tuple[str, int]], table: Table, width: float) -> Part:
    """Returns a title above the names of cards to choose from, and their height."""
    words = text(title, 0, 15, 13, font_weight="bold")
    drawn, height = draw_names(cards, table, width, named=True)
    return group(words, moved(drawn, 0, _LABEL), fill=style.INK), _LABEL + height


def draw_turn(view: Json, table: Table, top: float) -> tuple[str, float]:
    """Returns the stage and the cards under way with their texts, and their lower edge."""
    stage = text(describe.stage(view, table.course), LEFT, top + 16, 14, fill=style.GREY)
    cards, end = _cards_of_turn(view, table, top + 24, texts=True)
    return group(stage, cards, fill=style.INK), end


def _cards_of_turn(
    view: Json, table: Table, top: float, *, texts: bool = False
) -> tuple[str, float]:
    """Returns the cards of this turn and the cards that wait to resolve, and their lower edge."""
    least = style.LEAST if texts else style.MIN_SIZE
    order, height = _order(view, table, top, least)
    top += height
    happening, height = _happening(view, table, top, least, texts=texts)
    return order + happening, top + height


def draw_below(view: Json, table: Table) -> tuple[str, float]:
    """Returns the piles and the key for a narrow screen, from 0 on, and their lower edge."""
    piles, end = draw_piles(view, table, 0, 10_000)
    return group(piles, _key(end), fill=style.INK), end + 112


def draw_piles(view: Json, table: Table, top: float, bottom: float) -> tuple[str, float]:
    """Returns the cards looked at, the deck and the discard pile, and their lower edge.

    Many cards are drawn small, or only the first ones.
    """
    markup = ""
    looked = describe.looked_at(view)
    if looked:
        from_top = [(card, 1) for card in looked]
        markup, height = _cards("Looked at", from_top, table, top, bottom - _LABEL)
        top += height
    drawn, height = _discards(view, table, top, bottom, small=True)
    return markup + drawn, top + height


def _discards(
    view: Json, table: Table, top: float, bottom: float, *, small: bool
) -> tuple[str, float]:
    """Returns the sizes of deck and discard pile, with the latest discards, and the height."""
    discard = view["discard"][::-1]
    cards = list(describe.copies(discard).items())
    named = view["decision"] == "RECOVER"
    drawn, height = _cards(_piles(view), cards, table, top, bottom, named=named, small=small)
    return group(drawn, data_item="discard"), height


def _piles(view: Json) -> str:
    """Returns the sizes of the deck and the discard pile."""
    label = f"Deck {describe.size(view['deck'])} · Discard pile {len(view['discard'])}"
    if len(view["discard"]) > 1:
        label += ", latest first"
    return label


def _banner(view: Json) -> str:
    """Returns whose turn it is, or who has won, on the seat's colour."""
    colour = style.INK if view["seat"] is None else style.SEATS[view["seat"]]
    lines, letters = fit(describe.remark(view), WIDTH - 28, 13.5, 11)
    words = [text(describe.turn(view), LEFT + 14, 97, 17, font_weight="bold")]
    words += [text(line, LEFT + 14, 117, letters) for line in lines]
    if view["stage"] == "over":
        words.append(text("★", _RIGHT - 12, 112, 30, text_anchor="end"))
    return rect(LEFT, 74, WIDTH, 54, 10, fill=colour) + group(*words, fill=style.CARD)


def _label(words: str, top: float) -> str:
    return text(words, LEFT, top + 17, 12, font_weight="bold", fill=style.GREY)


def _order(view: Json, table: Table, top: float, least: float) -> tuple[str, float]:
    """Returns the cards of this turn in their order, and the height."""
    players = _in_turn(view)
    if not players:
        return "", 0
    markup = [_label("Cards of this turn, with priorities", top)]
    for row, player in enumerate(players):
        y = top + _LABEL + PITCH * row
        markup.append(_turn_card(view, table, player, LEFT, y, WIDTH, least))
    return "".join(markup), _LABEL + PITCH * len(players) + 6


def _in_turn(view: Json) -> list[int]:
    """Returns the players with cards of this turn, in their order once there is one."""
    if view["order"]:
        return list(view["order"])
    return [player for player, card in enumerate(view["selected"]) if card]


def _turn_card(
    view: Json, table: Table, player: int, x: float, y: float, width: float, least: float
) -> str:
    """Returns a player's card of this turn, and a pointer if it resolves."""
    ordered = bool(view["order"])
    card = view["selected"][player]
    priority = str(view["priorities"][player]) if ordered else ""
    pointer = ""
    if ordered and view["stage"] == "resolve" and view["order"][view["cursor"]] == player:
        pointer = text("►", x, y + 15.5, 12)
    if card:
        drawn = style.strip(table[card], x + 16, y, width - 16, priority, by=player, least=least)
    else:
        drawn = _resolved(priority, x + 16, y, width - 16, player, least)
    return pointer + group(drawn, data_item=f"turn {player}")


def _resolved(priority: str, x: float, y: float, width: float, player: int, least: float) -> str:
    """Returns a placeholder for a resolved card."""
    right = x + width
    return group(
        rect(x, y, width, style.STRIP, 4, fill="none", stroke=style.LINE),
        text("resolved", x + 24, y + 15.5, 12, fill=style.GREY),
        text(priority, right - 22, y + 15.5, 12, text_anchor="end", fill=style.GREY),
        style.seat_mark(player, right - 11, y + style.STRIP / 2, style.DISC * least),
    )


def _happening(
    view: Json, table: Table, top: float, least: float, *, texts: bool
) -> tuple[str, float]:
    """Returns the cards that wait to resolve, with or without their texts, and the height."""
    entries = describe.happening(view)
    if not entries:
        return "", 0
    label = "Under way"
    if len(entries) > 1:
        label += ", top one resolves first"
    max_lines = 2 if len(entries) <= _FEW else 1
    markup = [_label(label, top)]
    y = top + _LABEL
    for entry in entries:
        with_text = texts and len(entries) <= _FEW
        drawn, height = _entry(entry, table, y, max_lines, least, texts=with_text)
        markup.append(drawn)
        y += height
    return "".join(markup), y - top + 6


def _entry(
    entry: Entry, table: Table, y: float, max_lines: int, least: float, *, texts: bool
) -> tuple[str, float]:
    """Returns a waiting card with its text, if wanted, and its note below, and the height."""
    card = table[entry.card]
    words = entry.words
    if texts:
        words = f"{card.text} {words}".strip()
        max_lines = 10
    lines, letters = fit(words, WIDTH - 20, _NOTE, min(least, _NOTE), max_lines)
    markup = style.strip(card, LEFT, y, WIDTH, by=entry.by, cancelled=entry.cancelled, least=least)
    for number, line in enumerate(lines, 1):
        baseline = y + PITCH + _LINE * number - 4
        markup += text(line, LEFT + 20, baseline, letters, fill=style.GREY)
    return markup, PITCH + _LINE * len(lines) + 2


def _wide_entry(entry: Entry, table: Table, width: float) -> Part:
    """Returns a waiting card with its text and its note beside it, and the height."""
    card = table[entry.card]
    lines, letters = fit(f"{card.text} {entry.words}", width - WIDTH - 12, _NOTE, _NOTE, 3)
    drawn = [
        style.strip(card, 0, 0, WIDTH, by=entry.by, cancelled=entry.cancelled, least=style.LEAST)
    ]
    drawn += [
        text(line, WIDTH + 12, 14 + _LINE * number, letters, fill=style.GREY)
        for number, line in enumerate(lines)
    ]
    return "".join(drawn), max(PITCH, _LINE * len(lines) + 6)


def _cards(
    label: str,
    cards: list[tuple[str, int]],
    table: Table,
    top: float,
    bottom: float,
    *,
    named: bool = True,
    small: bool = True,
) -> tuple[str, float]:
    """Returns a label above cards in columns, with numbers, at the largest scale that fits.

    Cards beyond the last scale are only counted. If not `small`, there is one scale and column.
    """
    room = bottom - top - _LABEL - 6
    for scale in _SCALES if small else (1,):
        columns = int(WIDTH / scale / _CARD) if small else 1
        rows = max(int(room / scale / PITCH), 0)
        if len(cards) <= columns * rows:
            break
    shown = cards
    least = style.MIN_SIZE if small else style.LEAST
    if len(cards) > columns * rows:
        shown = cards[: max(columns * (rows - 1), 0)]
    step = (WIDTH / scale + 6) / columns
    strips = []
    for index, (card, number) in enumerate(shown):
        row, column = divmod(index, columns)
        note = style.times(number)
        x = step * column
        strip = style.strip(table[card], x, PITCH * row, step - 6, note, least=least)
        if named:
            strip = style.selectable(table[card], strip)
        strips.append(strip)
    used_rows = -(-len(shown) // columns)
    if rows and len(shown) < len(cards):
        rest = sum(number for _, number in cards[len(shown) :])
        strips.append(text(f"and {rest} more", 0, PITCH * used_rows + 14, 12, fill=style.GREY))
        used_rows += 1
    markup = _label(label, top)
    if strips:
        transform = f"translate({LEFT} {top + _LABEL:g}) scale({scale:g})"
        markup += group(*strips, transform=transform)
    return markup, _LABEL + PITCH * scale * used_rows + 6


def _key(top: float) -> str:
    """Returns the key of marks and colours."""
    marks = []
    for number, (name, look) in enumerate(style.LOOKS.items()):
        row, column = divmod(number, 3)
        x = LEFT + 92 * column
        y = top + 10 + 22 * row
        marks += [
            rect(x, y, 17, 17, 4, fill=look.band),
            text(look.mark, x + 8.5, y + 13, 12, text_anchor="middle", fill="#fff"),
            text(name, x + 23, y + 13, 12),
        ]
    return group(
        path("M", LEFT, top, "h", WIDTH, stroke=style.LINE, stroke_width=1.5),
        *marks,
        text("★ complete; 3: priority", LEFT + 92, top + 67, 12),
        text("On an obstacle: turns left (or ∞), its player", LEFT, top + 92, 12),
    )
