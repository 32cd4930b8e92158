"""Text for a seat: the rules, its view of a position, the events, and its legal moves."""

from collections.abc import Mapping, Sequence
from typing import Any

from linkzoo.core.game import Game
from linkzoo.core.state import OVER, Record
from linkzoo.text.moves import MAX_NUMBERED, legal_moves, listed

_MAX_EVENTS = 20  # latest events in a prompt
_MAX_EVENT_LENGTH = 1200  # characters of all of them


def rules_text(game: Game, options: Mapping[str, Any] | None = None, *, full: bool = False) -> str:
    """Returns a game's rules in words: its title, rules, printed cards, and options.

    Args:
        game: The game.
        options: The options of the game; standard values are left out.
        full: The numbered rules with the notation, instead of the rules in short.
    """
    rules = game.guide.rules_text(full=full)
    parts = [f"# {game.title}", rules or "The rules come without words: read the legal moves."]
    if printed := game.guide.components():
        parts.append(f"## Cards\n\n{printed}")
    if changed := changed_options(game, options or {}):
        parts.append("\n".join(["## Options of this game", "", *(f"- {line}" for line in changed)]))
    return "\n\n".join(parts) + "\n"


def changed_options(game: Game, options: Mapping[str, Any]) -> list[str]:
    """Returns a line about each option that isn't standard: its value and its meaning.

    Compiled-in options are named if they are an edition's: others may be files.
    """
    standard = _standard_options(game)
    meanings = game.guide.option_words()
    named = [{**edition} for edition in game.editions.values()]
    return [
        f"{name} = {value} instead of {standard[name]}: {meanings.get(name, '')}".rstrip(": ")
        for name, value in {**game.fixed.values, **options}.items()
        if value != standard[name] and (name not in game.fixed.values or {name: value} in named)
    ]


def _standard_options(game: Game) -> dict[str, Any]:
    """Returns the options of the standard game that a game with compiled-in options belongs to."""
    if game.fixed.with_options is not None:
        game = game.fixed.with_options({})
    return {**game.fixed.values, **game.chosen_options(game.blank())}


def describe(game: Game, state: Record, seat: int) -> str:
    """Returns a seat's role and its view: equal in all worlds that the seat can't tell apart.

    Args:
        game: The game.
        state: The position.
        seat: The observing seat.
    """
    players = int(state.num_players)
    roles = game.roles(game.chosen_options(state))
    role = ""
    if roles:
        role = f" ({roles[seat]})"
    sides = game.facts.sides(players)
    team = ""
    mates = [other for other in range(players) if sides[other] == sides[seat] and other != seat]
    if mates:
        team = f", in a team with player {' and '.join(map(str, mates))}"
    first = f"You are player {seat}{role} of {players} in {game.title}{team}."
    return f"{first}\n\n{game.drawing.text(state, seat).rstrip()}"


def ask(game: Game, state: Record, events: Sequence[str] = ()) -> str:
    """Returns the prompt for the seat to act: its view, the events, the legal moves.

    Args:
        game: The game.
        state: The position; a seat is to act.
        events: Earlier moves as far as the seat may know them, oldest first; at most the latest 20
            are in the prompt.

    Raises:
        ValueError: The game is over.
    """
    seat = int(state.seat)
    if seat == OVER:
        raise ValueError("the game is over: no seat is to act")
    parts = [describe(game, state, seat)]
    if latest := _latest(events):
        parts.append("What happened:\n" + "\n".join(f"- {event}" for event in latest))
    moves = list(legal_moves(game, state))
    note = ""
    number = " or its number"
    if len(moves) > MAX_NUMBERED:
        note = "; choose one in each bracket"
        number = ""
    parts.append(f"Legal moves ({len(moves)}{note}):\n{listed(moves)}")
    parts.append(
        f"{game.guide.prompt(state, seat)} Think as you like, then end with a line "
        f'"Move: ", followed by one legal move{number}.'
    )
    return "\n\n".join(parts) + "\n"


def _latest(events: Sequence[str]) -> list[str]:
    """Returns the last events that fit."""
    latest: list[str] = []
    for event in reversed(events[-_MAX_EVENTS:]):
        if sum(map(len, latest)) + len(event) > _MAX_EVENT_LENGTH:
            break
        latest.append(event)
    return latest[::-1]
