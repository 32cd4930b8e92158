"""The values of a game's seats along it."""

from pathlib import Path

import numpy as np
import pytest

from linkzoo import GameRecord, Positions, RandomAgent, get_game, make
from linkzoo_training import load_agent, make_agent
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.values import values_along
from tests.driving import first_quick

PLAYED = Path(__file__).parents[2] / "docs" / "games" / "played"


def _played(game: str, players: int, seed: int = 3) -> GameRecord:
    """A random game."""
    env = make(game, players)
    env.reset(seed=seed)
    dice = np.random.default_rng(seed)
    while not all(env.terminations.values()):
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(dice.choice(np.flatnonzero(mask))))
    return env.record()


def _value(agent: PolicyAgent, record: GameRecord, ply: int, seat: int) -> float:
    """The policy's values of a single position, for one seat."""
    game, states = get_game(record.game), [*record.replay()]
    at = np.array([states[ply]], game.state)
    _, values = agent.evaluate(Positions(game, at, np.zeros(1, np.uint64)))
    return float(values[0, (seat - at[0].seat) % record.num_players])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "players"), first_quick([("linkage", 2), ("love_links", 3)], slow=0)
)
def test_values_are_those_of_each_position_alone_and_at_the_end_the_payoffs(
    game: str, players: int
) -> None:
    agent, record = load_agent(game), _played(game, players)
    values = values_along(agent, record)
    assert values.by_ply.shape == (len(record.actions) + 1, players)
    for ply in (0, 1, 2, len(record.actions) - 1):
        for seat in range(players):
            expected = _value(agent, record, ply, seat)
            assert values.by_ply[ply, seat] == pytest.approx(max(-1, min(1, expected)), abs=1e-5)
    *_, last = record.replay()
    won = [bool(int(last.winners) >> seat & 1) for seat in range(players)]
    assert ((values.by_ply[-1] > 0) == won).all()
    assert values.by_ply[-1].sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_falls_are_choices_of_the_one_who_moved_thrown_wins_and_then_the_greatest_first() -> None:
    agent, record = load_agent("linkage"), _played("linkage", 2, 9)
    values, game = values_along(agent, record), get_game("linkage")
    states = [*record.replay()]
    cost = {
        ply + 1: float(values.by_ply[ply, state.seat] - values.by_ply[ply + 1, state.seat])
        for ply, state in enumerate(states[:-1])
    }
    thrown = [
        ply
        for ply in cost
        if values.exact[ply - 1] == states[ply - 1].seat
        and values.exact[ply] not in (None, values.exact[ply - 1])
    ]
    assert values.exact[-1] == int(states[-1].winners).bit_length() - 1
    assert [fall.ply for fall in values.falls if fall.thrown] == sorted(
        thrown, key=lambda ply: -cost[ply]
    )
    assert len(thrown) == 3
    falls = sorted(cost, key=lambda ply: (ply not in thrown, -cost[ply]))
    falls = [ply for ply in falls if ply in thrown or cost[ply] >= 0.05][:5]
    assert [fall.ply for fall in values.falls] == falls
    for fall in values.falls:
        assert fall.by == pytest.approx(cost[fall.ply])
        assert fall.seat == states[fall.ply - 1].seat
        action = record.actions[fall.ply - 1]
        assert fall.move == game.guide.action_words(states[fall.ply - 1], action)
    assert values.to_dict()["seats"] == ["player 0 (More)", "player 1 (Fewer)"]


@pytest.mark.slow
@pytest.mark.parametrize("game", first_quick(["love_links", "love_formula"], slow=0))
def test_values_stay_in_their_scale_and_a_winner_ends_no_game_by_a_fall(game: str) -> None:
    record = GameRecord.load(PLAYED / f"{game}.json")
    values = values_along(load_agent(game), record)
    assert -1 <= values.by_ply.min() < values.by_ply.max() <= 1
    *_, before, last = record.replay()
    won = int(last.winners) >> int(before.seat) & 1
    assert not won or all(fall.ply < last.ply for fall in values.falls)
    assert values.exact == []


@pytest.mark.slow
def test_a_search_gives_its_policys_values_and_others_are_refused() -> None:
    record = _played("linkage", 2)
    plain = values_along(load_agent("linkage"), record)
    searching = values_along(make_agent("linkage:4", "linkage"), record)
    assert searching.to_dict() == plain.to_dict()
    with pytest.raises(ValueError, match="random has no values"):
        values_along(RandomAgent(), record)
    with pytest.raises(ValueError, match="love_links plays love_links, not linkage"):
        values_along(load_agent("love_links"), record)
