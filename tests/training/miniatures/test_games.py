"""The compiled games are those of the trees, along every history and in every deal."""

from collections import Counter
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from linkzoo import Positions
from linkzoo.core.kernels import kernels
from tests.driving import first_quick
from tests.training.helpers import begin
from tests.training.miniatures.play import MINIATURES, Miniature


@pytest.fixture(params=first_quick([*MINIATURES], 0))
def mini(request: pytest.FixtureRequest) -> Miniature:
    return MINIATURES[request.param]


def test_moves_and_seats_along_every_history(mini: Miniature) -> None:
    for history in mini.tree.histories():
        positions = mini.positions(history)
        wanted = np.zeros(mini.game.num_actions, np.int8)
        wanted[mini.actions(history)] = 1
        assert (positions.action_mask == wanted).all(), history
        assert (positions.states["seat"] == mini.tree.mover(history)).all(), history
        assert (positions.states["ply"] == len(history)).all(), history
    assert max(map(len, mini.tree.histories())) + 1 == mini.game.facts.max_length


def test_chips_at_every_end(mini: Miniature) -> None:
    """Margins are chips, payoffs their share of the most there is to win; both are zero-sum."""
    tree, most = mini.tree, 0.0
    for history in tree.histories():
        for move in tree.moves(history):
            if tree.moves(history + move):
                continue
            states = mini.states(history + move)
            payoff, margin = (np.full((len(states), 2), 9, np.float32) for _ in range(2))
            kernels(mini.game).outcome(states, payoff, margin)
            chips = tree.chips(history + move)
            assert (states["seat"] == -1).all()
            np.testing.assert_array_equal(margin, np.stack([chips, -chips], 1))
            np.testing.assert_allclose(payoff, margin / mini.most, rtol=1e-6)
            wins = np.select([chips > 0, chips < 0], [1, 2], 3)
            assert (states["winners"] == wins).all()
            most = max(most, np.abs(chips).max())
    assert most == mini.most


def test_a_seat_sees_its_information_and_no_more(mini: Miniature) -> None:
    """Two positions look the same if and only if the tree says so, and `reveal` tells the rest."""
    seen: dict[bytes, tuple[str, int]] = {}
    space = mini.game.observation.spec.space()
    for history in mini.tree.histories():
        seat = mini.tree.mover(history)
        positions = mini.positions(history)
        looks = [row.tobytes() for row in positions.observation]
        groups = [(history, group) for group in mini.tree.seen(history, seat).tolist()]
        for look, group in zip(looks, groups, strict=True):
            assert seen.setdefault(look, group) == group
        assert len(set(looks)) == len(set(groups))
        hidden = [row.tobytes() for row in mini.hidden(positions)]
        assert len(set(zip(looks, hidden, strict=True))) == len(np.unique(mini.ranks, axis=0))
        assert all(space.contains(row) for row in positions.observation)


def test_all_deals_are_equally_likely(mini: Miniature) -> None:
    places = mini.ranks.shape[1]
    dealt = begin(mini.game, 200 * len(mini.ranks)).states["deck"][:, :places]
    counts = Counter(map(tuple, dealt.tolist()))
    assert set(counts) == set(map(tuple, mini.tree.deals.tolist()))
    assert chi_squared(counts, Counter(dict.fromkeys(counts, 1))) < 0.999


def test_determinized_worlds_are_what_a_seat_may_think(mini: Miniature) -> None:
    """They look the same to the seat; hidden cards are as likely as by the deals."""
    for history in mini.tree.histories()[::3]:
        seat = mini.tree.mover(history)
        positions = mini.positions(history)
        worlds = np.repeat(positions.states[:1], 1000)
        for seed, world in enumerate(worlds):
            mini.game.determinize(world, seat, np.uint64(seed))
        looks = Positions(mini.game, worlds, worlds["seed"]).observation
        assert (looks == positions.observation[0]).all()
        assert (np.sort(worlds["deck"], 1) == np.sort(positions.states["deck"][:1], 1)).all()
        seen = mini.tree.seen(history, seat)
        possible = Counter(map(tuple, mini.ranks[seen == seen[0]].tolist()))
        ranks = worlds["deck"][:, : mini.ranks.shape[1]] // mini.suits
        assert chi_squared(Counter(map(tuple, ranks.tolist())), possible) < 0.9999


def chi_squared(counts: Counter[Any], weights: Counter[Any]) -> float:
    """The share of samples by these weights that would fit them better than the counts do.

    By Wilson and Hilferty's normal approximation (1931).
    """
    assert set(counts) == set(weights)
    scale, freedom = counts.total() / weights.total(), len(weights) - 1
    distance = sum((counts[k] - scale * w) ** 2 / (scale * w) for k, w in weights.items())
    spread = 2 / (9 * freedom)
    return NormalDist().cdf(((distance / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread))
