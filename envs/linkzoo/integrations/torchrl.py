"""TorchRL: many games in lock-step as one batched environment.

    env = SelfPlayEnv("linkage", 512)  # every frame belongs to the seat to act
    env = OneSeatEnv("linkage", 512, seat=None, opponent=agent)  # of one seat alone

Their tensors: `observation` (the game's features, float32[N, F] in -1..1), `action_mask`
(bool[N, A], for MaskedCategorical), `action` (int64[N]), `reward`, `done` and `terminated`. Where
`done`, `next` shows the game that begins: its value is never bootstrapped, since these frames are
`terminated`. An illegal action raises ValueError. `rand_action` draws legal ones;
so a random collection is `Collector(env, env.rand_action, …)`. Needs the extra `torchrl`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from linkzoo.core.features import FeatureMap
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.envs.vector import VecEnv, VecStep
from linkzoo.integrations.vector import FeatureSeatVectorEnv


class _BatchedEnv(EnvBase):
    """The common part of both environments: specs, seeds, and resets of some of the games."""

    _ENDS = ("done", "terminated")
    _begin: Callable[[int], dict[str, Tensor]]  # starts all games with a seed
    _restart: Callable[[NDArray[np.bool_]], dict[str, Tensor]]  # starts the chosen games

    def __init__(self, game: Game, num_envs: int, rewards: int, **more: Categorical) -> None:
        super().__init__(device=torch.device("cpu"), batch_size=torch.Size([num_envs]))
        self.features = FeatureMap(game.observation.spec)
        self._rng = np.random.default_rng()
        self._begun = np.zeros(num_envs, np.bool_)  # by the last step, which ended a game there
        self._now: dict[str, Tensor] = {}  # what all games show
        shape = self.batch_size
        actions = game.num_actions
        self.observation_spec = Composite(
            observation=Bounded(-1, 1, shape=(num_envs, len(self.features)), dtype=torch.float32),
            action_mask=Binary(actions, shape=(num_envs, actions), dtype=torch.bool),
            **more,
            shape=shape,
        )
        self.action_spec = Categorical(actions, shape=shape, dtype=torch.int64)
        self.reward_spec = Unbounded(shape=(num_envs, rewards), dtype=torch.float32)
        over = {name: Binary(1, shape=(num_envs, 1), dtype=torch.bool) for name in self._ENDS}
        self.done_spec = Composite(over, shape=shape)

    def _set_seed(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDict:
        chosen = None
        if tensordict is not None:
            chosen = tensordict.get("_reset", None)
        if chosen is None:
            self._now = self._begin(int(self._rng.integers(SEED_LIMIT)))
        else:
            rows: NDArray[np.bool_] = chosen.reshape(-1).numpy() & ~self._begun
            if rows.any():
                self._now = self._restart(rows)
        self._begun[:] = False
        return self._dict(self._now)

    def _ended(
        self, seen: dict[str, Tensor], reward: NDArray[np.floating], done: NDArray[np.bool_]
    ) -> TensorDict:
        """Keeps the observations of a step, and returns its tensors."""
        self._now = seen
        self._begun[:] = done
        ends = dict.fromkeys(self._ENDS, torch.from_numpy(self._begun[:, None].copy()))
        return self._dict({**seen, **ends, "reward": torch.from_numpy(reward.astype(np.float32))})

    def _dict(self, tensors: dict[str, Tensor]) -> TensorDict:
        self.full_action_spec["action"].update_mask(tensors["action_mask"])
        return TensorDict(tensors, self.batch_size)


class SelfPlayEnv(_BatchedEnv):
    """N games in lock-step (VecEnv); each frame is a decision of the seat to act.

    Besides the common tensors: `seat` (int64[N]), and the `reward` of every seat, float32[N, P].
    `seat_advantages` follows each seat along its own decisions. `kwargs` are arguments of
    `make_vec`.
    """

    def __init__(
        self, game: str, num_envs: int, num_players: int | None = None, **kwargs: Any
    ) -> None:
        vec = VecEnv(game, num_envs, num_players, **kwargs)
        seat = Categorical(vec.num_players, shape=(num_envs,), dtype=torch.int64)
        super().__init__(vec.game, num_envs, vec.num_players, seat=seat)
        self.vec = vec

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        now = self.vec.step(tensordict["action"].numpy())
        return self._ended(self._seen(now), now.reward, now.done)

    def _begin(self, seed: int) -> dict[str, Tensor]:
        return self._seen(self.vec.reset(seed))

    def _restart(self, chosen: NDArray[np.bool_]) -> dict[str, Tensor]:
        vec = self.vec
        rows = np.flatnonzero(chosen)
        vec.episodes[rows] += 1
        seeds = [vec.seed_of(int(row), int(vec.episodes[row])) for row in rows]
        states = vec.states[rows]
        masks = np.empty((len(rows), vec.game.num_actions), np.int8)
        kernels(vec.game).begin(states, np.array(seeds, np.uint64), masks)
        vec.states[rows] = states
        return self._seen(vec.refresh(rows))

    def _seen(self, now: VecStep) -> dict[str, Tensor]:
        flat = now.observation.reshape(len(now.seat), -1)
        return {
            "observation": torch.from_numpy(self.features.scaled(flat)),
            "action_mask": torch.from_numpy(now.action_mask).bool(),
            "seat": torch.from_numpy(now.seat).long(),
        }


class OneSeatEnv(_BatchedEnv):
    """N games in lock-step, each seen from one seat (FeatureSeatVectorEnv).

    `reward` is float32[N, 1]; the opponents of all games act in batches. `kwargs` are
    arguments of FeatureSeatVectorEnv.
    """

    def __init__(
        self, game: str, num_envs: int, num_players: int | None = None, **kwargs: Any
    ) -> None:
        envs = FeatureSeatVectorEnv(game, num_envs, num_players, illegal="raise", **kwargs)
        super().__init__(envs.game, num_envs, 1)
        self.envs = envs

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        seen, reward, over, _, infos = self.envs.step(tensordict["action"].numpy())
        return self._ended(self._seen(seen, infos), reward[:, None], over)

    def _begin(self, seed: int) -> dict[str, Tensor]:
        return self._seen(*self.envs.reset(seed=seed))

    def _restart(self, chosen: NDArray[np.bool_]) -> dict[str, Tensor]:
        return self._seen(*self.envs.reset(options={"reset_mask": chosen}))

    def _seen(self, features: NDArray[np.float32], infos: dict[str, Any]) -> dict[str, Tensor]:
        return {
            "observation": torch.from_numpy(features),
            "action_mask": torch.from_numpy(infos["action_mask"]).bool(),
        }
