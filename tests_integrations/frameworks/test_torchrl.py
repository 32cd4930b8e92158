"""Many games in lock-step as batched environments of TorchRL."""

import warnings
from typing import Any

import pytest
import torch
from tensordict import TensorDict
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper, SerialEnv, TransformedEnv
from torchrl.envs.transforms import ActionMask
from torchrl.envs.utils import check_env_specs

import linkzoo
from linkzoo.integrations import FeatureEnv, FeatureSeatVectorEnv
from linkzoo.integrations.torchrl import OneSeatEnv, SelfPlayEnv

every_game = pytest.mark.parametrize(
    ("game", "players"),
    [(name, linkzoo.get_game(name).max_players) for name in linkzoo.game_names()],
)
both = pytest.mark.parametrize("kind", [SelfPlayEnv, OneSeatEnv])
GAMES = 8


@every_game
@both
def test_specs(kind: Any, game: str, players: int) -> None:
    env = kind(game, GAMES, players)
    assert env.batch_locked
    assert env.batch_size == torch.Size([GAMES])
    check_env_specs(env, seed=1, break_when_any_done="both")


@every_game
def test_self_play_is_the_vector_environment(game: str, players: int) -> None:
    """Frame by frame, restarts of finished games included."""
    env = SelfPlayEnv(game, GAMES, players)
    twin = linkzoo.make_vec(game, GAMES, players)
    env.set_seed(3)
    now = env.reset()
    seen = twin.reset(int(env.vec._seed))
    ended = 0
    for _ in range(2 * twin.game.facts.max_length):
        assert (now["seat"].numpy() == seen.seat).all()
        assert (now["action_mask"].numpy() == seen.action_mask).all()
        flat = seen.observation.reshape(GAMES, -1)
        assert (now["observation"].numpy() == env.features.scaled(flat)).all()
        action = seen.action_mask.argmax(1)
        step, now = env.step_and_maybe_reset(now.set("action", torch.from_numpy(action)))
        seen = twin.step(action)
        assert (step["next", "reward"].numpy() == seen.reward).all()
        assert (step["next", "done"][:, 0].numpy() == seen.done).all()
        assert not now["done"].any()
        ended += int(seen.done.sum())
        if ended > GAMES:
            break
    assert ended > GAMES


@every_game
def test_one_seat_is_the_vector_environment(game: str, players: int) -> None:
    env = OneSeatEnv(game, GAMES, players, seat=None)
    twin = FeatureSeatVectorEnv(game, GAMES, players, seat=None)
    env.set_seed(3)
    now = env.reset()
    seen, infos = twin.reset(seed=int(env.envs._seeds[0]))
    ended = 0
    while ended < GAMES:
        assert (now["observation"].numpy() == seen).all()
        assert (now["action_mask"].numpy() == infos["action_mask"]).all()
        action = infos["action_mask"].argmax(1)
        step, now = env.step_and_maybe_reset(now.set("action", torch.from_numpy(action)))
        seen, reward, over, _, infos = twin.step(action)
        assert step["next", "reward"][:, 0].numpy() == pytest.approx(reward)
        assert (step["next", "terminated"][:, 0].numpy() == over).all()
        ended += int(over.sum())


@both
def test_some_games_restart(kind: Any) -> None:
    env = kind("love_links", GAMES)
    env.set_seed(1)
    now = env.reset()
    held = env.vec if kind is SelfPlayEnv else env.envs
    for _ in range(3):
        now = env.step_and_maybe_reset(env.rand_action(now))[1]
    before = held.states.copy()
    rows = torch.arange(GAMES) % 2 == 0
    env.reset(TensorDict({"_reset": rows[:, None]}, [GAMES]))
    after = held.states
    assert (after[~rows.numpy()] == before[~rows.numpy()]).all()
    assert (after["seed"] != before["seed"])[rows.numpy()].all()
    assert (after["ply"][rows.numpy()] < before["ply"][rows.numpy()]).all()


@both
def test_runs_repeat(kind: Any) -> None:
    def run(seed: int) -> Any:
        env.set_seed(seed)
        now, frames = env.reset(), []
        for _ in range(12):
            now["action"] = now["action_mask"].int().argmax(-1)
            step, now = env.step_and_maybe_reset(now)
            frames.append(step)
        return torch.stack(frames)

    env = kind("love_links", GAMES)
    first, other = run(3), run(4)
    assert (first == run(3)).all()
    assert not (first == other).all()


@both
def test_illegal_actions_raise(kind: Any) -> None:
    env = kind("linkage", GAMES)
    now = env.reset()
    now["action"] = now["action_mask"].int().argmin(-1)
    with pytest.raises(ValueError, match=r"environment 0: action .* is illegal"):
        env.step(now)


@every_game
@both
def test_random_collection_is_legal(kind: Any, game: str, players: int) -> None:
    """Illegal actions would raise."""
    env = kind(game, GAMES, players)
    collector = Collector(env, env.rand_action, frames_per_batch=160, total_frames=480)
    frames = 0
    for batch in collector:
        frames += batch.numel()
        assert batch["action_mask"].gather(-1, batch["action"][..., None]).all()
    assert frames == 480
    collector.shutdown()


def test_who_plays_illegal_actions_at_random() -> None:
    """TorchRL copies the specification of actions, and the mask in the copy stays as it was.

    `Collector(policy=None)` and SerialEnv do so; with their newer versions, this may fail.
    """
    env = SelfPlayEnv("linkage", GAMES)
    with pytest.raises(ValueError, match="is illegal"):
        list(Collector(env, None, frames_per_batch=320, total_frames=320))

    def make() -> TransformedEnv:
        game = FeatureEnv("linkage", illegal="raise")
        wrapped = PettingZooWrapper(game, use_mask=True, group_map={"seats": game.possible_agents})
        mask = ActionMask(("seats", "action"), ("seats", "action_mask"))
        return TransformedEnv(wrapped, mask)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().rollout(10)  # by itself it draws legal ones
        with pytest.raises(ValueError, match="is illegal"):
            SerialEnv(2, make).rollout(10)
