"""Agents in several threads at the same time: each call gives the answer that it gives alone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from linkzoo import Positions, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent
from linkzoo_training.networks.flat import make_network
from linkzoo_training.search.solver import solver
from tests.driving import first_quick
from tests.training.helpers import midgame

Answer = Callable[[SearchAgent, Positions], Any]


def searcher(game: str, simulations: int) -> SearchAgent:
    """A search with an untrained network."""
    rules = get_game(game)
    return SearchAgent(
        PolicyAgent("bare", rules, make_network(rules, "flat", 8, 1), {}), simulations
    )


@pytest.mark.parametrize(
    "answer", first_quick([SearchAgent.act, SearchAgent.distribution, SearchAgent.analyse], slow=0)
)
@pytest.mark.parametrize("game", first_quick(["linkage", "love_links", "connect_four:GAME"]))
def test_a_search_may_begin_during_another(game: str, answer: Answer) -> None:
    """At every call of the network another search runs to its end, as threads may do."""
    agent = searcher(game, 6)
    positions = midgame(agent.policy.game, 3, 4, 50)
    others = midgame(agent.policy.game, 5, 2, 90)
    expected = agent.analyse(positions)
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        answer(agent, others)

    result = agent.analyse(positions, check)
    assert calls > 1
    for index in range(len(expected)):
        assert np.array_equal(result[index], expected[index])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "name"),
    [
        *(("linkage", name) for name in ("linkage~1", "linkage:5", "exact", "greedy", "uct-9")),
        *first_quick(
            [("love_links", name) for name in ("mc-2", "love_links:3", "linear:8")], slow=0
        ),
    ],
)
def test_agents_play_the_same_in_threads(game: str, name: str) -> None:
    agent = make_agent(name, game)
    rules = get_game(game)
    plies = 20 if name == "exact" else 6
    tasks = [midgame(rules, 4, plies, 100 * task) for task in range(9)]
    tasks = [Positions(rules, task.states, task.seeds) for task in tasks]
    alone = [agent.act(task) for task in tasks]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(agent.act, tasks))
    assert np.array_equal(alone, together)


def test_every_thread_has_a_solver_of_its_own() -> None:
    game = get_game("linkage")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(solver, game).result()
    assert solver(game) is solver(game) is not other
