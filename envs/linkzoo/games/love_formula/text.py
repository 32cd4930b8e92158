"""A Love Formula position as text, from the JSON view of a seat or of the referee (`to_dict`)."""

from textwrap import wrap

from linkzoo.core.guide import count
from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.describe import Json, Table

_WIDTH = 100  # columns, where a line can be broken


def draw_text(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns lines of text: each player (`>` is to act), the piles, the cards under way.

    `seat` is marked as the viewing seat.
    """
    table = Table(cards)
    lines = [f"Love Formula, {describe.stage(view, table.course)}", ""]
    for player in range(view["num_players"]):
        lines += _player(view, player, seat, table)
        lines.append("")
    lines += _folded("Deck", _counted(view["deck"]), "  ")
    lines += _folded("Discard pile", _counted(view["discard"]), "  ")
    looked = describe.looked_at(view)
    if looked:
        lines += _folded("Looked at", describe.listed(describe.copies(looked)), "  ")
    lines += _under_way(view)
    remarks = [words for words in (describe.turn(view), describe.remark(view)) if words]
    lines += ["", ", ".join(remarks), ""]
    return "\n".join(lines)


def _under_way(view: Json) -> list[str]:
    """Returns the cards that wait to resolve, below a title; no lines if there are none."""
    entries = describe.happening(view)
    if not entries:
        return []
    lines = ["", "Under way, top one resolves first"]
    for entry in entries:
        owner = "" if entry.by is None else f" of player {entry.by}"
        lines.append(f"    {entry.card}{owner} {entry.words}".rstrip())
    return lines


def _counted(cards: list[str] | int) -> str:
    """Returns the number of cards, and their names if they are visible."""
    if isinstance(cards, int) or not cards:
        return str(describe.size(cards))
    return f"{len(cards)}: {describe.listed(describe.copies(cards))}"


def _folded(label: str, words: str, indent: str = "    ") -> list[str]:
    return wrap(
        f"{label}: {words}",
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_on_hyphens=False,
    )


def _player(view: Json, player: int, seat: int | None, table: Table) -> list[str]:
    """Returns a player's line of facts, cards and field."""
    field = view["fields"][player]
    facts = [count(view["vp"][player], "point")]
    if player in view["order"]:
        place = view["order"].index(player) + 1
        facts.append(f"plays no. {place} with priority {view['priorities'][player]}")
    if view["selected"][player]:
        facts.append(f"card {view['selected'][player]}")
    shield = describe.shield(view, player, table.course)
    if shield:
        facts.append(shield)
    mark = ">" if player == view["seat"] else " "
    you = " (you)" if player == seat else ""
    lines = [f"{mark} Player {player}{you}: {', '.join(facts)}"]
    for label, cards in describe.held(view, player).items():
        if describe.size(cards):
            lines += _folded(label.capitalize(), _counted(cards))
    for couple in field["couples"]:
        lines += _couple(view, couple, table)
    free = [f"{card or '-'} ({name})" for name, card in field["free"].items()]
    return lines + _folded("Free slots", ", ".join(free))


def _couple(view: Json, couple: Json, table: Table) -> list[str]:
    """Returns a couple with its attached and missing preparations, and its obstacles."""
    parts = []
    if couple["attached"]:
        parts.append(", ".join(couple["attached"]))
    needs = describe.needs(table, couple)
    missing = [name for name, attached in needs.items() if not attached]
    parts.append(f"needs {', '.join(missing)}" if missing else "complete")
    for entry in describe.obstacles_at(view, couple):
        duration = "no end"
        if table[entry["card"]].turns:
            duration = f"{count(entry['turns_left'], 'turn')} left"
        parts.append(f"{entry['card']} of player {entry['by']} ({duration})")
    return _folded(couple["card"], "; ".join(parts))
