"""Muon, an optimiser for matrices (Jordan 2024: https://kellerjordan.github.io/posts/muon)."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# Coefficients of the Newton-Schulz iteration (Jordan et al.): it maps singular values in 0..1 to
# about 0.7..1.2, small ones quickly.
_LINEAR = 3.4445
_CUBIC = -4.7750
_QUINTIC = 2.0315
_REPEATS = 5
_LARGE = 128  # rows and columns from which bfloat16 is faster; smaller products only wait
# Matches the update size of AdamW at the same learning rate (Liu et al. 2025, "Muon is scalable for
# LLM training").
_RMS = 0.2


class Muon(torch.optim.Optimizer):
    """Updates weights of two or more dimensions along their orthogonalised momentum.

    Updates go equally far along every direction of the momentum, whereas Adam's follow few of them.
    Muon is for hidden layers; input and output layers and biases train better with AdamW, at the
    same learning rate. Weights of more dimensions, such as convolutions, are reshaped to matrices
    [outputs, rest]. With `bf16`, large matrices are orthogonalised in bfloat16, as in
    torch.optim.Muon, which accepts only matrices.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        *,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        bf16: bool = False,
    ) -> None:
        self._bf16 = bf16
        defaults = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__([{"params": list(parameters)}], defaults)  # maybe none
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.ndim < 2:
                    shape = list(weight.shape)
                    raise ValueError(f"Muon is for matrices, not for a tensor {shape}")

    # torch's second overload returns the loss of a closure; closures aren't supported here.
    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Updates all parameters that have gradients; raises ValueError for a closure."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[Tensor]] = {}  # of their matrices
            for weight in group["params"]:
                if weight.grad is not None:
                    by_shape.setdefault((len(weight), weight[0].numel()), []).append(weight)
            for shape, weights in by_shape.items():
                length = group["lr"] * _RMS * max(shape) ** 0.5
                momenta = [self._nesterov(weight, group["momentum"]) for weight in weights]
                matrices = torch.stack(momenta).flatten(2)
                dtype = matrices.dtype
                if self._bf16 and min(shape) >= _LARGE:
                    dtype = torch.bfloat16
                for weight, step in zip(weights, orthogonal(matrices, dtype), strict=True):
                    weight.mul_(1 - group["lr"] * group["weight_decay"])
                    weight.sub_(step.reshape(weight.shape), alpha=length)

    def _nesterov(self, parameter: Tensor, momentum: float) -> Tensor:
        """Updates a parameter's momentum and returns its Nesterov momentum."""
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)


def orthogonal(matrices: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Orthogonalises matrices [N, R, C] approximately, by Newton-Schulz iteration in a dtype."""
    if matrices.shape[1] > matrices.shape[2]:  # products of the smaller size
        return orthogonal(matrices.mT, dtype).mT
    x: Tensor = (matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(
        dtype or matrices.dtype
    )
    for _ in range(_REPEATS):
        gram = x @ x.mT
        x = _LINEAR * x + (_CUBIC * gram + _QUINTIC * gram @ gram) @ x
    return x
