"""Trees: their chance against a count over all orders, their shape, and what is refused."""

import sys
from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from linkzoo import Chance, Record, exact
from linkzoo.exact.chance import Expander
from linkzoo.exact.script import END, HEAD, PILE, SCRIPT_WORDS, count_ways
from linkzoo.exact.tree import CHANCE, OVER
from tests.driving import legal_mask
from tests.exact.games import BLIND, DRAWS, KUHN, PUTS_BACK, ROLLS_RAW


def test_kuhn_poker_has_its_known_tree() -> None:
    """Six deals of nine positions each; every card is held in two of them."""
    tree = exact.tree(KUHN)
    assert (tree.num_nodes, tree.num_terminals, tree.num_infosets) == (54, 30, 12)
    assert tree.seats[0] == CHANCE
    assert tree.first_outcome[1] == 6
    np.testing.assert_allclose(tree.probabilities[:6], 1 / 6)
    assert (np.bincount(tree.infosets[tree.infosets >= 0]) == 2).all()
    assert (tree.payoffs[tree.seats == OVER].sum(1) == 0).all()


def after(state: Record, order: tuple[int, ...], action: int) -> bytes:
    """The record after an action on a pile in this order, apart from what nobody knows."""
    played = state.copy()
    played.pile[: len(order)] = order
    DRAWS.rules.apply(played, action)
    played.pile[: played.left] = np.sort(played.pile[: played.left])
    played.seed = 0
    return played.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("action", [1, 2])
def test_draws_are_counted_over_all_orders(action: int) -> None:
    """The slow way: the action after each order of the pile, all equally likely."""
    expander = Expander(DRAWS)
    (state,) = expander.begin(DRAWS.blank()).states(DRAWS.state)
    orders = list(permutations(state.pile.tolist()))
    counted = Counter(after(state, order, action) for order in orders)
    expanded = expander.expand(np.array([state]), legal_mask(state, game=DRAWS)[None])
    edge = int(np.flatnonzero(expanded.actions == action)[0])
    span = slice(expanded.ends[edge - 1], expanded.ends[edge])
    states = expanded.states(DRAWS.state)[span]
    found = dict(zip([s.tobytes() for s in states], expanded.probabilities[span], strict=True))
    assert found == pytest.approx({key: count / len(orders) for key, count in counted.items()})


@pytest.mark.slow
def test_a_pile_that_is_formed_anew_is_shuffled_again() -> None:
    """All tiles are drawn and shuffled, and one is drawn: its share is that of its copies."""
    expander = Expander(DRAWS)
    (state,) = expander.begin(DRAWS.blank()).states(DRAWS.state)
    played = state.copy()
    DRAWS.rules.apply(played, 1)
    mask = np.zeros((1, DRAWS.num_actions), np.int8)
    mask[0, 3] = 1
    expanded = expander.expand(np.array([played]), mask)
    shares = dict.fromkeys((1, 2, 3), 0.0)
    for drawn, probability in zip(
        expanded.states(DRAWS.state), expanded.probabilities, strict=True
    ):
        shares[int(drawn.last)] += float(probability)
    assert shares == pytest.approx({1: 0.5, 2: 0.25, 3: 0.25})


@pytest.mark.slow
def test_a_tree_agrees_with_games() -> None:
    """The mean payoff of 2,000 games, which draw by the generator, within four standard errors."""
    tree = exact.tree(DRAWS)
    plan = np.array([0, 2, 3])
    policy = np.zeros(len(tree.actions))
    entries = tree.first_entry[tree.decisions]
    for state, first, last in zip(tree.states, entries, entries + 4, strict=True):
        wanted = tree.actions[first:last] == plan[state.ply]
        policy[first + wanted.argmax()] = 1
    forced = np.setdiff1d(np.arange(tree.num_infosets), tree.decisions)
    policy[tree.first_entry[forced]] = 1
    expected = exact.exploitability(policy, tree).values[0]
    paid = np.zeros((2000, 2), np.float32)
    for seed, payoffs in enumerate(paid):
        state = DRAWS.blank()
        DRAWS.rules.new_game(state, np.uint64(seed))
        for action in plan:
            DRAWS.rules.apply(state, action)
        DRAWS.payoffs(state, payoffs)
    assert paid[:, 0].mean() == pytest.approx(expected, abs=4 / np.sqrt(len(paid)))


