r"""Reads a move from a free-text answer.

The last mark decides, if there is one: `Move: ...` (or answer, action, choice),
`<answer>...</answer>` or `\boxed{...}`; else the last move in the text. Thoughts in
`<think>...</think>` don't count; an unclosed one lasts to the end, and only a mark before it is an
answer. Letter case, dashes, spaces, brackets, quotes, LaTeX's fonts and words such as "on" don't
matter.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from operator import eq
from typing import Literal

from linkzoo.core.arguments import shown, string
from linkzoo.core.game import Game
from linkzoo.core.state import Record
from linkzoo.text.moves import MAX_NUMBERED, legal_moves

_MAX_LENGTH = 20_000  # characters of an answer, from its end
_SHORT = 12  # tokens of an answer that may be a part of a move
_SHOWN = 8  # moves that a message lists
_DIGITS = 3  # of a move's number, at most
_BOX = re.compile(r"<(?P<tag>answer|move|action)>|\\f?boxed\s{0,4}\{", re.IGNORECASE)
_MARK = re.compile(
    _BOX.pattern + r"|\b(?:answer|move|action|choice)\b[\"'*_` ]{0,4}[:=](?P<line>[^\n]*)",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<(?P<close>/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# Markup inside a mark: tags, and LaTeX's fonts and spaces.
_MARKUP = re.compile(r"</?\w[^<>]{0,40}>|\\(?:text|math|bold|operator)[a-z]*\s{0,4}(?=\{)|\\[ ,;!]")
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_IGNORED = frozenset("at in on the to from with and slot space".split())
_FILLERS = frozenset("move number option no answer i choose play pick take my is choice".split())

Tokens = tuple[str, ...]


class MoveError(ValueError):
    """An answer that is no legal move; the message lists legal moves.

    Attributes:
        kind: `"unreadable"`: it states no move; `"illegal"`: the move isn't legal here;
            `"ambiguous"`: it may mean several legal moves; `"request"`: it asks for the legal
            moves, and the message lists them (`PromptSettings.moves`).
    """

    def __init__(
        self, kind: Literal["unreadable", "illegal", "ambiguous", "request"], message: str
    ) -> None:
        super().__init__(message)
        self.kind = kind


def asks_for_moves(answer: str) -> bool:
    """Returns whether an answer asks for the list of legal moves: `Move: ?`, or `?` alone."""
    text, _ = _without_thoughts(string("answer", answer)[-_MAX_LENGTH:])
    marks = list(_MARK.finditer(text))
    if marks:
        text = marks[-1]["line"]
        if text is None:
            text = _inside(marks[-1])
    return text.strip(" \t\r\n\"'*_`") == "?"


def read_move(game: Game, state: Record, answer: str, *, listed: bool = True) -> int:
    """Returns the legal action that an answer states.

    Args:
        game: The game.
        state: The position; a seat is to act.
        answer: A move in the game's notation, its number in `list_moves`, or a text with a move. If
            the text has a mark, such as a line `Move: ...`, the last mark decides, else the last
            move in the text.
        listed: Whether the player has seen the list of legal moves. If not, numbers are no moves,
            and the messages of errors name no legal moves.

    Raises:
        MoveError: No legal move is stated, or the move is ambiguous.
    """
    legal = legal_moves(game, state)
    answer = string("answer", answer)
    if answer in legal:
        return legal[answer]
    return _Reader(game, state, legal, listed).read(answer)


class _Reader:
    """Reads answers in one position."""

    def __init__(self, game: Game, state: Record, legal: Mapping[str, int], listed: bool) -> None:
        self._listed = listed
        self._game = game
        self._state = state
        self._legal = legal
        self._moves = {_tokens(text): text for text in legal}

    @cached_property
    def _named(self) -> dict[Tokens, str]:
        """Legal moves, and all others that have a name."""
        notation = self._game.notation
        named = dict(self._moves)
        for action in range(self._game.num_actions):
            with suppress(ValueError):
                text = notation.action_to_text(self._state, action)
                if notation.text_to_action(self._state, text) == action:
                    named.setdefault(_tokens(text), text)
        return named

    def read(self, answer: str) -> int:
        text, unfinished = _without_thoughts(answer)
        text = text[-_MAX_LENGTH:]
        marked = _last_mark(text)
        if marked is not None:
            text = _MARKUP.sub(" ", marked)
        elif unfinished:
            raise MoveError(
                "unreadable", "your answer ends before the thinking does: think less, then move"
            )
        tokens = _tokens(text)
        if tokens in self._moves:
            return self._legal[self._moves[tokens]]
        stated = self._stated(tokens)
        if marked is None:
            longer = [move for move in stated if len(_tokens(move)) > 1]
            stated = (longer or stated)[-1:]
        if len(set(stated)) > 1:
            self._refuse_several(stated)
        if stated:
            return self._legal_one(stated[0])
        number = [token for token in tokens if token not in _FILLERS]
        numbered = self._listed and len(self._legal) <= MAX_NUMBERED
        if numbered and len(number) == 1 and number[0].isdecimal():
            return self._numbered(number[0])
        return self._guessed(tokens, text)

    def _stated(self, tokens: Tokens) -> list[str]:
        """Returns the moves in a text, legal or not, in order; the longest where several begin."""
        lengths = sorted(set(map(len, self._named)), reverse=True)
        stated = []
        start = 0
        while start < len(tokens):
            parts = (tokens[start : start + length] for length in lengths)
            move = next((part for part in parts if part in self._named), None)
            if move is None:
                start += 1
            else:
                stated.append(self._named[move])
                start += len(move)
        # A word such as "yes" is a move where it is legal or stands alone.
        return [
            move
            for move in stated
            if move in self._legal or len(_tokens(move)) > 1 or _tokens(move) == tokens
        ]

    def _legal_one(self, move: str) -> int:
        if move not in self._legal:
            tokens = _tokens(move)
            shared = {name: sum(map(eq, _tokens(name), tokens)) for name in self._legal}
            close = sorted(self._legal, key=shared.__getitem__, reverse=True)
            raise MoveError("illegal", f"{move} is not legal here{self._hint(close)}")
        return self._legal[move]

    def _numbered(self, number: str) -> int:
        if len(number) > _DIGITS or not 1 <= int(number) <= len(self._legal):
            raise MoveError(
                "illegal", f"there is no move {number[:9]}: the moves are 1 to {len(self._legal)}"
            )
        return list(self._legal.values())[int(number) - 1]

    def _guessed(self, tokens: Tokens, text: str) -> int:
        """Returns the only legal move with the same tokens, or with all tokens of a short text."""
        matches: list[str] = []
        for length in sorted(set(map(len, self._moves)), reverse=True):
            by_tokens: dict[Tokens, list[str]] = {}
            for move, name in self._moves.items():
                if len(move) == length > 2:
                    by_tokens.setdefault(tuple(sorted(move)), []).append(name)
            if not by_tokens:
                continue
            for start in range(len(tokens) - length + 1):
                matches += by_tokens.get(tuple(sorted(tokens[start : start + length])), [])
        if not matches and 0 < len(tokens) <= _SHORT:
            part = f" {' '.join(tokens)} "
            matches = [name for move, name in self._moves.items() if part in f" {' '.join(move)} "]
        matches = list(dict.fromkeys(matches))
        if len(matches) == 1:
            return self._legal[matches[0]]
        if matches:
            self._refuse_several(matches)
        end = shown(" ".join(text.split())[-80:])
        hint = self._hint(self._legal)
        raise MoveError("unreadable", f"your answer states no move: {end}{hint}")

    def _refuse_several(self, moves: Iterable[str]) -> None:
        several = list(dict.fromkeys(moves))
        names = ", ".join(several[:_SHOWN])
        if not self._listed:
            names = "several moves"
        raise MoveError("ambiguous", f"your answer may mean {names}: state one move alone")

    def _hint(self, moves: Iterable[str]) -> str:
        """Returns the end of a message with legal moves; "" if the player may not see them."""
        (*names,) = moves
        if not self._listed:
            return ""
        if len(names) <= _SHOWN:
            return f". Legal moves: {', '.join(names)}"
        return f". Legal moves are, among others, {', '.join(names[:_SHOWN])}"


def _tokens(text: str) -> Tokens:
    """Returns runs of letters and of digits, in lower case, without filler words."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(token for token in _TOKEN.findall(plain) if token not in _IGNORED)


