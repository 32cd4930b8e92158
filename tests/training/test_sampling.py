"""Actions are drawn from their probabilities, on the host and as on a GPU."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from linkzoo.chance import STREAM_POLICY, word
from linkzoo_training.selfplay.sampling import race, sample

Drawn = tuple[Tensor, Tensor]  # actions and their log-probabilities


def on_the_host(probabilities: Tensor, seed: int, ply: int) -> Drawn:
    actions = torch.zeros(len(probabilities), dtype=torch.int64)
    logs = torch.zeros(len(probabilities))
    sample(probabilities, np.uint64(seed), ply, actions, logs)
    return actions, logs


def as_on_a_gpu(probabilities: Tensor, seed: int, ply: int) -> Drawn:
    return race(probabilities, int(word(np.uint64(seed), STREAM_POLICY, ply)))


@pytest.mark.parametrize("draw", [on_the_host, as_on_a_gpu])
def test_actions_follow_their_probabilities(draw: Callable[[Tensor, int, int], Drawn]) -> None:
    chances, rows = torch.tensor([0.0, 0.2, 0.0, 0.5, 0.3, 0.0]), 20_000
    actions, logs = draw(chances.tile(rows, 1), 1, 7)
    counts = actions.bincount(minlength=6) / rows
    assert counts[chances == 0].sum() == 0
    np.testing.assert_allclose(counts, chances, atol=0.015)
    np.testing.assert_allclose(logs.exp(), chances[actions], rtol=1e-5)


@pytest.mark.parametrize("draw", [on_the_host, as_on_a_gpu])
def test_a_draw_is_of_its_seed_and_ply(draw: Callable[[Tensor, int, int], Drawn]) -> None:
    chances = torch.full((500, 8), 1 / 8)
    actions, _ = draw(chances, 2**64 - 1, 7)
    assert draw(chances, 2**64 - 1, 7)[0].equal(actions)
    assert not draw(chances, 2**64 - 1, 8)[0].equal(actions)
    assert not draw(chances, 1, 7)[0].equal(actions)


@pytest.mark.parametrize("draw", [on_the_host, as_on_a_gpu])
def test_of_what_is_not_finite_nothing_is_drawn(
    draw: Callable[[Tensor, int, int], Drawn],
) -> None:
    chances = torch.full((3, 8), 1 / 8)
    chances[1] = torch.nan
    assert (draw(chances, 1, 7)[0] < 0).tolist() == [False, True, False]
