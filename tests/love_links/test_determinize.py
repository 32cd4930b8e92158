"""Determinization and search: only the order of the supplies is unknown, and nobody looks at it."""

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from tests.driving import first_quick, same
from tests.love_links.helpers import (
    GAME,
    SETUPS,
    clone,
    legal_mask,
    observe,
    play_random,
    play_text,
    position,
    read,
    start,
)
from tests.love_links.oracle import ROUNDS, Json, Setup, by_id


def determinized(state: np.record, seed: int, seat: int = 0) -> np.record:
    other = clone(state)
    GAME.determinize(other, seat, np.uint64(seed))
    return other


def reshuffled(state: np.record, seed: int) -> np.record:
    """The same position with another supply order and another seed, made by hand."""
    data = GAME.to_dict(state)
    rng = np.random.default_rng(seed)
    for metal in ROUNDS:
        links = data["supply"][metal]
        data["supply"][metal] = [links[i] for i in rng.permutation(len(links))]
    data["seed"] = 1000 + seed
    return GAME.from_dict(data)


def midgame(setup: Setup, seed: int, plies: int) -> np.record:
    return play_random(start(setup, seed), np.random.default_rng(seed), plies)


def without_order(data: Json) -> Json:
    known = json.loads(json.dumps(data))
    del known["seed"]
    known["supply"] = {metal: by_id(links) for metal, links in known["supply"].items()}
    return dict(known)


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_determinize_changes_the_supply_order_and_nothing_else(setup: Setup) -> None:
    """R4: and stores its seed."""
    for plies in (0, 1, 7, 20, 45, 60, 80, 999):
        state = midgame(setup, plies, plies)
        data = GAME.to_dict(state)
        for seat in range(setup.num_players):
            other = determinized(state, 99, seat)
            changed = GAME.to_dict(other)
            assert changed["seed"] == 99
            assert without_order(changed) == without_order(data)
            assert other.tobytes() == determinized(state, 99).tobytes(), "all seats know the same"
            assert GAME.from_dict(changed).tobytes() == other.tobytes()
            if plies <= 45 and state.seat >= 0:
                assert changed["supply"]["gold"] != data["supply"]["gold"]


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_no_seat_can_tell_the_worlds_apart(setup: Setup) -> None:
    """Observation, mask, JSON, text and picture of every seat are the same in both worlds."""
    for plies in (0, 13, 30, 50, 70):
        state = midgame(setup, 5 + plies, plies)
        for other in (determinized(state, 7), reshuffled(state, 7)):
            same(legal_mask(other), legal_mask(state))
            for seat in range(setup.num_players):
                same(observe(other, seat), observe(state, seat))
                assert GAME.to_dict(other, seat) == GAME.to_dict(state, seat)
                assert GAME.drawing.text(other, seat) == GAME.drawing.text(state, seat)
                assert GAME.draw_svg(other, seat) == GAME.draw_svg(state, seat)


def test_determinize_does_not_depend_on_the_true_order() -> None:
    """Two worlds that differ in the order only become one world under the same seed."""
    for setup in SETUPS:
        for plies in (0, 20, 50):
            state = midgame(setup, plies, plies)
            for seed in range(5):
                one = determinized(state, seed)
                assert determinized(reshuffled(state, seed), seed).tobytes() == one.tobytes()


def test_determinize_is_a_function_of_its_seed() -> None:
    state = midgame(Setup(), 2, 10)
    worlds = [determinized(state, seed).tobytes() for seed in range(50)]
    assert [determinized(state, seed).tobytes() for seed in range(50)] == worlds
    orders = {json.dumps(GAME.to_dict(GAME.from_bytes(world))["supply"]) for world in worlds}
    assert len(orders) == 50
    again = determinized(determinized(state, 3), 4)
    assert again.tobytes() == determinized(state, 4).tobytes()


@pytest.mark.parametrize(
    ("metal", "supply"),
    [
        ("bronze", ["2-5", "3-6", "7-2"]),
        ("silver", ["2-5", "2-5", "7-M"]),
        ("gold", ["2-3", "2-4", "3-6", "5-2"]),
    ],
)
def test_determinize_is_uniform_over_the_orders(metal: str, supply: list[str]) -> None:
    """Chi-square over all orders of a small supply."""
    bronze = "2-5 3-6 7-2 7-M 2-3 2-4 5-2".split()
    other = {"bronze": bronze, "silver": SILVER, "gold": GOLD}[metal]
    links = [other[bronze.index(link)] for link in supply]
    piles = {name: links if name == metal else [] for name in ROUNDS}
    state = read(position("4-7", hands=("2-6", "2-8"), round="bronze", supply=piles))
    orders = Counter(permutations(links))
    worlds = 60 * len(orders)
    seen = Counter(
        tuple(GAME.to_dict(determinized(state, seed))["supply"][metal]) for seed in range(worlds)
    )
    assert set(seen) == set(orders)
    statistic = 0.0
    for order, ways in orders.items():
        expected = worlds * ways / orders.total()
        statistic += (seen[order] - expected) ** 2 / expected
    freedom = len(orders) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


