"""Compiled games between players of features: the games that matches play."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import linkzoo
from linkzoo import Agent, Positions, get_game
from linkzoo_training.agents.linear import LinearAgent, save_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import compiled_player
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.evaluation.match import Match
from linkzoo_training.evaluation.mixed_tables import mixed_tables
from linkzoo_training.networks.flat import make_network
from tests.driving import first_quick
from tests.training.toys import AHEAD

LINK_O = get_game("link_o")
PLAYERS = [("link_o", 2), ("link_o", 5), ("love_links", 4), ("love_formula", 3)]


class Slow:
    """The same agent, without its compiled player."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent

    def act(self, positions: Positions) -> NDArray[np.int64]:
        return self._agent.act(positions)


def network(game: str, temperature: float) -> PolicyAgent:
    torch.manual_seed(5)
    rules = get_game(game)
    net: Any = make_network(rules, "action", 12, 2)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return PolicyAgent("network", rules, net, {}, temperature=temperature)


def check_duels(game: str, a: Agent, b: Agent, players: int) -> None:
    assert all(compiled_player(agent, get_game(game)) is not None for agent in (a, b))
    match = Match(game, a, b, 10, seed=4, num_players=players, openings="0-3")
    expected = match.play()
    found = match.play(timed=False)
    assert (found.share == expected.share).all()
    assert (found.payoff == expected.payoff).all()
    assert (found.length == expected.length).all()
    assert found.moves == expected.moves
    assert found.seconds_per_move == (None, None)


@pytest.mark.nightly
@pytest.mark.parametrize(("game", "players"), first_quick(PLAYERS, 0, 2))
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_duels_are_the_games_of_matches(game: str, players: int, temperature: float) -> None:
    check_duels(game, network(game, temperature), LinearAgent(), players)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_duels_of_a_toy_are_the_games_of_matches(temperature: float, tmp_path: Path) -> None:
    linkzoo.register(AHEAD)
    path = tmp_path / "scorer.json"
    save_scorer(AHEAD, np.array([[0.7]], np.float32), path)
    check_duels(AHEAD.name, network(AHEAD.name, temperature), LinearAgent(str(path)), 3)


@pytest.mark.nightly
@pytest.mark.parametrize(("game", "players"), first_quick(PLAYERS[1:2], 0))
def test_mixed_tables_are_the_same(game: str, players: int) -> None:
    agents = (network(game, 1.0), LinearAgent())
    slow = (Slow(agents[0]), Slow(agents[1]))
    settings: dict[str, Any] = {"num_players": players, "seed": 4}
    fast = mixed_tables(game, *agents, 3, **settings)
    assert fast == mixed_tables(game, *slow, 3, **settings)


def test_other_agents_have_no_compiled_player() -> None:
    assert compiled_player(make_agent("greedy", "link_o"), LINK_O) is None
    flat = PolicyAgent("flat", LINK_O, make_network(LINK_O, "flat", 8, 1), {})
    assert compiled_player(flat, LINK_O) is None
    assert compiled_player(network("link_o", 0.0), get_game("love_links")) is None
    with pytest.raises(ValueError, match="no scorer ships for linkage"):
        compiled_player(LinearAgent(), get_game("linkage"))
