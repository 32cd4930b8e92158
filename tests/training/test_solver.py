"""The exact solver: known values, plain minimax from the rules, and play that keeps every win."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo import get_game
from linkzoo.core.solver import BEST, OutOfReachError
from linkzoo.games.linkage.solver import Solver
from linkzoo_training import solve
from linkzoo_training.agents.baselines import ExactAgent, GreedyAgent, UctAgent
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.solved_positions import read_solved_positions
from linkzoo_training.search.solver import (
    side_solver,
    solver,
    successors,
    winning_actions,
)
from tests.common.play import run_python
from tests.driving import first_quick
from tests.linkage.helpers import GAME, SETUPS, legal_list, legal_mask, start
from tests.linkage.oracle import Setup
from tests.linkage.perfect import perfect_groups

SOLVER = solver(GAME)


def small(size: int, threshold: int = 1) -> np.record:
    """A new game on a small board."""
    return start(Setup(board_size=size, threshold=threshold))


def rectangle(rows: int, columns: int) -> np.record:
    """An empty board of another shape, without a hole: the cells outside are covered."""
    state = small(columns)
    state.hole = -1
    state.occupied = np.uint64(sum(1 << cell for cell in range(7 * rows, 49)))
    state.supply[:] = -(-rows * columns // 8)
    return state


def value(state: np.record) -> int:
    """The groups at the end under perfect play."""
    groups = SOLVER.score(state)
    assert groups is not None
    return groups


def late(setup: Setup, empty: int, seed: int) -> np.record | None:
    """The first position of a random game with at most so many empty cells; None if it is over.

    The players prefer pieces that join groups, more or less so.
    """
    rng, state = np.random.default_rng(seed), start(setup)
    preference = rng.random()
    while state.seat >= 0:
        empty_cells = setup.board_size**2 - int(state.occupied).bit_count()
        if state.phase == 0 and empty_cells <= empty:
            return state
        actions = legal_list(state).tolist()
        if rng.random() < preference:
            groups = {action: after.groups for action, after in successors(GAME, state).items()}
            actions = [action for action in actions if groups[action] == min(groups.values())]
        GAME.rules.apply(state, rng.choice(actions))
    return None


@pytest.mark.parametrize(
    ("state", "groups"),
    first_quick(
        [
            (partial(small, 3), 3),
            (partial(small, 4), 6),
            (partial(rectangle, 4, 5), 7),
            (partial(rectangle, 4, 6), 8),
            (partial(small, 5), 8),
        ],
        3,
    ),
    ids=["3x3", "4x4", "4x5", "4x6", "5x5"],
)
def test_the_known_values_of_small_boards(state: Callable[[], np.record], groups: int) -> None:
    """RULES.md, section 6, and a solver in C; 3x3 ends with 3 groups or 4 by the whole tree."""
    assert SOLVER.score(state()) == groups


@pytest.mark.slow
@pytest.mark.parametrize(("size", "groups"), [(4, 6), (5, 8)])
def test_more_wins_up_to_the_value(size: int, groups: int) -> None:
    assert SOLVER.winner(small(size, groups)) == 0
    assert SOLVER.winner(small(size, groups + 1)) == 1


@pytest.mark.slow
def test_the_real_board_from_ply_14() -> None:
    """Within 2 seconds of one core each, from an empty memory."""
    exact, states = Solver(), read_solved_positions(GAME).states
    exact.winner(states[0])  # compiled or loaded
    for state in states[states["ply"] == 14][:25]:
        exact.forget()
        begun = time.process_time()
        exact.winner(state)
        assert time.process_time() - begun < 2


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(setup=st.sampled_from(SETUPS), empty=st.integers(4, 8), seed=st.integers(0, 2**32))
def test_agrees_with_plain_minimax(setup: Setup, empty: int, seed: int) -> None:
    """R4-R11: the value and the winner of late positions, and whether every action wins."""
    state = late(setup, empty, seed)
    if state is None:
        return
    groups = perfect_groups(GAME.to_dict(state))
    assert SOLVER.score(state) == groups
    for threshold in (max(groups - 1, 1), groups, groups + 1):
        state.threshold = threshold
        assert SOLVER.winner(state) == (state.more if groups >= threshold else 1 - state.more)
        wins = winning_actions(GAME, SOLVER, state)
        assert np.flatnonzero(wins >= 0).tolist() == legal_list(state).tolist()
        for action, after in successors(GAME, state).items():
            more = perfect_groups(GAME.to_dict(after)) >= threshold
            assert wins[action] == (more == (state.seat == state.more))


@pytest.mark.slow
def test_the_positions_of_the_comparison_are_of_many_kinds() -> None:
    """Passes, colours that are used up, and both kinds of actions in one position."""
    states = [late(SETUPS[i % len(SETUPS)], 8, i) for i in range(120)]
    positions = [state for state in states if state is not None]
    for state in positions:  # the seat to act has just won
        state.threshold = value(state) + (state.seat != state.more)
    wins = [winning_actions(GAME, SOLVER, state) for state in positions]
    assert sum(state.counter == -1 for state in positions) >= 5
    assert sum((state.supply == 0).any() for state in positions) >= 30
    assert sum({0, 1} <= set(one.tolist()) for one in wins) >= 20


@pytest.mark.parametrize("choice", first_quick(["role", "hole"]))
def test_r11_the_hole_and_the_roles(choice: str) -> None:
    """Seat 0 puts the hole where neither role helps seat 1, if there is such a place."""
    for threshold in range(1, 9):
        state = start(Setup(free_hole=True, board_size=3, threshold=threshold))
        if choice == "role":
            GAME.rules.apply(state, 336)
        values = []
        for after in successors(GAME, state).values():
            if choice == "hole":  # seat 1 takes the better role
                values.append(min(_groups_decide(one) for one in successors(GAME, after).values()))
            else:
                values.append(_groups_decide(after))
        best = max(values) if choice == "hole" else min(values)
        solution = solve("linkage", state)
        assert (solution.winner, solution.score) == (1 - best, None)
        assert solution.winning == tuple(
            action
            for action, value in zip(legal_list(state).tolist(), values, strict=True)
            if value == best == (choice == "hole")
        )


def _groups_decide(state: np.record) -> int:
    """1 if seat 0 wins, else 0."""
    more_wins = perfect_groups(GAME.to_dict(state)) >= state.threshold
    return int(more_wins == (state.more == 0))


@pytest.mark.parametrize(("seeds", "least"), first_quick([(6, 40), (60, 500)]))
def test_its_move_keeps_the_win_against_every_reply(seeds: int, least: int) -> None:
    """From won positions, an exact move and then all replies, to the end."""

    def keeps(state: np.record, winner: int) -> int:
        if state.seat < 0:
            assert state.winners == 1 << winner
            return 1
        after = successors(GAME, state)
        if state.seat == winner:
            after = {action: after[action] for action in solve("linkage", state).winning[:1]}
            assert after
        return sum(keeps(one, winner) for one in after.values())

    ends = 0
    for seed in range(seeds):
        state = late(SETUPS[seed % len(SETUPS)], 10, seed)
        if state is not None:  # a win by the last group
            state.threshold = value(state) + seed % 2
            ends += keeps(state, state.more if seed % 2 == 0 else 1 - state.more)
    assert ends > least


def test_a_solution() -> None:
    """All games on 3x3 end with 3 groups or 4; More can't force 4."""
    state = small(3, 4)
    solution = solve("linkage", state)
    assert (solution.winner, solution.winning, solution.score) == (1, (), 3)
    state = small(3, 3)
    solution = solve("linkage", state)
    assert (solution.winner, solution.score) == (0, 3)
    assert solution.winning == tuple(legal_list(state))
    while state.seat >= 0:
        GAME.rules.apply(state, legal_list(state)[0])
    over = solve("linkage", state)
    assert (over.winner, over.winning, over.score) == (0, (), state.groups)