SILVER = "2-9 3-8 6-7 10-M 2-10 3-9 7-4".split()
GOLD = "4-10 5-7 10-7 5-M 6-8 7-8 10-9".split()


def test_determinize_shuffles_the_supplies_independently() -> None:
    """The order of one supply says nothing about that of another."""
    piles = {"bronze": ["2-5", "3-6", "7-2"], "silver": SILVER[:3], "gold": GOLD[:3]}
    state = read(position("4-7", hands=("2-6", "2-8"), round="bronze", supply=piles))
    worlds = 1350
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(worlds):
        supply = GAME.to_dict(determinized(state, seed))["supply"]
        seen[supply["bronze"][0], supply["silver"][0], supply["gold"][0]] += 1
    assert len(seen) == 27
    expected = worlds / 27
    statistic = sum((count - expected) ** 2 / expected for count in seen.values())
    assert statistic < 26 + 5 * np.sqrt(2 * 26)


def test_the_determinized_world_is_played_on() -> None:
    """The next draws are those that the determinized supply says."""
    state = determinized(midgame(Setup(), 1, 0), 5)
    supply = GAME.to_dict(state)["supply"]["bronze"]
    before = GAME.to_dict(state)["hands"][0]
    rng = np.random.default_rng(1)
    while state.seat == 0:
        play_random(state, rng, 1)
    after = GAME.to_dict(state)
    used = len(supply) - len(after["supply"]["bronze"])
    assert used >= 1
    assert after["supply"]["bronze"] == supply[used:]
    assert not Counter(after["hands"][0]) - Counter(before + supply[:used])


def choices(
    agent: UctAgent | GreedyAgent, states: list[np.record], seeds: range
) -> NDArray[np.int64]:
    rows = np.zeros(len(states), GAME.state)
    for row, state in enumerate(states):
        rows[row] = state
    return agent.act(Positions(GAME, rows, np.array(seeds, np.uint64)))


@pytest.mark.slow  # quick: training/test_uct.py
@pytest.mark.parametrize(
    "agent", first_quick([GreedyAgent(), UctAgent(40)]), ids=lambda agent: str(agent.name)
)
@pytest.mark.parametrize(
    "setup", first_quick([Setup(2), Setup(3), Setup(4, short=True)], slow=0), ids=str
)
def test_search_does_not_peek(agent: UctAgent | GreedyAgent, setup: Setup) -> None:
    """The choice is the same when the true supplies are in another order, with another seed."""
    states = [midgame(setup, seed, 3 * seed) for seed in range(16)]
    expected = choices(agent, states, range(16))
    for shuffle in range(2):
        others = [reshuffled(state, shuffle) for state in states]
        assert choices(agent, others, range(16)).tolist() == expected.tolist()
    for state, action in zip(states, expected, strict=True):
        assert legal_mask(state)[action]


@pytest.mark.slow
def test_search_would_notice() -> None:
    """The test above isn't vacuous: other agent seeds lead to other choices."""
    states = [midgame(Setup(2), seed, 3 * seed) for seed in range(16)]
    one = choices(UctAgent(40), states, range(16))
    two = choices(UctAgent(40), states, range(100, 116))
    assert one.tolist() != two.tolist()


@pytest.mark.slow  # quick: training/test_uct.py
def test_search_finds_the_better_completion() -> None:
    """One decision before the end, search and greed take 35 points rather than none."""
    data = position("4-7@-,7-10@A,10-8@A,8-6@A", hands=("6-4", "9-M"), scores=[0, 20])
    for agent in (GreedyAgent(), UctAgent(60)):
        (action,) = choices(agent, [read(data)], range(1))
        assert GAME.notation.action_to_text(read(data), int(action)) == "CLOSE 6-4 @0"
    assert GAME.to_dict(play_text(read(data), "CLOSE 6-4 @0"))["scores"] == [35, 20]
