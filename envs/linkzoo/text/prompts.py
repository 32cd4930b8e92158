"""Text for a seat: the rules, its view of a position, the history, and its legal moves."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from linkzoo.core.arguments import integer, one_of
from linkzoo.core.game import Game
from linkzoo.core.state import OVER, Record
from linkzoo.text.moves import MAX_NUMBERED, legal_moves, listed

MOVES = ("listed", "hidden", "on_request")
# At most as long as a token of common tokenizers, and most tokens are longer.
_TOKEN = re.compile(r" (?=\d)|[A-Z]{1,2}|[^\W\d_]{1,4}|\d|[^\w\s]|_|\n")


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    """The contents of prompts.

    Attributes:
        moves: The legal moves: `listed` in each prompt, `hidden`, or `on_request`, once a decision,
            by the answer `Move: ?`. Without a list, an answer is a move in notation.
        history_tokens: Limit of the history in tokens, 0..1,000,000; the latest moves that fit are
            in it. Facts of earlier moves that matter are always in the prompt.
        thinking_tokens: The budget for thinking that the prompt asks the model to keep, in tokens,
            1..1,000,000; None: no budget.

    Raises:
        ValueError: A setting is out of range.
    """

    moves: Literal["listed", "hidden", "on_request"] = "listed"
    history_tokens: int = 400
    thinking_tokens: int | None = None

    def __post_init__(self) -> None:
        one_of("moves", self.moves, MOVES)
        integer("history_tokens", self.history_tokens, 0, 10**6)
        if self.thinking_tokens is not None:
            integer("thinking_tokens", self.thinking_tokens, 1, 10**6)


STANDARD = PromptSettings()


def rules_text(
    game: Game,
    options: Mapping[str, Any] | None = None,
    *,
    full: bool = False,
    notation: bool = False,
) -> str:
    """Returns a game's rules in words: its title, rules, printed cards, and options.

    Args:
        game: The game.
        options: The options of the game; standard values are left out.
        full: The numbered rules with the notation, instead of the rules in short.
        notation: Whether the rules in short have the notation of moves, too.
    """
    rules = game.guide.rules_text(full=full)
    parts = [f"# {game.title}", rules or "The rules come without words: read the legal moves."]
    if notation and not full and (section := game.guide.notation_text()):
        parts.append(f"## Notation\n\n{section}")
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


def ask(
    game: Game,
    state: Record,
    history: Sequence[str] = (),
    settings: PromptSettings = STANDARD,
) -> str:
    """Returns the prompt for the seat to act: its view, its history, the legal moves.

    Args:
        game: The game.
        state: The position; a seat is to act.
        history: Earlier moves as far as the seat may know them, oldest first (`History.lines`).
        settings: The contents of the prompt.

    Raises:
        ValueError: The game is over.
    """
    seat = int(state.seat)
    if seat == OVER:
        raise ValueError("the game is over: no seat is to act")
    parts = [describe(game, state, seat)]
    knowledge = game.guide.knowledge(state, seat)
    if knowledge:
        parts.append("What you know from earlier moves:\n" + _bullets(knowledge))
    tokens = settings.history_tokens - estimated_tokens(*knowledge)
    latest = _latest(history, tokens)
    if latest:
        parts.append(_history(latest, len(history)))
    choice = "one legal move in notation"
    if settings.moves == "listed":
        moves = list(legal_moves(game, state))
        note = ""
        choice = "one legal move or its number"
        if len(moves) > MAX_NUMBERED:
            note = "; choose one in each bracket"
            choice = "one legal move"
        parts.append(f"Legal moves ({len(moves)}{note}):\n{listed(moves)}")
    elif settings.moves == "on_request":
        choice += ', or by "?" for the list of legal moves'
    thinking = "Think as you like"
    if settings.thinking_tokens is not None:
        thinking = f"Think in at most {settings.thinking_tokens:,} tokens"
    parts.append(
        f'{game.guide.prompt(state, seat)} {thinking}, then end with a line "Move: ", followed by '
        f"{choice}."
    )
    return "\n\n".join(parts) + "\n"


def estimated_tokens(*texts: str) -> int:
    """Returns an estimate of the tokens of texts, rather too high than too low."""
    return sum(len(_TOKEN.findall(text)) for text in texts)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _history(latest: Sequence[str], count: int) -> str:
    """Returns the latest of `count` moves with their numbers."""
    first = count - len(latest) + 1
    title = "Moves so far:"
    if first > 1:
        title = f"The latest {len(latest)} of {count} moves:"
    return "\n".join([title, *(f"{number}. {line}" for number, line in enumerate(latest, first))])


def _latest(lines: Sequence[str], tokens: int) -> list[str]:
    """Returns the last lines that fit into a number of tokens, each with its number."""
    latest: list[str] = []
    for number, line in reversed([*enumerate(lines, 1)]):
        tokens -= estimated_tokens(f"{number}. {line}\n")
        if tokens < 0:
            break
        latest.append(line)
    return latest[::-1]
