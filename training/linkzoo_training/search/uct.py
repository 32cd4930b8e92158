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

The UCB1 constant is the game's (`Facts.uct_c`), tuned by `lab/uct_constant.py`.

UCT is a yardstick: any change to its moves, in any game, raises VERSION and the version of every
ladder that has it as an opponent.
"""

from functools import cache
from math import inf, log, sqrt
from typing import Literal, NamedTuple

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import (
    count_legal,
    make_skip_forced_actions,
    nth_legal,
    random_legal,
)
from linkzoo.core.protocols import Determinize
from linkzoo.core.state import Actions, Mask, Masks, Record, Records, Seeds
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array, Float32s, Float64s
from linkzoo_training.search.protocols import SearchOne, SearchRows
from linkzoo_training.search.tree import NONE, ROOT, add_node, node_dtype

Sight = Literal["own", "hands", "all"]
VERSION = 2  # 1: with the constant 0.35 in every game, and without certain outcomes
_WIN = 1.0  # the largest payoff

_NODE = node_dtype(
    ("available", "i4"),  # visits of the parent in which the action was legal
    ("seat", "i4"),  # seat to act
    ("legal", "i4"),  # number of legal actions; 0: not counted yet
    ("certain", "i4"),  # whether the outcome is proven
)


class Tree(NamedTuple):
    """A tree of up to S nodes, the first S of each array."""

    nodes: Array  # _NODE[S]
    totals: Float64s  # [S, P]: sums of payoffs, by seat
    outcomes: Float32s  # [S, P]: proven outcomes, by seat


@compiled
def _new_tree(max_nodes: int, players: int) -> Tree:
    """Returns a tree that consists of the root."""
    totals = np.zeros((max_nodes, players))
    outcomes = np.zeros((max_nodes, players), np.float32)
    tree = Tree(np.zeros(max_nodes, _NODE), totals, outcomes)
    add_node(tree.nodes, ROOT, NONE, NONE)
    return tree


@compiled
def _select(tree: Tree, node: int, seat: int, exploration: float, mask: Mask) -> int:
    """Returns the legal child with the highest UCB1 for `seat`; clears legal children in `mask`.

    A proven outcome replaces the score. Increments `available` of every legal child.
    """
    best = NONE
    best_score = -inf
    available = 0
    logarithm = 0.0
    child = tree.nodes[node].child
    while child != NONE:
        action = tree.nodes[child].action
        if mask[action]:
            mask[action] = 0
            visits = tree.nodes[child].visits
            if tree.nodes[child].available != available:
                available = tree.nodes[child].available
                logarithm = log(available)
            score = tree.totals[child, seat] / visits + exploration * sqrt(logarithm / visits)
            if tree.nodes[child].certain:
                score = tree.outcomes[child, seat]
            if score > best_score:
                best = child
                best_score = score
            tree.nodes[child].available += 1
        child = tree.nodes[child].sibling
    return best


@compiled
def _expand(tree: Tree, size: int, node: int, action: int) -> None:
    """Makes node `size` the first child of a node.

    The action was available at most once per existing child: another untried one was chosen then.
    """
    add_node(tree.nodes, size, action, node)
    sibling = tree.nodes[size].sibling
    tree.nodes[size].available = 1
    while sibling != NONE:
        tree.nodes[size].available += 1
        sibling = tree.nodes[sibling].sibling


@compiled
def _back_up(tree: Tree, node: int, payoff: Float32s) -> None:
    """Adds a visit and every seat's payoff to a node and its ancestors."""
    while node != NONE:
        tree.nodes[node].visits += 1
        for seat in range(payoff.shape[0]):
            tree.totals[node, seat] += payoff[seat]
        node = tree.nodes[node].parent


@compiled
def _keep_outcome(outcome: Float32s, payoff: Float32s) -> None:
    """Copies payoffs in a loop: an array assignment takes two seconds to compile."""
    for seat in range(payoff.shape[0]):
        outcome[seat] = payoff[seat]


@compiled
def _ascertain(tree: Tree, node: int, payoff: Float32s) -> None:
    """Marks a node's outcome as proven, and those of its ancestors that follow from it."""
    _keep_outcome(tree.outcomes[node], payoff)
    tree.nodes[node].certain = 1
    node = tree.nodes[node].parent
    while node != NONE and not tree.nodes[node].certain:
        seat = tree.nodes[node].seat
        best = NONE
        count = 0
        child = tree.nodes[node].child
        while child != NONE:
            if tree.nodes[child].certain:
                count += 1
                if best == NONE or tree.outcomes[child, seat] > tree.outcomes[best, seat]:
                    best = child
            child = tree.nodes[child].sibling
        if count < tree.nodes[node].legal and tree.outcomes[best, seat] < _WIN:
            break
        _keep_outcome(tree.outcomes[node], tree.outcomes[best])
        tree.nodes[node].certain = 1
        node = tree.nodes[node].parent


