"""The plain trees and the walk over them, against published values of these games."""

import numpy as np
import pytest

from tests.training.miniatures.trees import (
    KUHN_TREE,
    LEDUC_TREE,
    Policy,
    approximate_equilibrium,
    best_response,
    exploitability,
    value,
    values,
)


def kuhn(bluff: float) -> Policy:
    """Kuhn's equilibria: seat 0 bets a jack with `bluff` in 0..1/3, and a king thrice as often."""
    bets = {
        "": [bluff, 0, 3 * bluff],
        "p": [1 / 3, 0, 1],
        "pb": [0, bluff + 1 / 3, 1],
        "b": [0, 1 / 3, 1],
    }
    policy = {}
    for history, by_card in bets.items():
        cards = KUHN_TREE.deals[:, KUHN_TREE.mover(history)]
        bet = np.array(by_card)[cards]
        policy[history] = np.stack([1 - bet, bet], 1)
    return policy


@pytest.mark.parametrize("bluff", [0, 0.1, 0.25, 1 / 3])
def test_kuhns_equilibria(bluff: float) -> None:
    """Kuhn 1950: seat 0 loses 1/18 of a chip, and neither seat can do better."""
    assert value(KUHN_TREE, kuhn(bluff)) == pytest.approx(-1 / 18)
    assert best_response(KUHN_TREE, kuhn(bluff), 0) == pytest.approx(-1 / 18)
    assert best_response(KUHN_TREE, kuhn(bluff), 1) == pytest.approx(1 / 18)


def test_other_policies_of_kuhn_are_exploitable() -> None:
    """Outside the family, and with one seat alone: its opponent's equilibrium is none any more."""
    assert exploitability(KUHN_TREE, kuhn(0.4)) > 0.01
    assert exploitability(KUHN_TREE, {**kuhn(0.2), "p": kuhn(0)["pb"]}) > 0.01


def test_uniform_policies() -> None:
    """NashConv of uniform play: 11/12 in Kuhn poker; 4.747222 in Leduc hold'em (OpenSpiel's)."""
    assert 2 * exploitability(KUHN_TREE, KUHN_TREE.uniform()) == pytest.approx(11 / 12)
    nash_conv = 2 * exploitability(LEDUC_TREE, LEDUC_TREE.uniform())
    assert nash_conv == pytest.approx(4.747222, abs=1e-6)


def test_sizes() -> None:
    """Kuhn has 12 information sets; Leduc 288, suits left aside (Southey et al. 2005)."""
    for tree, count in (KUHN_TREE, 12), (LEDUC_TREE, 288):
        seen = [len(set(tree.seen(h, tree.mover(h)).tolist())) for h in tree.histories()]
        assert sum(seen) == count


@pytest.mark.slow
def test_the_value_of_leduc() -> None:
    """-0.0856 for seat 0: best responses to a good policy win little more."""
    policy = approximate_equilibrium(LEDUC_TREE, 150)
    low = -best_response(LEDUC_TREE, policy, 1)
    high = best_response(LEDUC_TREE, policy, 0)
    assert low <= -0.0856 <= high
    assert high - low < 0.03
    assert low <= value(LEDUC_TREE, policy) <= high


def test_a_best_response_is_the_best_of_all() -> None:
    """Against a random policy of Kuhn, no pure policy of the other seat wins more."""
    rng = np.random.Generator(np.random.PCG64(1))
    for seat in (0, 1):
        by_card = {history: rng.random(3) for history in KUHN_TREE.histories()}
        own = [history for history in by_card if KUHN_TREE.mover(history) == seat]
        values = []
        for code in range(2 ** (3 * len(own))):
            for k, history in enumerate(own):
                by_card[history] = (code >> (3 * k + np.arange(3)) & 1).astype(np.float64)
            bets = {h: bet[KUHN_TREE.deals[:, KUHN_TREE.mover(h)]] for h, bet in by_card.items()}
            policy = {history: np.stack([1 - bet, bet], 1) for history, bet in bets.items()}
            values.append((1 - 2 * seat) * value(KUHN_TREE, policy))
        assert max(values) == pytest.approx(best_response(KUHN_TREE, policy, seat))
        assert min(values) < max(values) - 0.1


def test_values_are_by_deal() -> None:
    """Uniform play of Kuhn from the start: with the king against the jack, by hand.

    pp +1, pbp -1 and pbb +2 (a quarter, an eighth and an eighth), bp +1 and bb +2 (a quarter each).
    """
    deal = KUHN_TREE.deals.tolist().index([2, 0])
    assert values(KUHN_TREE, KUHN_TREE.uniform())[deal] == pytest.approx((2 - 1 + 2 + 2 + 4) / 8)
