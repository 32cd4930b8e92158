"""A game in words for people: prompts, a log, spoken moves, how the score adds up, rules."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from linkzoo.core.contract import Notation, Rules
from linkzoo.core.state import Record, winners_of

# ruff: noqa: ARG002 - the methods are defaults and needn't use all arguments of a game's own
_FULL = ("Words", "Rules", "Notation")  # the sections of a RULES.md that players need


class ScoreRow(NamedTuple):
    """A line of the score: its label and a value per seat, "" where it has none."""

    label: str
    values: tuple[str, ...]


class FeatureReason(NamedTuple):
    """A reason why a move is better than another, from an action feature that differs.

    Attributes:
        feature: The name of the feature.
        sign: 1 if a larger value speaks for a move, -1 if a smaller one does.
        words: A sentence about the better move, "it", with both values as `{better}` and
            `{played}`; `{better:tile}` is an amount of things, such as "2 tiles".
        least: The smallest difference that is a reason.
        given: The names of features that aren't 0 for both moves.
        minimum: The smallest value of the better move that is a reason.
    """

    feature: str
    sign: int
    words: str
    least: int = 1
    given: tuple[str, ...] = ()
    minimum: int = -127

    def holds(self, better: int, played: int) -> bool:
        """Returns whether these values of the feature are a reason for the better move."""
        return self.sign * (better - played) >= self.least and better >= self.minimum

    def sentence(self, better: int, played: int) -> str:
        """Returns the words with the values of the feature."""
        return self.words.format(better=_Amount(better), played=_Amount(played))


class _Amount(int):
    """A number that a format turns into an amount of things."""

    def __format__(self, thing: str) -> str:
        if not thing:
            return str(int(self))
        if self == 0:
            return f"no {thing}s"
        return count(int(self), thing)


class Guide:
    """Words for people, in plain Python. A game with better words derives from it.

    `seat` is the observing seat, None for the referee, and SPECTATOR (`linkzoo.core.game`) for
    somebody without a seat, who knows what all seats know. No method says more than its reader can
    know: the answers are equal in all worlds that the reader can't tell apart.

    Args:
        notation: The game's notation, in which the defaults speak.
        rules: The game's compiled rules.
        num_actions: The number of actions.
        secret: Whether only the acting seat sees a move.

    Attributes:
        rulebook: The file with the rules, in Markdown: its section "In short", the sections
            "Words", "Rules" and "Notation", and the table of "Options". None: there is none.
        feature_reasons: The action features that are reasons for a move, the clearest first.
    """

    rulebook: Path | None = None
    feature_reasons: tuple[FeatureReason, ...] = ()

    def __init__(
        self, notation: Notation, rules: Rules, num_actions: int, secret: bool = False
    ) -> None:
        self.notation = notation
        self.rules = rules
        self.num_actions = num_actions
        self.secret = secret

    def prompt(self, state: Record, seat: int | None = None) -> str:
        """Returns the choices of the seat to act, with a reason; at the end, the outcome."""
        if state.seat < 0:
            return self.outcome(state)
        if seat not in (None, state.seat):
            return f"Player {state.seat} is to act."
        return "Choose a move."

    def event(self, state: Record, action: int, seat: int | None = None) -> str:
        """Returns a move and its consequences for the log, a sentence or more with their subject.

        Args:
            state: The position before the move.
            action: The move.
            seat: The seat that reads it.

        Returns:
            Such as "Player 0 places ..."; "" for a move of which the seat sees nothing. A log for a
            seat leaves out hidden moves and numbers the others: the number of hidden moves can be
            secret.
        """
        sentences = [self.sentence(*step, seat) for step in self._steps(state, action)]
        return " ".join(filter(None, sentences))

    def line(self, state: Record, action: int, seat: int | None = None) -> str:
        """Returns a move and its consequences in notation, such as "player 0: W a1-b1".

        It says as much as `event`, in fewer words; secret moves are in the words of `event`.

        Args:
            state: The position before the move.
            action: The move.
            seat: The seat that reads it.
        """
        if self.secret:
            return self.event(state, action, seat)
        parts = []
        for before, step, after in self._steps(state, action):
            parts.append(f"player {before.seat}: {self.notation.action_to_text(before, step)}")
            parts += self.consequences(before, step, after, seat)
        return "; ".join(parts)

    def consequences(
        self, before: Record, action: int, after: Record, seat: int | None
    ) -> list[str]:
        """Returns the consequences of a move for `line`, such as "player 1 passes"."""
        return []

    def knowledge(self, state: Record, seat: int) -> list[str]:
        """Returns facts that a seat knows from earlier moves and that the drawing doesn't show.

        With them and the drawing, a seat needs no memory of the moves.

        Args:
            state: The position.
            seat: The observing seat.
        """
        return []

    def touched(self, state: Record, action: int, seat: int | None = None) -> tuple[str, ...]:
        """Returns the items that a move placed or changed, by `data-item` in the drawing after it.

        Args:
            state: The position before the move.
            action: The move.
            seat: The observing seat.
        """
        return self.changed(state, self.after(state, action), seat)

    def changed(self, before: Record, after: Record, seat: int | None = None) -> tuple[str, ...]:
        """Returns the items that differ between two positions, by `data-item` in the later drawing.

        Args:
            before: The earlier position.
            after: The later position.
            seat: The observing seat.
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

    def reasons(self, state: Record, played: int, better: int) -> list[str]:
        """Returns reasons why a move is better than the one that was played, a sentence each.

        They come before those of `feature_reasons`, the clearest first, and state facts of the
        position only.

        Args:
            state: The position before the move.
            played: The move that was played.
            better: The better move.
        """
        return []

    def part_words(self, state: Record, part: str) -> str:
        """Returns an element of `action_parts` as it is spoken, such as "blue domino"."""
        return part

    def score_rows(self, state: Record, seat: int | None = None) -> list[ScoreRow]:
        """Returns how the score adds up, the total last; no rows without scores."""
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
        sections = self._sections()
        if not sections:
            return None
        if not full:
            return sections.get("In short", "")
        names = [name for name in _FULL if name in sections]
        return "\n\n".join(f"## {name}\n\n{sections[name]}" for name in names)

    def notation_text(self) -> str:
        """Returns the section of the rulebook on the notation of moves; "" if there is none."""
        return self._sections().get("Notation", "")

    def components(self) -> str:
        """Returns the printed text of the cards, a line each; "" where every view shows it.

        For readers without the drawing.
        """
        return ""

    def option_words(self) -> dict[str, str]:
        """Returns the meaning of each option, by name, as far as the rulebook explains it."""
        table = self._sections().get("Options", "").partition("\n### ")[0]
        rows = re.findall(r"^\| `(\w+)` \|.*?\| (.*) \|$", table, re.MULTILINE)
        link = re.compile(r"\[(.*?)\]\(.*?\)")
        return {name: link.sub(r"\1", meaning).replace("`", "") for name, meaning in rows}

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
            state = after
            if not state.skip_forced:
                return
            legal = self.legal(state)


class GuideClass(Protocol):
    """`Guide`, or a class derived from it (`Game.guide_class`)."""

    def __call__(self, notation: Notation, rules: Rules, num_actions: int, secret: bool) -> Guide:
        """Makes the guide of a game, with the arguments of `Guide`."""


def count(number: int, thing: str) -> str:
    """Returns `1 card`, `2 cards`."""
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing}s"


def winners_text(winners: Collection[int], num_players: int) -> str:
    """Returns `Player 0 wins`, `Players 0 and 2 win` or `A draw`."""
    if len(winners) in (0, num_players):
        return "A draw"
    *others, last = map(str, winners)
    if not others:
        return f"Player {last} wins"
    return f"Players {', '.join(others)} and {last} win"
