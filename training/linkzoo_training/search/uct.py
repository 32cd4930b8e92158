"""Monte Carlo tree search with uniformly random rollouts, for any game.

UCT (Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006) in the open-loop,
single-observer form for hidden information and chance (Cowling, Powley and Whitehouse, "Information
set Monte Carlo tree search", IEEE TCIAIG 2012): every simulation plays in a fresh world that the
searching seat can't tell from the real one, a node stands for the actions since the root, and of
its children only those legal in the current world compete. A child's exploration term counts how
often it was available; with perfect information that is its parent's visits: plain UCT.

There a position in the tree from which the outcome is certain counts as that outcome from then on:
one that ended the game, one with an action that wins, and one all of whose actions are certain
(Winands, Björnsson and Saito, "Monte-Carlo tree search solver", CG 2008). Otherwise a loss that
one reply forces is avoided only slowly.

The constant of UCB1 is the game's (`Game.uct_c`), as `benchmarks/uct_constant.py` found it.

This is a yardstick: whatever changes its moves, in any game, changes VERSION, and the version of
every ladder that it is a rung of.
"""

from collections.abc import Callable
from functools import cache
from math import inf, log, sqrt
from typing import Any

import numpy as np

from linkzoo.core.kernels import count_legal, kernels, nth_legal, random_legal
from linkzoo.engine.rng import STREAM_SEARCH, word
from linkzoo.engine.compiled import compiled, specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows

VERSION = 2  # 1: with the constant 0.35 in every game, and without certain outcomes
_WIN = 1.0  # the largest payoff

_NONE = -1
_ROOT = 0
# A node is a child of its parent by one action; children are a linked list, the newest first.
_NODE = np.dtype(
    (
        np.record,
        [
            ("action", "i4"),
            ("parent", "i4"),
            ("child", "i4"),  # the first child
            ("sibling", "i4"),  # the next child of the parent
            ("visits", "i4"),
            ("available", "i4"),  # visits of the parent in which the action was legal
            ("seat", "i4"),  # to act
            ("legal", "i4"),  # how many actions are; 0: nobody has looked
            ("certain", "i4"),  # whether the outcome is
        ],
    )
)

# The names that `searcher` binds to a game's functions.
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
payoffs: Callable[..., Any]
redeal: Callable[..., Any]
settle: Callable[..., Any]
search_one: Callable[..., Any]
perfect: bool  # nothing is hidden, and nothing left to chance


@compiled
def _reset(node: Any, action: Any, parent: Any) -> None:
    node.action = action
    node.parent = parent
    node.child = _NONE
    node.sibling = _NONE
    node.visits = 0
    node.available = 0
    node.legal = 0
    node.certain = 0


@compiled
def _select(
    tree: Any, totals: Any, outcomes: Any, node: Any, seat: Any, exploration: Any, mask: Any
) -> Any:
    """The legal child with the highest UCB1 for `seat`; clears the legal children in `mask`.

    A child whose outcome is certain is worth that. Counts every legal child as available once more.
    """
    best, best_score = _NONE, -inf
    available, logarithm = 0, 0.0
    child = tree[node].child
    while child != _NONE:
        action = tree[child].action
        if mask[action]:
            mask[action] = 0
            visits = tree[child].visits
            if tree[child].available != available:
                available = tree[child].available
                logarithm = log(available)
            score = totals[child, seat] / visits + exploration * sqrt(logarithm / visits)
            if tree[child].certain:
                score = outcomes[child, seat]
            if score > best_score:
                best, best_score = child, score
            tree[child].available += 1
        child = tree[child].sibling
    return best


@compiled
def _expand(tree: Any, size: Any, node: Any, action: Any) -> None:
    """Makes `tree[size]` the first child of a node.

    An action not tried before was available at most once for each child: another untried action
    was preferred each time.
    """
    _reset(tree[size], action, node)
    sibling = tree[node].child
    tree[size].sibling = sibling
    tree[size].available = 1
    while sibling != _NONE:
        tree[size].available += 1
        sibling = tree[sibling].sibling
    tree[node].child = size


@compiled
def _back_up(tree: Any, totals: Any, node: Any, payoff: Any) -> None:
    """Adds a visit and every seat's payoff to a node and its ancestors."""
    while node != _NONE:
        tree[node].visits += 1
        for seat in range(payoff.shape[0]):
            totals[node, seat] += payoff[seat]
        node = tree[node].parent


@compiled
def _keep_outcome(outcome: Any, payoff: Any) -> None:
    """Copies payoffs by a loop: assigning one array to another takes two seconds to compile."""
    for seat in range(payoff.shape[0]):
        outcome[seat] = payoff[seat]


