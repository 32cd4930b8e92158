"""Many games of one kind in lock-step on a GPU, as torch tensors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from linkzoo.compiled import Record
from linkzoo.cuda import device as gpu
from linkzoo.fields import shown
from linkzoo.vector import VecEnv, VecStep

DEVICE = "cuda"  # torch's current one


@dataclass(frozen=True)
class CudaVecStep(VecStep):
    """What `VecStep` holds, as torch tensors on the device."""

    observation: Any
    action_mask: Any
    seat: Any
    reward: Any
    done: Any
    episode_length: Any
    score: Any


class CudaVecEnv(VecEnv):
    """N games in lock-step on torch's current CUDA device, a thread for each.

    The games are those of `VecEnv`, byte by byte, and so are the arguments, but `num_threads`.
    Arrays are tensors: those of `CudaVecStep`, `episodes` (int64[N]), and `states` (uint8[N, bytes
    of a record]), which may be written to but not replaced. Work goes to torch's current stream.
    With `check=False` and actions on the device, `step` doesn't wait for it; with `check=True` one
    number comes back.
    """

    device = "cuda"
    states: Any
    episodes: Any
    _actions: Any
    _mask: Any
    _flat: Any
    _now: CudaVecStep

    def __init__(self, *args: Any, num_threads: int | None = None, **kwargs: Any) -> None:
        if num_threads is not None:
            raise ValueError(
                f"num_threads={shown(num_threads)}: on device='cuda' every game has its own thread"
            )
        super().__init__(*args, **{"device": self.device, **kwargs})

    def _zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        return torch.from_numpy(np.zeros(shape, dtype)).to(DEVICE)

    def _put(self, states: NDArray[Any]) -> Any:
        return torch.from_numpy(states.view(np.uint8).reshape(len(states), -1)).to(DEVICE)

    def _show(self) -> None:
        super()._show()
        self._now = self._shown(CudaVecStep)
        self._seed_there = torch.from_numpy(self._seed.view(np.int64)).to(DEVICE)
        self._rows = torch.arange(self.num_envs, device=DEVICE)
        self._arrays = (
            self.records(),
            gpu.view(self._actions),
            gpu.view(self._seed_there, np.uint64),
            *map(gpu.view, self._filled()),
        )

    def reset(self, seed: int = 0) -> CudaVecStep:
        """As `VecEnv.reset`."""
        super().reset(seed)
        return self._now

    def _begin(self, seeds: NDArray[np.uint64]) -> None:
        there = torch.from_numpy(seeds.view(np.int64)).to(DEVICE)
        self._seed_there.copy_(torch.from_numpy(self._seed.view(np.int64)))
        starts, plies = gpu.view(there, np.uint64), torch.zeros_like(there)
        gpu.launch(self._kernels.renew, self.records(), self._mask, starts, starts, plies)

    def step(self, actions: Any) -> CudaVecStep:
        """Plays an action in every game: integers [N], a tensor or what NumPy takes.

        ValueError as of `VecEnv.step`.
        """
        if not self._started:
            raise self._not_started()
        if isinstance(actions, torch.Tensor):
            kind = actions.dtype
            whole = not (kind.is_floating_point or kind.is_complex or kind is torch.bool)
        else:
            actions = np.asarray(actions)
            whole = actions.dtype.kind in "iu"
        if actions.shape != (self.num_envs,) or not whole:
            raise self._no_actions(actions)
        chosen = actions if isinstance(actions, torch.Tensor) else actions.astype(np.int64)
        self._actions.copy_(torch.as_tensor(chosen))
        if self.check:
            index = int(self._first_illegal())
            if index < self.num_envs:
                self._refuse(index)
        gpu.launch(self._kernels.step, *self._arrays)
        return self._now

    def _first_illegal(self) -> Any:
        """The first row whose action isn't legal, else N; on the device."""
        nearest = self._actions.clamp(0, self.game.num_actions - 1)
        legal = self._mask.gather(1, nearest[:, None])[:, 0] != 0
        return torch.where(legal & (nearest == self._actions), self.num_envs, self._rows).min()

    def refresh(self, rows: Any = None) -> CudaVecStep:
        """As `VecEnv.refresh`; `rows` are a tensor or an array of integers."""
        if rows is not None and not isinstance(rows, torch.Tensor):
            rows = self._checked(rows)
        which: Any = slice(None) if rows is None else torch.as_tensor(rows, device=DEVICE)
        states, masks, flat = self.states[which], self._mask[which], self._flat[which]
        offset = self.game.state.fields["seat"][1]  # type: ignore[index]  # a record has fields
        seats = states[:, offset].contiguous().view(torch.int8)
        records = gpu.view(states.view(-1), self.game.state)
        gpu.launch(self._kernels.legal, records, masks)
        gpu.launch(self._kernels.observe, records, seats, flat)
        if rows is not None:  # these were copies
            self._mask[which], self._flat[which] = masks, flat
        self._seat[which] = seats
        return self._now

    def records(self) -> Any:
        """The games as `device.launch` takes them."""
        return gpu.view(self.states.view(-1), self.game.state)

    def _record(self, index: int) -> Record:
        record: Record = np.frombuffer(self.states[index].cpu().numpy().tobytes(), self.game.state)[
            0
        ]
        return record

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["_arrays"], state["_rows"], state["_seed_there"]
        return state
