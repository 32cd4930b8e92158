"""Muon, an optimiser of matrices (Jordan 2024: https://kellerjordan.github.io/posts/muon)."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# Of the polynomial that is applied again and again (Jordan et al.): singular values of 0..1 come to
# lie in about 0.7..1.2, and small ones get there fast.
_LINEAR, _CUBIC, _QUINTIC = 3.4445, -4.7750, 2.0315
_REPEATS = 5
# A step is as long as one of AdamW with the same learning rate (Liu et al. 2025, "Muon is scalable
# for LLM training").
_RMS = 0.2


class Muon(torch.optim.Optimizer):
    """Steps weights of two dimensions or more along their momentum, made orthogonal.

    Every direction of a matrix that the momentum knows is followed equally far, whereas Adam's
    steps follow few of them. For hidden layers; those that read features or answer, and biases, are
    better off with AdamW, by the same learning rate. Weights of more dimensions, as of
    convolutions, are matrices [outputs, all else]. torch.optim.Muon does the same in bfloat16, and
    takes nothing but matrices.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        *,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        for group in self.param_groups:
            for one in group["params"]:
                if one.ndim < 2:
                    raise ValueError(f"Muon is for matrices, not for a tensor {list(one.shape)}")

    # Torch's second overload gives the loss of a closure; there is none here.
    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One step of all parameters with gradients; ValueError for a closure."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            alike: dict[tuple[int, ...], list[Tensor]] = {}  # by the shape of their matrices
            for one in group["params"]:
                if one.grad is not None:
                    alike.setdefault((len(one), one[0].numel()), []).append(one)
            for shape, parameters in alike.items():
                length = group["lr"] * _RMS * max(shape) ** 0.5
                ahead = torch.stack([self._ahead(one, group["momentum"]) for one in parameters])
                for one, step in zip(parameters, orthogonal(ahead.flatten(2)), strict=True):
                    one.mul_(1 - group["lr"] * group["weight_decay"])
                    one.sub_(step.reshape(one.shape), alpha=length)

    def _ahead(self, parameter: Tensor, momentum: float) -> Tensor:
        """Takes its gradient into its momentum; the momentum a step ahead (Nesterov)."""
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)


def orthogonal(matrices: Tensor) -> Tensor:
    """About the nearest matrices to [N, R, C] whose singular values are 1, by Newton and Schulz."""
    tall = matrices.shape[1] > matrices.shape[2]
    x: Tensor = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_REPEATS):
        gram = x @ x.mT
        x = _LINEAR * x + (_CUBIC * gram + _QUINTIC * gram @ gram) @ x
    return x.mT if tall else x
