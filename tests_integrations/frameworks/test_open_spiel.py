"""OpenSpiel's own tests, search and solvers on linkzoo's games."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import leduc
import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import (
    evaluate_bots,
    exploitability,
    generate_playthrough,
    ismcts,
    mcts,
)
from open_spiel.python.policy import TabularPolicy, UniformRandomPolicy
from tests.common.variants import FEW, Variant

import linkzoo
import linkzoo.integrations.open_spiel as ours
from linkzoo import Options, RandomAgent
from linkzoo_training import load_agent

every_size = pytest.mark.parametrize("variant", FEW, ids=str)


def load(variant: Variant) -> Any:
    return pyspiel.load_game(
        ours.short_name(variant.name), {"players": variant.num_players, **variant.options}
    )


def begin(game: Any) -> Any:
    state = game.new_initial_state()
    if state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return state


def middle(game: Any, plies: int = 7) -> Any:
    state, rng = begin(game), np.random.default_rng(1)
    for _ in range(plies):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def shown(state: Any) -> list[Any]:
    """Everything that pyspiel shows of a state."""
    seats = range(state.num_players())
    return [
        str(state),
        state.history(),
        state.legal_actions(),
        state.returns(),
        [state.information_state_string(seat) for seat in seats],
        [state.observation_string(seat) for seat in seats],
        [state.observation_tensor(seat) for seat in seats],
    ]


@every_size
def test_random_simulation(variant: Variant) -> None:
    """OpenSpiel's own test; of Python games with chance it can't serialise (test_clone_and_…)."""
    pyspiel.random_sim_test(load(variant), 1, not variant.game.facts.chance, False)


@every_size
def test_the_same_game_as_the_environment(variant: Variant) -> None:
    """Legal actions, seats, texts, tensors and returns, for the same seed and actions."""
    game, env = load(variant), variant.env()
    assert game.num_players() == variant.num_players
    assert game.num_distinct_actions() == variant.game.num_actions
    state = begin(game)
    env.reset(seed=state.history()[0] if variant.game.facts.chance else 0)
    rng = np.random.default_rng(2)
    while not state.is_terminal():
        agent = env.agent_selection
        seen = env.observe(agent)
        assert agent == f"player_{state.current_player()}"
        assert state.legal_actions() == np.flatnonzero(seen["action_mask"]).tolist()
        assert state.observation_tensor() == seen["observation"].reshape(-1).tolist()
        assert state.returns() == [0.0] * variant.num_players
        action = int(rng.choice(state.legal_actions()))
        assert state.action_to_string(action) == env.action_to_text(action)
        state.apply_action_with_legality_check(action)
        env.step(action)
    assert not env.agents or all(env.terminations.values())
    assert state.returns() == pytest.approx(list(env.rewards.values()))
    assert abs(sum(state.returns())) < 1e-12
    assert state.legal_actions() == []


@every_size
def test_clone_and_serialise(variant: Variant) -> None:
    game = load(variant)
    state = middle(game)
    others = [state.clone(), game.deserialize_state(state.serialize())]
    if not variant.game.facts.chance:
        others.append(
            pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1]
        )
    replayed = game.new_initial_state()
    for action in state.history():
        replayed.apply_action(action)
    others.append(replayed)
    before = shown(state)
    for other in others:
        assert shown(other) == before
        other.apply_action(other.legal_actions()[-1])
        assert shown(other) != before
    assert shown(state) == before


@every_size
def test_pickle(variant: Variant) -> None:
    """Games go on drawing as they would have, and states are what they were."""
    game = load(variant)
    state = middle(game)
    copy = pickle.loads(pickle.dumps(game))
    assert str(copy) == str(game)
    assert copy.rules is game.rules
    assert shown(begin(copy)) == shown(begin(game))
    assert shown(pickle.loads(pickle.dumps(state))) == shown(state)
    fresh = game.new_initial_state()
    assert str(pickle.loads(pickle.dumps(fresh))) == str(fresh)


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_playthroughs_repeat(game: str) -> None:
    """With `rng_seed`, games with chance do, too."""

    def play(rng_seed: int) -> str:
        name = f"{ours.short_name(game)}(rng_seed={rng_seed})"
        lines = generate_playthrough.playthrough(name, None, None, seed=5).splitlines()
        return "\n".join(line for line in lines if "rng_seed" not in line)

    assert play(3) == play(3)
    assert (play(3) != play(4)) == linkzoo.get_game(game).facts.chance


def test_information_states_have_the_tensor_of_observations() -> None:
    """Their strings have perfect recall; a tensor of a fixed size can't have it."""
    for game in linkzoo.game_names():
        loaded = pyspiel.load_game(ours.short_name(game))
        assert loaded.get_type().provides_information_state_tensor
        assert loaded.information_state_tensor_shape() == loaded.observation_tensor_shape()
        state = middle(loaded, 3)
        for seat in range(state.num_players()):
            assert state.information_state_tensor(seat) == state.observation_tensor(seat)
            assert state.information_state_string(seat) != state.observation_string(seat)


