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


class SparseLinear(nn.Linear):
    """`nn.Linear` of integer features [B, F] times a scale [F], clipped to -10..10.

    Weights are [out, F] as there, but contiguous for each feature. The sparse path sums in float32
    and returns the dtype of `scale`, or autocast's.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.weight = nn.Parameter(self.weight.detach().T.contiguous().T)

    def forward(self, features: Tensor, scale: Tensor) -> Tensor:  # type: ignore[override]
        """Maps [B, F] and [F] to [B, out]; floats, GPUs and other dtypes take the dense path."""
        kinds = self.weight.device.type, self.weight.dtype, features.is_floating_point()
        fits = features.shape[1:] == scale.shape == (self.in_features,)
        if fits and kinds == ("cpu", torch.float32, False):
            mixed = torch.is_autocast_enabled("cpu")
            out: Tensor = _Sparse.apply(self.weight, features, scale.float())  # type: ignore[no-untyped-call]
            return (out + self.bias).to(torch.get_autocast_dtype("cpu") if mixed else scale.dtype)
        x = (features * scale).clamp(-_FARTHEST, _FARTHEST)  # makes no float copy on a GPU
        return super().forward(x)


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
