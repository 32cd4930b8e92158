"""`linkzoo.testing.check_game` passes right games, and plays them in every way they are played."""

import re
from dataclasses import replace
from threading import Thread
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import rules
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
from linkzoo.engine.interpreter import interpreted
from linkzoo.testing import check_game
from tests.driving import first_quick
from tests.outside import cards
from tests.training.toys import HIGH

OVER, FOUR = -1, connect_four.GAME

# A board of one cell: each seat has one move, and seat 0 wins; it is a draw if the seed is odd.


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
    state.seat = OVER if state.ply == 2 else 1
    if state.seat == OVER:
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


@compiled
def _other_seed(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed


NOTHING = ObservationSpec((ObservationPart("nothing", (1,), 0, 1, "always 0"),), (1,))
ONE_CELL = Game(
    name="one_cell",
    version=0,
    title="One cell",
    players=(2, 2),
    num_actions=1,
    fields=(Field("cell", "i1", (), 0, 1),),
    rules=Rules(new_game=_new, legal_actions=_legal, apply=_apply, determinize=_other_seed),
    observation=Observation(spec=NOTHING, observe=_see_nothing),
    notation=_names("take"),
    drawing=Drawing(text=lambda state, seat=None: f"cell {state.cell}"),
    facts=Facts(typical_length=2, max_length=2),
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


# Quick: the contract of Connect Four, in test_connect_four.py.
@pytest.mark.parametrize(
    "game",
    first_quick([cards.GAME, FOUR, ONE_CELL, ALL_LEGAL], 0),
    ids=lambda game: game.name,
)
def test_right_games(game: Game) -> None:
    """Draws, shared wins, forced wins, one cell, masks of ones, observations of zeros."""
    check_game(game)


def test_a_variant_of_the_package() -> None:
    options = {"board_size": 3, "threshold": 3, "skip_forced": True}
    check_game(get_game("linkage"), num_players=2, options=options, seeds=[5])


@pytest.mark.slow  # quick: another game in the interpreter
def test_an_environment_that_plays_another_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkzoo.envs.vector.VecEnv.seed_of", lambda *_: 3)
    with pytest.raises(AssertionError, match="environments: AEC and vector games differ"):
        check_game(FOUR, seeds=[1])


@compiled
def _legal_by_eights(state: Record, mask: Mask) -> None:
    """Eight bits overflow in the interpreter alone."""
    rules.legal_actions(state, mask)
    mask[6] &= np.int8(100) + np.int8(100) > 0


def test_an_interpreter_that_plays_another_game() -> None:
    legal = replace(FOUR.rules, legal_actions=_legal_by_eights)
    game = replace(FOUR, name="two_faced", rules=legal)
    with pytest.raises(AssertionError, match=r"same_game: ply \d+: the interpreter"):
        check_game(game, seeds=[1])


def test_what_is_skipped_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is compiled, there is nothing to compare with; the rest is checked."""
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    game = replace(FOUR, facts=replace(FOUR.facts, sides=lambda players: (0,)))
    warns = pytest.warns(UserWarning, match="NUMBA_DISABLE_JIT is set: compiled code isn't checked")
    with warns, pytest.raises(AssertionError, match="sides: "):
        check_game(game, seeds=[1])


def test_other_threads_run_compiled_code() -> None:
    """While one plays in the interpreter."""
    were_compiled: list[bool] = []

    @compiled
    def one() -> int:
        return 1

    compiled_one: Any = one

    def interpreted_here(game: Game) -> None:
        thread = Thread(target=one)
        thread.start()
        thread.join()
        were_compiled.append(bool(compiled_one.signatures))

    interpreted(interpreted_here)(FOUR)
    assert were_compiled == [True]
    interpreted(lambda game: one())(FOUR)
    assert isinstance(one(), int)


def _reads_only(data: Any) -> Record:
    """A reader without checks, as a game's own may be."""
    state = FOUR.blank()
    for name in ("seed", "ply", "seat", "board"):
        state[name] = data[name]
    return state


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"board": 9}, "board: 9 is not in -1..1"),
        ({"board": 300}, "no position of reads_only: OverflowError: "),
        ({"board": None}, "no position of reads_only: TypeError: "),
        ({"board": [[0] * 8] * 6}, "broadcast"),
        ({"ply": -1}, "ply: -1 is not in 0.."),
        ({"seat": 2}, "seat: 2 is not in -1..1"),
        (None, "position: None is not a JSON object"),
    ],
)
def test_what_a_games_own_reader_reads_is_checked(changes: Any, named: str) -> None:
    """ValueError, whatever the reader does with wrong data; right data are read."""
    own = replace(FOUR.notation, to_dict=FOUR.to_dict, from_dict=_reads_only)
    game = replace(FOUR, name="reads_only", notation=own)
    state = FOUR.blank()
    FOUR.rules.new_game(state, np.uint64(1))
    data = {**FOUR.to_dict(state)}
    assert game.from_dict(data).tobytes() == state.tobytes()
    with pytest.raises(ValueError, match=re.escape(named)):
        game.from_dict(changes and {**data, **changes})
