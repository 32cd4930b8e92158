"""A Love Formula position as text, from what `to_dict` gives to a seat or to the referee."""

from textwrap import wrap

from linkzoo.core.guide import count
from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.describe import Json, Table

_WIDTH = 100  # columns, where a line can be broken


def draw_text(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns lines of text: each player (`>` is to act), the piles, the cards under way.

    `seat` is marked as the one that looks.
    """
    table = {card.name: card for card in cards.cards}
    lines = [f"Love Formula, {describe.stage(view)}", ""]
    for player in range(view["num_players"]):
        lines += [*_player(view, player, seat, table), ""]
    lines += _folded("Deck", _counted(view["deck"]), "  ")
    lines += _folded("Discard pile", _counted(view["discard"]), "  ")
    looked = describe.looked_at(view)
    lines += _folded("Looked at", _listed(looked), "  ") if looked else []
    entries = describe.happening(view)
    lines += ["", "Under way, top one resolves first"] if entries else []
    for entry in entries:
        whose = "" if entry.by is None else f" of player {entry.by}"
        lines.append(f"    {entry.card}{whose} {entry.words}".rstrip())
    said = ", ".join(filter(None, [describe.turn(view), describe.remark(view)]))
    return "\n".join([*lines, "", said, ""])


def _counted(cards: list[str] | int) -> str:
    """How many cards, and which if they are seen."""
    listed = f": {_listed(cards)}" if isinstance(cards, list) and cards else ""
    return f"{describe.size(cards)}{listed}"


def _listed(cards: list[str]) -> str:
    """Cards by name, `x2` for copies."""
    return ", ".join(
        f"{name} x{number}" if number > 1 else name
        for name, number in describe.copies(cards).items()
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
    field = view["fields"][player]
    said = [count(view["vp"][player], "point")]
    if player in view["order"]:
        place = view["order"].index(player) + 1
        said.append(f"plays no. {place} with priority {view['priorities'][player]}")
    if view["selected"][player]:
        said.append(f"card {view['selected'][player]}")
    said += filter(None, [describe.shield(view, player)])
    acts = ">" if player == view["seat"] else " "
    lines = [f"{acts} Player {player}{' (you)' * (player == seat)}: {', '.join(said)}"]
    for label, cards in describe.held(view, player).items():
        lines += _folded(label.capitalize(), _counted(cards)) if describe.size(cards) else []
    for couple in field["couples"]:
        lines += _couple(view, couple, table)
    free = [f"{card or '-'} ({name})" for name, card in field["free"].items()]
    return lines + _folded("Free slots", ", ".join(free))


def _couple(view: Json, couple: Json, table: Table) -> list[str]:
    """A couple, what it has and what it lacks, and its obstacles."""
    wanted = describe.needs(table, couple)
    missing = [name for name, attached in wanted.items() if not attached]
    parts = [
        ", ".join(couple["attached"]),
        f"needs {', '.join(missing)}" if missing else "complete",
    ]
    for entry in describe.obstacles_at(view, couple):
        timed = table[entry["card"]].turns
        left = f"{count(entry['turns_left'], 'turn')} left" if timed else "no end"
        parts.append(f"{entry['card']} of player {entry['by']} ({left})")
    return _folded(couple["card"], "; ".join(filter(None, parts)))
