"""Networks: what they read, and that a board network treats every cell alike."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from connect_four import GAME as CONNECT_FOUR

from linkzoo import get_game, make_vec
from linkzoo.game import ObservationSpec, Piece
from linkzoo_training.networks import BoardNet, FlatNet, make_network, masked, rearrange

LINKAGE = get_game("linkage")


def features(count: int = 16) -> torch.Tensor:
    vec = make_vec("linkage", count)
    now = vec.reset(1)
    network = make_network(LINKAGE, "flat", 8, 1)
    for _ in range(5):
        now = vec.step(now.action_mask.argmax(1))
    return torch.from_numpy(network.map(now.observation.reshape(count, -1)))


@pytest.mark.parametrize("kind", ["flat", "board"])
def test_shapes_and_a_uniform_start(kind: str) -> None:
    torch.manual_seed(0)
    logits, values = make_network(LINKAGE, kind, 16, 2)(features())
    assert logits.shape == (16, 387)
    assert values.shape == (16, 2)
    assert logits.std() < 0.05
    assert values.abs().max() < 0.1


@pytest.mark.parametrize("kind", ["flat", "board"])
def test_everything_is_trained(kind: str) -> None:
    """Each parameter gets a gradient, but for those behind a gate that is still closed."""
    torch.manual_seed(0)
    network = make_network(LINKAGE, kind, 16, 1)
    logits, values = network(features())
    (logits.square().sum() + values.sum()).backward()
    silent = [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    assert all(name.removeprefix("trunk.").startswith(("first", "second")) for name in silent)
    assert not silent or kind == "flat"


def test_board_logits_follow_the_board() -> None:
    """Zero padding aside, a pattern moved by a row moves the logits of its placements."""
    torch.manual_seed(1)
    network = make_network(LINKAGE, "board", 8, 0)
    assert isinstance(network, BoardNet)
    empty = torch.zeros(1, len(network.map), dtype=torch.int8)
    moved = empty.clone()
    empty[0, 7 * 2 + 3] = 1  # a white cell at (2, 3)
    moved[0, 7 * 3 + 3] = 1  # at (3, 3)
    here, there = network(empty)[0][0], network(moved)[0][0]
    for colour in range(4):
        for row in range(1, 4):
            for column in range(1, 5):
                horizontal = colour * 84 + 6 * row + column
                vertical = colour * 84 + 42 + 7 * row + column
                torch.testing.assert_close(here[horizontal], there[horizontal + 6])
                torch.testing.assert_close(here[vertical], there[vertical + 7])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("elsewhere", [0, 3])
def test_a_board_without_numbers_or_actions_elsewhere(numbers: int, elsewhere: int) -> None:
    """G10: there are no layers for them."""
    pieces = CONNECT_FOUR.observation.pieces
    if numbers:
        pieces += (Piece("turn", (1, 6, 7), 0, numbers - 1, "whose turn", broadcast=True),)
    spec = ObservationSpec(pieces, (len(pieces), 6, 7))
    cells = np.arange(7)
    cells[7 - elsewhere :] = -1
    game = replace(CONNECT_FOUR, observation=spec, action_cells=cells)
    network = make_network(game, "board", 8, 1)
    names = {name.partition(".")[0] for name, _ in network.named_parameters()}
    assert ("numbers" in names, "elsewhere" in names) == (numbers > 0, elsewhere > 0)
    logits, values = network(torch.ones(5, len(network.map), dtype=torch.int8))
    assert (logits.shape, values.shape) == ((5, 7), (5, 2))
    (logits.square().sum() + values.sum()).backward()
    assert all(p.grad is not None and p.grad.any() for p in network.parameters())


def test_gradient_of_the_rearranged_logits() -> None:
    where = torch.tensor([4, 0, 2])
    source = torch.tensor([1, 3, 2, 3, 0])
    logits = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: rearrange(x, where, source), (logits,))


def test_unknown_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="flat"):
        make_network(LINKAGE, "transformer", 8, 1)


def test_illegal_actions_have_no_chance() -> None:
    mask = torch.from_numpy(np.array([[1, 0, 1], [0, 1, 0]], np.int8))
    chances = torch.softmax(masked(torch.randn(2, 3), mask), -1)
    assert (chances[mask == 0] == 0).all()


def test_features_are_scaled_by_their_deviation() -> None:
    """Of 1 where they vary, of little where they hardly do; none is farther than 10 from 0."""
    network = make_network(LINKAGE, "flat", 8, 1)
    assert isinstance(network, FlatNet)
    sample = np.zeros((100, len(network.map)), np.int8)
    sample[::2, 0], sample[:10, 1], sample[0, 2] = 40, 1, 1
    network.trunk.standardise(sample)
    scale = network.trunk.scale
    torch.testing.assert_close(scale[:4], torch.tensor([1 / 20, 1 / 0.3, 10.0, 10.0]))
    assert "trunk.scale" in network.state_dict()
    far, farther = torch.zeros(2, len(network.map)), torch.zeros(2, len(network.map))
    far[:, 0], farther[:, 0] = 200, 2000
    assert torch.equal(network(far)[1], network(farther)[1])
    assert not torch.equal(network(far)[1], network(far / 2)[1])
