"""OpenSpiel's algorithms on games whose chance is explicit, and games that must be sampled."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
import torch
from numpy.typing import NDArray
from open_spiel.python import policy as policies
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import (
    cfr,
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
    fictitious_play,
    ismcts,
    mcts,
    mmd_dilated,
)
from tests.driving import NIGHTLY, SLOW
from tests.exact.games import DRAWS, KUHN, LIARS_DICE

import linkzoo
import linkzoo.integrations.open_spiel as ours
from linkzoo import exact
from linkzoo.exact.tree import CHANCE, OVER, GameTree
from linkzoo.games.link_o import board

EDITION = "mini2x4a-h2"
UNIFORM = 0.2044279100529096  # NashConv of uniform play on this edition
ChanceMode = pyspiel.GameType.ChanceMode


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """The algorithms draw by global generators."""
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)


@pytest.fixture(scope="session")
def kuhn() -> Any:
    linkzoo.register(KUHN)
    return ours.load_game("kuhn")


@pytest.fixture(scope="session")
def draws() -> Any:
    linkzoo.register(DRAWS)
    return ours.load_game("draws")


@pytest.fixture(scope="session")
def hand_of_one(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The smallest edition of LINK-O with hands of one tile, 9,566 positions."""
    data = json.loads((Path(board.__file__).parent / f"boards/{EDITION}.json").read_text())
    path = tmp_path_factory.mktemp("boards") / "hand1.json"
    path.write_text(json.dumps({**data, "name": "hand1", "hand": 1}))
    return ours.load_game("link_o", board=str(path))


@pytest.fixture(scope="session")
def edition() -> Any:
    return ours.load_game("link_o", board=EDITION)


def tree_of(game: Any) -> GameTree:
    """The exact tree of a loaded game."""
    record = np.frombuffer(game.blank, game.rules.state)[0]
    return exact.tree(game.rules, game.num_players(), game.rules.chosen_options(record))


def walk(game: Any, tree: GameTree, visit: Callable[[Any, int], None]) -> None:
    """Visits all decisions of a game and its tree together; both have the same chance."""

    def go_on(state: Any, node: int) -> None:
        if tree.seats[node] == OVER:
            assert state.is_terminal()
            assert state.returns() == tree.payoffs[node].tolist()
            return
        afters = [state]
        if tree.seats[node] != CHANCE:
            assert state.current_player() == tree.seats[node]
            visit(state, node)
            afters = [state.child(action) for action in state.legal_actions()]
        edges = range(tree.first_edge[node], tree.first_edge[node + 1])
        for after, edge in zip(afters, edges, strict=True):
            first, last = tree.first_outcome[edge : edge + 2]
            if last - first == 1:
                go_on(after, tree.children[first])
                continue
            outcomes = after.chance_outcomes()
            assert [share for _, share in outcomes] == tree.probabilities[first:last].tolist()
            for (number, _), child in zip(outcomes, tree.children[first:last], strict=True):
                go_on(after.child(number), child)

    go_on(game.new_initial_state(), 0)


def policy_in(tree: GameTree, game: Any, policy: Any) -> NDArray[np.float64]:
    """A policy of OpenSpiel as the entries of a tree."""
    entries = np.full(len(tree.actions), np.nan)

    def visit(state: Any, node: int) -> None:
        first, last = tree.first_entry[tree.infosets[node] :][:2]
        if np.isnan(entries[first]):
            shares = policy.action_probabilities(state)
            entries[first:last] = [shares.get(action, 0) for action in tree.actions[first:last]]

    walk(game, tree, visit)
    return entries


def distance(game: Any, policy: Any) -> float:
    """NashConv of a policy of OpenSpiel by `linkzoo.exact`, which is much faster."""
    tree = tree_of(game)
    return exact.exploitability(policy_in(tree, game, policy), tree).nash_conv


