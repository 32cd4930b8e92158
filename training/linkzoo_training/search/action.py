"""The forward pass of action networks (`networks.action`) as compiled code, for a CPU.

It computes in float32 what torch computes, up to rounding, and skips zeros: of features, and of
activations after a ReLU. A row's outputs don't depend on the other rows of a batch.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array, Float32s, Int64s
from linkzoo_training.search.linear import Scorer, weigh

_FARTHEST = np.float32(10)  # largest absolute value of a scaled feature of the position
_ZERO = np.float32(0)


class Layer(NamedTuple):
    """A dense layer: float32 weights [in, out] and biases [out]."""

    weights: Float32s
    biases: Float32s


class Layers(NamedTuple):
    """B dense layers of one shape: float32 weights [B, in, out] and biases [B, out]."""

    weights: Float32s
    biases: Float32s


class ActionWeights(NamedTuple):
    """The weights of an action network.

    Attributes:
        scorer: The linear scorer of actions.
        scale: The scales of the position's features, float32[F].
        inputs: The input layer, from F features.
        first: The first layer of each residual block.
        second: The second layer of each residual block.
        gates: The gate of each residual block, float32[B].
        value: The values' head.
        state: From the trunk to the tower of an action.
        action_scale: The scales of an action's features, float32[K].
        described: From an action's features to its tower.
        embedding: float32[A, H], the part of each action.
        hidden: The tower's second layer.
        policy: The tower's output.
    """

    scorer: Scorer
    scale: Float32s
    inputs: Layer
    first: Layers
    second: Layers
    gates: Float32s
    value: Layer
    state: Layer
    action_scale: Float32s
    described: Layer
    embedding: Float32s
    hidden: Layer
    policy: Layer


def action_weights(tensors: Mapping[str, Float32s], context: Array) -> ActionWeights:
    """Returns the weights of an action network.

    Args:
        tensors: The network's `state_dict`, as NumPy arrays.
        context: The indices of the scorer's context, int64[C].
    """

    def layer(name: str) -> Layer:
        weights = np.ascontiguousarray(tensors[f"{name}.weight"].T)
        return Layer(weights, tensors[f"{name}.bias"].copy())

    def layers(name: str) -> Layers:
        width = len(tensors["trunk.inputs.bias"])
        blocks = [layer(f"{name}.{block}") for block in range(len(tensors["trunk.gates"]))]
        weights = np.array([block.weights for block in blocks], np.float32)
        biases = np.array([block.biases for block in blocks], np.float32)
        return Layers(weights.reshape(-1, width, width), biases.reshape(-1, width))

    return ActionWeights(
        scorer=Scorer(context, tensors["linear.weight"].copy()),
        scale=tensors["trunk.scale"].copy(),
        inputs=layer("trunk.inputs"),
        first=layers("trunk.first"),
        second=layers("trunk.second"),
        gates=tensors["trunk.gates"].copy(),
        value=layer("value"),
        state=layer("state"),
        action_scale=tensors["action_scale"].copy(),
        described=layer("described"),
        embedding=tensors["action.weight"].copy(),
        hidden=layer("second"),
        policy=layer("policy"),
    )


def scorer_alone(scorer: Scorer) -> ActionWeights:
    """Returns a linear scorer as a network without a trunk and towers (`is_scorer`)."""
    row = np.zeros(0, np.float32)
    table = np.zeros((0, 0), np.float32)
    layer = Layer(table, row)
    layers = Layers(np.zeros((0, 0, 0), np.float32), table)
    return ActionWeights(
        scorer=scorer,
        scale=row,
        inputs=layer,
        first=layers,
        second=layers,
        gates=row,
        value=layer,
        state=layer,
        action_scale=row,
        described=layer,
        embedding=table,
        hidden=layer,
        policy=layer,
    )


@compiled
def is_scorer(net: ActionWeights) -> bool:
    """Returns whether the network is a linear scorer alone."""
    return len(net.embedding) == 0


@compiled
def _dense(x: Float32s, layer: Layer, chosen: Int64s, out: Float32s) -> None:
    """Fills the outputs of a dense layer of inputs x [F], of which zeros are skipped.

    It adds the weights of four inputs at a time: `out` is read and written less often.

    Args:
        x: The inputs.
        layer: The layer.
        chosen: Scratch space [F].
        out: The outputs.
    """
    weights = layer.weights
    count = 0
    for i in range(x.shape[0]):
        chosen[count] = i
        count += x[i] != _ZERO
    out[:] = layer.biases
    n = 0
    while n + 4 <= count:
        i0 = chosen[n]
        i1 = chosen[n + 1]
        i2 = chosen[n + 2]
        i3 = chosen[n + 3]
        for j in range(out.shape[0]):
            near = x[i0] * weights[i0, j] + x[i1] * weights[i1, j]
            out[j] += near + (x[i2] * weights[i2, j] + x[i3] * weights[i3, j])
        n += 4
    while n < count:
        i0 = chosen[n]
        for j in range(out.shape[0]):
            out[j] += x[i0] * weights[i0, j]
        n += 1


@compiled
def _rectify(x: Float32s) -> None:
    for i in range(x.shape[0]):
        if x[i] < 0:  # noqa: PLR1730 - NaN stays
            x[i] = 0


@compiled
def _trunk(net: ActionWeights, features: Array, out: Float32s) -> None:
    """Fills the trunk's output of the features of a position [F]."""
    size = net.scale.shape[0]
    scaled = np.empty(size, np.float32)
    chosen = np.empty(max(size, out.shape[0]), np.int64)
    for k in range(size):
        x = np.float32(features[k]) * net.scale[k]
        scaled[k] = min(max(x, -_FARTHEST), _FARTHEST)
    _dense(scaled, net.inputs, chosen, out)
    _rectify(out)
    inner = np.empty_like(out)
    step = np.empty_like(out)
    for block in range(net.gates.shape[0]):
        _dense(out, Layer(net.first.weights[block], net.first.biases[block]), chosen, inner)
        _rectify(inner)
        _dense(inner, Layer(net.second.weights[block], net.second.biases[block]), chosen, step)
        for j in range(out.shape[0]):
            out[j] += net.gates[block] * step[j]
    _rectify(out)


