"""Love Formula as text and as a picture, from what `to_dict` gives to a seat or to the referee."""

from textwrap import wrap

from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.drawing import picture
from linkzoo.games.love_formula.drawing.view import (
    Entry,
    Json,
    Table,
    by_name,
    copies,
    count,
    happening,
    held,
    looked_at,
    needs,
    obstacles_at,
    remark,
    shield,
    size,
    stage,
    turn,
)

_WIDTH = 100  # columns, where a line can be broken


def draw_svg(view: Json, cards: Cards, seat: int | None = None) -> str:
    """The position as an SVG document of 1200 x 900 pixels, with what the view shows of hands.

    `seat` is marked as the one that looks.
    """
    return picture.draw(view, by_name(cards), seat)


def draw_text(view: Json, cards: Cards, seat: int | None = None) -> str:
    """The position as lines of text: each player (`>` is to act), the piles, the cards under way.

    `seat` is marked as the one that looks.
    """
    table = by_name(cards)
    lines = [f"Love Formula, {stage(view)}", ""]
    for player in range(view["num_players"]):
        lines += [*_player(view, player, seat, table), ""]
    lines += _folded("Deck", _counted(view["deck"]), "  ")
    lines += _folded("Discard pile", _counted(view["discard"]), "  ")
    lines += _folded("Looked at", _listed(looked_at(view)), "  ") if looked_at(view) else []
    entries = happening(view)
    if entries:
        lines += ["", "Under way, top one resolves first", *map(_entry, entries)]
    said = ", ".join(filter(None, [turn(view), remark(view)]))
    return "\n".join([*lines, "", said, ""])


def _counted(cards: list[str] | int) -> str:
    """How many cards, and which if they are seen."""
    return (
        f"{size(cards)}: {_listed(cards)}"
        if isinstance(cards, list) and cards
        else f"{size(cards)}"
    )


def _listed(cards: list[str]) -> str:
    """Cards by name, `x2` for copies."""
    return ", ".join(
        f"{name} x{number}" if number > 1 else name for name, number in copies(cards).items()
    )


def _folded(label: str, words: str, indent: str = "    ") -> list[str]:
    return wrap(
        f"{label}: {words}",
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )


def _player(view: Json, player: int, seat: int | None, table: Table) -> list[str]:
    """A player's points, cards and field."""
    field = view["fields"][player]
    said = [count(view["vp"][player], "point")]
    if player in view["order"]:
        place = view["order"].index(player) + 1
        said.append(f"plays no. {place} with priority {view['priorities'][player]}")
    if view["selected"][player]:
        said.append(f"card {view['selected'][player]}")
    said += filter(None, [shield(view, player)])
    acts = ">" if player == view["seat"] else " "
    lines = [f"{acts} Player {player}{' (you)' * (player == seat)}: {', '.join(said)}"]
    for label, cards in held(view, player).items():
        lines += _folded(label.capitalize(), _counted(cards)) if size(cards) else []
    for couple in field["couples"]:
        lines += _couple(view, couple, table)
    free = [f"{card or '-'} ({name})" for name, card in field["free"].items()]
    return lines + _folded("Free slots", ", ".join(free))


def _couple(view: Json, couple: Json, table: Table) -> list[str]:
    """A couple, what it has and what it lacks, and its obstacles."""
    wanted = needs(table, couple)
    missing = [name for name, attached in wanted.items() if not attached]
    parts = [
        ", ".join(couple["attached"]),
        f"needs {', '.join(missing)}" if missing else "complete",
    ]
    for entry in obstacles_at(view, couple):
        timed = table[entry["card"]].turns
        left = f"{count(entry['turns_left'], 'turn')} left" if timed else "no end"
        parts.append(f"{entry['card']} of player {entry['by']} ({left})")
    return _folded(couple["card"], "; ".join(filter(None, parts)))


def _entry(entry: Entry) -> str:
    """A card under way."""
    whose = "" if entry.by is None else f" of player {entry.by}"
    note = ", ".join(filter(None, [entry.note, "cancelled" * entry.cancelled]))
    return f"    {entry.card}{whose}" + (f" {note}" if note else "")