@pytest.mark.slow  # quick: test_its_move_keeps_the_win_against_every_reply
def test_exact_players_win_from_won_positions_alone() -> None:
    """4x4 is worth 6 groups to More, against anybody."""
    for threshold, side in ((6, 0), (7, 1)):
        for other in (ExactAgent(), GreedyAgent(), UctAgent(30)):
            options = {"board_size": 4, "threshold": threshold}
            result = play_match("linkage", ExactAgent(), other, 20, openings="0", options=options)
            assert result.side_scores[side] == 1
            if other.name == "exact":
                assert result.side_scores[1 - side] == 0


def test_depends_on_position_and_seed_alone() -> None:
    options = {"board_size": 4, "threshold": 7}
    once, again = (
        play_match("linkage", ExactAgent(), GreedyAgent(), 10, seed=seed, options=options)
        for seed in (3, 3)
    )
    assert (once.length == again.length).all()
    assert (once.share == again.share).all()


def test_the_reach() -> None:
    with pytest.raises(OutOfReachError, match="not solved by a search of 1,000 positions"):
        solve("linkage", start(), limit=1000)
    with pytest.raises(ValueError, match=r"no solver for love_links; .* for \['linkage'\]"):
        solve("love_links", get_game("love_links").blank())


@pytest.mark.slow  # quick: test_agrees_with_plain_minimax
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(SETUPS), st.integers(2, 14), st.integers(0, 2**32 - 1))
def test_side_solvers_agree_with_the_solver(setup: Setup, empty: int, seed: int) -> None:
    """The end that perfect play comes to, and the actions that keep its score; a row each."""
    state = late(setup, empty, seed)
    if state is None:
        return
    side = side_solver(GAME)
    memory = side.memory(3, 10**6)
    ended, solved, mask = state.copy(), state.copy(), legal_mask(state)
    assert side.finish(ended, memory, 1, 10**6)
    assert ended.seat == -1
    assert ended.groups == value(state)
    assert ended.winners == 1 << SOLVER.winner(state)
    assert side.solve(solved, memory, 2, 10**6, mask)
    assert solved.tobytes() == ended.tobytes()
    best = [a for a, after in successors(GAME, state).items() if value(after) == value(state)]
    assert np.flatnonzero(mask).tolist() == best
    assert set(mask) <= {0, BEST}


