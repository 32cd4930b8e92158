"""`linkzoo.testing.check_game` says what is broken: Connect Four with one broken part each."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import observation, rules, text
from numpy.typing import NDArray

from linkzoo import Field, Game, Graph, Mask, Record, compiled
from linkzoo.testing import check_game

OVER, FOUR = -1, connect_four.GAME
four_payoffs = FOUR.payoffs


@compiled
def _changes_the_seed(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.seed += np.uint64(1)


@compiled
def _forgets_plies(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.ply = 1


@compiled
def _ends_without_winners(state: Record, action: int) -> None:
    rules.apply(state, action)
    if state.ply == 5:
        state.seat = OVER


@compiled
def _goes_on_without_a_move(state: Record, action: int) -> None:
    rules.apply(state, action)
    if state.seat == OVER:
        state.seat = 0
        state.winners = 0
        state.board[:] = 1


@compiled
def _fourth_column_is_a_dead_end(state: Record, action: int) -> None:
    rules.apply(state, action)
    if action == 3 and state.ply == 1:
        state.seat = OVER


@compiled
def _leaves_the_board(state: Record, seed: np.uint64) -> None:
    if state.ply == 0:
        state.board[:] = -1
    state.seed, state.winners, state.ply, state.seat = seed, 0, 0, 0


@compiled
def _mask_of_twos(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    mask *= 2


@compiled
def _half_a_mask(state: Record, mask: Mask) -> None:
    for column in range(1, 7):
        mask[column] = state.seat != OVER and state.board[5, column] == -1


@compiled
def _mask_that_counts(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    state.board[0, 0] = 1


@compiled
def _half_an_observation(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    for cell in range(42):
        out[cell] = state.board[cell // 7, cell % 7] == seat


@compiled
def _out_of_bounds(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    out[83] = 2


@compiled
def _sees_the_seed(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    out[0] = state.seed % np.uint64(2)


@compiled
def _pays_everyone(state: Record, out: NDArray[np.float32]) -> None:
    out[:] = 1


@compiled
def _pays_half(state: Record, out: NDArray[np.float32]) -> None:
    four_payoffs(state, out)
    out /= np.float32(2)


@compiled
def _pays_the_loser(state: Record, out: NDArray[np.float32]) -> None:
    four_payoffs(state, out)
    out *= np.float32(-1)


@compiled
def _no_margins(state: Record, out: NDArray[np.float32]) -> None:
    out[:] = np.nan


@compiled
def _keeps_the_seed(state: Record, seat: int, seed: np.uint64) -> None:
    state.ply = state.ply


@compiled
def _makes_another_board(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    state.board[0, 0] = 1 - seat


def _swapped() -> tuple[NDArray[np.int64], ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, acts[:, [1, 0, 2, 3, 4, 5, 6]], hidden


def _wrong_reflection() -> tuple[NDArray[np.int64], ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, np.stack([acts[0], acts[0]]), hidden


def _other_json(state: Record, seat: int | None = None) -> dict[str, Any]:
    return {**FOUR.to_dict(state, seat), "board": np.asarray(state.board)}


def _with_seed(state: Record, seat: int | None = None) -> dict[str, Any]:
    return FOUR.to_dict(state)


def _other_ply(data: Any) -> Any:
    state = FOUR.from_dict(data)
    state.ply = 0
    return state


def _any_text(state: Record, move: str) -> int:
    return max(text.LETTERS.find(move), 0)


def _drawn_at_first(state: Record, seat: int | None = None) -> str:
    return "<svg/>" if state.ply else '<svg><g data-part="2"/></svg>'


def _graph(last: int = 6, kind: str = "i8") -> Graph:
    """The columns in a row."""
    columns = np.arange(7)
    right = np.where(columns < 6, columns + 1, last)
    seen = columns[:, None].astype(kind)
    return Graph(seen, right[:, None], np.zeros(7, int), np.empty((1, 0), int))


def altered(name: str, **changes: Any) -> Game:
    """Connect Four with other fields of its own or of its parts."""
    for part in ("rules", "observation", "notation", "drawing", "facts"):
        old = getattr(FOUR, part)
        inside = {field.name for field in fields(old)} & changes.keys()
        changes[part] = replace(old, **{field: changes.pop(field) for field in inside})
    return replace(FOUR, name=name, **changes)


BOUNDS = (Field("board", "i1", (rules.ROWS, rules.COLUMNS), -1, 0),)
CELLS = {"action_cells": np.arange(7)}
READ = {"from_dict": FOUR.from_dict}

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "sides of one seat": ({"sides": lambda players: (0,)}, "sides: "),
    "two in a place": ({"action_cells": np.zeros(7, int)}, "action_cells: two"),
    "an edge to nowhere": (
        {"graph": partial(_graph, last=7), **CELLS},
        "graph: neighbours .* outside -1..6",
    ),
    "a graph of floats": (
        {"graph": partial(_graph, kind="f8"), **CELLS},
        "graph: cells .* float64",
    ),
    "a place far away": ({"action_cells": np.arange(7) + 10**9}, "action_cells: there are more"),
    "a wrong length": ({"typical_length": 5}, "lengths: typical_length is 5"),
    "too long": ({"typical_length": 6, "max_length": 6}, "no end within max_length"),
    "seed": ({"apply": _changes_the_seed}, "header: seed has changed"),
    "plies": ({"apply": _forgets_plies}, "header: ply is 1 after 2"),
    "no winners": ({"apply": _ends_without_winners}, "header: winners are 0 at ply 5"),
    "nothing legal": ({"apply": _goes_on_without_a_move}, "positions: seat 0 is to act"),
    "dead end": ({"apply": _fourth_column_is_a_dead_end}, "every_legal_action: no winners after"),
    "old board": ({"new_game": _leaves_the_board}, "new_game: something of the old game"),
    "mask of twos": ({"legal_actions": _mask_of_twos}, "positions: the mask holds"),
    "half a mask": ({"legal_actions": _half_a_mask}, "positions: the mask holds"),
    "a mask that plays": ({"legal_actions": _mask_that_counts}, "masks: legal_actions changes"),
    "half seen": ({"observe": _half_an_observation}, "observations: observe leaves elements"),
    "too much seen": ({"observe": _out_of_bounds}, "fills for seat 0 other with 0..2, not 0..1"),
    "the seed seen": (
        {"observe": _sees_the_seed, "symmetries": None},
        "determinize: seat . observes",
    ),
    "sum": ({"payoffs": _pays_everyone}, "payoffs: .* aren't zero-sum"),
    "half paid": ({"payoffs": _pays_half}, "payoffs: .* of a sole winner"),
    "loser paid": ({"payoffs": _pays_the_loser}, "payoffs: .*, but winners"),
    "margins": ({"score_margins": _no_margins}, "payoffs: score margins .* aren't finite"),
    "same seed": ({"determinize": _keeps_the_seed}, "determinize: it doesn't store the seed"),
    "another world": ({"determinize": _makes_another_board}, "determinize: "),
    "no number": ({"heuristic": compiled(lambda *_: np.nan)}, "heuristic: it returns nan"),
    "no identity": ({"symmetries": _swapped}, "symmetries: actions: the first isn't the identity"),
    "no reflection": ({"symmetries": _wrong_reflection}, "symmetries: symmetry 1 at ply 1: seat"),
    "arrays in JSON": ({"to_dict": _other_json, **READ}, "bytes_and_json: TypeError"),
    "a seed in JSON": ({"to_dict": _with_seed, **READ}, "bytes_and_json: to_dict of a seat has"),
    "another ply": (
        {"to_dict": FOUR.to_dict, "from_dict": _other_ply},
        "ply 1: bytes_and_json: ValueError: ply: 1, but the rest of the position says 0",
    ),
    "refused": ({"validate": compiled(lambda state, scratch: "no")}, "from_bytes refuses it: no"),
    "one text": ({"action_to_text": lambda state, action: "a"}, "notation: two legal moves"),
    "back to a": ({"text_to_action": lambda state, text: 0}, "notation: action 1 is 'b', which is"),
    "any text": ({"text_to_action": _any_text}, "notation: '.*' is no move, but is accepted"),
    "no parts": ({"action_parts": lambda state, action: ()}, r"action_parts: \(\) at ply 0"),
    "shared parts": (
        {"action_parts": lambda state, action: ("x", "y") if action else ("y", "x")},
        "action_parts: .* leads to another action, too",
    ),
    "parts within others": (
        {"action_parts": lambda state, action: ("x", f"{action}")[: action + 1]},
        r"action_parts: \('x',\) leads to another action, too",
    ),
    "parts not drawn": (
        {"action_parts": lambda state, action: (f"{action}",), "svg": _drawn_at_first},
        r"action_parts: the picture lacks \['2'\] at ply 3",
    ),
    "no drawing": ({"text": lambda state, seat=None: None}, "drawings: text returns no string"),
    "no picture": ({"svg": lambda state, seat=None: "<html>"}, "drawings: svg returns no SVG"),
    "bounds too narrow": ({"fields": BOUNDS}, "ply 2: bytes_and_json: .* refuses it: board"),
}


# Broken in what is compiled anew with all that takes it; quick: the other parts.
COMPILED = {
    "a wrong length",
    "no reflection",
    "another world",
    "no identity",
    "too much seen",
    "the seed seen",
    "same seed",
    "another ply",
}


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.slow] * (what in COMPILED)) for what in BROKEN],
)
def test_broken_games(what: str) -> None:
    changes, complaint = BROKEN[what]
    game = altered(f"broken_{list(BROKEN).index(what)}", **changes)
    with pytest.raises(AssertionError, match=complaint):
        check_game(game, seeds=[1])
