"""A seat's return in each framework is what the environment paid; all moves are legal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import linkzoo
from tests_integrations.running import load_example, run_main
from tests_integrations.witness import Witness, WitnessSeat, forget

every_game = pytest.mark.parametrize(
    ("game", "players"), [(name, linkzoo.get_game(name).max_players) for name in linkzoo.games]
)


@pytest.fixture(autouse=True)
def notes() -> Iterator[None]:
    forget()
    torch.set_num_threads(1)
    yield
    assert Witness.moves
    assert all(Witness.moves)


@every_game
def test_rllib(game: str, players: int, ray: Any) -> None:
    example = load_example("rllib_ppo", FeatureEnv=Witness)
    algorithm = example.build(game, players, 1, 256)
    forget()
    episodes = algorithm.env_runner.sample(num_episodes=4, random_actions=False)
    found = [
        {agent: float(part.get_return()) for agent, part in episode.agent_episodes.items()}
        for episode in episodes
        if episode.is_done
    ]
    algorithm.stop()
    assert len(found) >= 4
    expected = Witness.results[: len(found)]
    for returns, paid in zip(found, expected, strict=True):
        # A seat that never moved has no episode.
        assert {agent: paid[agent] for agent in returns} == pytest.approx(returns)


@every_game
def test_torchrl(game: str, players: int) -> None:
    from torchrl.envs import PettingZooWrapper

    example = load_example("torchrl_ppo")
    one = Witness(game, players)
    wrapped = PettingZooWrapper(one, use_mask=True, group_map={example.GROUP: one.possible_agents})
    policy = example.network(len(one.features), one.game.num_actions)
    critic = example.network(len(one.features), 1)
    actor = example.actor(policy, (example.GROUP, "observation", "observation"), example.GROUP)
    found = []
    for seed in range(3):
        wrapped.set_seed(seed)
        forget()
        played = wrapped.rollout(one.game.max_length + 1, actor)
        rows, rewards = example.decisions(played[None], critic)
        assert len(rows) == len(played) == len(Witness.moves)
        assert rows["action_mask"].gather(1, rows["action"][:, None]).all()
        (paid,) = Witness.results
        found.append(rewards)
        np.testing.assert_allclose(rewards[0], list(paid.values()))
        # Each seat's last decision leads to its payoff.
        seats = played[example.GROUP, "mask"].int().argmax(-1)
        for seat in seats.unique().tolist():
            last = int((seats == seat).nonzero()[-1])
            assert float(rows["value_target"][last]) == pytest.approx(rewards[0][seat], abs=1e-5)
    assert np.abs(found).sum() > 0


@every_game
def test_sb3(game: str, players: int) -> None:
    example = load_example("sb3", FeatureSeatEnv=WitnessSeat)
    episodes: list[float] = []

    before = example.SelfPlay._on_step

    def watch(self: Any) -> bool:
        infos = self.locals["infos"]
        episodes.extend(info["episode"]["r"] for info in infos if "episode" in info)
        return bool(before(self))

    example.SelfPlay._on_step = watch
    brief = "--steps 2048 --rollout 128 --blocks 1".split()
    run_main(example, game, "--players", str(players), *brief)
    assert episodes
    # SB3's monitor rounds to six decimals.
    assert episodes == pytest.approx(WitnessSeat.returns, abs=1e-6)


@every_game
def test_tianshou(game: str, players: int) -> None:
    from tianshou.data import Collector

    kept: list[Any] = []

    class Watch(Collector):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            kept.append(self.buffer)

        def __class_getitem__(cls, _item: Any) -> Any:
            return cls

    example = load_example("tianshou_dqn", FeatureSeatEnv=WitnessSeat, Collector=Watch)
    run_main(example, game, "--players", str(players), *"--steps 512 --envs 1 --blocks 1".split())
    (buffer,) = kept
    used = buffer[: len(buffer)]
    returns = used.rew[used.done]
    assert len(returns)
    assert returns.tolist() == pytest.approx(WitnessSeat.returns[: len(returns)])
    rows = np.arange(len(used.act))
    assert used.obs.mask[rows, used.act].all()
