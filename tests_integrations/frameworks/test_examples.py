"""Every example runs on every game and every number of players, to its end: no illegal move."""

import argparse
from typing import Any

import numpy as np
import pytest
import torch

import linkzoo
from tests_integrations.running import load_example, run_example, wins

# A few iterations of each.
BRIEFLY = {
    "cleanrl_ppo": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "rllib_ppo": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "sb3": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "tianshou_dqn": ["--steps", "1024", "--envs", "4"],
    "torchrl_ppo": ["--steps", "1024", "--envs", "4", "--rollout", "128"],
}
GAMES = [
    (name, players)
    for name in linkzoo.game_names()
    for players in sorted({linkzoo.get_game(name).min_players, linkzoo.get_game(name).max_players})
]


@pytest.mark.parametrize(("game", "players"), GAMES)
@pytest.mark.parametrize("example", BRIEFLY)
def test_runs(example: str, game: str, players: int) -> None:
    arguments = [game, "--players", str(players), "--blocks", "2", *BRIEFLY[example]]
    printed = run_example(example, *arguments)
    assert all(0 <= share <= 100 for share in wins(printed))


@pytest.mark.parametrize("example", ["rllib_ppo", "torchrl_ppo"])
def test_runs_with_runners(example: str) -> None:
    """Those that play in processes of their own."""
    brief = "--players 3 --blocks 2 --steps 1024 --envs 4 --rollout 64 --runners 2".split()
    printed = run_example(example, "love_links", *brief)
    wins(printed)
    assert "    1,024 decisions" in printed


@pytest.mark.parametrize("runners", [0, 2])
def test_runners_of_torchrl_play_as_the_learner_does(runners: int) -> None:
    """The probabilities of their actions are the policy's, after it has changed too."""
    example = load_example("torchrl_ppo")
    game = linkzoo.get_game("love_links")
    policy = example.network(len(example.FeatureMap(game.observation.spec)), game.num_actions)
    args = {"game": "love_links", "players": 2, "envs": 4, "rollout": 32, "seed": 1}
    settings = argparse.Namespace(**args, runners=runners, steps=4 * 32 * max(1, runners) * 3)
    actor: Any = example.actor(policy)
    collector = example.collect(settings, actor)
    batches = 0
    for frames in collector:
        batches += 1
        assert frames.shape == (4 * max(1, runners), 32)
        with torch.no_grad():
            found = actor.get_dist(frames).log_prob(frames["action"])
            assert found.numpy() == pytest.approx(frames["log_prob"].numpy(), abs=1e-5)
            for weight in policy.parameters():
                weight.add_(0.3 * torch.randn_like(weight))
        collector.update_policy_weights_()
    collector.shutdown()
    assert batches == 3


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_decisions_of_torchrl(game: str) -> None:
    """Each seat's last decision of a game leads to what the seat is paid."""
    example = load_example("torchrl_ppo")
    players = linkzoo.get_game(game).max_players
    env = example.SelfPlayEnv(game, 8, players)
    env.set_seed(1)
    inputs = len(env.features)
    policy, critic = example.network(inputs, env.vec.game.num_actions), example.network(inputs, 1)
    steps = min(1000, 2 * env.vec.game.max_length)
    frames = env.rollout(steps, example.actor(policy), break_when_any_done=False)
    rows, rewards = example.decisions(frames, critic)
    assert len(rewards) >= 4
    targets = rows["value_target"].reshape(frames.shape).numpy()
    checked = 0
    for row in range(8):
        paid = np.full(players, np.nan)  # of the game that a decision belongs to
        for t in reversed(range(frames.shape[1])):
            if frames["next", "done"][row, t]:
                paid[:] = frames["next", "reward"][row, t]
            seat = int(frames["seat"][row, t])
            if np.isfinite(paid[seat]):
                assert targets[row, t] == pytest.approx(paid[seat], abs=1e-5)
                checked += 1
            paid[seat] = np.nan  # earlier ones lead to this one
    assert checked >= len(rewards)


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_search_of_open_spiel_runs(game: str) -> None:
    players = linkzoo.get_game(game).max_players
    brief = ["--players", str(players), "--simulations", "3", "--games", "1"]
    printed = run_example("open_spiel_search", game, *brief)
    assert f"{players} games, no illegal move" in printed
