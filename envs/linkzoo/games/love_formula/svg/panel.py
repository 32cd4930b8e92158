"""The panel beside the fields: turn, order of cards, pending cards, deck, discards and a key."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.describe import Entry, Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit

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

    In a draft it has the cards that the seat has taken, and its hand. The key is left out if the
    panel reached below `most` with it.
    """
    turn, top = draw_turn(view, table, 8)
    if seat is not None and seat < view["num_players"]:
        held = describe.held(view, seat)
        for label in sorted(held.keys() - {describe.in_use(view)}, reverse=True):
            cards = held[label]
            if isinstance(cards, list) and cards:
                numbers = list(describe.copies(cards).items())
                end = top + _LABEL + 6 + PITCH * len(numbers)
                title = f"{label.capitalize()}, {len(cards)}"
                drawn, height = _cards(title, numbers, table, top, end, named=False, small=False)
                turn += drawn
                top += height
    key = max(bottom - 106, top + _LABEL + _DISCARDS * PITCH)
    piles, end = draw_piles(view, table, top, key, small=False)
    if end > max(bottom, most) - 106:
        return group(turn, piles, fill=style.INK), end
    key = max(bottom - 106, end)
    return group(turn, piles, _key(key), fill=style.INK), key + 106


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


def draw_piles(
    view: Json, table: Table, top: float, bottom: float, *, small: bool = True
) -> tuple[str, float]:
    """Returns the cards looked at, the deck and the discard pile, and their lower edge.

    Many cards are drawn `small`, or only the first ones.
    """
    markup = ""
    looked = describe.looked_at(view)
    if looked:
        from_top = [(card, 1) for card in looked]
        end = bottom - _LABEL if small else top + _LABEL + 6 + PITCH * len(looked)
        markup, height = _cards("Looked at", from_top, table, top, end, small=small)
        top += height
    discard = view["discard"][::-1]
    label = f"Deck {describe.size(view['deck'])} · Discard pile {len(discard)}"
    if len(discard) > 1:
        label += ", latest first"
    cards = list(describe.copies(discard).items())
    named = view["decision"] == "RECOVER"
    if named and not small:
        bottom = top + _LABEL + 6 + PITCH * len(cards)
    drawn, height = _cards(label, cards, table, top, bottom, named=named, small=small)
    return markup + group(drawn, data_item="discard"), top + height


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
    ordered = bool(view["order"])
    players = view["order"]
    if not ordered:
        players = [player for player, card in enumerate(view["selected"]) if card]
    if not players:
        return "", 0
    resolving = view["cursor"] if ordered and view["stage"] == "resolve" else None
    markup = [_label("Cards of this turn, with priorities", top)]
    for row, player in enumerate(players):
        y = top + _LABEL + PITCH * row
        card = view["selected"][player]
        priority = str(view["priorities"][player]) if ordered else ""
        if row == resolving:
            markup.append(text("►", LEFT, y + 15.5, 12))
        if card:
            drawn = style.strip(
                table[card], LEFT + 16, y, WIDTH - 16, priority, by=player, least=least
            )
        else:
            drawn = _resolved(priority, y, player, least)
        markup.append(group(drawn, data_item=f"turn {player}"))
    return "".join(markup), _LABEL + PITCH * len(players) + 6


def _resolved(priority: str, y: float, player: int, least: float) -> str:
    """Returns a placeholder for a resolved card."""
    return group(
        rect(LEFT + 16, y, WIDTH - 16, style.STRIP, 4, fill="none", stroke=style.LINE),
        text("resolved", LEFT + 40, y + 15.5, 12, fill=style.GREY),
        text(priority, _RIGHT - 22, y + 15.5, 12, text_anchor="end", fill=style.GREY),
        style.seat_mark(player, _RIGHT - 11, y + style.STRIP / 2, style.DISC * least),
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
