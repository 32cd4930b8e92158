"""The panel beside the fields: turn, order of cards, pending cards, deck, discards and a key."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import style
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit

WIDTH = 270
LEFT = style.WIDTH - style.MARGIN - WIDTH
_RIGHT = style.WIDTH - style.MARGIN
_LABEL = 24  # height of a label above its rows
_NOTE, _LINE = 12, 15  # letter size and line height of a note below a card
_SCALES = tuple(percent / 100 for percent in range(100, 40, -10))
_CARD = 130  # minimum width of a card in a pile
_FEW = 6  # pending cards up to this number have two lines of notes
_KEY = style.HEIGHT - 112  # upper edge of the key


def draw_panel(view: Json, table: Table) -> str:
    """Returns the panel's markup, at the right of the picture."""
    turn, top = draw_turn(view, table)
    return group(turn, draw_piles(view, table, top, _KEY)[0], _key(_KEY), fill=style.INK)


def draw_turn(view: Json, table: Table) -> tuple[str, float]:
    """Returns the game's name, the turn and the cards under way, and where they end."""
    markup, top = [], 136.0
    for section in (_order, _happening):
        drawn, height = section(view, table, top)
        markup.append(drawn)
        top += height
    head = text("Love Formula", LEFT, 42, 27, font_weight="bold")
    stage = text(describe.stage(view), LEFT, 64, 14, fill=style.GREY)
    return group(head, stage, _banner(view), *markup, fill=style.INK), top


def draw_below(view: Json, table: Table) -> tuple[str, float]:
    """Returns the piles and the key for a narrow screen, from 0 on, and where they end."""
    piles, end = draw_piles(view, table, 0, 10_000)
    return group(piles, _key(end), fill=style.INK), end + 112


def draw_piles(view: Json, table: Table, top: float, bottom: float) -> tuple[str, float]:
    """Returns the cards looked at, the deck and the discard pile, and where they end."""
    markup, looked, discard = [], describe.looked_at(view), view["discard"][::-1]
    if looked:  # cards looked at, from the top of the deck
        each = [(card, 1) for card in looked]
        drawn, height = _cards("Looked at", each, table, top, bottom - _LABEL)
        markup.append(drawn)
        top += height
    label = f"Deck {describe.size(view['deck'])} · Discard pile {len(discard)}"
    label += ", latest first" * (len(discard) > 1)
    cards = list(describe.copies(discard).items())
    drawn, height = _cards(label, cards, table, top, bottom, named=view["decision"] == "RECOVER")
    return "".join(markup) + group(drawn, data_item="discard"), top + height


def _banner(view: Json) -> str:
    over = view["stage"] == "over"
    colour = style.INK if view["seat"] is None else style.SEATS[view["seat"]]
    lines, letters = fit(describe.remark(view), WIDTH - 28, 13.5, 11)
    words = group(
        text(describe.turn(view), LEFT + 14, 97, 17, font_weight="bold"),
        *(text(line, LEFT + 14, 117, letters) for line in lines),
        text("★", _RIGHT - 12, 112, 30, text_anchor="end") if over else "",
        fill=style.CARD,
    )
    return rect(LEFT, 74, WIDTH, 54, 10, fill=colour) + words


def _label(words: str, top: float) -> str:
    return text(words, LEFT, top + 17, 12, font_weight="bold", fill=style.GREY)


def _order(view: Json, table: Table, top: float) -> tuple[str, float]:
    players = view["order"] or [p for p, card in enumerate(view["selected"]) if card]
    if not players:
        return "", 0
    markup = [_label("Cards of this turn, with priorities", top)]
    for row, player in enumerate(players):
        y = top + _LABEL + PITCH * row
        card = view["selected"][player]
        note = str(view["priorities"][player]) if view["order"] else ""
        if view["order"] and view["stage"] == "resolve" and view["cursor"] == row:
            markup.append(text("►", LEFT, y + 15.5, 12))
        if card:
            drawn = style.strip(table[card], LEFT + 16, y, WIDTH - 16, note, by=player)
        else:
            drawn = _resolved(note, y, player)
        markup.append(group(drawn, data_item=f"turn {player}"))
    return "".join(markup), _LABEL + PITCH * len(players) + 6


def _resolved(priority: str, y: float, player: int) -> str:
    """Returns a placeholder for a resolved card."""
    return group(
        rect(LEFT + 16, y, WIDTH - 16, style.STRIP, 4, fill="none", stroke=style.LINE),
        text("resolved", LEFT + 40, y + 15.5, 12, fill=style.GREY),
        text(priority, _RIGHT - 22, y + 15.5, 12, text_anchor="end", fill=style.GREY),
        style.seat_mark(player, _RIGHT - 11, y + style.STRIP / 2, 7),
    )


def _happening(view: Json, table: Table, top: float) -> tuple[str, float]:
    entries = describe.happening(view)
    if not entries:
        return "", 0
    label = "Under way, top one resolves first" if len(entries) > 1 else "Under way"
    markup, y = [_label(label, top)], top + _LABEL
    for entry in entries:
        lines, letters = fit(entry.words, WIDTH - 20, _NOTE, 10, 2 if len(entries) <= _FEW else 1)
        card, by = table[entry.card], entry.by
        markup.append(style.strip(card, LEFT, y, WIDTH, by=by, cancelled=entry.cancelled))
        for number, line in enumerate(lines, 1):
            at = y + PITCH + _LINE * number - 4
            markup.append(text(line, LEFT + 20, at, letters, fill=style.GREY))
        y += PITCH + _LINE * len(lines) + 2
    return "".join(markup), y - top + 6


def _cards(
    label: str,
    cards: list[tuple[str, int]],
    table: Table,
    top: float,
    bottom: float,
    *,
    named: bool = True,
) -> tuple[str, float]:
    """Returns a label above cards in columns, with numbers, at the largest scale that fits."""
    room = bottom - top - _LABEL - 6
    for scale in _SCALES:
        columns, rows = int(WIDTH / scale / _CARD), max(int(room / scale / PITCH), 0)
        if len(cards) <= columns * rows:
            break
    shown = cards if len(cards) <= columns * rows else cards[: max(columns * (rows - 1), 0)]
    step = (WIDTH / scale + 6) / columns
    strips = []
    for index, (card, number) in enumerate(shown):
        row, column = divmod(index, columns)
        note = f"×{number}" if number > 1 else ""
        place = step * column, PITCH * row, step - 6
        strips.append(style.strip(table[card], *place, note, named=named))
    used = -(-len(shown) // columns)
    if rows and len(shown) < len(cards):
        more = f"and {sum(number for _, number in cards[len(shown) :])} more"
        strips.append(text(more, 0, PITCH * used + 14, 12, fill=style.GREY))
        used += 1
    moved = f"translate({LEFT} {top + _LABEL:g}) scale({scale:g})"
    drawn = group(*strips, transform=moved) if strips else ""
    return _label(label, top) + drawn, _LABEL + PITCH * scale * used + 6


def _key(top: float) -> str:
    marks = []
    for number, (name, look) in enumerate(style.LOOKS.items()):
        row, column = divmod(number, 3)
        x, y = LEFT + 92 * column, top + 10 + 22 * row
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
