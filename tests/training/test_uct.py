"""Search and greedy play: right where the right move is known, and always repeatable."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from connect_four import GAME as CONNECT_FOUR
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, RandomAgent, game_names, get_game
from linkzoo.engine import threads
from linkzoo_training.agents import baselines
from linkzoo_training.agents.baselines import GreedyAgent, MonteCarloAgent, UctAgent
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.search import uct
from linkzoo_training.search.solver import successors
from tests.common.play import run_python
from tests.driving import first_quick
from tests.training.helpers import begin, midgame, value
from tests.training.toys import COIN, SURE, TABLE, backward_induction

LINKAGE, LINK_O = get_game("linkage"), get_game("link_o")


@pytest.mark.parametrize(
    ("size", "threshold", "free_hole", "plies"),
    first_quick(
        [(5, 8, False, 8), (3, 3, True, 1), (4, 6, True, 5), (4, 5, False, 4), (4, 6, False, 4)]
    ),
)
def test_finds_the_forced_win(size: int, threshold: int, free_hole: bool, plies: int) -> None:
    """Endgames, and the choice of a role, after which the same seat may act again."""
    options = {"board_size": size, "threshold": threshold, "free_hole": free_hole}
    positions = midgame(LINKAGE, 40, plies, **options)
    actions = UctAgent(2000).act(positions)
    decided = 0
    for state, action in zip(positions.states, actions, strict=True):
        values = {
            move: value(LINKAGE, after, state.seat)
            for move, after in successors(LINKAGE, state).items()
        }
        if min(values.values()) < max(values.values()):
            decided += 1
            assert values[action] == 1, f"{state} {action} {values}"
    assert decided >= 10


def test_certain_outcomes_of_connect_four_are_played() -> None:
    """Connect Four's last cells: with as many simulations as settle it, no value is thrown away."""
    positions = midgame(CONNECT_FOUR, 1000, 35)
    late = np.flatnonzero(positions.states["ply"] == 35)[:40]  # most games would have ended before
    states, seeds = positions.states[late], positions.seeds[late]
    values = [value(CONNECT_FOUR, state, int(state["seat"])) for state in states]
    assert set(values) == {1, 0, -1}
    for exploration in (0.0, 0.7, 10.0):
        acted = UctAgent(4000, exploration).act(Positions(CONNECT_FOUR, states, seeds))
        for state, action, expected in zip(states, acted, values, strict=True):
            after = successors(CONNECT_FOUR, state)[int(action)]
            assert value(CONNECT_FOUR, after, int(state["seat"])) == expected


@pytest.mark.nightly
def test_every_seat_maximises_its_own_payoff() -> None:
    """Three seats, one of which acts twice running."""
    actions = UctAgent(5000, 0.7).act(begin(TABLE, 500))
    solved = [backward_induction(seed) for seed in range(500)]
    clear = [
        (best, action) for (best, loss), action in zip(solved, actions, strict=True) if loss > 0.06
    ]
    assert len(clear) >= 30
    assert {best for best, _ in clear} == {0, 1}
    assert all(best == action for best, action in clear)


def test_does_not_peek() -> None:
    """The sure half is worth more than calling a coin, unless one looks at it."""
    positions = begin(COIN, 40)
    assert set(positions.states["coin"]) == {1, 2}
    assert UctAgent(500).act(positions).tolist() == [SURE] * 40
    for coin in (1, 2):  # what it can't see doesn't matter
        positions.states["coin"] = coin
        assert UctAgent(50).act(positions).tolist() == UctAgent(50).act(begin(COIN, 40)).tolist()


@pytest.mark.slow
def test_a_cheat_peeks() -> None:
    """It calls the coin that is there, which pays more than the sure half."""
    positions = begin(COIN, 40)
    actions = UctAgent(500, sees="all").act(positions)
    assert actions.tolist() == positions.states["coin"].tolist()


def test_a_single_legal_action_is_played() -> None:
    positions = begin(COIN, 4)
    for state in positions.states:
        COIN.rules.apply(state, 1)
    acted = Positions(COIN, positions.states, positions.seeds)
    assert UctAgent(10).act(acted).tolist() == positions.states["coin"].tolist()


def test_the_constant_is_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """UCT's constant was tuned on one game, and was that of all."""
    given: list[float] = []

    def searcher(_: Game, sees: uct.Sight) -> Callable[..., None]:
        def search(*arguments: Any) -> None:
            given.append(arguments[3] + 100 * (sees == "all"))

        return search

    monkeypatch.setattr(uct, "searcher", searcher)
    for name in game_names():
        game = get_game(name)
        assert 0 < game.facts.uct_c < 4
        for agent in (UctAgent(5), UctAgent(5, 0.25), UctAgent(5, 0), UctAgent(5, sees="all")):
            agent.act(begin(game, 1))
        assert given == [game.facts.uct_c, 0.25, 0, 100 + game.facts.uct_c]
        given.clear()
    for wrong in (-0.1, inf, nan):
        with pytest.raises(ValueError, match="exploration"):
            UctAgent(5, wrong)


