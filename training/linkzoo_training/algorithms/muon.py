"""Muon, an optimiser for matrices (Jordan 2024: https://kellerjordan.github.io/posts/muon)."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# Coefficients of the Newton-Schulz iteration (Jordan et al.): it maps singular values in 0..1 to
# about 0.7..1.2, small ones quickly.
_LINEAR, _CUBIC, _QUINTIC = 3.4445, -4.7750, 2.0315
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
            for one in group["params"]:
                if one.ndim < 2:
                    raise ValueError(f"Muon is for matrices, not for a tensor {list(one.shape)}")

    # torch's second overload returns the loss of a closure; closures aren't supported here.
    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Updates all parameters that have gradients; raises ValueError for a closure."""
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
                dtype = torch.bfloat16 if self._bf16 and min(shape) >= _LARGE else ahead.dtype
                for one, step in zip(parameters, orthogonal(ahead.flatten(2), dtype), strict=True):
                    one.mul_(1 - group["lr"] * group["weight_decay"])
                    one.sub_(step.reshape(one.shape), alpha=length)

    def _ahead(self, parameter: Tensor, momentum: float) -> Tensor:
        """Updates a parameter's momentum and returns its Nesterov momentum."""
        assert parameter.grad is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(state["momentum"], momentum)


def orthogonal(matrices: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Orthogonalises matrices [N, R, C] approximately, by Newton-Schulz iteration in a dtype."""
    tall = matrices.shape[1] > matrices.shape[2]
    x: Tensor = matrices.mT if tall else matrices
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(dtype or x.dtype)
    for _ in range(_REPEATS):
        gram = x @ x.mT
        x = _LINEAR * x + (_CUBIC * gram + _QUINTIC * gram @ gram) @ x
    return x.mT if tall else x
