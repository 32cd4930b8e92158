"""Networks of users, by their import paths (`network: FILE.py:NAME`)."""

from itertools import combinations

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.features import RAW
from linkzoo_training.imports import import_object
from linkzoo_training.networks.policy_value import PolicyValueNet

__all__ = ["OwnNet"]

_ROWS = 3  # positions of the check, unlike other sizes


class OwnNet(PolicyValueNet):
    """A module of a user's over observations as environments show them.

    The import path names a function `make(spec, num_actions, num_seats)` of an `ObservationSpec`
    and two ints that returns the `torch.nn.Module`. Its `forward(observation)` maps float32[B,
    *spec.shape], the unscaled integers of the observation, to logits [B, num_actions] and values
    [B, num_seats], about -1 to 1, the observer's first. It always computes in float32, outside
    autocast.

    Raises:
        ValueError: The function fails, or its module doesn't map observations to such outputs.
    """

    keeps_float32 = True
    columns: Tensor
    levels: Tensor
    first: Tensor

    def __init__(self, game: Game, path: str) -> None:
        super().__init__(game)
        levels = np.where(self.map.levels == RAW, 1, self.map.levels).astype(np.float32)
        for name, array in (
            ("columns", self.map.columns),
            ("levels", levels),
            ("first", self.map.first),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.shape = game.observation.spec.shape
        self.path = path
        make = import_object(path, "network")
        try:
            self.module: nn.Module = make(game.observation.spec, game.num_actions, game.max_players)
            self._check(game)
        except Exception as error:  # user code can raise anything
            text = str(error)
            if not isinstance(error, ValueError):
                text = f"{type(error).__name__}: {text}"
            raise ValueError(f"network {path!r}: {text}") from error

    def _check(self, game: Game) -> None:
        """Raises ValueError unless the module is one, with outputs and gradients that fit."""
        if not isinstance(self.module, nn.Module):
            raise ValueError(f"it returned a {type(self.module).__name__}, no torch.nn.Module")
        for (name, a), (other, b) in combinations(self.state_dict().items(), 2):
            if a.data_ptr() == b.data_ptr() and a.numel():
                raise ValueError(
                    f"{name} and {other} are one tensor: checkpoints need separate ones"
                )
        outputs = self(torch.zeros(_ROWS, len(self.map), dtype=torch.int16))
        is_pair = isinstance(outputs, tuple) and len(outputs) == 2
        if not is_pair or not all(isinstance(output, Tensor) for output in outputs):
            raise ValueError(f"forward returned {_kinds(outputs)}, not a tuple (logits, values)")
        logits, values = outputs
        for name, output, size in (
            ("logits", logits, game.num_actions),
            ("values", values, game.max_players),
        ):
            if output.shape != (_ROWS, size):
                shape = f"{list(output.shape)} for {_ROWS} observations"
                raise ValueError(f"{name} are {shape}, not {[_ROWS, size]}")
        (logits.sum() + values.sum()).backward()
        parameters = self.module.named_parameters()
        unused = [name for name, parameter in parameters if parameter.grad is None]
        if unused:
            raise ValueError(f"forward doesn't use the parameter {unused[0]}")
        self.zero_grad(set_to_none=True)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P]."""
        with torch.autocast(features.device.type, enabled=False):
            numbers = features.float() * self.levels
            flat = numbers.new_zeros(features.shape[0], len(self.first))
            flat = flat.index_add(1, self.columns, numbers)[:, self.first]
            outputs: tuple[Tensor, Tensor] = self.module(flat.unflatten(1, self.shape))
        return outputs


def _kinds(outputs: object) -> str:
    """Returns the types of a module's outputs."""
    if isinstance(outputs, tuple):
        return f"a tuple of {[type(output).__name__ for output in outputs]}"
    return f"a {type(outputs).__name__}"