@pytest.mark.parametrize("agent", [UctAgent(60), MonteCarloAgent(5), GreedyAgent(), RandomAgent()])
def test_depends_on_position_and_seed_alone(agent: Agent) -> None:
    positions = midgame(LINKAGE, 24, 6)
    actions = agent.act(positions)
    before = positions.states.copy()
    assert agent.act(positions).tolist() == actions.tolist()
    assert positions.states.tobytes() == before.tobytes()
    rows = np.arange(24)
    assert positions.action_mask[rows, actions].all()
    single = [agent.act(pick(positions, rows[i : i + 1]))[0] for i in rows]
    assert single == actions.tolist()
    assert agent.act(pick(positions, rows[::-1])).tolist() == actions[::-1].tolist()
    number = threads.get_num_threads()
    threads.set_num_threads(1)
    try:
        assert agent.act(positions).tolist() == actions.tolist()
    finally:
        threads.set_num_threads(number)
    other = Positions(LINKAGE, positions.states, positions.seeds + np.uint64(1000))
    assert agent.act(other).tolist() != actions.tolist()


def pick(positions: Positions, rows: NDArray[np.intp]) -> Positions:
    return Positions(positions.game, positions.states[rows], positions.seeds[rows])


_SMALL = """
from linkzoo import get_game
from linkzoo_training.agents.baselines import GreedyAgent, MonteCarloAgent, UctAgent
from tests.training.helpers import begin, midgame
from tests.training.toys import COIN
for positions in midgame(get_game("linkage"), 3, 1, board_size=4, threshold=5), begin(COIN, 3):
    for agent in UctAgent(25), GreedyAgent(), MonteCarloAgent(3):
        print(agent.act(positions).tolist())
"""


@pytest.mark.nightly  # quick: test_rules_common.py, of the rules
def test_the_interpreter_plays_the_same() -> None:
    interpreted = run_python("-c", _SMALL, NUMBA_DISABLE_JIT="1")
    assert interpreted == run_python("-c", _SMALL, NUMBA_DISABLE_JIT="0") != ""


def linkage_match(a: str, b: str, blocks: int) -> MatchResult:
    agents: dict[str, Agent] = {"random": RandomAgent(), "greedy": GreedyAgent()}
    return play_match("linkage", agents[a], agents[b], blocks, seed=11)


def test_greedy_against_random_as_computed_elsewhere() -> None:
    """More's win rate: random against greedy 3.9 %, greedy against random 100 %."""
    result = linkage_match("random", "greedy", 1000)
    assert result.win_share(0).mean == pytest.approx(0.039, abs=4 * sqrt(0.039 * 0.961 / 1000))
    assert result.win_share(1).mean <= 0.002


@pytest.mark.slow  # quick: greedy against random
def test_greedy_against_greedy_as_computed_elsewhere() -> None:
    """More's win rate 14 %."""
    result = linkage_match("greedy", "greedy", 1000)
    assert result.win_share(0).mean == pytest.approx(0.14, abs=4 * sqrt(0.14 * 0.86 / 1000) + 0.005)


@pytest.mark.slow  # quickly: forced wins are found
def test_more_simulations_win_more() -> None:
    result = play_match("linkage", UctAgent(800), UctAgent(80), 25, seed=3, openings="2-4")
    assert result.win_share().low > 0.6


def test_search_refuses_senseless_settings() -> None:
    with pytest.raises(ValueError, match="simulations: 0 is not in"):
        UctAgent(0)
    with pytest.raises(ValueError, match="exploration=-1"):
        UctAgent(10, exploration=-1)


def test_many_positions_are_searched_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that Ctrl-C is heard between them; each is searched as it would be beside others."""
    positions, agent = midgame(LINKAGE, 50, 3), UctAgent(20)
    expected, searcher, sizes = agent.act(positions), uct.searcher, list[int]()

    def counted(game: Game, sees: uct.Sight) -> Callable[..., None]:
        def search(states: NDArray[Any], *rest: Any) -> None:
            sizes.append(len(states))
            searcher(game, sees)(states, *rest)

        return search

    monkeypatch.setattr(uct, "searcher", counted)
    monkeypatch.setattr(baselines, "_AT_ONCE", 20 * 24)
    assert (agent.act(positions) == expected).all()
    assert sizes == [24, 24, 2]


@pytest.mark.nightly  # quick: test_does_not_peek
def test_hands_of_link_o_are_seen_and_the_bag_is_not() -> None:
    """Moves follow the hands of others, and not the order of the bag."""
    positions = midgame(LINK_O, 12, 40)
    agent, actions = UctAgent(60, sees="hands"), UctAgent(60, sees="hands").act(positions)
    other = positions.states.copy()
    for state in other:
        assert LINK_O.rules.reshuffle is not None
        LINK_O.rules.reshuffle(state, int(state.seat), np.uint64(5))
        assert state.bag_size < 2 or state.seed == 5
    assert (other["held"] == positions.states["held"]).all()
    assert (other["bag"] != positions.states["bag"]).any()
    assert (agent.act(Positions(LINK_O, other, positions.seeds)) == actions).all()
    dealt = positions.states.copy()
    for state in dealt:
        LINK_O.determinize(state, int(state.seat), np.uint64(3))
    assert (agent.act(Positions(LINK_O, dealt, positions.seeds)) != actions).any()
    assert agent.name == "hands-60"


def test_hands_need_a_way_to_shuffle() -> None:
    hidden = replace(LINK_O, rules=replace(LINK_O.rules, reshuffle=None))
    with pytest.raises(ValueError, match="hands-N: link_o has no `reshuffle`"):
        uct.searcher(hidden, "hands")