@every_size
def test_resampling_keeps_what_the_player_knows(variant: Variant) -> None:
    state = middle(load(variant))
    worlds = set()
    for seat in range(variant.num_players):
        for number in range(10):
            world = state.resample_from_infostate(seat, lambda number=number: number / 10)
            assert world.information_state_string(seat) == state.information_state_string(seat)
            assert world.observation_string(seat) == state.observation_string(seat)
            assert world.observation_tensor(seat) == state.observation_tensor(seat)
            assert world.current_player() == state.current_player()
            position = json.loads(str(world))
            del position["seed"]
            worlds.add(json.dumps(position))
    assert (len(worlds) > 1) == variant.game.facts.chance


@every_size
def test_information_states_recall_everything(variant: Variant) -> None:
    """A seat that did or saw something else is in another information state."""
    game = load(variant)
    state = begin(game)
    seat = state.current_player()
    keys = {state.information_state_string(seat)}
    for action in state.legal_actions():
        other = state.child(action)
        keys.add(other.information_state_string(seat))
    assert len(keys) == 1 + len(state.legal_actions())


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_search_plays(game: str) -> None:
    """MCTS where all is open, information-set MCTS where it isn't: legal, and the game ends."""
    loaded = pyspiel.load_game(ours.short_name(game))
    random = np.random.RandomState(1)
    rollouts = mcts.RandomRolloutEvaluator(1, random)
    bot = (
        ismcts.ISMCTSBot(loaded, rollouts, 1.4, 3, random_state=random)
        if linkzoo.get_game(game).facts.chance
        else mcts.MCTSBot(loaded, 1.4, 3, rollouts, random_state=random)
    )
    state = middle(loaded, 12)
    for _ in range(4):
        if not state.is_terminal():
            state.apply_action_with_legality_check(int(bot.step(state)))


def test_exploitability_of_the_smallest_linkage() -> None:
    """As a search over all 1473 positions of 3x3 with threshold 4 says, with linkzoo alone.

    Fewer wins by force; More at best wins a third of the games against uniform play.
    """
    game = pyspiel.load_game("linkzoo_linkage(board_size=3,threshold=4)")
    worth = {"best": solve(0), "worst": solve(1), "perfect": solve(None)}
    assert worth["perfect"] == -1
    expected = (worth["best"] - worth["worst"]) / 2
    found = exploitability.exploitability(game, UniformRandomPolicy(game))
    assert found == pytest.approx(expected)
    assert found > 0.1
    assert exploitability.nash_conv(game, TabularPolicy(game)) == pytest.approx(2 * expected)


def solve(best: int | None) -> float:
    """What More gets on 3x3 if `best` plays perfectly against uniform play, or both do (None)."""
    rules = linkzoo.get_game("linkage", {"board_size": 3, "threshold": 4})

    def value(state: Any) -> float:
        if state.seat < 0:
            payoff = np.zeros(2, np.float32)
            rules.payoffs(state, payoff)
            return float(payoff[0])
        mask = np.zeros(rules.num_actions, np.int8)
        rules.rules.legal_actions(state, mask)
        values = []
        for action in np.flatnonzero(mask):
            after = rules.from_bytes(state.tobytes())
            rules.rules.apply(after, int(action))
            values.append(value(after))
        if best is None or state.seat == best:
            return max(values) if state.seat == 0 else min(values)
        return float(np.mean(values))

    first = rules.blank(2, {"board_size": 3, "threshold": 4})
    rules.rules.new_game(first, np.uint64(0))
    return value(first)


