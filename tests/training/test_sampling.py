"""Actions are drawn from their probabilities."""

import numpy as np
import pytest
import torch

from linkzoo.engine.rng import STREAM_ORDER, STREAM_POLICY, permutation, random_u64s
from linkzoo_training.algorithms.ppo import shuffled, sorted_keys
from linkzoo_training.networks.categorical import draw
from linkzoo_training.selfplay.sampling import sample


def test_actions_follow_their_probabilities() -> None:
    chances, rows = torch.tensor([0.0, 0.2, 0.0, 0.5, 0.3, 0.0]), 20_000
    actions, logs = sample(chances.tile(rows, 1), np.uint64(1), 7)
    counts = actions.bincount(minlength=6) / rows
    assert counts[chances == 0].sum() == 0
    np.testing.assert_allclose(counts, chances, atol=0.015)
    np.testing.assert_allclose(logs.exp(), chances[actions], rtol=1e-5)


def test_a_draw_is_of_its_seed_and_ply() -> None:
    chances = torch.full((500, 8), 1 / 8)
    actions, _ = sample(chances, np.uint64(2**64 - 1), 7)
    assert sample(chances, np.uint64(2**64 - 1), 7)[0].equal(actions)
    assert not sample(chances, np.uint64(2**64 - 1), 8)[0].equal(actions)
    assert not sample(chances, np.uint64(1), 7)[0].equal(actions)


def test_a_draw_is_of_its_game() -> None:
    """Whichever games are drawn for together."""
    chances = torch.full((500, 8), 1 / 8)
    actions, logs = sample(chances, np.uint64(1), 7)
    for games in (slice(0, 200), slice(200, 500)):
        some, theirs = sample(chances[games], np.uint64(1), 7, games.start)
        assert some.equal(actions[games])
        assert theirs.equal(logs[games])


@pytest.mark.parametrize("actions", [1, 7, 500])
def test_only_possible_actions_are_drawn(actions: int) -> None:
    """Each of the first whose cumulative probability exceeds the number, but for roundings."""
    rows, generator = 5000, np.random.default_rng(actions)
    chances = generator.random((rows, actions)) * (generator.random((rows, actions)) < 0.5)
    chances[:, 0] += chances.sum(1) == 0
    probabilities = torch.from_numpy(chances / chances.sum(1, keepdims=True)).float()
    bits = random_u64s(3, STREAM_POLICY, 9, np.arange(rows)) >> np.uint64(40)
    expected = (chances.cumsum(1) / chances.sum(1, keepdims=True) > (bits / 2**24)[:, None]).argmax(
        1
    )
    drawn, logs = sample(probabilities, np.uint64(3), 9)
    assert (probabilities.gather(1, drawn[:, None]) > 0).all()
    assert (drawn.numpy() == expected).mean() > 0.995
    assert logs.exp().allclose(probabilities.gather(1, drawn[:, None])[:, 0])
    last, _ = draw(probabilities, torch.full((rows,), 1 - 2**-24))
    assert (probabilities.gather(1, last[:, None]) > 0).all()


def test_an_action_of_probability_0_is_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that are made in parallel may grow there, by a rounding."""
    chances, rows = torch.tensor([0.0, 0.25, 0.0, 0.0, 0.75, 0.0]), 1000
    cumsum = torch.Tensor.cumsum

    def rounded(sums: torch.Tensor, axis: int) -> torch.Tensor:
        return cumsum(sums, axis) + 0.01 * torch.arange(1, 7)

    monkeypatch.setattr(torch.Tensor, "cumsum", rounded)
    drawn, logs = draw(chances.tile(rows, 1), torch.arange(rows) / rows)
    assert set(drawn.tolist()) == {1, 4}
    assert logs.isfinite().all()


def test_of_what_is_not_finite_nothing_is_drawn() -> None:
    chances = torch.full((3, 8), 1 / 8)
    chances[1] = torch.nan
    assert (sample(chances, np.uint64(1), 7)[0] < 0).tolist() == [False, True, False]
    assert draw(chances, torch.full((3,), 0.5))[0].tolist() == [4, -1, 4]


def test_orders_are_of_their_seed_and_pass() -> None:
    """On the host, and as a GPU sorts them; one thread or several."""
    host = torch.device("cpu")
    for order in (shuffled, sorted_keys):
        rows = order(5000, 2**64 - 1, 3, host)
        assert rows.sort().values.equal(torch.arange(5000))
        assert (rows - torch.arange(5000)).abs().double().mean() > 1000
        assert order(5000, 2**64 - 1, 3, host).equal(rows)
        assert not order(5000, 2**64 - 1, 4, host).equal(rows)
        assert not order(5000, 1, 3, host).equal(rows)
        assert order(0, 1, 3, host).tolist() == []
    assert shuffled(50, 7, 3, host).tolist() == permutation(50, 7, STREAM_ORDER, 3).tolist()