@compiled
def _ascertain(tree: Any, outcomes: Any, node: Any, payoff: Any) -> None:
    """The outcome of a node is certain: so may be that of its ancestors."""
    _keep_outcome(outcomes[node], payoff)
    tree[node].certain = 1
    node = tree[node].parent
    while node != _NONE and not tree[node].certain:
        seat, best, count = tree[node].seat, _NONE, 0
        child = tree[node].child
        while child != _NONE:
            if tree[child].certain:
                count += 1
                if best == _NONE or outcomes[child, seat] > outcomes[best, seat]:
                    best = child
            child = tree[child].sibling
        if count < tree[node].legal and outcomes[best, seat] < _WIN:
            break
        _keep_outcome(outcomes[node], outcomes[best])
        tree[node].certain = 1
        node = tree[node].parent


@compiled
def _best(
    tree: Any, totals: Any, outcomes: Any, seat: Any, seed: Any, index: Any, mask: Any
) -> Any:
    """The action of the root's most visited child; ties by payoff, then at random.

    A certain win goes before that, and a certain loss behind it.
    """
    best = tree[_ROOT].child
    child = tree[best].sibling
    while child != _NONE:
        if _compare(tree, totals, outcomes, seat, child, best) > 0:
            best = child
        child = tree[child].sibling
    mask[:] = 0
    child = tree[_ROOT].child
    while child != _NONE:
        mask[tree[child].action] = _compare(tree, totals, outcomes, seat, child, best) == 0
        child = tree[child].sibling
    return random_legal(mask, seed, STREAM_SEARCH, index)


@compiled
def _compare(tree: Any, totals: Any, outcomes: Any, seat: Any, one: Any, other: Any) -> Any:
    """1 if the first node is the better one to choose, -1 if the other is, 0 if neither."""
    gain = outcomes[one, seat] - outcomes[other, seat]
    if gain == 0:
        gain = float(tree[one].visits - tree[other].visits)
    if gain == 0:
        gain = totals[one, seat] - totals[other, seat]
    return np.sign(gain)


def _search_one(root: Any, seed: Any, simulations: Any, exploration: Any, mask: Any) -> Any:
    """The action that a search from the record `root[0]` chooses; `mask` is working space."""
    legal_actions(root[0], mask)
    if count_legal(mask) == 1:
        return nth_legal(mask, 0)
    world = root.copy()
    observer = root[0].seat
    tree = np.empty(simulations + 1, _NODE)
    totals = np.zeros((simulations + 1, root[0].num_players), np.float64)
    outcomes = np.zeros((simulations + 1, root[0].num_players), np.float32)  # where certain
    payoff = np.empty(root[0].num_players, np.float32)
    _reset(tree[_ROOT], _NONE, _NONE)
    size = 1
    for simulation in range(simulations):
        fresh = word(seed, STREAM_SEARCH, simulation)
        world[0] = root[0]
        redeal(world[0], observer, fresh)
        legal_actions(world[0], mask)
        node, draw, in_tree, ended = _ROOT, 0, True, True
        while world[0].seat >= 0:
            best, ended = _NONE, in_tree
            if in_tree:
                if perfect and tree[node].legal == 0:
                    tree[node].legal = count_legal(mask)
                    tree[node].seat = world[0].seat
                best = _select(tree, totals, outcomes, node, world[0].seat, exploration, mask)
            action = random_legal(mask, fresh, STREAM_SEARCH, draw)
            draw += 1
            if action == _NONE:  # every legal action has a child
                node = best
                action = tree[node].action
            elif in_tree:
                _expand(tree, size, node, action)
                node = size
                size += 1
                in_tree = False
            apply(world[0], action)
            settle(world[0], mask)
        payoffs(world[0], payoff)
        _back_up(tree, totals, node, payoff)
        if perfect and ended:  # at `node`
            _ascertain(tree, outcomes, node, payoff)
            if tree[_ROOT].certain:
                break
    return _best(tree, totals, outcomes, observer, seed, simulations, mask)


def _search(
    first: Any,
    last: Any,
    states: Any,
    seeds: Any,
    simulations: Any,
    exploration: Any,
    masks: Any,
    actions: Any,
) -> None:
    """Searches every position on its own."""
    for i in range(first, last):
        actions[i] = search_one(states[i : i + 1], seeds[i], simulations, exploration, masks[i])


@compiled
def _peek(state: Any, seat: Any, seed: Any) -> None:
    """In place of a game's `redeal`: the world stays the real one, its future chance included."""


@cache
def searcher(game: Game, cheats: bool = False) -> Rows:
    """The search of one game, compiled at its first call; one that cheats sees the real world.

    `search(states, seeds, simulations, exploration, masks, actions)`: records [N] in which a seat
    is to act, uint64 seeds [N], simulations a search (1 or more), the UCB1 constant on payoffs of
    -1..1, int8 working space [N, num_actions], int64 actions [N] to fill. Row i depends on record
    i and seed i alone.
    """
    rules: dict[str, Any] = dict(kernels(game).rules)
    rules["perfect"] = game.hidden is None and not game.chance
    key = game.key
    if cheats:
        rules["redeal"], key = _peek, f"{key}_cheats"
    one = specialise(_search_one, key, **rules)
    return Rows(specialise(_search, key, search_one=one), 1)
