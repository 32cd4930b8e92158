"""Monte Carlo tree search (UCT) with uniformly random rollouts, for any game.

UCT (Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006) in the open-loop,
single-observer form for hidden information and chance (Cowling, Powley and Whitehouse, "Information
set Monte Carlo tree search", IEEE TCIAIG 2012): every simulation plays in a new determinized world,
a node stands for the actions since the root, and only children that are legal in the current world
compete. A child's exploration term uses the number of times it was available; with perfect
information this equals its parent's visits: plain UCT.

With perfect information, proven outcomes replace estimates: of finished games, of positions with a
winning action, and of positions whose actions are all proven (Winands, Björnsson and Saito,
"Monte-Carlo tree search solver", CG 2008). Without this, the search is slow to avoid a move that
loses to one reply.

The UCB1 constant is the game's (`Facts.uct_c`), tuned by `benchmarks/uct_constant.py`.

UCT is a yardstick: any change to its moves, in any game, raises VERSION and the version of every
ladder that has it as an opponent.
"""

from collections.abc import Callable
from functools import cache
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.kernels import GameFunctions, count_legal, kernels, nth_legal, random_legal
from linkzoo.core.protocols import Determinize
from linkzoo.core.state import Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel

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
            ("seat", "i4"),  # seat to act
            ("legal", "i4"),  # number of legal actions; 0: not counted yet
            ("certain", "i4"),  # whether the outcome is proven
        ],
    )
)


@compiled
def _reset(node: Record, action: int, parent: int) -> None:
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
    tree: NDArray[Any],
    totals: NDArray[np.float64],
    outcomes: NDArray[np.float32],
    node: int,
    seat: int,
    exploration: float,
    mask: Mask,
) -> int:
    """Returns the legal child with the highest UCB1 for `seat`; clears legal children in `mask`.

    A proven outcome replaces the score. Increments `available` of every legal child.
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
def _expand(tree: NDArray[Any], size: int, node: int, action: int) -> None:
    """Makes `tree[size]` the first child of a node.

    The action was available at most once per existing child: another untried one was chosen then.
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
def _back_up(
    tree: NDArray[Any], totals: NDArray[np.float64], node: int, payoff: NDArray[np.float32]
) -> None:
    """Adds a visit and every seat's payoff to a node and its ancestors."""
    while node != _NONE:
        tree[node].visits += 1
        for seat in range(payoff.shape[0]):
            totals[node, seat] += payoff[seat]
        node = tree[node].parent


@compiled
def _keep_outcome(outcome: NDArray[np.float32], payoff: NDArray[np.float32]) -> None:
    """Copies payoffs in a loop: an array assignment takes two seconds to compile."""
    for seat in range(payoff.shape[0]):
        outcome[seat] = payoff[seat]


@compiled
def _ascertain(
    tree: NDArray[Any], outcomes: NDArray[np.float32], node: int, payoff: NDArray[np.float32]
) -> None:
    """Marks a node's outcome as proven, and those of its ancestors that follow from it."""
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
    tree: NDArray[Any],
    totals: NDArray[np.float64],
    outcomes: NDArray[np.float32],
    seat: int,
    seed: np.uint64,
    index: int,
    mask: Mask,
) -> int:
    """Returns the action of the root's most visited child; ties by payoff, then at random.

    Proven wins come first, proven losses last.
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
def _compare(
    tree: NDArray[Any],
    totals: NDArray[np.float64],
    outcomes: NDArray[np.float32],
    seat: int,
    one: int,
    other: int,
) -> float:
    """Returns 1 if the first node is the better choice, -1 if the other is, 0 for a tie."""
    gain: float = outcomes[one, seat] - outcomes[other, seat]
    if gain == 0:
        gain = float(tree[one].visits - tree[other].visits)
    if gain == 0:
        gain = totals[one, seat] - totals[other, seat]
    return np.sign(gain)  # type: ignore[no-any-return]  # a float


SearchOne = Callable[[Records, np.uint64, int, float, Mask], int]


def make_search_one(game: GameFunctions, determinize: Determinize, perfect: bool) -> SearchOne:
    """Returns the function that searches from `root[0]` and returns the chosen action.

    Args:
        game: The game's functions.
        determinize: Samples the world of a simulation.
        perfect: Whether the game has neither hidden information nor chance.
    """
    legal_actions, apply, payoffs = game.legal_actions, game.apply, game.payoffs
    skip_forced_actions = game.skip_forced_actions

    @compiled
    def search_one(
        root: Records, seed: np.uint64, simulations: int, exploration: float, mask: Mask
    ) -> int:
        legal_actions(root[0], mask)
        if count_legal(mask) == 1:
            return nth_legal(mask, 0)
        world = root.copy()
        observer = root[0].seat
        tree = np.empty(simulations + 1, _NODE)
        totals = np.zeros((simulations + 1, root[0].num_players), np.float64)
        outcomes = np.zeros((simulations + 1, root[0].num_players), np.float32)  # proven outcomes
        payoff = np.empty(root[0].num_players, np.float32)
        _reset(tree[_ROOT], _NONE, _NONE)
        size = 1
        for simulation in range(simulations):
            fresh = random_u64(seed, STREAM_SEARCH, simulation)
            world[0] = root[0]
            determinize(world[0], observer, fresh)
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
                skip_forced_actions(world[0], mask)
            payoffs(world[0], payoff)
            _back_up(tree, totals, node, payoff)
            if perfect and ended:  # at `node`
                _ascertain(tree, outcomes, node, payoff)
                if tree[_ROOT].certain:
                    break
        return _best(tree, totals, outcomes, observer, seed, simulations, mask)

    return search_one


def make_search(search_one: SearchOne) -> Callable[..., None]:
    """Returns the kernel that searches every position independently."""

    @compiled
    def search(
        first: int,
        last: int,
        states: Records,
        seeds: NDArray[np.uint64],
        simulations: int,
        exploration: float,
        masks: NDArray[np.int8],
        actions: NDArray[np.int64],
    ) -> None:
        for i in range(first, last):
            actions[i] = search_one(states[i : i + 1], seeds[i], simulations, exploration, masks[i])

    return search


@compiled
def _peek(state: Record, seat: int, seed: np.uint64) -> None:
    """A `determinize` that keeps the real world, future chance included."""


@cache
def searcher(game: Game, cheats: bool = False) -> RowKernel:
    """Returns the search of a game, compiled at its first call; `cheats` shows it the real world.

    Call `search(states, seeds, simulations, exploration, masks, actions)` with unfinished records
    [N], uint64 seeds [N], simulations per search (1 or more), the UCB1 constant for payoffs in
    -1..1, an int8 buffer [N, num_actions] and int64 actions [N] to fill. Row i depends only on
    record i and seed i.
    """
    functions = kernels(game).functions
    perfect = game.observation.privileged_spec is None and not game.facts.chance
    determinize = _peek if cheats else functions.determinize
    return RowKernel(make_search(make_search_one(functions, determinize, perfect)), 1)
