"""The values of a game's seats along it."""

import numpy as np
import pytest

from linkzoo import GameRecord, Positions, RandomAgent, get_game, make
from linkzoo_training import load_agent, make_agent
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.values import values_along


def _played(game: str, players: int) -> GameRecord:
    """A random game."""
    env = make(game, players)
    env.reset(seed=3)
    dice = np.random.default_rng(1)
    while not all(env.terminations.values()):
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(dice.choice(np.flatnonzero(mask))))
    return env.record()


def _value(agent: PolicyAgent, record: GameRecord, ply: int, seat: int) -> float:
    """What the policy says of one position alone, of one seat."""
    game, states = get_game(record.game), [*record.replay()]
    at = np.array([states[ply]], game.state)
    _, values = agent.evaluate(Positions(game, at, np.zeros(1, np.uint64)))
    return float(values[0, (seat - at[0].seat) % record.num_players])


@pytest.mark.parametrize(("game", "players"), [("linkage", 2), ("love_links", 3)])
def test_values_are_those_of_each_position_alone_and_at_the_end_the_payoffs(
    game: str, players: int
) -> None:
    agent, record = load_agent(game), _played(game, players)
    found = values_along(agent, record)
    assert found.by_ply.shape == (len(record.actions) + 1, players)
    for ply in (0, 1, 2, len(record.actions) - 1):
        for seat in range(players):
            expected = _value(agent, record, ply, seat)
            assert found.by_ply[ply, seat] == pytest.approx(expected, abs=1e-5)
    *_, last = record.replay()
    won = [bool(int(last.winners) >> seat & 1) for seat in range(players)]
    assert ((found.by_ply[-1] > 0) == won).all()
    assert found.by_ply[-1].sum() == pytest.approx(0, abs=1e-6)


def test_falls_are_of_the_one_who_moved_and_the_greatest_first() -> None:
    agent, record = load_agent("linkage"), _played("linkage", 2)
    found = values_along(agent, record)
    states = [*record.replay()]
    cost = {
        ply + 1: float(found.by_ply[ply, state.seat] - found.by_ply[ply + 1, state.seat])
        for ply, state in enumerate(states[:-1])
    }
    greatest = sorted(cost, key=lambda ply: -cost[ply])[:5]
    assert [fall.ply for fall in found.falls] == [ply for ply in greatest if cost[ply] >= 0.05]
    assert found.falls  # random play loses value
    for fall in found.falls:
        assert fall.by == pytest.approx(cost[fall.ply])
        assert fall.seat == states[fall.ply - 1].seat
        action = record.actions[fall.ply - 1]
        text = get_game("linkage").notation.action_to_text(states[fall.ply - 1], action)
        assert fall.move == text
    assert found.to_dict()["seats"] == ["player 0 (More)", "player 1 (Fewer)"]


def test_a_search_gives_its_policys_values_and_others_are_refused() -> None:
    record = _played("linkage", 2)
    plain = values_along(load_agent("linkage"), record)
    searching = values_along(make_agent("linkage:4", "linkage"), record)
    assert searching.to_dict() == plain.to_dict()
    with pytest.raises(ValueError, match="random has no policy"):
        values_along(RandomAgent(), record)
    with pytest.raises(ValueError, match="love_links plays love_links, not linkage"):
        values_along(load_agent("love_links"), record)