@pytest.mark.parametrize(("items", "drawn"), [("abc", 2), ("aabbbc", 3), ("aaaa", 4), ("ab", 0)])
def test_draws_are_counted_before_they_are_made(items: str, drawn: int) -> None:
    script = np.zeros(SCRIPT_WORDS, np.int64)
    script[END] = HEAD + 4 + len(items)
    script[HEAD : HEAD + 4] = PILE, len(items), 0, drawn
    script[HEAD + 4 : script[END]] = [ord(item) for item in items]
    assert count_ways(script) == len({order[:drawn] for order in permutations(items)})


@pytest.mark.parametrize(("max_ways", "refused"), [(5, True), (6, False)])
def test_too_many_outcomes_are_refused(max_ways: int, refused: bool) -> None:
    """Kuhn poker has six deals."""
    expander = Expander(KUHN, max_ways)
    if refused:
        with pytest.raises(ValueError, match="kuhn: the deal or an action has too many outcomes"):
            expander.begin(KUHN.blank())
    else:
        assert len(expander.begin(KUHN.blank()).words) == 6


def test_outcomes_have_no_order_and_no_seed() -> None:
    expander = Expander(DRAWS)
    state = np.array([DRAWS.blank()])
    DRAWS.rules.new_game(state[0], np.uint64(3))
    expander.forget(state)
    assert state.tobytes() == expander.begin(DRAWS.blank()).states(DRAWS.state).tobytes()


REFUSED: dict[str, tuple[Any, str]] = {
    "undeclared": (replace(KUHN, chance=None), r"kuhn has chance and doesn't declare it.*Chance"),
    "put back": (PUTS_BACK, "puts_back: items are put back into a pile"),
    "raw": (ROLLS_RAW, "rolls_raw: the rules draw by `rng.random_u64`"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_chance_that_can_t_be_counted_is_refused(case: str) -> None:
    game, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        exact.tree(game)


def test_a_chance_of_unknown_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="chance: 'stock' is no field"):
        replace(KUHN, chance=Chance(pile="stock", size="left"))
    with pytest.raises(ValueError, match="pile and size: a chance names both or neither"):
        Chance(pile="deck")


def test_a_tree_that_is_too_large_is_refused() -> None:
    with pytest.raises(exact.TreeTooLargeError, match="kuhn has more than 50 nodes"):
        exact.tree(KUHN, max_nodes=50)
    with pytest.raises(ValueError, match="max_nodes"):
        exact.tree(KUHN, max_nodes=0)
    with pytest.raises(ValueError, match="num_players"):
        exact.tree(KUHN, 3)


@pytest.mark.nightly  # quick: test_a_tree_that_is_too_large_is_refused
def test_a_large_tree_of_an_open_game_is_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within its second level, which has 96 positions and some 4,000 outcomes."""
    module = sys.modules["linkzoo.exact.tree"]
    monkeypatch.setattr(module, "_MERGED_CHUNK", 20)
    options = {"board_size": 4, "threshold": 6}
    chunks: list[int] = []
    with pytest.raises(exact.TreeTooLargeError, match="more than 400 nodes"):
        exact.tree("linkage", 2, options, max_nodes=400, progress=chunks.append)
    assert len(chunks) <= 2  # of 6


def test_an_observation_that_forgets_legal_actions_is_refused() -> None:
    """Positions that look alike to a seat, with different actions."""
    with pytest.raises(RuntimeError, match="different legal actions"):
        exact.tree(BLIND)


def test_progress_counts_the_nodes() -> None:
    counts: list[int] = []
    tree = exact.tree(KUHN, progress=counts.append)
    assert counts == sorted(counts)
    assert counts[-1] <= tree.num_nodes + 1
