"""Love Formula as text and as a picture, from what `to_dict` gives to a seat or to the referee."""

from textwrap import wrap
from typing import Any

from linkzoo.svg import document, rect, text

Json = dict[str, Any]

_WIDTH = 100  # columns, where a line can be broken
_LINE, _MARGIN, _SIZE = 15.0, 24.0, 11.0


def draw_text(view: Json, seat: int | None = None) -> str:
    """The position as lines of text: the turn, each player (`>` is to act), the piles.

    `seat` is marked as the one that looks.
    """
    lines = [f"Love Formula, {_stage(view)}", ""]
    for player in range(view["num_players"]):
        lines += [*_player(view, player, seat), ""]
    lines += _folded("Deck", _count(view["deck"]), "  ")
    lines += _folded("Discard pile", _listed(view["discard"]), "  ")
    lines += ["", *_happening(view), _turn(view), ""]
    return "\n".join(lines)


def draw_svg(view: Json, seat: int | None = None) -> str:
    """The position as an SVG document of 1200 x 720 pixels."""
    lines = draw_text(view, seat).splitlines()
    room = 720 - 2 * _MARGIN
    scale = min(1.0, room / (_LINE * len(lines)))
    return document(
        1200,
        720,
        f"Love Formula: {_turn(view)}",
        rect(0, 0, 1200, 720, fill="#fdf3f4"),
        *(
            text(line, _MARGIN, _MARGIN + _LINE * scale * (row + 1), _SIZE * scale)
            for row, line in enumerate(lines)
            if line
        ),
    )


def _stage(view: Json) -> str:
    half, turn = view["half"], view["turn"]
    if view["stage"] == "draft":
        return f"draft {half}"
    return f"play {half}, turn {turn + 1} of 20, {view['stage']}"


def _count(cards: list[str] | int) -> str:
    """How many cards, and which if they are seen."""
    if isinstance(cards, int):
        return str(cards)
    return f"{len(cards)}: {_listed(cards)}" if cards else "0"


def _listed(cards: list[str]) -> str:
    """Cards by name in their first order, `x2` for copies."""
    return ", ".join(
        name + (f" x{cards.count(name)}" if cards.count(name) > 1 else "")
        for name in dict.fromkeys(cards)
    )


def _folded(label: str, words: str, indent: str = "    ") -> list[str]:
    return wrap(
        f"{label}: {words}", _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    "
    )


def _player(view: Json, player: int, seat: int | None) -> list[str]:
    """A player's points, cards and field."""
    field = view["fields"][player]
    said = [f"{view['vp'][player]} points"]
    if view["priorities"] and player in view["order"]:
        place = view["order"].index(player) + 1
        said.append(f"plays no. {place} with priority {view['priorities'][player]}")
    if view["selected"][player]:
        said.append(f"selected {view['selected'][player]}")
    if field["shield_until"] >= max(view["turn"], 0):
        said.append(f"shielded to turn {field['shield_until'] + 1}")
    acts = ">" if player == view["seat"] else " "
    lines = [f"{acts} Player {player}{' (you)' * (player == seat)}: {', '.join(said)}"]
    for name in ("hands", "piles", "packs"):
        if view[name][player]:
            lines += _folded(name[:-1].capitalize(), _count(view[name][player]))
    for couple in field["couples"]:
        lines += _couple(view, couple)
    free = [f"{name} {card}" for name, card in field["free"].items() if card]
    return lines + (_folded("Free", ", ".join(free)) if free else [])


def _couple(view: Json, couple: Json) -> list[str]:
    """A couple, its preparations and its obstacles."""
    obstacles = [
        f"{entry['card']} of player {entry['by']}"
        + (f" ({entry['turns_left']} turns left)" if entry["turns_left"] else "")
        for entry in view["obstacles"]
        if entry["couple"] == couple["card"]
    ]
    words = ", ".join(couple["attached"]) or "no preparation"
    return _folded(couple["card"], "; ".join([words, *obstacles]))


def _happening(view: Json) -> list[str]:
    """The card that resolves, the effect that runs, and the reactions."""
    lines = []
    for name in ("acting", "effect"):
        if view[name]:
            targets = ", ".join(map(str, view[name]["targets"]))
            aimed = f" on {targets}" if targets else ""
            couple = view[name].get("couple")
            at = f" at {couple}" if couple else ""
            lines.append(f"{view[name]['card']} of player {view[name]['by']}{aimed}{at}")
    if view["limbo"]:
        lines.append(f"{view['limbo']} is to be placed")
    if view["look"]:
        lines += _folded("Looked at", ", ".join(view["look"]), "")
    if view["react"]:
        played = [f"{entry['card']} of player {entry['by']}" for entry in view["react"]["pending"]]
        lines += _folded("Reactions", ", ".join(played) or "none yet", "")
    return lines


def _turn(view: Json) -> str:
    """Who decides what, or who has won."""
    if view["stage"] == "over":
        winners = view["winners"]
        if len(winners) == view["num_players"]:
            return "A draw"
        return f"Player{'s' * (len(winners) > 1)} {' and '.join(map(str, winners))} won"
    if view["seat"] is None:
        return "Another player decides"
    return f"Player {view['seat']} decides: {view['decision']}"
