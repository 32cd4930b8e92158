"""What other people run on their games runs on ours: PettingZoo's tests, OpenSpiel's algorithms."""

import warnings
from typing import Any

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import (
    cfr,
    expected_game_score,
    exploitability,
    external_sampling_mccfr,
)
from open_spiel.python.algorithms.random_agent import RandomAgent
from open_spiel.python.policy import UniformRandomPolicy
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecMonitor
from tests.common.test_pettingzoo import KNOWN_WARNINGS, zoo

import linkzoo
import linkzoo.integrations.open_spiel as ours
from linkzoo.envs.constructors import parallel_env
from linkzoo.integrations import FeatureEnv, FeatureSeatVectorEnv
from linkzoo.integrations.sb3 import SB3VecEnv

every_game = pytest.mark.parametrize("game", linkzoo.game_names())
TINY = "linkzoo_linkage(board_size=3,threshold=4)"


@every_game
@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_pettingzoo(game: str, observation: str) -> None:
    players = linkzoo.get_game(game).max_players
    with warnings.catch_warnings():
        for message in KNOWN_WARNINGS:
            warnings.filterwarnings("ignore", message)
        zoo.api_test(FeatureEnv(game, players, observation=observation), num_cycles=200)
        zoo.parallel_api_test(parallel_env(game, players), num_cycles=20)
        zoo.seed_test(lambda: linkzoo.make(game, players), num_cycles=20)


def test_a_masked_learner_beats_random_play() -> None:
    """As PettingZoo's tutorial of Connect Four does: train, then play a match, seats in turn.

    Untrained it wins half of its games; trained, 81 % and 92 % of them with the seeds 1 and 2.
    """
    torch.set_num_threads(1)
    envs = SB3VecEnv(FeatureSeatVectorEnv("love_links", 64, seat=None, illegal="raise"))
    net = {"net_arch": [64, 64]}
    kwargs: Any = {"n_steps": 32, "batch_size": 256, "n_epochs": 4, "gamma": 1.0, "seed": 1}
    model = MaskablePPO(
        "MlpPolicy", VecMonitor(envs), learning_rate=1e-3, policy_kwargs=net, **kwargs
    )
    before = share_of_wins(model, envs)
    model.learn(49_152)
    assert abs(before - 0.5) < 0.15
    assert share_of_wins(model, envs) > 0.7


def share_of_wins(model: MaskablePPO, envs: SB3VecEnv) -> float:
    """Of the next 400 games, against random play."""
    returns: list[float] = []
    seen = envs.reset()
    while len(returns) < 400:
        masks = get_action_masks(envs)
        actions, _ = model.predict(seen, action_masks=masks, deterministic=False)
        seen, reward, over, _ = envs.step(actions)
        returns += reward[over].tolist()
    return float(np.mean(np.array(returns) > 0))


def test_counterfactual_regret() -> None:
    """CFR+ finds perfect play on 3x3: Fewer wins by force."""
    game = pyspiel.load_game(TINY)
    solver = cfr.CFRPlusSolver(game)
    uniform = exploitability.exploitability(game, UniformRandomPolicy(game))
    for _ in range(4):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert exploitability.exploitability(game, policy) < uniform / 4
    values = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])
    assert values[0] == pytest.approx(-values[1])
    assert values[0] < -0.5


def test_external_sampling() -> None:
    game = pyspiel.load_game(TINY)
    solver = external_sampling_mccfr.ExternalSamplingSolver(
        game, external_sampling_mccfr.AverageType.SIMPLE
    )
    uniform = exploitability.exploitability(game, UniformRandomPolicy(game))
    for _ in range(60):
        solver.iteration()
    assert exploitability.exploitability(game, solver.average_policy()) < uniform


@every_game
def test_rl_environment(game: str) -> None:
    """What OpenSpiel's learners play in: observations have tensors, and games end zero-sum."""
    env = rl_environment.Environment(pyspiel.load_game(ours.short_name(game)))
    size = env.observation_spec()["info_state"][0]
    assert size == linkzoo.get_game(game).observation.spec.size
    agents = [RandomAgent(seat, env.action_spec()["num_actions"]) for seat in range(2)]
    now = env.reset()
    while not now.last():
        seat = now.observations["current_player"]
        now = env.step([agents[seat].step(now).action])
    assert sum(now.rewards) == pytest.approx(0)
    assert len(now.observations["info_state"][0]) == size


@every_game
def test_dqn_of_open_spiel(game: str) -> None:
    from open_spiel.python.pytorch import dqn

    env = rl_environment.Environment(pyspiel.load_game(ours.short_name(game)))
    actions, size = env.action_spec()["num_actions"], env.observation_spec()["info_state"][0]
    sizes: Any = {"hidden_layers_sizes": [16], "batch_size": 16, "min_buffer_size_to_learn": 16}
    learner = dqn.DQN(0, size, actions, replay_buffer_capacity=1000, learn_every=8, **sizes)
    agents = [learner, RandomAgent(1, actions)]
    for _ in range(3):
        now = env.reset()
        while not now.last():
            now = env.step([agents[now.observations["current_player"]].step(now).action])
        for agent in agents:
            agent.step(now)
    assert learner.loss is not None
