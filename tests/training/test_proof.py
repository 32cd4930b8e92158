"""Proof-number search: its proofs hold by exhaustive search, and it keeps its limit."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from connect_four import GAME as CONNECT_FOUR

from linkzoo import Game, Positions, Record, game_names, get_game
from linkzoo.core.solver import BEST, OPEN, SideSolver
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.search import proof
from linkzoo_training.search.gumbel import GumbelSearch
from linkzoo_training.search.solver import by_proof, side_solver, successors
from tests.driving import first_quick
from tests.training.helpers import alphazero_config, midgame, value
from tests.training.test_connect_four import played
from tests.training.test_gumbel import opinionated
from tests.training.toys import COIN, TABLE

LINKAGE = get_game("linkage")


def late(game: Game, count: int, plies: int, **options: Any) -> Positions:
    """Unfinished positions after so many random plies, which most games may not reach."""
    positions = midgame(game, 100 * count, plies, **options)
    rows = np.flatnonzero(positions.states["ply"] == plies)[:count]
    assert len(rows) == count
    return Positions(game, positions.states[rows], positions.seeds[rows])


def move_values(game: Game, state: Record) -> dict[int, float]:
    """Returns the value of each legal action for the seat to act."""
    seat = int(state["seat"])
    return {action: value(game, after, seat) for action, after in successors(game, state).items()}


def marks(side: SideSolver, state: Record, limit: int) -> tuple[Record | None, set[int], set[int]]:
    """The end of a position, None if it isn't solved; the proven actions, and those left open."""
    game = CONNECT_FOUR if state.dtype == CONNECT_FOUR.state else LINKAGE
    mask = np.zeros(game.num_actions, np.int8)
    game.rules.legal_actions(state, mask)
    ended, memory = state.copy(), side.memory(3, limit)
    remaining = side.solve(ended, memory, 1, limit, mask)
    assert set(mask) <= ({0, OPEN, BEST} if remaining else {0, OPEN})
    assert remaining or ended.tobytes() == state.tobytes()
    proven = set(np.flatnonzero(mask == BEST).tolist())
    assert bool(proven) == remaining
    return ended if remaining else None, proven, set(np.flatnonzero(mask == OPEN).tolist())


def solved(side: SideSolver, state: Record, limit: int) -> tuple[Record | None, set[int]]:
    """The end of a position, None if it isn't solved; the actions that may be played."""
    ended, proven, rest = marks(side, state, limit)
    return ended, proven or rest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "plies", "options"),
    first_quick([(CONNECT_FOUR, 35, {}), (LINKAGE, 3, {"board_size": 4, "threshold": 6})], slow=0),
    ids=["connect_four", "linkage"],
)
def test_solves_what_trying_everything_solves(
    game: Game, plies: int, options: dict[str, Any]
) -> None:
    """The end, and the actions: some that win, all that draw, all of a lost position.

    In Linkage a seat may act twice running (R6).
    """
    side, outcomes = by_proof(game), Counter[float]()
    for state in late(game, 60, plies, **options).states:
        seat, worth = int(state["seat"]), move_values(game, state)
        expected, (ended, remaining) = max(worth.values()), solved(side, state, 10**6)
        assert ended is not None
        assert ended["seat"] == -1
        assert value(game, ended, seat) == expected
        best = {action for action, action_value in worth.items() if action_value == expected}
        assert remaining <= best if expected > -1 else remaining == best
        assert remaining
        outcomes[expected] += 1
    assert outcomes[1] >= 5 <= outcomes[-1]
    assert game is LINKAGE or outcomes[0] >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "answers"),
    [("10203", {4}), ("332", {1, 4})],
    ids=["three in a row, one end is open", "two in a row, both ends are"],
)
def test_actions_that_lose_are_left_out(columns: str, answers: set[int]) -> None:
    """Long before the position is solved."""
    assert solved(by_proof(CONNECT_FOUR), played(columns), 100_000) == (None, answers)


@pytest.mark.slow
def test_no_best_action_is_called_wrong() -> None:
    """A proof ends with the first win; other winning actions are open, not refuted."""
    side, unproven, refuted = by_proof(CONNECT_FOUR), 0, 0
    for state in late(CONNECT_FOUR, 20, 34).states:
        worth = move_values(CONNECT_FOUR, state)
        best = {action for action in worth if worth[action] == max(worth.values())}
        for limit in (30, 1000):
            ended, proven, rest = marks(side, state, limit)
            if ended is not None:
                assert proven <= best <= proven | rest
                unproven += bool(best - proven)
                refuted += len(worth.keys() - proven - rest)
            elif max(worth.values()) > -1:
                assert best <= rest
    assert unproven >= 3
    assert refuted >= 1