@compiled
def _best(tree: Tree, seat: int, seed: np.uint64, index: int, mask: Mask) -> int:
    """Returns the action of the root's most visited child; ties by payoff, then at random.

    Proven wins come first, proven losses last.
    """
    best = tree.nodes[ROOT].child
    child = tree.nodes[best].sibling
    while child != NONE:
        if _compare(tree, seat, child, best) > 0:
            best = child
        child = tree.nodes[child].sibling
    mask[:] = 0
    child = tree.nodes[ROOT].child
    while child != NONE:
        mask[tree.nodes[child].action] = _compare(tree, seat, child, best) == 0
        child = tree.nodes[child].sibling
    return random_legal(mask, seed, STREAM_SEARCH, index)


@compiled
def _compare(tree: Tree, seat: int, one: int, other: int) -> float:
    """Returns 1 if the first node is the better choice, -1 if the other is, 0 for a tie."""
    gain: float = tree.outcomes[one, seat] - tree.outcomes[other, seat]
    if gain == 0:
        gain = float(tree.nodes[one].visits - tree.nodes[other].visits)
    if gain == 0:
        gain = tree.totals[one, seat] - tree.totals[other, seat]
    return np.sign(gain)  # type: ignore[no-any-return]  # a float


def make_search_one(  # noqa: PLR0915 - a whole search, from the root to the choice
    game: Game, determinize: Determinize, perfect: bool
) -> SearchOne:
    """Returns the function that searches from `root[0]` and returns the chosen action.

    `determinize` samples worlds; `perfect` games have neither hidden information nor chance.
    """
    legal_actions = game.rules.legal_actions
    apply = game.rules.apply
    payoffs = game.payoffs
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def search_one(
        root: Records, seed: np.uint64, simulations: int, exploration: float, mask: Mask
    ) -> int:
        legal_actions(root[0], mask)
        if count_legal(mask) == 1:
            return nth_legal(mask, 0)
        world = root.copy()
        observer = root[0].seat
        tree = _new_tree(simulations + 1, root[0].num_players)
        payoff = np.empty(root[0].num_players, np.float32)
        size = 1
        for simulation in range(simulations):
            world_seed = random_u64(seed, STREAM_SEARCH, simulation)
            world[0] = root[0]
            determinize(world[0], observer, world_seed)
            legal_actions(world[0], mask)
            node = ROOT
            draw = 0
            in_tree = True
            ended = True
            while world[0].seat >= 0:
                best = NONE
                ended = in_tree
                if in_tree:
                    if perfect and tree.nodes[node].legal == 0:
                        tree.nodes[node].legal = count_legal(mask)
                        tree.nodes[node].seat = world[0].seat
                    best = _select(tree, node, world[0].seat, exploration, mask)
                action = random_legal(mask, world_seed, STREAM_SEARCH, draw)
                draw += 1
                if action == NONE:  # every legal action has a child
                    node = best
                    action = tree.nodes[node].action
                elif in_tree:
                    _expand(tree, size, node, action)
                    node = size
                    size += 1
                    in_tree = False
                apply(world[0], action)
                skip_forced_actions(world[0], mask)
            payoffs(world[0], payoff)
            _back_up(tree, node, payoff)
            if perfect and ended:  # at `node`
                _ascertain(tree, node, payoff)
                if tree.nodes[ROOT].certain:
                    break
        return _best(tree, observer, seed, simulations, mask)

    return search_one


def make_search(search_one: SearchOne) -> SearchRows:
    """Returns the kernel that searches every position independently."""

    @compiled
    def search(
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        simulations: int,
        exploration: float,
        masks: Masks,
        actions: Actions,
    ) -> None:
        for i in range(first, last):
            actions[i] = search_one(states[i : i + 1], seeds[i], simulations, exploration, masks[i])

    return search


@compiled
def _peek(state: Record, seat: int, seed: np.uint64) -> None:
    """A `determinize` that keeps the real world, future chance included."""


@cache
def searcher(game: Game, sees: Sight = "own") -> RowKernel:
    """Returns the search of a game, compiled at its first call.

    It sees its own hand, all hands, or all: future chance too. ValueError if the game doesn't say
    how to draw future chance alone.

    Call `search(states, seeds, simulations, exploration, masks, actions)` with unfinished records
    [N], uint64 seeds [N], simulations per search (1 or more), the UCB1 constant for payoffs in
    -1..1, an int8 buffer [N, num_actions] and int64 actions [N] to fill. Row i depends only on
    record i and seed i.
    """
    perfect = not (game.hides or game.facts.chance)
    determinize = game.determinize
    if sees == "all":
        determinize = _peek
    elif sees == "hands" and game.hides:
        if game.rules.reshuffle is None:
            raise ValueError(f"hands-N: {game.name} has no `reshuffle` (`Rules`)")
        determinize = game.rules.reshuffle
    return RowKernel(make_search(make_search_one(game, determinize, perfect)), 1)
