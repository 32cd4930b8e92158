"""Muon: its steps are orthogonal, as long as AdamW's, and those of torch's own."""

import numpy as np
import pytest
import torch
from torch import nn

from linkzoo import get_game
from linkzoo_training.algorithms import muon
from linkzoo_training.algorithms.muon import orthogonal
from linkzoo_training.algorithms.optimizers import light
from linkzoo_training.networks.flat import make_network, split_hidden
from tests.common.play import run_python
from tests.driving import first_quick
from tests.training.helpers import assert_close

Muon = light(muon.Muon)  # as in training

SHAPES = [(8, 8), (16, 40), (40, 16), (12, 4, 3, 3)]


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 16, 40), (4, 40, 16)])
def test_singular_values_come_near_one(shape: tuple[int, ...]) -> None:
    """Jordan et al.: those that aren't tiny come to lie about 1, along the same directions."""
    matrices = torch.randn(shape)
    result = orthogonal(matrices)
    assert result.shape == shape
    left, before, right = torch.linalg.svd(matrices, full_matrices=False)
    along = left.mT @ result @ right.mT
    values = along.diagonal(dim1=1, dim2=2)
    assert (values[before > before.amax() / 50] > 0.6).all()
    assert (values < 1.3).all()
    rest = along - torch.diag_embed(values)
    assert rest.abs().max() < 1e-3


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_size_of_gradients_does_not_matter(scale: float) -> None:
    matrices = torch.randn(2, 6, 9)
    assert_close(orthogonal(matrices * scale), orthogonal(matrices), rtol=0, atol=0.1)
    assert (orthogonal(torch.zeros(1, 4, 5)) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_as_torch_does_it(shape: tuple[int, ...]) -> None:
    """Several steps with decay; torch computes in bfloat16, and takes convolutions as matrices."""
    ours, theirs = (nn.Parameter(torch.randn(shape)) for _ in range(2))
    with torch.no_grad():
        theirs.copy_(ours)
    flat = nn.Parameter(theirs.detach().flatten(1))
    mine = Muon([ours], 0.01, weight_decay=0.1)
    reference = torch.optim.Muon([flat], 0.01, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for _ in range(4):
        before = ours.detach().clone()
        ours.grad = torch.randn(shape)
        flat.grad = ours.grad.flatten(1).clone()
        mine.step()
        reference.step()
        length = (ours.detach() - before).square().mean().sqrt()
        assert length < 0.01 * 0.4, "about 0.2 times the learning rate, and the decay"
    apart = (ours.detach().flatten(1) - flat.detach()).square().mean().sqrt()
    assert apart < 4 * 0.01 * 0.2 * 0.1


def test_of_one_shape_together_as_alone() -> None:
    together = [nn.Parameter(torch.randn(5, 7)) for _ in range(3)]
    alone = [nn.Parameter(one.detach().clone()) for one in together]
    optimisers = [Muon(together, 0.1), *(Muon([one], 0.1) for one in alone)]
    for one, other in zip(together, alone, strict=True):
        one.grad = torch.randn(5, 7)
        other.grad = one.grad.clone()
    for optimiser in optimisers:
        optimiser.step()
    for one, other in zip(together, alone, strict=True):
        assert_close(one, other)


def test_what_has_no_gradient_stays() -> None:
    still, moved = (nn.Parameter(torch.ones(3, 3)) for _ in range(2))
    moved.grad = torch.eye(3)
    Muon([still, moved], 0.1).step()
    assert (still == 1).all()
    assert (moved != 1).any()


def test_no_matrices_and_no_closures() -> None:
    with pytest.raises(ValueError, match=r"matrices, not for a tensor \[3\]"):
        Muon([nn.Parameter(torch.ones(3))], 0.1)
    with pytest.raises(ValueError, match="closure"):
        Muon([nn.Parameter(torch.ones(3, 3))], 0.1).step(lambda: 0.0)


@pytest.mark.parametrize(
    ("game", "kind"),
    [("linkage", "board"), ("link_o", "graph"), ("love_formula", "flat"), ("linkage", "flat")],
)
def test_hidden_layers_and_all_else(game: str, kind: str) -> None:
    """Every parameter once; matrices inside, and neither inputs nor outputs among them."""
    network = make_network(get_game(game), kind, 8, 2)
    hidden, others = split_hidden(network)
    every = list(network.parameters())
    assert np.array_equal(
        np.sort([id(one) for one in (*hidden, *others)]), np.sort([id(one) for one in every])
    )
    assert min(one.ndim for one in hidden) >= 2
    ends = ("inputs.weight", "value.weight")
    outer = {one for name, one in network.named_parameters() if name.endswith(ends)}
    assert len(outer) == 2
    assert {id(one) for one in outer} <= {id(one) for one in others}
    blocks = sum(1 for one in hidden if 8 in one.shape[:2])
    assert blocks >= 4, "two layers of each block"


def test_large_matrices_in_bfloat16() -> None:
    """They move nearly as in float32; small ones move exactly so."""
    for size, exact in ((128, False), (64, True)):
        ours, theirs = (nn.Parameter(torch.zeros(size, size)) for _ in range(2))
        ours.grad = torch.randn(size, size)
        theirs.grad = ours.grad.clone()
        Muon([ours], 0.1, bf16=True).step()
        Muon([theirs], 0.1).step()
        assert torch.equal(ours, theirs) == exact
        assert (ours - theirs).norm() < 0.05 * theirs.norm()


@pytest.mark.slow  # torch's own optimisers import its compiler
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_light_optimisers_step_like_torchs(kind: type[torch.optim.Adam]) -> None:
    ours, theirs = (nn.Parameter(torch.ones(3, 4)) for _ in range(2))
    mine, reference = light(kind)([ours], lr=0.1), kind([theirs], lr=0.1)
    for _ in range(3):
        ours.grad = torch.randn(3, 4)
        theirs.grad = ours.grad.clone()
        mine.step()
        reference.step()
        mine.load_state_dict(mine.state_dict())
    assert torch.equal(ours, theirs)
    states = [one.state_dict()["state"][0] for one in (mine, reference)]
    assert states[0].keys() == states[1].keys()
    assert_close(*(list(state.values()) for state in states), rtol=0, atol=0)


@pytest.mark.nightly  # quick: test_no_pickle.py
@pytest.mark.parametrize("preset", first_quick(["linkage_az_quick", "linkage_ppo_quick"], 1, 0))
def test_training_does_not_import_torchs_compiler(preset: str) -> None:
    """It takes a second and 70 MB of each run."""
    code = (
        "import sys\nfrom linkzoo_training.config.config import load_config\n"
        "from linkzoo_training.train import make_trainer\n"
        "small = ['width=16', 'blocks=1', 'num_envs=4', 'horizon=16']\n"
        "trainer = make_trainer(load_config(sys.argv[1], small))\n"
        "trainer.iterate()\ntrainer.optimizers.load(trainer.optimizers.tensors())\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert run_python("-c", code, preset).splitlines()[-1] == "False"