@pytest.mark.nightly  # quick: what is proven at a root, above
def test_training_targets_keep_what_may_be_best() -> None:
    """The policy of play has the proven actions alone; the actions played are the same.

    A target has the open ones, too, but prefers proven wins.
    """
    positions, side = midgame(CONNECT_FOUR, 60, 24), side_solver(CONNECT_FOUR)
    going = positions.states["seat"] >= 0
    states, seeds = positions.states[going], positions.seeds[going]
    results = [
        GumbelSearch(Inputs(CONNECT_FOUR), len(states), 2, solver_limit=300).run(
            states, seeds, opinionated(CONNECT_FOUR), targets=targets
        )
        for targets in (False, True)
    ]
    played_by, learned = results
    assert (played_by.actions == learned.actions).all()
    assert (played_by.values == learned.values).all()
    wider = 0
    for row, state in enumerate(states):
        ended, proven, rest = marks(side, state, 300)
        if ended is not None:
            assert set(np.flatnonzero(played_by.policy[row]).tolist()) == proven
            assert set(np.flatnonzero(learned.policy[row]).tolist()) == proven | rest
            wider += bool(rest)
            if ended["winners"] == 1 << int(state["seat"]):  # open actions can't be worth more
                assert learned.policy[row][sorted(proven)].sum() > 0.8
        else:
            assert (played_by.policy[row] == learned.policy[row]).all()
    assert wider >= 3


@pytest.mark.slow
def test_a_forced_win_is_found_early() -> None:
    """Three discs in a row with both ends open."""
    ended, remaining = solved(by_proof(CONNECT_FOUR), played("3326"), 10_000)
    assert ended is not None
    assert ended["winners"] == 1
    assert remaining <= {1, 4}


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 7, 8, 50, 500])
def test_never_exceeds_its_limit(limit: int) -> None:
    """Its tree has room for that many positions, and unsolved positions keep their mask."""
    side, unsolved = by_proof(CONNECT_FOUR), 0
    for state in midgame(CONNECT_FOUR, 50, 8).states:
        worth = state.tobytes()
        ended, remaining = solved(side, state, limit)
        assert remaining
        assert state.tobytes() == worth
        unsolved += ended is None
    assert unsolved > 10


def test_which_games_it_solves() -> None:
    assert proof.applies(CONNECT_FOUR)
    others = [get_game(name) for name in game_names() if name != "connect_four"]
    assert not any(proof.applies(game) for game in [*others, TABLE, COIN])
    config = {"name": "a", "algorithm": "alphazero", "game": "love_links", "solver_limit": 9}
    with pytest.raises(ValueError, match="there is no solver for love_links: it needs two seats"):
        alphazero_config(config)
    assert alphazero_config({**config, "game": "connect_four:GAME"}).solver_limit == 9


@pytest.mark.nightly  # quick: test_gumbel.py::test_solved_leaves_are_ends
def test_search_plays_what_is_proven() -> None:
    """Solved roots are played perfectly; of the others no action that loses has a share."""
    positions, side, refuted = midgame(CONNECT_FOUR, 300, 16), side_solver(CONNECT_FOUR), 0
    going = positions.states["seat"] >= 0
    states, seeds = positions.states[going], positions.seeds[going]
    search = GumbelSearch(Inputs(CONNECT_FOUR), len(states), 4, solver_limit=500)
    result = search.run(states, seeds, opinionated(CONNECT_FOUR), gumbel_scale=1.0)
    for row, state in enumerate(states):
        ended, remaining = solved(side, state, 500)
        assert set(np.flatnonzero(result.policy[row]).tolist()) == remaining
        assert result.actions[row] in remaining
        assert result.policy[row].sum() == pytest.approx(1, abs=1e-5)
        if ended is None:
            refuted += len(successors(CONNECT_FOUR, state)) - len(remaining)
        else:
            seat = int(state["seat"])
            assert result.values[row, seat] == value(CONNECT_FOUR, ended, seat)
    assert refuted > 50
    assert 50 < search._trees.solved.sum() < len(states) - 50
