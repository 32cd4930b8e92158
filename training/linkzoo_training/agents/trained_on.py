"""The numbers of players and the options that a checkpoint was trained on, from its card.

A policy plays other games too, but nobody has measured how well: it warns once.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from linkzoo import Agent, Game
from linkzoo.core.options import option_names
from linkzoo.core.state import Record

_IRRELEVANT = ("skip_forced",)  # options that change which decisions are asked, not which are good


class UntrainedWarning(UserWarning):
    """A policy plays a number of players or options that it wasn't trained for."""


@dataclass(frozen=True)
class TrainedOn:
    """The training games of a checkpoint.

    Attributes:
        players: The numbers of players; empty if all, or unknown.
        options: The values in the record by option. An option may have any value if it is missing;
            options that are compiled in are missing, because policies refuse other boards or cards.
    """

    players: frozenset[int]
    options: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, game: Game, card: Mapping[str, Any]) -> "TrainedOn":
        """Returns the training games that a card describes."""
        config = card.get("trained", {}).get("config")
        if not isinstance(config, dict):
            return cls(frozenset(), {})
        players = config.get("num_players")
        if not isinstance(players, list):
            players = []
        numbers = frozenset(count for count in players if isinstance(count, int))
        try:
            return cls(numbers, _options(game, config))
        except (ValueError, TypeError, AttributeError):  # cards may have any content there
            return cls(numbers, {})

    def notes(self, game: Game, states: NDArray[Any]) -> list[str]:
        """Returns the options and numbers of players of N records that weren't trained."""
        return self.option_notes(game, states) + self.player_notes(states["num_players"])

    def option_notes(self, game: Game, states: NDArray[Any]) -> list[str]:
        """Returns the options of N records that weren't trained, as parts of sentences."""
        notes = []
        for option, trained in self.options.items():
            column = states[option]
            if (column == column[:1]).all():  # the usual case
                column = column[:1]
            for number in sorted(set(column.tolist()) - trained):
                state = states[states[option] == number][0]
                known = [_value(game, state, option, other) for other in sorted(trained)]
                played = _value(game, state, option, number)
                notes.append(f"trained for {option}={_ranges(known)}, not {played}")
        return notes

    def player_notes(self, players: NDArray[Any]) -> list[str]:
        """Returns the numbers of players that weren't trained, as parts of sentences."""
        if not self.players:
            return []
        others = sorted(set(players.tolist()) - self.players)
        return [f"trained for {sorted(self.players)} players, not {count}" for count in others]


def note_untrained(agent: Agent, states: NDArray[Any], *, options_only: bool = False) -> None:
    """Warns if an agent's policy wasn't trained for games such as N records.

    Policies warn when they act, but not in worker processes: programs call this before.

    Args:
        agent: Any agent.
        states: The records.
        options_only: Whether the numbers of players don't count.
    """
    note = getattr(agent, "note_untrained", None)
    if note is not None:
        note(states, options_only=options_only)


def _options(game: Game, config: Mapping[str, Any]) -> dict[str, frozenset[int]]:
    """Returns the trained values in the record of each option that matters."""
    initial_states = config.get("initial_states", {})
    if initial_states.get("file") is not None:  # its positions may have any options
        return {}
    record = game.blank(None, config.get("options", {}))
    options = {}
    for name in option_names(game.options):
        if name not in game.fixed.values and name not in _IRRELEVANT:
            low, high = initial_states.get("vary", {}).get(name, (1, 0))
            options[name] = frozenset([int(record[name]), *range(low, high + 1)])
    return options


def _value(game: Game, state: Record, option: str, number: int) -> Any:
    """Returns an option's value from its number in the record."""
    other = state.copy()
    other[option] = number
    return game.chosen_options(other)[option]


def _ranges(values: Collection[Any]) -> str:
    """Returns sorted values as text, such as `0, 12..16`."""
    texts: list[str] = []
    first: Any = None
    last: Any = None
    for value in values:
        if texts and type(value) is int and value - 1 == last:
            texts[-1] = f"{first}..{value}"
        else:
            first = value
            texts.append(f"{value}")
        last = value
    return ", ".join(texts)