@compiled
def forward_one(net: ActionWeights, features: Array, logits: Float32s, values: Float32s) -> None:
    """Fills the logits [A] and the values [P] of the inputs of a position (`networks.inputs`).

    Actions that aren't listed have the lowest logit of the others; 0 if none is listed.
    """
    size = net.action_scale.shape[0]
    listed = features[net.scale.shape[0] :].reshape(-1, 1 + size)
    width = net.state.biases.shape[0]
    whole = np.empty(net.inputs.biases.shape[0], np.float32)
    state = np.empty(width, np.float32)
    tower = np.empty(width, np.float32)
    second = np.empty(width, np.float32)
    linear = np.empty(size, np.float32)
    scaled = np.empty(size, np.float32)
    scores = np.empty(listed.shape[0], np.float32)
    chosen = np.empty(max(size, whole.shape[0]), np.int64)
    _trunk(net, features, whole)
    _dense(whole, net.value, chosen, values)
    _dense(whole, net.state, chosen, state)
    lowest = np.float32(np.inf)
    count = 0
    while count < listed.shape[0] and listed[count, 0] != 0:
        described = listed[count, 1:]
        if count == 0:
            weigh(net.scorer, described, linear)
        score = _ZERO
        for k in range(size):
            x = np.float32(described[k])
            score += linear[k] * x
            scaled[k] = x * net.action_scale[k]
        _dense(scaled, net.described, chosen, tower)
        action = listed[count, 0] - 1
        for j in range(width):
            tower[j] += net.embedding[action, j] + state[j]
        _rectify(tower)
        _dense(tower, net.hidden, chosen, second)
        _rectify(second)
        residual = net.policy.biases[0]
        for j in range(width):
            residual += (tower[j] + second[j]) * net.policy.weights[j, 0]
        scores[count] = score + residual
        lowest = min(lowest, scores[count])
        count += 1
    if count == 0:
        lowest = _ZERO
    logits[:] = lowest
    for n in range(count):
        logits[listed[n, 0] - 1] = scores[n]


@compiled
def _forward(
    first: int, last: int, features: Array, net: ActionWeights, logits: Float32s, values: Float32s
) -> None:
    for i in range(first, last):
        forward_one(net, features[i], logits[i], values[i])


_FORWARD = RowKernel(_forward, 16)


def forward(net: ActionWeights, features: Array) -> tuple[Float32s, Float32s]:
    """Returns the logits float32[N, A] and the values float32[N, P] of inputs int16[N, F]."""
    logits = np.empty((len(features), len(net.embedding)), np.float32)
    values = np.empty((len(features), len(net.value.biases)), np.float32)
    _FORWARD(np.ascontiguousarray(features), net, logits, values)
    return logits, values
