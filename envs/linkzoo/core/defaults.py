"""The parts of a game that follow from the others: `Game.of` makes them where it is given none."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import Record, compiled, specialise
from linkzoo.svg import elements as svg
from linkzoo.core.arguments import agrees, integer, sequence
from linkzoo.core.game import Field, Game, each_for_itself, record_dtype
from linkzoo.core.positions import Head, or_none, winners_of

_SIZE, _ADVANCE, _LEADING = 16, 10, 20  # of the letters of a drawing, in pixels

# The names that are bound to a game's facts.
FIRST: NDArray[np.int64]
SIDE: NDArray[np.int64]
SCALE: int
scores: Callable[..., Any]
NUM_ACTIONS: int
legal_actions: Callable[..., Any]


def complete(parts: Mapping[str, Any]) -> Game:
    """The game of these parts and of what follows from them (see `Game.of`)."""
    notation, name = Notation(), parts["name"]
    key = f"{name}_{parts['apply'].__name__}" if "fixed" in parts else name
    sides = sides_of(
        parts.get("sides", each_for_itself), parts["min_players"], parts["max_players"]
    )
    made: dict[str, Any] = {
        "title": name.replace("_", " ").title(),
        "state": record_dtype(parts["fields"]),
        "payoffs": payoffs(key, sides),
        "redeal": redeal,
        "to_dict": notation.to_dict,
        "from_dict": notation.from_dict,
        **parts,
    }
    if "scores" in made:
        scale = made.get("score_scale", Game.score_scale)
        made.setdefault("margins", margins(key, sides, made["scores"], scale))
    made.setdefault("margins", made["payoffs"])
    made.setdefault("flaw", flaw(key, made["num_actions"], made["legal_actions"]))
    made.setdefault("draw_svg", draw_svg(made["title"], made["draw_text"]))
    notation.game = Game(**made)
    return notation.game


def sides_of(
    sides: Callable[[int], tuple[int, ...]], min_players: int, max_players: int
) -> dict[str, NDArray[np.int64]]:
    """By number of players, SIDE by seat and the FIRST seat by side; -1 where there is none."""
    side, first = np.full((2, max_players + 1, max_players), -1, np.int64)
    for players in range(min_players, max_players + 1):
        whose = sides(players)
        side[players, :players] = whose
        for number in set(whose):
            first[players, number] = whose.index(number)
    return {"SIDE": side, "FIRST": first}


def payoffs(key: str, sides: Mapping[str, NDArray[np.int64]]) -> Callable[..., Any]:
    """The payoffs that the winners and `sides_of` say: zeros before the end, and for a draw.

    Else (1/w if it won else 0) - 1/n for a side, if w of n sides win, on a scale on which a sole
    winner has 1.
    """
    return specialise(_payoffs, key, **sides)


def _payoffs(state: Any, out: Any) -> None:
    players, winners = np.int64(state.num_players), np.int64(state.winners)
    count, won = 0, 0
    while count < players and FIRST[players, count] >= 0:
        won += (winners >> FIRST[players, count]) & 1
        count += 1
    for seat in range(players):
        out[seat] = 0
        if winners != 0:
            share = ((winners >> FIRST[players, SIDE[players, seat]]) & 1) * count - won
            out[seat] = np.float32(share) / np.float32(won * (count - 1))


def margins(
    key: str, sides: Mapping[str, NDArray[np.int64]], scores: Callable[..., Any], scale: int
) -> Callable[..., Any]:
    """The margins that the scores and `sides_of` say: own - mean of the others', / scale."""
    return specialise(_margins, key, **sides, scores=scores, SCALE=scale)


def _margins(state: Any, out: Any) -> None:
    players = np.int64(state.num_players)
    scores(state, out)
    count, total = 0, np.int64(0)
    while count < players and FIRST[players, count] >= 0:
        total += np.int64(out[FIRST[players, count]])
        count += 1
    for seat in range(players):
        difference = count * np.int64(out[seat]) - total
        out[seat] = np.float32(difference) / np.float32(SCALE * (count - 1))


@compiled
def redeal(state: Any, seat: Any, seed: Any) -> None:
    """Nothing is hidden and nothing random: only the seed changes."""
    state.seed = seed


def flaw(key: str, num_actions: int, legal_actions: Callable[..., Any]) -> Callable[..., Any]:
    """A seat that is to act must have a legal action, and after the end there is none."""
    return specialise(_flaw, key, NUM_ACTIONS=num_actions, legal_actions=legal_actions)


def _flaw(state: Any, scratch: Any) -> Any:
    mask = np.zeros(NUM_ACTIONS, np.int8)
    legal_actions(state, mask)
    if mask.any() != (state.seat >= 0):
        return "seat: it is to act if and only if an action is legal"
    return ""


class Notation:
    """Positions of a game that hides nothing as JSON data: the record's fields by their names.

    `game` is set as soon as the game is made.
    """

    game: Game

    def to_dict(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """The position; with a `seat`, what that seat sees (all but the seed)."""
        data = {
            **self._head.write(state),
            "seat": or_none(state.seat),
            "ply": int(state.ply),
            "winners": winners_of(state),
            **{field.name: state[field.name].tolist() for field in self._own_fields()},
        }
        if seat is not None:
            del data["seed"]
        return data

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """The record of `to_dict`; ValueError names the field that is wrong or disagrees.

        Without a seed (a seat's view) the seed is 0.
        """
        own = {field.name: field for field in self._own_fields()}
        header = "game version options num_players seat ply winners".split()
        state = self._head.read(data, [*header, *own], optional=("seed",))
        players = int(state.num_players)
        seat = data["seat"]
        state.seat = -1 if seat is None else integer("seat", seat, 0, players - 1)
        for winner in sequence("winners", data["winners"], 0, players):
            state.winners |= 1 << integer("winners", winner, 0, players - 1)
        for name, field in own.items():
            state[name] = _numbers(name, data[name], field, field.shape)
        agrees("winners", data["winners"], self.to_dict(state)["winners"])
        return self.game.from_bytes(state.tobytes())

    @property
    def _head(self) -> Head:
        return Head(**{fact.name: getattr(self.game, fact.name) for fact in fields(Head)})

    def _own_fields(self) -> list[Field]:
        options = {option.name for option in fields(self.game.options)}  # type: ignore[arg-type]
        return [field for field in self.game.fields if field.name not in options]


def _numbers(name: str, value: Any, field: Field, shape: tuple[int, ...]) -> Any:
    """The numbers of a field, as nested lists of this shape; ValueError names one that is wrong."""
    if shape:
        items = sequence(name, value, shape[0], shape[0])
        return [_numbers(f"{name}[{i}]", item, field, shape[1:]) for i, item in enumerate(items)]
    info = np.iinfo(field.kind)
    low = int(info.min) if field.low is None else field.low
    return integer(name, value, low, int(info.max) if field.high is None else field.high)


def draw_svg(title: str, draw_text: Callable[..., str]) -> Callable[..., str]:
    """A picture of the text, each character in a place of its own."""

    def draw(state: Record, seat: int | None = None) -> str:
        lines = draw_text(state, seat).splitlines()
        width = _ADVANCE * (2 + max(map(len, lines), default=0))
        height = _LEADING * (1 + len(lines))
        letters = [
            svg.text(letter, _ADVANCE * (1 + column), _LEADING * (1 + row), _SIZE)
            for row, line in enumerate(lines)
            for column, letter in enumerate(line)
            if letter != " "
        ]
        background = svg.rect(0, 0, width, height, fill="white")
        return svg.document(width, height, title, background, *letters)

    return draw
