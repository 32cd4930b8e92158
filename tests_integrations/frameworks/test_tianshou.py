"""Many games in lock-step as a vector environment of Tianshou."""

from typing import Any

import numpy as np
import pytest
from tianshou.algorithm import DQN
from tianshou.algorithm.algorithm_base import policy_within_training_step
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.utils.net.common import Net

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv
from linkzoo.integrations.tianshou import TianshouVectorEnv

every_game = pytest.mark.parametrize(
    ("game", "players"),
    [(name, linkzoo.get_game(name).max_players) for name in linkzoo.game_names()],
)
GAMES = 8


def learner(envs: TianshouVectorEnv) -> DQN:
    inputs, actions = len(envs.envs.features), envs.envs.game.num_actions
    net = Net(state_shape=(inputs,), action_shape=(actions,), hidden_sizes=(16,))
    space = envs.action_space[0]
    policy = DiscreteQLearningPolicy(model=net, action_space=space, eps_training=0.5)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3))


@every_game
@pytest.mark.parametrize("amount", [{"n_step": 1200}, {"n_episode": 20}], ids=["steps", "games"])
def test_what_is_collected_is_what_was_played(
    game: str, players: int, amount: dict[str, int]
) -> None:
    """Replayed on a twin: observations, masks, rewards, ends and what follows them."""
    envs = TianshouVectorEnv(game, GAMES, players, seat=None)
    envs.seed(3)
    collector = Collector[Any](learner(envs), envs, VectorReplayBuffer(40_000, GAMES))
    collector.reset()
    stats = collector.collect(**amount)
    assert stats.n_collected_episodes >= amount.get("n_episode", 1)
    taken: list[Any] = [part[: len(part)] for part in collector.buffer.buffers]
    twin = FeatureSeatVectorEnv(game, GAMES, players, seat=None, illegal="raise")
    seen, infos = twin.reset(seed=3)
    played = 0
    for t in range(max(map(len, taken))):
        rows = np.array([row for row in range(GAMES) if t < len(taken[row])])
        frames = [taken[row][t] for row in rows]
        for row, frame in zip(rows, frames, strict=True):
            assert (frame.obs.obs == seen[row]).all()
            assert (frame.obs.mask == infos["action_mask"][row]).all()
            assert frame.obs.mask[frame.act]
        actions = np.array([frame.act for frame in frames])
        seen, reward, over, _, infos = twin.step(actions, rows)
        for row, frame in zip(rows, frames, strict=True):
            assert (frame.rew, frame.terminated) == (pytest.approx(reward[row]), over[row])
            after = infos["final_obs"][row] if over[row] else seen[row]
            assert (frame.obs_next.obs == after).all()
            assert bool(frame.obs_next.mask.any()) != over[row]
        played += len(rows)
    assert played == stats.n_collected_steps


def test_some_games_restart() -> None:
    envs = TianshouVectorEnv("love_links", GAMES)
    envs.reset()
    before = envs.envs.states["seed"].copy()
    seen, infos = envs.reset([1, 4])
    changed = envs.envs.states["seed"] != before
    assert changed.tolist() == [row in {1, 4} for row in range(GAMES)]
    assert seen.obs.shape[0] == len(infos) == 2
    with pytest.raises(ValueError, match="seed: one integer"):
        envs.seed([1, 2])
    with pytest.raises(ValueError, match="opponent is set for all games at once"):
        envs.set_env_attr("opponent", None, id=1)


@every_game
def test_dqn_learns(game: str, players: int) -> None:
    envs = TianshouVectorEnv(game, GAMES, players)
    dqn = learner(envs)
    collector = Collector[Any](dqn, envs, VectorReplayBuffer(4_000, GAMES))
    collector.reset()
    collector.collect(n_step=800)
    with policy_within_training_step(dqn.policy):
        losses = [dqn.update(collector.buffer, sample_size=64).loss for _ in range(3)]
    assert np.isfinite(losses).all()
