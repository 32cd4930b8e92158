"""Words of a game for people: prompts, a log, spoken moves, how the score adds up, rules."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkzoo.core.contract import Notation, Rules
from linkzoo.core.state import Record, winners_of

# ruff: noqa: ARG002 - the methods are defaults, which needn't use what a game's own need
_FULL = ("Words", "Rules", "Notation")  # the sections of a RULES.md that players need


class ScoreRow(NamedTuple):
    """A line of the score: its label and a value per seat, "" where it has none."""

    label: str
    values: tuple[str, ...]


class Guide:
    """Words for people, in plain Python. A game derives from it what it can say better.

    `seat` is the one that looks, None for the referee. No method says more than that seat can know:
    the answers are equal in all worlds that it can't tell apart.

    Args:
        notation: The game's notation, in which the defaults speak.
        rules: The game's compiled rules.
        num_actions: The number of actions.
        secret: Whether moves are told to their seat alone.

    Attributes:
        rulebook: The file with the rules, in Markdown: its section "In short", the sections
            "Words", "Rules" and "Notation", and the table of "Options". None: there is none.
    """

    rulebook: Path | None = None

    def __init__(
        self, notation: Notation, rules: Rules, num_actions: int, secret: bool = False
    ) -> None:
        self.notation, self.rules = notation, rules
        self.num_actions, self.secret = num_actions, secret

    def prompt(self, state: Record, seat: int | None = None) -> str:
        """Returns what can be done now and why, a sentence or two; the outcome at the end."""
        if state.seat < 0:
            return self.outcome(state)
        if seat not in (None, state.seat):
            return f"Player {state.seat} is to act."
        return "Choose a move."

    def event(self, state: Record, action: int, seat: int | None = None) -> str:
        """Returns a move and what came of it, for the log: a sentence or more with their subject.

        Args:
            state: The position before the move.
            action: The move.
            seat: The seat that reads it.

        Returns:
            Such as "Player 0 places ..."; "" for a move of which the seat sees nothing. A log for a
            seat leaves those out and numbers the others: how many hidden moves there were can be a
            secret.
        """
        said = [self.sentence(*step, seat) for step in self._steps(state, action)]
        return " ".join(filter(None, said))

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        """Returns what a move placed or changed, as `data-item` in the drawing after the move.

        Args:
            state: The position before the move.
            action: The move.
            seat: The seat that looks.
        """
        return ()

    def sentence(self, before: Record, action: int, after: Record, seat: int | None) -> str:
        """Returns the part of `event` for one action; a forced one that follows has its own."""
        if self.secret and seat not in (None, before.seat):
            return ""
        return f"Player {before.seat}: {self.action_words(before, action)}."

    def action_words(self, state: Record, action: int) -> str:
        """Returns a move as it is spoken, such as "blue domino on c3 and c4"."""
        return self.notation.action_to_text(state, action)

    def part_words(self, state: Record, part: str) -> str:
        """Returns an element of `action_parts` as it is spoken, such as "blue domino"."""
        return part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        """Returns the score as it is reckoned, the total last; no rows without scores."""
        if self.rules.scores is None:
            return []
        points = np.zeros(int(state.num_players), np.float32)
        self.rules.scores(state, points)
        return [ScoreRow("points", tuple(f"{value:g}" for value in points))]

    def outcome(self, state: Record) -> str:
        """Returns the end of a finished game with its reason, a sentence or two."""
        return f"{winners_text(winners_of(state), int(state.num_players))}."

    def rules_text(self, *, full: bool = False) -> str | None:
        """Returns the rules in Markdown, without a title: in short, or `full` with numbers.

        One text for the page and for language models. None: the game has no rulebook.
        """
        found = self._sections()
        if not found:
            return None
        if not full:
            return found.get("In short", "")
        return "\n\n".join(f"## {name}\n\n{found[name]}" for name in _FULL if name in found)

    def components(self) -> str:
        """Returns what is printed on the cards, a line each; "" where every view shows it.

        For readers who can't look at the drawing.
        """
        return ""

    def option_words(self) -> dict[str, str]:
        """Returns the meaning of each option, by name, as far as the rulebook explains it."""
        table = self._sections().get("Options", "")
        rows = re.findall(r"^\| `(\w+)` \|.*?\| (.*) \|$", table, re.MULTILINE)
        return {name: meaning.replace("`", "") for name, meaning in rows}

    def _sections(self) -> dict[str, str]:
        """Returns the rulebook's sections by title."""
        if self.rulebook is None:
            return {}
        words = self.rulebook.read_text(encoding="utf-8")
        _, *parts = re.split(r"^## (.*)$", words, flags=re.MULTILINE)
        return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))

    def legal(self, state: Record) -> list[int]:
        """Returns the legal actions."""
        mask = np.zeros(self.num_actions, np.int8)
        self.rules.legal_actions(state, mask)
        return [int(action) for action in np.flatnonzero(mask)]

    def after(self, state: Record, action: int) -> Record:
        """Returns the position after a move, and after the forced ones that follow it."""
        *_, (_, _, after) = self._steps(state, action)
        return after

    def _steps(self, state: Record, action: int) -> Iterator[tuple[Record, int, Record]]:
        """Yields an action, and the forced ones that are played with it, between two positions."""
        legal = [action]
        while len(legal) == 1:
            after: Record = state.reshape(1).copy()[0]
            self.rules.apply(after, legal[0])
            yield state, legal[0], after
            state, legal = after, self.legal(after) if after.skip_forced else []


def count(number: int, thing: str) -> str:
    """Returns `1 card`, `2 cards`."""
    return f"{number} {thing}{'s' * int(number != 1)}"


def winners_text(winners: Collection[int], num_players: int) -> str:
    """Returns `Player 0 wins`, `Players 0 and 2 win` or `A draw`."""
    if len(winners) in (0, num_players):
        return "A draw"
    *others, last = map(str, winners)
    return f"Players {', '.join(others)} and {last} win" if others else f"Player {last} wins"