def test_our_agents_are_bots() -> None:
    """A trained policy wins as a bot of pyspiel, in both seats."""
    game = pyspiel.load_game("linkzoo_linkage")
    trained, chance = load_agent("linkage", views=1), RandomAgent()
    for seat in range(2):
        bots = [ours.AgentBot(chance, seed=seat), ours.AgentBot(chance, seed=seat)]
        bots[seat] = ours.AgentBot(trained)
        results = [
            evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))[
                seat
            ]
            for _ in range(5)
        ]
        assert np.mean(results) > 0.5


def test_python_ends_well() -> None:
    """OpenSpiel keeps what was registered beyond the end of the interpreter."""
    code = (
        "import pyspiel, linkzoo.integrations.open_spiel as ours, linkzoo\n"
        "for name in linkzoo.game_names():\n"
        "    pyspiel.load_game(ours.short_name(name)).new_initial_state()"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


OWN = ["leduc:GAME", "connect_four:GAME"]


@pytest.mark.parametrize("name", OWN)
def test_games_from_elsewhere(name: str) -> None:
    game = ours.load_game(name, chance="sampled")
    assert str(game).startswith(f"linkzoo_{name.partition(':')[0]}(")
    assert game.get_type().short_name in pyspiel.registered_names()
    pyspiel.random_sim_test(game, 1, not game.rules.facts.chance, False)
    state = begin(game)
    env: Any = linkzoo.make(name)
    env.reset(seed=state.history()[0] if game.rules.facts.chance else 0)
    while not state.is_terminal():
        assert state.observation_tensor() == env.last()[0]["observation"].reshape(-1).tolist()
        action = state.legal_actions()[-1]
        state.apply_action(action)
        env.step(action)
    assert state.returns() == pytest.approx(list(env.rewards.values()))
    code = f"import pickle; print(pickle.loads({pickle.dumps(game)!r}))"  # it isn't known there
    other = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(other, check=True, capture_output=True, env=environment)
    assert printed.stdout.decode().strip() == str(game)


def test_a_registered_game() -> None:
    """As often as it is asked for; its parameters are `players` and its options."""
    own = replace(leduc.GAME, name="my_leduc")
    with pytest.raises(ValueError, match="no game 'my_leduc'"):
        ours.register_game("my_leduc")
    linkzoo.register(own)
    assert ours.register_game("my_leduc") == ours.register_game("my_leduc") == "linkzoo_my_leduc"
    assert pyspiel.load_game("linkzoo_my_leduc(players=3)").num_players() == 3
    with pytest.raises(ValueError, match="num_players: 9"):
        ours.load_game("my_leduc", players=9)
    with pytest.raises(pyspiel.SpielError, match="Unknown parameter 'colour'"):
        ours.load_game("my_leduc", colour=1)


def test_options_that_parameters_cant_hold() -> None:
    @dataclass(frozen=True)
    class Deck(Options):
        cards: tuple[int, ...] = (1, 2)

    @dataclass(frozen=True)
    class Table(Options):
        players: int = 2

    for options, said in ((Deck, r"option cards = \(1, 2\)"), (Table, "option players = 2")):
        with pytest.raises(ValueError, match=said):
            ours._defaults(replace_options(options))


def replace_options(options: type[Options]) -> Any:
    """Leduc's facts with other options."""
    return SimpleNamespace(name="leduc", min_players=2, options=options)


@pytest.mark.parametrize("value", [1 / 3, -0.25, 0.1, 1.0, 0.012345, 7 / 1013])
def test_payoffs_are_exact_fractions_or_unchanged(value: float) -> None:
    found = ours._exact(np.float32(value))
    assert np.float32(found) == np.float32(value)
    if value in (1 / 3, -0.25, 0.1, 1.0):
        assert found == value
