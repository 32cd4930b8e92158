"""Networks of users, by their import paths (`network: FILE.py:NAME`)."""

from itertools import combinations

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.features import RAW
from linkzoo_training.imports import import_object
from linkzoo_training.networks.policy_value import PolicyValueNet

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
        self.shape, self.path = game.observation.spec.shape, path
        make = import_object(path, "network")
        try:
            self.module: nn.Module = make(game.observation.spec, game.num_actions, game.max_players)
            self._check(game)
        except Exception as error:  # user code can raise anything
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise ValueError(f"network {path!r}: {kind}{error}") from error

    def _check(self, game: Game) -> None:
        """Raises ValueError unless the module is one, with outputs and gradients that fit."""
        if not isinstance(self.module, nn.Module):
            raise ValueError(f"it returned a {type(self.module).__name__}, no torch.nn.Module")
        for (one, a), (two, b) in combinations(self.state_dict().items(), 2):
            if a.data_ptr() == b.data_ptr() and a.numel():
                raise ValueError(f"{one} and {two} are one tensor: checkpoints need separate ones")
        found = self(torch.zeros(_ROWS, len(self.map), dtype=torch.int16))
        outputs = found if isinstance(found, tuple) else ()
        if len(outputs) != 2 or not all(isinstance(one, Tensor) for one in outputs):
            raise ValueError(f"forward returned {_kinds(found)}, not a tuple (logits, values)")
        for what, output, size in (
            ("logits", outputs[0], game.num_actions),
            ("values", outputs[1], game.max_players),
        ):
            if output.shape != (_ROWS, size):
                shape = f"{list(output.shape)} for {_ROWS} observations"
                raise ValueError(f"{what} are {shape}, not {[_ROWS, size]}")
        (outputs[0].sum() + outputs[1].sum()).backward()
        unused = [name for name, one in self.module.named_parameters() if one.grad is None]
        if unused:
            raise ValueError(f"forward doesn't use the parameter {unused[0]}")
        self.zero_grad(set_to_none=True)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P]."""
        with torch.autocast(features.device.type, enabled=False):
            numbers = features.float() * self.levels
            flat = numbers.new_zeros(features.shape[0], len(self.first))
            flat = flat.index_add(1, self.columns, numbers)[:, self.first]
            found: tuple[Tensor, Tensor] = self.module(flat.unflatten(1, self.shape))
        return found


def _kinds(found: object) -> str:
    """Returns the types of a module's output."""
    if isinstance(found, tuple):
        return f"a tuple of {[type(one).__name__ for one in found]}"
    return f"a {type(found).__name__}"
