"""Vector environment on a GPU, with torch tensors."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from linkzoo.core.arguments import integer, shown
from linkzoo.core.state import Record
from linkzoo.cuda import device as gpu
from linkzoo.cuda.staged import (
    WORD,
    is_shared,
    shared_step,
    staged_random_actions,
    staged_refresh,
    staged_step,
    words,
)
from linkzoo.envs.vector import VecEnv

DEVICE = "cuda"  # torch's current device


class CudaVecEnv(VecEnv):
    """N games in lock-step on torch's current CUDA device, one thread per game.

    Games equal the games of `VecEnv`, bit for bit. Arguments are the same but for `num_threads`.
    Arrays are tensors: the fields of `VecStep`, `episodes` (int64[N]), and `states` (uint8[N,
    record size]), which may be written to but not replaced. Work runs on torch's current stream.
    With `check=False` and actions on the device, `step` doesn't synchronise; with `check=True` it
    transfers one number.
    """

    device = "cuda"
    states: Any
    episodes: Any
    _actions: Any
    _mask: Any
    _flat: Any
    _now: Any

    def __init__(self, *args: Any, num_threads: int | None = None, **kwargs: Any) -> None:
        if num_threads is not None:
            raise ValueError(
                f"num_threads={shown(num_threads)}: on device='cuda' every game has its own thread"
            )
        super().__init__(*args, **{"device": self.device, **kwargs})

    def _zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        count = math.prod(shape)
        kind = torch.from_numpy(np.empty(0, dtype)).dtype
        size = words(count * kind.itemsize) * WORD // kind.itemsize  # whole words
        return torch.zeros(size, dtype=kind, device=DEVICE)[:count].view(shape)

    def _on_host(self, array: Any) -> NDArray[Any]:
        return array.cpu().numpy()  # type: ignore[no-any-return]  # a tensor

    def _put(self, states: NDArray[Any]) -> Any:
        return torch.from_numpy(states.view(np.uint8).reshape(len(states), -1)).to(DEVICE)

    def _show(self) -> None:
        super()._show()
        self._seed_there = torch.from_numpy(self._seed.view(np.int64)).to(DEVICE)
        self._rows = torch.arange(self.num_envs, device=DEVICE)
        self._seeds_there = torch.from_numpy(self._seeds.view(np.int64)).to(DEVICE)
        episodes, mask, flat, *others = self._filled()
        self._every = torch.ones(self.num_envs, dtype=torch.bool, device=DEVICE)
        self._mask_words = gpu.view(_words(mask), np.uint64)
        self._flat_words = gpu.view(_words(flat), np.uint64)
        if is_shared(self.game):
            self._stepping = shared_step(self.game)
            states = gpu.view(_words(self.states), np.uint64)
        else:
            self._stepping = staged_step(self.game)
            states = self.records()
        self._arrays = (
            gpu.view(self._actions),
            states,
            gpu.view(self._seed_there, np.uint64),
            gpu.view(episodes),
            self._mask_words,
            self._flat_words,
            *map(gpu.view, others),
        )

    def _begin(self, seeds: NDArray[np.uint64]) -> None:
        self._seeds_there.copy_(torch.from_numpy(seeds.view(np.int64)))
        self._seed_there.copy_(torch.from_numpy(self._seed.view(np.int64)))
        starts = gpu.view(self._seeds_there, np.uint64)
        plies = torch.zeros_like(self._seeds_there)
        gpu.launch(self._kernels.reset_rows, self.records(), self._mask, starts, starts, plies)

    def step(self, actions: Any) -> Any:
        """Plays an action in every game: integers [N], as a tensor or anything NumPy accepts.

        Raises ValueError like `VecEnv.step`.
        """
        self._check_started("step")
        if isinstance(actions, torch.Tensor):
            kind = actions.dtype
            whole = not (kind.is_floating_point or kind.is_complex or kind is torch.bool)
        else:
            actions = np.asarray(actions)
            whole = actions.dtype.kind in "iu"
        if actions.shape != (self.num_envs,) or not whole:
            raise self._wrong_shape(actions)
        if not isinstance(actions, torch.Tensor):
            actions = torch.from_numpy(actions.astype(np.int64))
        self._actions.copy_(actions)
        if self.check:
            index = int(self._first_illegal())
            if index < self.num_envs:
                self._refuse(index)
        gpu.launch(self._stepping, *self._arrays)
        return self._now

    def random_actions(self, seed: int = 0) -> Any:
        """Returns random legal actions; like `VecEnv.random_actions`."""
        self._check_started("random_actions")
        index = np.int64(integer("seed", seed, 0, 2**63 - 1))
        actions = torch.empty_like(self._actions)
        seeds = gpu.view(self._seeds_there, np.uint64)
        gpu.launch(staged_random_actions(self.game), actions, seeds, index, self._mask_words)
        return actions

    def _first_illegal(self) -> Any:
        """Returns the first row with an illegal action, else N, on the device."""
        nearest = self._actions.clamp(0, self.game.num_actions - 1)
        legal = self._mask.gather(1, nearest[:, None])[:, 0] != 0
        return torch.where(legal & (nearest == self._actions), self.num_envs, self._rows).min()

    def refresh(self, rows: Any = None) -> Any:
        """Like `VecEnv.refresh`.

        Args:
            rows: The changed games, as a tensor or an array of integers [n], or as a tensor of
                bools [N], with which the host doesn't wait; None for all.
        """
        self._check_started("refresh")
        changed = self._every
        if isinstance(rows, torch.Tensor) and rows.dtype is torch.bool:
            changed = rows
        elif rows is not None:
            if not isinstance(rows, torch.Tensor):
                rows = self._checked(rows)
            changed = torch.zeros_like(self._every)
            changed[torch.as_tensor(rows, device=DEVICE)] = True
        gpu.launch(
            staged_refresh(self.game),
            self.records(),
            changed,
            self._mask_words,
            self._flat_words,
            self._seat,
        )
        return self._now

    def records(self) -> Any:
        """The games as an argument of `device.launch`."""
        return gpu.view(self.states.view(-1), self.game.state)

    def _record(self, index: int) -> Record:
        data = self.states[index].cpu().numpy().tobytes()
        return np.frombuffer(data, self.game.state)[0]  # type: ignore[no-any-return]  # a record

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        derived = "_arrays _every _flat_words _mask_words _rows _seed_there _seeds_there _stepping"
        for name in derived.split():
            del state[name]
        return state


def _words(tensor: Any) -> Any:
    """Returns the memory of a tensor from `_zeros` as int64."""
    return torch.empty(0, dtype=torch.int64, device=DEVICE).set_(tensor.untyped_storage())