@pytest.mark.slow
def test_side_solvers_leave_what_is_out_of_reach() -> None:
    """Too many pieces to come; a search that takes too long; roles that aren't chosen."""
    side = side_solver(GAME)
    cases = [(start(), 10**4), (rectangle(4, 5), 30_000), (start(Setup(free_hole=True)), 10**9)]
    for state, limit in cases:
        memory, before, mask = side.memory(1, limit), state.tobytes(), legal_mask(state)
        legal = mask.copy()
        assert not side.finish(state, memory, 0, limit)
        assert not side.solve(state, memory, 0, limit, mask)
        assert state.tobytes() == before
        assert (mask == legal).all()
    other = side_solver(get_game("love_links"))
    assert not other.finish(start(), other.memory(1, 1), 0, 1)


def test_a_solver_that_is_cut_off_goes_on() -> None:
    """A search that is given up leaves nothing wrong behind."""
    exact = Solver(2**12)
    for limit in (10, 100, 1000):
        with pytest.raises(OutOfReachError):
            exact.score(rectangle(4, 5), limit)
    assert exact.score(rectangle(4, 5)) == 7
    searched = exact.searched
    exact.forget()
    assert exact.score(rectangle(4, 5)) == 7
    assert exact.searched > searched


_SMALL = """
from tests.training.test_solver import SETUPS, late, solve
for seed in range(12):
    state = late(SETUPS[seed], 6, seed)
    print(None if state is None else solve("linkage", state))
"""


@pytest.mark.nightly  # quick: test_rules_common.py, of the rules
def test_the_interpreter_solves_the_same() -> None:
    interpreted = run_python("-c", _SMALL, NUMBA_DISABLE_JIT="1")
    assert interpreted == run_python("-c", _SMALL, NUMBA_DISABLE_JIT="0") != ""