def _without_thoughts(text: str) -> tuple[str, bool]:
    """Returns the text after all thoughts or before an unclosed one, and whether there is one."""
    start = 0
    unclosed: int | None = None
    for tag in _THOUGHT.finditer(text):
        if tag["close"]:
            start = tag.end()
            unclosed = None
        elif unclosed is None:
            unclosed = tag.start()
    return text[start:unclosed], unclosed is not None


def _last_mark(text: str) -> str | None:
    """Returns the content of the last mark; after an empty line, the next line with words."""
    marks = list(_MARK.finditer(text))
    if not marks:
        return None
    last = marks[-1]
    line = last["line"]
    if line is None:
        return _inside(last)
    boxes = list(_BOX.finditer(line))
    if boxes:
        return _inside(boxes[-1])
    if _TOKEN.search(line):
        return line
    lines = (line for line in text[last.end() :].splitlines() if not line.startswith("```"))
    return next((line for line in lines if _TOKEN.search(line)), "")


def _inside(box: re.Match[str]) -> str:
    """Returns the content of a tag or of braces, which may nest; all that follows if unclosed."""
    rest = box.string[box.end() :]
    if box["tag"]:
        closed = re.search(f"</{box['tag']}>", rest, re.IGNORECASE)
        if closed is None:
            return rest.partition("<")[0]
        return rest[: closed.start()]
    depth = 1
    for index, character in enumerate(rest):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        if depth == 0:
            return rest[:index]
    return rest
