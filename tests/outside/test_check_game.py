"""`linkzoo.testing.check_game` passes right games, and plays them in every way they are played."""

from dataclasses import replace
from pathlib import Path

import connect_four
import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import (
    Drawing,
    Facts,
    Field,
    Game,
    Mask,
    Notation,
    Observation,
    ObservationPart,
    ObservationSpec,
    Record,
    Rules,
    compiled,
    get_game,
)
from linkzoo.testing import check_game
from tests.driving import first_quick
from tests.training.toys import HIGH

OVER, FOUR = -1, connect_four.GAME

# A board of one cell: seat 0 has one move and wins, or draws if the seed is odd; it sees nothing.


@compiled
def _new(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.cell = 0


@compiled
def _legal(state: Record, mask: Mask) -> None:
    mask[0] = state.seat != OVER


@compiled
def _apply(state: Record, action: int) -> None:
    state.cell = 1
    state.ply += 1
    state.seat = OVER
    state.winners = 3 if state.seed % np.uint64(2) else 1


@compiled
def _see_nothing(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    out[:] = 0


def _names(*names: str) -> Notation:
    """Actions are called by these names."""
    return Notation(
        action_to_text=lambda state, action: names[range(len(names)).index(action)],
        text_to_action=lambda state, text: names.index(text),
    )


NOTHING = ObservationSpec((ObservationPart("nothing", (1,), 0, 1, "always 0"),), (1,))
ONE_CELL = Game(
    name="one_cell",
    version=0,
    title="One cell",
    players=(2, 2),
    num_actions=1,
    fields=(Field("cell", "i1", (), 0, 1),),
    rules=Rules(new_game=_new, legal_actions=_legal, apply=_apply),
    observation=Observation(spec=NOTHING, observe=_see_nothing),
    notation=_names("take"),
    drawing=Drawing(text=lambda state, seat=None: f"cell {state.cell}"),
    facts=Facts(typical_length=1, max_length=1, chance=False),
)

# Three seats name 0, 1 or 2, all of which is always legal; who named the highest wins, or shares.
ALL_LEGAL = replace(
    ONE_CELL,
    name="all_legal",
    players=(2, 3),
    num_actions=3,
    fields=HIGH.fields,
    rules=HIGH.rules,
    notation=_names("zero", "one", "two"),
    drawing=Drawing(text=lambda state, seat=None: f"the highest so far: {state.best}"),
    facts=Facts(typical_length=3, max_length=3, chance=False),
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


def test_an_environment_that_plays_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkzoo.envs.vector.VecEnv.seed_of", lambda *_: 3)
    with pytest.raises(AssertionError, match="environments: AEC and vector games differ"):
        check_game(FOUR, seeds=[1])


OUTSIDE = """
from dataclasses import replace
from connect_four import GAME, rules
from linkzoo import compiled
@compiled
def apply(state, action):
    rules.apply(state, action)
    state.board[5 + state.ply, action] = 1
GAME = replace(GAME, name="outside", rules=replace(GAME.rules, apply=apply))
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
import numba
from connect_four import GAME, rules
from linkzoo import compiled
LAST = 6 if numba.config.DISABLE_JIT else 7
@compiled
def legal(state, mask):
    rules.legal_actions(state, mask)
    mask[LAST:] = 0
GAME = replace(GAME, name="two_faced", rules=replace(GAME.rules, legal_actions=legal))
"""


@pytest.mark.last
def test_an_interpreter_that_plays_another_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "two_faced.py").write_text(TWO_FACED)
    with pytest.raises(AssertionError, match="interpreter: the interpreter plays another game"):
        check_game(get_game("two_faced:GAME"), seeds=[1])
