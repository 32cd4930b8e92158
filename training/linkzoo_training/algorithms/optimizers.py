"""The optimisers of a run: stepped, saved and restored together."""

from collections.abc import Mapping
from inspect import unwrap
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from linkzoo_training.checkpoints.checkpoint import add_prefix, fitting, strip_prefix

STATES = ("adam.", "muon.")  # prefixes of their saved tensors
_WRAPPED = ("add_param_group", "load_state_dict", "state_dict", "step")  # for torch.compile

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)


def light(kind: type[Kind]) -> type[Kind]:
    """Returns a class of optimisers without torch's wrappers, which import its compiler.

    The import takes a second and 70 MB, and nothing here is compiled by torch.
    """
    plain = {name: unwrap(getattr(kind, name)) for name in _WRAPPED}
    return type(kind.__name__, (kind,), plain | {"step": torch.no_grad()(plain["step"])})


class Optimizers:
    """Optimisers by name, `adam` and `muon`, with one learning rate."""

    def __init__(self, **by_name: torch.optim.Optimizer) -> None:
        self.by_name = by_name

    def set_learning_rate(self, rate: float) -> None:
        """Sets the learning rate of all optimisers."""
        for optimizer in self.by_name.values():
            for group in optimizer.param_groups:
                group["lr"] = rate

    def step(self) -> None:
        """Steps all optimisers."""
        for optimizer in self.by_name.values():
            optimizer.step()

    def parameters(self, name: str) -> list[Tensor]:
        """Returns the parameters of one optimiser, in the order of its state."""
        groups = self.by_name[name].param_groups
        return [parameter for group in groups for parameter in group["params"]]

    def tensors(self) -> dict[str, Tensor]:
        """Returns the optimisers' states, named `optimiser.index.entry`."""
        saved: dict[str, Tensor] = {}
        for name, optimizer in self.by_name.items():
            for index, entry in optimizer.state_dict()["state"].items():
                saved |= add_prefix(f"{name}.{index}.", entry)
        return saved

    def check(self, path: Path, tensors: Mapping[str, Tensor]) -> None:
        """Raises ValueError unless all parameters have states, or none (before the first step)."""
        saved = {name: tensor for name, tensor in tensors.items() if name.startswith(STATES)}
        expected: dict[str, Tensor] = {}
        for name in self.by_name:
            for index, weight in enumerate(self.parameters(name)):
                moments = {"momentum": weight}
                if name == "adam":
                    moments = {"step": torch.zeros(()), "exp_avg": weight, "exp_avg_sq": weight}
                expected |= add_prefix(f"{name}.{index}.", moments)
        if saved:
            fitting(path, saved, expected, "the run")
        for name, tensor in saved.items():
            if name.endswith(("step", "exp_avg_sq")) and (tensor < 0).any():
                raise ValueError(f"{path}: {name} holds numbers below 0")

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Restores the tensors of `tensors`."""
        for name, optimizer in self.by_name.items():
            state = optimizer.state_dict()
            for index, parameter in enumerate(self.parameters(name)):
                entry = strip_prefix(f"{name}.{index}.", tensors)
                if entry:
                    state["state"][index] = {n: _laid_out(v, parameter) for n, v in entry.items()}
            optimizer.load_state_dict(state)


def _laid_out(value: Tensor, parameter: Tensor) -> Tensor:
    """Copies a tensor of an optimiser's state into the memory layout of its parameter.

    Adam's fused step ignores strides.
    """
    if value.shape != parameter.shape:  # the count of steps
        return value
    return torch.empty_like(parameter, requires_grad=False).copy_(value)