GAMES = [
    pytest.param("kuhn", 12),
    pytest.param("hand_of_one", 3_356, marks=SLOW),
    pytest.param("edition", 23_493, marks=NIGHTLY),
]


@pytest.mark.parametrize(("name", "infosets"), GAMES)
def test_information_states_are_those_of_the_exact_tree(
    name: str, infosets: int, request: pytest.FixtureRequest
) -> None:
    game = request.getfixturevalue(name)
    tree = tree_of(game)
    number_of: dict[str, int] = {}

    def visit(state: Any, node: int) -> None:
        number = int(tree.infosets[node])
        assert number_of.setdefault(state.information_state_string(), number) == number
        first, last = tree.first_entry[number : number + 2]
        assert state.legal_actions() == tree.actions[first:last].tolist()

    walk(game, tree, visit)
    assert len(number_of) == len(set(number_of.values())) == tree.num_infosets == infosets


@pytest.mark.parametrize("name", ["kuhn", "draws", pytest.param("edition", marks=SLOW)])
def test_explicit_states_are_sound(name: str, request: pytest.FixtureRequest) -> None:
    """OpenSpiel's own test; chance nodes after actions; clones, pickles and replays."""
    game = request.getfixturevalue(name)
    assert game.get_type().chance_mode == ChanceMode.EXPLICIT_STOCHASTIC
    pyspiel.random_sim_test(game, 2, True, False)
    rng = np.random.default_rng(3)
    state = game.new_initial_state()
    while not state.is_terminal():
        copies = [state.clone(), game.deserialize_state(state.serialize())]
        copies.append(pickle.loads(pickle.dumps(state)))
        for copy in copies:
            assert str(copy) == str(state)
            assert copy.legal_actions() == state.legal_actions()
            assert copy.information_state_string(0) == state.information_state_string(0)
        if state.is_chance_node():
            actions, shares = zip(*state.chance_outcomes(), strict=True)
            assert sum(shares) == pytest.approx(1)
            assert state.action_to_string(actions[-1]) == f"outcome {actions[-1]}"
            state.apply_action(int(rng.choice(actions, p=shares)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert str(pickle.loads(pickle.dumps(game))) == str(game)


@pytest.mark.parametrize("name", ["kuhn", pytest.param("edition", marks=SLOW)])
def test_resampled_states_are_possible(name: str, request: pytest.FixtureRequest) -> None:
    """They look the same to the seat, and are among the positions that chance can deal."""
    game = request.getfixturevalue(name)
    start = game.new_initial_state()
    dealt = {str(start.child(number)) for number, _ in start.chance_outcomes()}
    state = start.child(0)
    worlds = set()
    for number in range(20):
        world = state.resample_from_infostate(0, lambda number=number: number / 20)
        assert world.information_state_string(0) == state.information_state_string(0)
        worlds.add(str(world))
    assert len(worlds) > 1
    assert worlds <= dealt


NASH_CONVS = [
    pytest.param("kuhn", 11 / 24),
    pytest.param("hand_of_one", 0.0015542328042328, marks=SLOW),
    pytest.param("edition", UNIFORM, marks=NIGHTLY),
]


@pytest.mark.parametrize(("name", "expected"), NASH_CONVS)
def test_nash_conv_of_uniform_play(
    name: str, expected: float, request: pytest.FixtureRequest
) -> None:
    """OpenSpiel's is that of `linkzoo.exact`."""
    game = request.getfixturevalue(name)
    tree = tree_of(game)
    found = exploitability.nash_conv(game, policies.UniformRandomPolicy(game))
    assert found == pytest.approx(expected, abs=1e-12)
    assert found == pytest.approx(exact.exploitability(tree.uniform(), tree).nash_conv, abs=1e-9)


def test_nash_conv_where_chance_follows_actions(draws: Any) -> None:
    tree = tree_of(draws)
    found = exploitability.nash_conv(draws, policies.UniformRandomPolicy(draws))
    assert found == pytest.approx(exact.exploitability(tree.uniform(), tree).nash_conv, abs=1e-9)


def test_nash_conv_of_any_policy(kuhn: Any) -> None:
    tree = tree_of(kuhn)
    tabular = policies.TabularPolicy(kuhn)
    tabular.action_probability_array[:] = np.random.default_rng(1).dirichlet(
        [1, 1], len(tabular.states)
    )
    found = exploitability.nash_conv(kuhn, tabular, return_only_nash_conv=False)
    expected = exact.exploitability(policy_in(tree, kuhn, tabular), tree)
    np.testing.assert_allclose(found.player_improvements, expected.gains, atol=1e-9)
    assert exploitability.exploitability(kuhn, tabular) == pytest.approx(expected.exploitability)


SOLVERS = [
    pytest.param(cfr.CFRSolver, 0.02, id="CFR"),
    pytest.param(cfr.CFRPlusSolver, 0.004, id="CFR+"),
    pytest.param(pyspiel.CFRSolver, 0.02, id="C++ CFR"),
    pytest.param(pyspiel.CFRPlusSolver, 0.004, id="C++ CFR+"),
]


@pytest.mark.parametrize(("solver", "bound"), SOLVERS)
def test_counterfactual_regret_on_kuhn_poker(kuhn: Any, solver: Any, bound: float) -> None:
    """50 iterations."""
    learner = solver(kuhn)
    for _ in range(50):
        learner.evaluate_and_update_policy()
    assert exploitability.nash_conv(kuhn, learner.average_policy()) <= bound


def test_fictitious_play_on_kuhn_poker(kuhn: Any) -> None:
    learner = fictitious_play.XFPSolver(kuhn)
    for _ in range(20):
        learner.iteration()
    assert exploitability.nash_conv(kuhn, learner.average_policy()) <= 0.1


def test_mirror_descent_on_kuhn_poker(kuhn: Any) -> None:
    """The regularised gap vanishes; the equilibrium of the regularised game is near."""
    learner = mmd_dilated.MMDDilatedEnt(kuhn, 0.05)
    for _ in range(100):
        learner.update_sequences()
    assert learner.get_gap() <= 0.01
    assert exploitability.nash_conv(kuhn, learner.get_policies()) <= 0.2


def sampling(game: Any, iterations: int) -> Any:
    """The average policy of external sampling."""
    simple = external_sampling_mccfr.AverageType.SIMPLE
    learner = external_sampling_mccfr.ExternalSamplingSolver(game, simple)
    for _ in range(iterations):
        learner.iteration()
    return learner.average_policy()


def test_external_sampling_on_kuhn_poker(kuhn: Any) -> None:
    assert exploitability.nash_conv(kuhn, sampling(kuhn, 500)) <= 0.05


def test_external_sampling_of_sampled_chance(kuhn: Any) -> None:
    """It meets another seed in every iteration; its information states are those of all modes."""
    average = sampling(ours.load_game("kuhn", chance="sampled", rng_seed=1), 500)
    assert exploitability.nash_conv(kuhn, average) <= 0.05


@pytest.mark.parametrize(
    "run",
    [
        lambda game: exploitability.nash_conv(game, policies.UniformRandomPolicy(game)),
        lambda game: exploitability.exploitability(game, policies.UniformRandomPolicy(game)),
        lambda game: fictitious_play.XFPSolver(game).iteration(),
        lambda game: mmd_dilated.MMDDilatedEnt(game, 0.1),
        lambda game: cfr.CFRPlusSolver(game).evaluate_and_update_policy(),
    ],
    ids=["nash_conv", "exploitability", "XFP", "MMD", "CFR+"],
)
def test_tree_algorithms_refuse_sampled_chance(kuhn: Any, run: Callable[[Any], Any]) -> None:
    """Every initial state has another seed. `docs/frameworks.md` says which give no message."""
    assert kuhn.rules is KUHN
    game = ours.load_game("kuhn", chance="sampled", rng_seed=5)
    with pytest.raises((AssertionError, KeyError, pyspiel.SpielError)):
        run(game)


def test_search_meets_chance_after_actions(draws: Any) -> None:
    random = np.random.RandomState(1)
    bot = mcts.MCTSBot(draws, 1.4, 200, mcts.RandomRolloutEvaluator(1, random), random_state=random)
    assert bot.step(draws.new_initial_state()) in range(3)


def test_information_set_search_on_kuhn_poker(kuhn: Any) -> None:
    """Facing a bet, it folds the jack and calls with the king."""
    rollouts = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    most_visited = ismcts.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
    bot = ismcts.ISMCTSBot(
        kuhn,
        rollouts,
        1.4,
        100,
        final_policy_type=most_visited,
        random_state=np.random.RandomState(1),
    )
    root = kuhn.new_initial_state()
    for number, _ in root.chance_outcomes():
        state = root.child(number)
        state.apply_action(1)
        card = json.loads(str(state))["hand"][1]
        if card != 1:
            assert bot.step(state) == card // 2


@pytest.mark.slow
@pytest.mark.nightly
def test_counterfactual_regret_on_an_edition(edition: Any) -> None:
    """CFR+, five iterations: a tenth of the distance of uniform play."""
    learner = cfr.CFRPlusSolver(edition)
    for _ in range(5):
        learner.evaluate_and_update_policy()
    assert distance(edition, learner.average_policy()) <= UNIFORM / 10


@pytest.mark.slow
@pytest.mark.nightly
def test_external_sampling_on_an_edition(edition: Any) -> None:
    assert distance(edition, sampling(edition, 5000)) <= UNIFORM / 2


@pytest.mark.slow
@pytest.mark.nightly
def test_fictitious_play_on_hands_of_one(hand_of_one: Any) -> None:
    learner = fictitious_play.XFPSolver(hand_of_one)
    for _ in range(3):
        learner.iteration()
    assert distance(hand_of_one, learner.average_policy()) <= 0.001


@pytest.mark.slow
@pytest.mark.nightly
def test_deep_cfr_on_kuhn_poker(kuhn: Any) -> None:
    """It reads the tensors of information states; Kuhn's observations hold all that was seen."""
    from open_spiel.python.pytorch import deep_cfr

    learner = deep_cfr.DeepCFRSolver(
        kuhn,
        policy_network_layers=(32,),
        advantage_network_layers=(32,),
        num_iterations=10,
        num_traversals=30,
        learning_rate=1e-2,
        batch_size_advantage=128,
        batch_size_strategy=256,
        memory_capacity=20_000,
        policy_network_train_steps=300,
        advantage_network_train_steps=30,
        seed=1,
    )
    learner.solve()
    average = policies.tabular_policy_from_callable(kuhn, learner.action_probabilities)
    assert exploitability.nash_conv(kuhn, average) <= 0.3


class AveragePolicy(policies.Policy):
    """The average policy of two agents of NFSP."""

    def __init__(self, game: Any, agents: list[Any]) -> None:
        super().__init__(game, [0, 1])
        self._agents = agents

    def action_probabilities(self, state: Any, player_id: Any = None) -> dict[int, float]:  # noqa: ARG002
        """The network's probabilities."""
        from open_spiel.python.pytorch import nfsp

        seat = state.current_player()
        seen = {
            "info_state": [state.information_state_tensor(other) for other in range(2)],
            "legal_actions": [state.legal_actions(other) for other in range(2)],
            "current_player": seat,
        }
        agent = self._agents[seat]
        with agent.temp_mode_as(nfsp.MODE.AVERAGE_POLICY):
            now = rl_environment.TimeStep(seen, None, None, None)
            shares = agent.step(now, is_evaluation=True).probs
        return {action: shares[action] for action in state.legal_actions()}


@pytest.mark.slow
@pytest.mark.nightly
def test_fictitious_self_play_of_networks_on_kuhn_poker(kuhn: Any) -> None:
    """NFSP, 4,000 games; its learners read the tensors of information states."""
    from open_spiel.python.pytorch import nfsp

    env = rl_environment.Environment(kuhn)
    env.seed(1)
    agents = [
        nfsp.NFSP(
            seat,
            env.observation_spec()["info_state"][0],
            env.action_spec()["num_actions"],
            hidden_layers_sizes=[32],
            reservoir_buffer_capacity=20_000,
            anticipatory_param=0.1,
            batch_size=64,
            rl_learning_rate=0.05,
            sl_learning_rate=0.05,
            min_buffer_size_to_learn=100,
            learn_every=16,
            seed=1 + seat,
            replay_buffer_capacity=5_000,
            epsilon_start=0.5,
            epsilon_end=0.05,
            epsilon_decay_duration=5_000,
            update_target_network_every=100,
        )
        for seat in range(2)
    ]
    for _ in range(4000):
        now = env.reset()
        while not now.last():
            now = env.step([agents[now.observations["current_player"]].step(now).action])
        for agent in agents:
            agent.step(now)
    assert exploitability.nash_conv(kuhn, AveragePolicy(kuhn, agents)) <= 0.3


LARGE = ["love_links", "link_o", "love_formula"]


@pytest.mark.parametrize("name", LARGE)
def test_large_games_are_sampled(name: str) -> None:
    game = ours.load_game(name)
    assert game.get_type().chance_mode == ChanceMode.SAMPLED_STOCHASTIC
    with pytest.raises(ValueError, match=f"chance=explicit: {name}.*play such a game with"):
        ours.load_game(name, chance="explicit")


EDITIONS = [
    (name, edition)
    for name in linkzoo.game_names()
    for edition in linkzoo.get_game(name).editions
    if linkzoo.get_game(name).chance is not None
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edition"), EDITIONS)
def test_editions_have_explicit_chance(name: str, edition: str) -> None:
    game = ours.load_game(name, **linkzoo.get_game(name).editions[edition])
    assert game.get_type().chance_mode == ChanceMode.EXPLICIT_STOCHASTIC
    pyspiel.random_sim_test(game, 1, True, False)


def test_chance_is_chosen(kuhn: Any) -> None:
    assert kuhn.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    sampled = ours.load_game("kuhn", chance="sampled", rng_seed=3)
    assert sampled.get_type().chance_mode == ChanceMode.SAMPLED_STOCHASTIC
    assert len(sampled.new_initial_state().chance_outcomes()) == 1
    with pytest.raises(ValueError, match="chance='often' is none of auto, explicit, sampled"):
        ours.load_game("kuhn", chance="often")


def test_options_of_an_edition(edition: Any) -> None:
    """A board's own defaults stand where pyspiel fills in the standard game's."""
    parameters = edition.get_parameters()
    assert parameters["target"] == 0
    assert parameters["next_starter"] == "first_seat"
    code = f"import pickle; print(pickle.loads({pickle.dumps(edition)!r}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, env=environment)
    assert printed.stdout.decode().strip() == str(edition)


def test_values_are_those_of_open_spiels_own_games() -> None:
    """Liar's dice, its rules written twice: nash_conv of uniform play, and CFR+'s value."""
    theirs = pyspiel.load_game("liars_dice(numdice=1,dice_sides=3)")
    tree = exact.tree(LIARS_DICE)
    uniform = exploitability.nash_conv(theirs, policies.UniformRandomPolicy(theirs))
    mine = exact.exploitability(linkzoo.RandomAgent(), tree).nash_conv
    assert mine == pytest.approx(uniform, abs=1e-9)
    solver = cfr.CFRPlusSolver(theirs)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    value = expected_game_score.policy_value(
        theirs.new_initial_state(), [solver.average_policy()] * 2
    )[0]
    assert exact.solve(tree, 1e-3).exploitability.values[0] == pytest.approx(value, abs=2e-3)
