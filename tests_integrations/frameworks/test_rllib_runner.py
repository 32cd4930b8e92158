"""The env runner of many games: its episodes are the games, and PPO of RLlib learns from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.algorithms.appo import APPOConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import RLModuleSpec

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv
from linkzoo.integrations.rllib import MaskedModule, MaskedTargetModule
from linkzoo.integrations.rllib_runner import SeatEnvRunner

every_game = pytest.mark.parametrize(
    ("game", "players"),
    [(name, linkzoo.get_game(name).max_players) for name in linkzoo.game_names()],
)
GAMES = 16


def configured(game: str, players: int, runners: int = 0) -> PPOConfig:
    return (
        PPOConfig()
        .environment(
            FeatureSeatVectorEnv, env_config={"game": game, "num_players": players, "seat": None}
        )
        .env_runners(
            env_runner_cls=SeatEnvRunner, num_envs_per_env_runner=GAMES, num_env_runners=runners
        )
        .learners(num_learners=0)
        .rl_module(
            rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [32]})
        )
        .training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=1, gamma=1.0)
        .debugging(seed=1, log_level="ERROR")
    )


@every_game
def test_episodes_are_the_games(
    game: str, players: int, ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the environment showed and paid, game by game; a game goes on in the next sample."""
    algorithm = configured(game, players).build_algo()
    runner = algorithm.env_runner
    step, frames = runner.env.step, []

    def watch(actions: Any) -> Any:
        before = runner._seen
        found = step(actions)
        frames.append((before, actions, found))
        return found

    monkeypatch.setattr(runner.env, "step", watch)
    ids: list[str | None] = [None] * GAMES  # of the episodes that go on
    lengths = np.zeros(GAMES, int)
    for steps in (30, 40):
        frames.clear()
        samples = runner.sample(num_timesteps=GAMES * steps)
        assert len(frames) == steps
        done = iter([part for part in samples if part.is_done])
        going = iter([part for part in samples if not part.is_done])
        for row in range(GAMES):
            ends = [t for t in range(steps) if frames[t][2][2][row]]
            parts = [next(done) for _ in ends]
            if not ends or ends[-1] < steps - 1:
                parts.append(next(going))
            frame = iter(frames)
            for part in parts:
                assert part.id_ == ids[row] or ids[row] is None
                assert part.t_started == lengths[row]
                for at in range(len(part)):
                    seen, actions, (after, reward, over, _, infos) = next(frame)
                    assert same(part.get_observations(at), seen, row)
                    assert part.get_actions(at) == actions[row]
                    assert part.get_rewards(at) == pytest.approx(reward[row])
                    logits = part.get_extra_model_outputs(Columns.ACTION_DIST_INPUTS, at)
                    expected = torch.tensor(logits).log_softmax(-1)[actions[row]]
                    logp = part.get_extra_model_outputs(Columns.ACTION_LOGP, at)
                    assert logp == pytest.approx(float(expected), abs=1e-4)
                last = part.get_observations(-1)
                assert part.is_terminated == over[row]
                if part.is_terminated:
                    assert (last["observation"] == infos["final_obs"][row]["observation"]).all()
                    assert not last["action_mask"].any()
                else:
                    assert same(last, after, row)
                ids[row] = None if part.is_terminated else part.id_
                lengths[row] = 0 if part.is_terminated else part.t_started + len(part)
        assert next(done, None) is next(going, None) is None
    algorithm.stop()


def same(one: Any, batch: Any, row: int) -> bool:
    return all((one[key] == values[row]).all() for key, values in batch.items())


@every_game
def test_evaluation_and_random_actions(game: str, players: int, ray: Any) -> None:
    """So many games, all of them to the end; random actions are legal ones."""
    algorithm = configured(game, players).build_algo()
    runner = algorithm.env_runner
    for kwargs in ({"random_actions": True}, {"explore": False}):
        episodes = runner.sample(num_episodes=20, **kwargs)
        assert len(episodes) >= 20
        assert all(episode.is_terminated for episode in episodes)
    algorithm.stop()


def test_two_remote_runners_learn_and_are_restored(ray: Any, tmp_path: Path) -> None:
    algorithm = configured("love_links", 2, runners=2).build_algo()
    steps = 0
    for _ in range(3):
        found = algorithm.train()["env_runners"]
        steps += found["num_env_steps_sampled"]
        algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.add_opponent())
    assert steps == 3 * 512
    assert -1 <= found["episode_return_mean"] <= 1
    sizes = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: (len(runner.opponents.agents), int(runner.env._seeds[0])),
        local_env_runner=False,
    )
    assert [size for size, _ in sizes] == [4, 4]
    assert sizes[0][1] != sizes[1][1]  # games of their own
    algorithm.save_to_path(tmp_path)
    before = algorithm.get_module().get_state()
    algorithm.stop()  # its runners hold both CPUs
    restored = configured("love_links", 2, runners=2).build_algo()
    restored.restore_from_path(tmp_path)
    after = restored.get_module().get_state()
    assert before.keys() == after.keys()
    for key, values in before.items():
        assert (np.asarray(values) == np.asarray(after[key])).all()
    restored.train()
    restored.stop()


def asynchronous(game: str, players: int, **env_config: Any) -> Any:
    """APPO with a runner of its own; its games raise at an illegal move."""
    return (
        APPOConfig()
        .environment(
            FeatureSeatVectorEnv,
            env_config={"game": game, "num_players": players, "seat": None, **env_config},
        )
        .env_runners(
            env_runner_cls=SeatEnvRunner,
            num_envs_per_env_runner=GAMES,
            num_env_runners=1,
            rollout_fragment_length=32,
        )
        .learners(num_learners=0)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedTargetModule, model_config={"hidden": [32]}
            )
        )
        .training(train_batch_size_per_learner=GAMES * 32, lr=1e-3, gamma=1.0)
        .reporting(min_time_s_per_iteration=1)
        .debugging(seed=1, log_level="ERROR")
        .build_algo()
    )


@every_game
def test_appo_plays_itself(game: str, players: int, ray: Any) -> None:
    """While the runner plays against copies of it, the weights of learner and runner move on."""
    algorithm = asynchronous(game, players)
    before = weights(algorithm)
    moved: set[str] = set()
    while not {"policy.weight", "old_policy.weight"} <= moved:  # it learns in a thread
        algorithm.train()
        algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.add_opponent())
        now = weights(algorithm)
        assert all(np.isfinite(values).all() for values in now.values())
        moved = {key for key, values in now.items() if (values != before[key]).any()}
    (opponents,) = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: [agent.name for agent in runner.opponents.agents], local_env_runner=False
    )
    assert len(set(opponents)) > 2  # random play, and policies with different weights
    algorithm.stop()


def weights(algorithm: Any) -> dict[str, Any]:
    """Of the learner."""
    (module,) = algorithm.learner_group.get_weights().values()
    return {key: np.array(values) for key, values in module.items()}
