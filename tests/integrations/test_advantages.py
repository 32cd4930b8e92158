"""Advantages along each seat's own decisions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo.integrations import seat_advantages


def test_one_game_by_hand() -> None:
    """Seats 0, 1, 1, 0; seat 0 wins. With decay 1 every decision is worth the final payoff."""
    seat = np.array([[0], [1], [1], [0]])
    value = np.array([[0.5], [0.25], [0.0], [-0.5]], np.float32)
    reward = np.zeros((4, 1, 2), np.float32)
    reward[3, 0] = 1, -1
    done = np.array([[False], [False], [False], [True]])
    advantages = seat_advantages(seat, value, reward, done, decay=1.0)
    assert advantages[:, 0].tolist() == [0.5, -1.25, -1.0, 1.5]
    # With decay 0 each decision is compared with the seat's next estimate.
    advantages = seat_advantages(seat, value, reward, done, decay=0.0)
    assert advantages[:, 0].tolist() == [-1.0, -0.25, -1.0, 1.5]


def test_what_lies_beyond_the_batch_counts_as_expected() -> None:
    seat = np.array([[0], [1], [0]])
    value = np.array([[0.1], [0.2], [0.4]], np.float32)
    advantages = seat_advantages(seat, value, np.zeros((3, 1, 2)), np.zeros((3, 1), bool))
    np.testing.assert_allclose(advantages[:, 0], [0.3, 0, 0], atol=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(0, 1))
def test_against_the_definition(seed: int, players: int, decay: float) -> None:
    """The sum of discounted one-step errors over the seat's decisions left in the game."""
    rng = np.random.default_rng(seed)
    steps, games = 12, 3
    seat = rng.integers(players, size=(steps, games))
    value = rng.normal(size=(steps, games)).astype(np.float32)
    done = rng.random((steps, games)) < 0.2
    reward = np.where(done[..., None], rng.normal(size=(steps, games, players)), 0)
    advantages = seat_advantages(seat, value, reward.astype(np.float32), done, decay)
    for i in range(games):
        for t in range(steps):
            ends = np.flatnonzero(done[t:, i])
            last = t + int(ends[0]) if len(ends) else steps - 1
            own = [k for k in range(t, last + 1) if seat[k, i] == seat[t, i]]
            after = [*value[own[1:], i], reward[last, i, seat[t, i]] if len(ends) else None]
            errors = [
                0.0 if then is None else float(then - value[k, i])
                for k, then in zip(own, after, strict=True)
            ]
            expected = sum(decay**n * error for n, error in enumerate(errors))
            np.testing.assert_allclose(advantages[t, i], expected, atol=1e-4)
