"""The layer that reads features: the sparse way and the dense one give the same."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo import get_game
from linkzoo_training.networks.flat import frozen, make_network
from linkzoo_training.networks.sparse import SparseLinear
from tests.training.helpers import assert_close

TYPES = [torch.int8, torch.int16, torch.int32]


def layer(features: int, out: int) -> SparseLinear:
    torch.manual_seed(0)
    return SparseLinear(features, out)


@pytest.mark.slow
@settings(deadline=None)
@given(
    rows=st.integers(0, 40),
    count=st.integers(1, 70),
    out=st.integers(1, 40),
    share=st.sampled_from([0.0, 0.03, 0.5, 1.0]),
    kind=st.sampled_from(TYPES),
    seed=st.integers(0, 2**31),
)
def test_as_the_dense_way(
    rows: int, count: int, out: int, share: float, kind: torch.dtype, seed: int
) -> None:
    """Values and gradients, with some features so large that they are held at 10."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randint(-100, 101, (rows, count), generator=generator)
    features = (features * (torch.rand(rows, count, generator=generator) < share)).to(kind)
    scale = torch.rand(count, generator=generator)
    cotangent = torch.randn(rows, out, generator=generator)
    results = []
    for way in (features, features.float()):
        sums = layer(count, out)
        answer = sums(way, scale)
        answer.backward(cotangent)
        assert sums.weight.grad is not None
        assert sums.bias.grad is not None
        results.append((answer.detach(), sums.weight.grad, sums.bias.grad))
    for sparse, dense in zip(*results, strict=True):
        assert_close(sparse, dense, rtol=1e-4, atol=1e-3)
    held = (features * scale).clamp(-10, 10)
    expected = held.double() @ layer(count, out).weight.double().T + layer(count, out).bias
    assert_close(results[0][0].double(), expected, rtol=1e-4, atol=1e-3)


def test_a_row_is_the_same_whatever_stands_beside_it() -> None:
    sums, scale = layer(50, 16), torch.rand(50)
    features = torch.randint(0, 3, (20, 50), dtype=torch.int8)
    whole = sums(features, scale)
    for row in range(20):
        assert torch.equal(sums(features[row : row + 1], scale)[0], whole[row])


def test_views_of_features() -> None:
    """Columns of a wider array, and every other row."""
    sums, scale = layer(10, 4), torch.rand(10)
    features = torch.randint(0, 3, (8, 30), dtype=torch.int16)
    part = features[::2, 5:15]
    assert_close(sums(part, scale), sums(part.float(), scale))


@pytest.mark.parametrize("size", [1, 29, 31])
def test_features_of_another_size_are_refused(size: int) -> None:
    """As by torch, which names the shapes."""
    with pytest.raises(RuntimeError, match=rf"size|2x{size} and 30x8"):
        layer(30, 8)(torch.ones(2, size, dtype=torch.int8), torch.ones(size))
    with pytest.raises(RuntimeError, match="30"):
        layer(30, 8)(torch.ones(2, 30, dtype=torch.int8), torch.ones(29))


def test_weights_are_those_of_a_linear_layer() -> None:
    """The same names, shapes and start; a feature's lie in one piece, in copies and when loaded."""
    sums = layer(30, 8)
    torch.manual_seed(0)
    plain = torch.nn.Linear(30, 8)
    for name, weights in plain.state_dict().items():
        assert torch.equal(sums.state_dict()[name], weights)
    other = layer(30, 8)
    other.load_state_dict(plain.state_dict())
    for one in (sums, deepcopy(sums), other):
        assert one.weight.shape == (8, 30)
        assert one.weight.T.is_contiguous()
    sums(torch.ones(2, 30, dtype=torch.int8), torch.ones(30)).sum().backward()
    assert sums.weight.grad is not None
    assert sums.weight.grad.T.is_contiguous()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float64])
def test_other_precisions(kind: torch.dtype) -> None:
    """All in that precision, scale and answer alone, and under autocast."""
    sums, features = layer(30, 8), torch.ones(2, 30, dtype=torch.int8)
    expected, scale = sums(features, torch.ones(30)), torch.ones(30, dtype=kind)
    results = [sums(features, scale), deepcopy(sums).to(kind)(features, scale)]
    if kind == torch.bfloat16:
        with torch.autocast("cpu", kind):
            results.append(sums(features, torch.ones(30)))
    for one in results:
        assert one.dtype == kind
        assert_close(one.float(), expected, rtol=2e-2, atol=2e-2)


def test_a_network_that_plays_in_bfloat16_reads_in_float32() -> None:
    game = get_game("love_formula")
    network = make_network(game, "flat", 16, 1)
    played = frozen(network, bf16=True)
    kinds = {name: parameter.dtype for name, parameter in played.named_parameters()}
    wide = {name for name, kind in kinds.items() if kind == torch.float32}
    assert wide == {"trunk.inputs.weight", "trunk.inputs.bias"}
    for name in wide:
        assert torch.equal(played.state_dict()[name], network.state_dict()[name])
    features = torch.ones(3, len(network.map), dtype=torch.int8)
    for output, expected in zip(played(features), network(features), strict=True):
        assert output.dtype == torch.bfloat16
        assert_close(output.float(), expected, rtol=0.05, atol=0.01)
