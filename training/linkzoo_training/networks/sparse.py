"""A linear layer for sparse features: on a CPU it skips the weights of zero features.

Features are hands, boards and one-hot numbers: about 80 of Love Formula's 2,349 are nonzero. A
dense input layer would take most of the time of a fully connected network.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.engine.compiled import compiled

_FARTHEST = 10.0  # largest absolute value of a scaled feature
_ALIGNED = 8  # tensor cores take widths that are multiples


class SparseLinear(nn.Linear):
    """`nn.Linear` of integer features [B, F] times a scale [F], clipped to -10..10.

    Weights are [out, F] as there, but contiguous for each feature. The sparse path sums in float32
    and returns the dtype of `scale`, or autocast's.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.weight = nn.Parameter(self.weight.detach().T.contiguous().T)

    def forward(self, features: Tensor, scale: Tensor) -> Tensor:  # type: ignore[override]
        """Maps [B, F] and [F] to [B, out]; floats and dtypes but float32 take the dense path."""
        kinds = self.weight.device.type, self.weight.dtype, features.is_floating_point()
        fits = features.shape[1:] == scale.shape == (self.in_features,)
        if fits and kinds == ("cpu", torch.float32, False):
            mixed = torch.is_autocast_enabled("cpu")
            out: Tensor = _Sparse.apply(self.weight, features, scale.float())
            return (out + self.bias).to(torch.get_autocast_dtype("cpu") if mixed else scale.dtype)
        if fits and kinds[0] == "cuda" and not kinds[2]:
            return self._on_gpu(features, scale)
        return super().forward((features * scale).clamp(-_FARTHEST, _FARTHEST))

    def _on_gpu(self, features: Tensor, scale: Tensor) -> Tensor:
        """Scales in the dtype of the product, and pads it to a width with fast kernels."""
        mixed, count = torch.is_autocast_enabled("cuda"), self.in_features
        dtype = torch.get_autocast_dtype("cuda") if mixed else self.weight.dtype
        x = torch.empty(len(features), _aligned(count), dtype=dtype, device=features.device)
        torch.mul(features, scale.to(dtype), out=x[:, :count])
        x[:, count:] = 0
        weight = nn.functional.pad(self.weight, (0, x.shape[1] - count))
        return nn.functional.linear(x.clamp_(-_FARTHEST, _FARTHEST), weight, self.bias)


def joined(x: Tensor, *layers: nn.Linear) -> list[Tensor]:
    """Returns the outputs of several layers; on a GPU by one product, of a width that is fast."""
    if not x.is_cuda:
        return [layer(x) for layer in layers]
    sizes = [layer.out_features for layer in layers]
    left = _aligned(sum(sizes)) - sum(sizes)
    weight = nn.functional.pad(torch.cat([layer.weight for layer in layers]), (0, 0, 0, left))
    bias = nn.functional.pad(torch.cat([layer.bias for layer in layers]), (0, left))
    return list(nn.functional.linear(x, weight, bias).split([*sizes, left], 1))[: len(layers)]


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


class _Sparse(torch.autograd.Function):
    """Autograd function: scaled features times weights [out, F]."""

    @staticmethod
    def forward(context: Any, weight: Tensor, features: Tensor, scale: Tensor) -> Tensor:
        context.save_for_backward(features, scale)
        out = weight.new_zeros(len(features), len(weight))
        rows = weight.detach().T.contiguous()
        _add_weights(out.numpy(), features.contiguous().numpy(), scale.numpy(), rows.numpy())
        return out

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        features, scale = context.saved_tensors
        rows = gradient.new_zeros(features.shape[1], gradient.shape[1])
        _add_gradients(
            rows.numpy(),
            features.contiguous().numpy(),
            scale.numpy(),
            gradient.contiguous().numpy(),
        )
        return rows.T, None, None


@compiled
def _find(features: Any, found: Any) -> Any:
    """Fills `found` [F + 1] with the indices of nonzero features [F]; returns their number."""
    count = 0
    for k in range(features.shape[0]):
        found[count] = k
        count += features[k] != 0
    return count


@compiled
def _scaled(feature: Any, scale: Any) -> Any:
    return np.float32(min(max(feature * scale, -_FARTHEST), _FARTHEST))


@compiled
def _add_weights(out: Any, features: Any, scale: Any, weights: Any) -> None:
    """Adds scaled features [B, F] times weights [F, out] to `out` [B, out]."""
    found = np.empty(features.shape[1] + 1, np.int64)
    for i in range(features.shape[0]):
        for at in range(_find(features[i], found)):
            k = found[at]
            x = _scaled(features[i, k], scale[k])
            for j in range(out.shape[1]):
                out[i, j] += x * weights[k, j]


@compiled
def _add_gradients(gradients: Any, features: Any, scale: Any, of_out: Any) -> None:
    """Adds the gradients of the weights [F, out], given those of the outputs [B, out]."""
    found = np.empty(features.shape[1] + 1, np.int64)
    for i in range(features.shape[0]):
        for at in range(_find(features[i], found)):
            k = found[at]
            x = _scaled(features[i, k], scale[k])
            for j in range(of_out.shape[1]):
                gradients[k, j] += x * of_out[i, j]
