"""`linkzoo.testing.check_game` passes right games, and says what is broken in others."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import draw, notation, observation, rules

from linkzoo import Game, get_game
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import Field, Graph, ObservationSpec, Piece
from linkzoo.testing import check_game
from tests.driving import first_quick
from tests.training.toys import HIGH

OVER, FOUR = -1, connect_four.GAME
four_payoffs = FOUR.payoffs

# A board of one cell: seat 0 has one move and wins, or draws if the seed is odd; it sees nothing.


@compiled
def _new(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.cell = 0


@compiled
def _legal(state: Any, mask: Any) -> None:
    mask[0] = state.seat != OVER


@compiled
def _apply(state: Any, action: Any) -> None:
    state.cell = 1
    state.ply += 1
    state.seat = OVER
    state.winners = 3 if state.seed % np.uint64(2) else 1


@compiled
def _see_nothing(state: Any, seat: Any, out: Any) -> None:
    out[:] = 0


def _name(state: Any, action: int) -> str:
    if action != 0:
        raise ValueError(f"no action {action}")
    return "take"


def _number(state: Any, text: str) -> int:
    if text != "take":
        raise ValueError(f"no move {text!r}")
    return 0


ONE_CELL = Game.of(
    name="one_cell",
    min_players=2,
    max_players=2,
    typical_length=1,
    max_length=1,
    chance=False,
    fields=(Field("cell", "i1", (), 0, 1),),
    num_actions=1,
    observation=ObservationSpec((Piece("nothing", (1,), 0, 1, "always 0"),), (1,)),
    new_game=_new,
    legal_actions=_legal,
    apply=_apply,
    observe=_see_nothing,
    action_to_text=_name,
    text_to_action=_number,
    draw_text=lambda state, seat=None: f"cell {state.cell}",
)

# Three seats name 0, 1 or 2, all of which is always legal; who named the highest wins, or shares.
ALL_LEGAL = Game.of(
    name="all_legal",
    min_players=2,
    max_players=3,
    typical_length=3,
    max_length=3,
    chance=False,
    fields=(Field("best", "i1", (), 0, 2), Field("high", "i1", (), 0, 7)),
    num_actions=3,
    observation=ObservationSpec((Piece("nothing", (1,), 0, 1, "always 0"),), (1,)),
    new_game=HIGH.new_game,
    legal_actions=HIGH.legal_actions,
    apply=HIGH.apply,
    observe=_see_nothing,
    action_to_text=lambda state, action: ["zero", "one", "two"][range(3).index(action)],
    text_to_action=lambda state, text: ["zero", "one", "two"].index(text),
    draw_text=lambda state, seat=None: f"the highest so far: {state.best}",
)


@pytest.mark.parametrize(
    "game", first_quick([FOUR, ONE_CELL, ALL_LEGAL]), ids=lambda game: game.name
)
def test_right_games(game: Game) -> None:
    """Draws, shared wins, forced wins, one cell, masks of ones, observations of zeros."""
    check_game(game)


def test_a_variant_of_the_package() -> None:
    options = {"board_size": 3, "threshold": 3, "skip_forced": True}
    check_game(get_game("linkage"), num_players=2, options=options, seeds=[5])


# One broken part each; the rest is Connect Four's


@compiled
def _changes_the_seed(state: Any, action: Any) -> None:
    rules.apply(state, action)
    state.seed += np.uint64(1)


@compiled
def _forgets_plies(state: Any, action: Any) -> None:
    rules.apply(state, action)
    state.ply = 1


@compiled
def _ends_without_winners(state: Any, action: Any) -> None:
    rules.apply(state, action)
    if state.ply == 5:
        state.seat = OVER


@compiled
def _goes_on_without_a_move(state: Any, action: Any) -> None:
    rules.apply(state, action)
    if state.seat == OVER:
        state.seat = 0
        state.winners = 0
        state.board[:] = 1


@compiled
def _fourth_column_is_a_dead_end(state: Any, action: Any) -> None:
    rules.apply(state, action)
    if action == 3 and state.ply == 1:
        state.seat = OVER


@compiled
def _leaves_the_board(state: Any, seed: Any) -> None:
    if state.ply == 0:
        state.board[:] = -1
    state.seed, state.winners, state.ply, state.seat = seed, 0, 0, 0


@compiled
def _mask_of_twos(state: Any, mask: Any) -> None:
    rules.legal_actions(state, mask)
    mask *= 2


@compiled
def _half_a_mask(state: Any, mask: Any) -> None:
    for column in range(1, 7):
        mask[column] = state.seat != OVER and state.board[5, column] == -1


@compiled
def _mask_that_counts(state: Any, mask: Any) -> None:
    rules.legal_actions(state, mask)
    state.board[0, 0] = 1


@compiled
def _half_an_observation(state: Any, seat: Any, out: Any) -> None:
    for cell in range(42):
        out[cell] = state.board[cell // 7, cell % 7] == seat


@compiled
def _out_of_bounds(state: Any, seat: Any, out: Any) -> None:
    observation.observe(state, seat, out)
    out[83] = 2


@compiled
def _sees_the_seed(state: Any, seat: Any, out: Any) -> None:
    observation.observe(state, seat, out)
    out[0] = state.seed % np.uint64(2)


@compiled
def _pays_everyone(state: Any, out: Any) -> None:
    out[:] = 1


@compiled
def _pays_half(state: Any, out: Any) -> None:
    four_payoffs(state, out)
    out /= np.float32(2)


@compiled
def _pays_the_loser(state: Any, out: Any) -> None:
    four_payoffs(state, out)
    out *= np.float32(-1)


@compiled
def _no_margins(state: Any, out: Any) -> None:
    out[:] = np.nan


@compiled
def _keeps_the_seed(state: Any, seat: Any, seed: Any) -> None:
    state.ply = state.ply


@compiled
def _deals_another_board(state: Any, seat: Any, seed: Any) -> None:
    state.seed = seed
    state.board[0, 0] = 1 - seat


def _swapped() -> tuple[Any, ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, acts[:, [1, 0, 2, 3, 4, 5, 6]], hidden


def _wrong_reflection() -> tuple[Any, ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, np.stack([acts[0], acts[0]]), hidden


def _other_json(state: Any, seat: int | None = None) -> dict[str, Any]:
    return {**FOUR.to_dict(state, seat), "board": np.asarray(state.board)}


def _with_seed(state: Any, seat: int | None = None) -> dict[str, Any]:
    return FOUR.to_dict(state)


def _other_ply(data: Any) -> Any:
    state = FOUR.from_dict(data)
    state.ply = 0
    return state


def _drawn_at_first(state: Any, seat: int | None = None) -> str:
    return "<svg/>" if state.ply else '<svg><g data-part="2"/></svg>'


def _graph(last: int = 6, kind: str = "i8") -> Graph:
    """The columns in a row."""
    columns = np.arange(7)
    right = np.where(columns < 6, columns + 1, last)
    seen = columns[:, None].astype(kind)
    return Graph(seen, right[:, None], np.zeros(7, int), np.empty((1, 0), int))


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a name of two words": ({"name": "connect four"}, "declarations: name"),
    "a field without bounds": ({"fields": ()}, "declarations: fields"),
    "sides of one seat": ({"sides": lambda players: (0,)}, "declarations: sides"),
    "two in a place": ({"action_cells": np.zeros(7, int)}, "declarations: action_cells: two"),
    "a graph of actions nowhere": ({"graph": _graph}, "declarations: graph: no action_cells"),
    "an edge to nowhere": (
        {"graph": partial(_graph, last=7), "action_cells": np.arange(7)},
        "declarations: graph: neighbours has numbers outside -1..6",
    ),
    "a graph of floats": (
        {"graph": partial(_graph, kind="f8"), "action_cells": np.arange(7)},
        "declarations: graph: cells has numbers of float64",
    ),
    "a place far away": (
        {"action_cells": np.arange(7) + 10**9},
        "declarations: action_cells: there are more planes than actions",
    ),
    "a wrong length": ({"typical_length": 5}, "lengths: typical_length is 5"),
    "too long": ({"max_length": 6, "typical_length": 6}, "no end within max_length"),
    "seed": ({"apply": _changes_the_seed}, "conservation: seed has changed"),
    "plies": ({"apply": _forgets_plies}, "conservation: ply is 1 after 2"),
    "no winners": ({"apply": _ends_without_winners}, "conservation: winners are 0 at ply 5"),
    "nothing legal": ({"apply": _goes_on_without_a_move}, "a game: seat 0 is to act"),
    "dead end": ({"apply": _fourth_column_is_a_dead_end}, "every_legal_action: no winners after"),
    "old board": ({"new_game": _leaves_the_board}, "a_new_game: new_game leaves something"),
    "mask of twos": ({"legal_actions": _mask_of_twos}, "a game: the mask holds"),
    "half a mask": ({"legal_actions": _half_a_mask}, "a game: the mask holds"),
    "a mask that plays": ({"legal_actions": _mask_that_counts}, "masks: legal_actions changes"),
    "half seen": ({"observe": _half_an_observation}, "observations: observe leaves elements"),
    "too much seen": ({"observe": _out_of_bounds}, "observations: seat 0 sees other in 0..2"),
    "the seed seen": (
        {"observe": _sees_the_seed, "symmetries": None},
        "redealing: seat . observes what it can't",
    ),
    "sum": ({"payoffs": _pays_everyone}, "payoffs: payoffs .* aren't zero-sum"),
    "half paid": ({"payoffs": _pays_half}, "payoffs: payoffs .* of a sole winner"),
    "loser paid": ({"payoffs": _pays_the_loser}, "payoffs: payoffs .* but winners"),
    "margins": ({"margins": _no_margins}, "payoffs: margins .* aren't finite"),
    "same seed": ({"redeal": _keeps_the_seed}, "redealing: redeal keeps the seed"),
    "another world": ({"redeal": _deals_another_board}, "redealing: "),
    "no identity": ({"symmetries": _swapped}, "symmetries: symmetries: actions: no identity"),
    "no reflection": ({"symmetries": _wrong_reflection}, "symmetries: symmetry 1 at ply 1: seat"),
    "arrays in JSON": ({"to_dict": _other_json}, "bytes_and_json: TypeError"),
    "a seed in JSON": ({"to_dict": _with_seed}, "bytes_and_json: to_dict of a seat has the seed"),
    "another ply": ({"from_dict": _other_ply}, "ply 1: bytes_and_json: from_dict"),
    "refused": ({"flaw": compiled(lambda state, scratch: "no")}, "bytes_and_json: from_bytes ref"),
    "one text": ({"action_to_text": lambda state, action: "a"}, "notation: two legal moves"),
    "back to a": ({"text_to_action": lambda state, text: 0}, "notation: action 1 is 'b', which is"),
    "any text": (
        {"text_to_action": lambda state, text: max(notation.LETTERS.find(text), 0)},
        "notation: '.*' is no move, but is accepted",
    ),
    "no parts": ({"action_parts": lambda state, action: ()}, r"parts: action_parts: \(\) at ply 0"),
    "shared parts": (
        {"action_parts": lambda state, action: ("x", "y") if action else ("y", "x")},
        "parts: .* leads to another action, too",
    ),
    "parts within others": (
        {"action_parts": lambda state, action: ("x", f"{action}")[: action + 1]},
        r"parts: action_parts: \('x',\) leads to another action, too",
    ),
    "parts not drawn": (
        {"action_parts": lambda state, action: (f"{action}",), "draw_svg": _drawn_at_first},
        r"parts: the picture lacks \['2'\] at ply 3",
    ),
    "no drawing": ({"draw_text": lambda state, seat=None: None}, "drawings: draw_text gives no"),
    "no picture": ({"draw_svg": lambda state, seat=None: "<html>"}, "drawings: draw_svg gives no"),
}
BOUNDS = (Field("board", "i1", (rules.ROWS, rules.COLUMNS), -1, 0),)


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
    game = replace(FOUR, **{"name": f"broken_{list(BROKEN).index(what)}", **changes})
    with pytest.raises(AssertionError, match=complaint):
        check_game(game, seeds=[1])


def test_bounds_too_narrow() -> None:
    modules = (rules, observation, notation, draw)
    facts = {name: getattr(FOUR, name) for name in ("min_players", "max_players", "max_length")}
    game = Game.of(*modules, name="narrow", typical_length=21, chance=False, fields=BOUNDS, **facts)
    with pytest.raises(AssertionError, match="ply 2: bytes_and_json: from_bytes refuses it: board"):
        check_game(game, seeds=[1])


def test_an_environment_that_plays_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkzoo.envs.vector.VecEnv.seed_of", lambda *_: 3)
    with pytest.raises(AssertionError, match="environments: AEC and vector games differ"):
        check_game(FOUR, seeds=[1])


OUTSIDE = """
from dataclasses import replace
import connect_four
from connect_four import rules
from linkzoo.engine.compiled import compiled
@compiled
def apply(state, action):
    rules.apply(state, action)
    state.board[5 + state.ply, action] = 1
GAME = replace(connect_four.GAME, name="outside", apply=apply, symmetries=None)
"""


@pytest.mark.last
def test_an_index_out_of_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code would write over other memory; it isn't run."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "outside.py").write_text(OUTSIDE)
    game = get_game("outside:GAME")
    monkeypatch.setattr("linkzoo.testing.positions", lambda *_: pytest.fail("compiled code"))
    with pytest.raises(AssertionError, match=r"interpreter: [\s\S]*IndexError: index 6"):
        check_game(game, seeds=[1])


TWO_FACED = """
from dataclasses import replace
import connect_four
import numba
from connect_four import rules
from linkzoo.engine.compiled import compiled
LAST = 6 if numba.config.DISABLE_JIT else 7
@compiled
def legal(state, mask):
    rules.legal_actions(state, mask)
    mask[LAST:] = 0
GAME = replace(connect_four.GAME, name="two_faced", legal_actions=legal, symmetries=None)
"""


@pytest.mark.last
def test_an_interpreter_that_plays_another_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "two_faced.py").write_text(TWO_FACED)
    with pytest.raises(AssertionError, match="interpreter: the interpreter plays another game"):
        check_game(get_game("two_faced:GAME"), seeds=[1])
