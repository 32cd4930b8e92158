"""The frameworks' own wrappers of one game: a seat's return is what the environment paid."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_util import make_vec_env
from tianshou.env import DummyVectorEnv
from torchrl.envs import PettingZooWrapper

import linkzoo
from tests_integrations.witness import Witness, WitnessSeat, forget

every_game = pytest.mark.parametrize(
    ("game", "players"),
    [(name, linkzoo.get_game(name).max_players) for name in linkzoo.game_names()],
)


@pytest.fixture(autouse=True)
def notes() -> Iterator[None]:
    forget()
    yield
    assert Witness.moves
    assert all(Witness.moves)


@every_game
def test_rllib(game: str, players: int) -> None:
    env = PettingZooEnv(Witness(game, players, illegal="raise"))
    seen, _ = env.reset(seed=1)
    paid: dict[str, float] = dict.fromkeys(env.possible_agents, 0.0)
    over = False
    while not over:
        ((agent, shown),) = seen.items()
        seen, rewards, ends, *_ = env.step({agent: int(shown["action_mask"].argmax())})
        for name, reward in rewards.items():
            paid[name] += reward
        over = ends["__all__"]
    assert Witness.results == [pytest.approx(paid)]


@every_game
def test_torchrl(game: str, players: int) -> None:
    one = Witness(game, players, illegal="raise")
    env = PettingZooWrapper(one, use_mask=True, group_map={"seats": one.possible_agents})
    env.set_seed(1)
    forget()
    played = env.rollout(one.game.facts.max_length + 1)
    assert len(played) == len(Witness.moves)
    returns = played["next", "seats", "reward"].sum(0)[:, 0].tolist()
    assert [dict(zip(one.possible_agents, returns, strict=True))] == [
        pytest.approx(paid) for paid in Witness.results
    ]


@every_game
def test_sb3(game: str, players: int) -> None:
    kwargs = {"game": game, "num_players": players, "seat": None, "illegal": "raise"}
    envs = make_vec_env(WitnessSeat, 2, seed=1, env_kwargs=kwargs)
    envs.reset()
    found: list[float] = []
    while len(found) < 4:
        _, _, _, infos = envs.step(get_action_masks(envs).argmax(1))
        found += [info["episode"]["r"] for info in infos if "episode" in info]
    # SB3's monitor rounds to six decimals.
    assert found == pytest.approx(WitnessSeat.returns, abs=1e-6)


@every_game
def test_tianshou(game: str, players: int) -> None:
    def make() -> Any:
        return WitnessSeat(game, players, seat=None, illegal="raise")

    envs = DummyVectorEnv([make, make])
    _, infos = envs.reset(seed=1)
    returns, over = np.zeros(2), np.zeros(2, np.bool_)
    while not over.any():
        _, reward, over, _, infos = envs.step(
            np.array([info["action_mask"].argmax() for info in infos])
        )
        returns += reward
    assert returns[over].tolist() == pytest.approx(WitnessSeat.returns)
