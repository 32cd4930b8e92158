"""Results of a Gumbel search at its roots: the improved policy, its values and an action."""

from math import exp, inf

import numpy as np

from linkzoo.core.solver import BEST, OPEN
from linkzoo.core.state import Mask
from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Float32s, Float64s, Int64s
from linkzoo_training.search.gumbel_qtransform import (
    LEGAL,
    Statistics,
    node_statistics,
    value_scale,
)
from linkzoo_training.search.gumbel_tree import Settings, Tree, Trees, set_candidates, tree_of
from linkzoo_training.search.tree import NONE, ROOT


@compiled
def _open_weight(i: int, tree: Tree, trees: Trees, settings: Settings) -> float:
    """Returns the factor of the priors of a solved root's open actions; proven ones have 1.

    A training target doesn't call actions wrong that may be best. They count as unvisited, with the
    network's value of the root, and the proven ones as visited, with the exact value. Otherwise
    only proven actions are played: 0.
    """
    if not settings.targets:
        return 0.0
    seat = trees.roots[i].seat
    exact = np.float64(trees.values[i, seat])
    estimate = np.float64(tree.raw_values[ROOT, seat])
    least = min(exact, estimate)
    most = max(exact, estimate)
    statistics = Statistics(0, 0, estimate, least, most, 0.0, NONE)
    scale = value_scale(statistics, settings.min_value_range)
    return exp(min(0.0, scale * (estimate - exact)))


@compiled
def _solved_policy(
    prior: Float32s, mask: Mask, open_weight: float, root_logits: Float64s, policy: Float32s
) -> int:
    """Fills the policy of a solved root; returns a proven best action.

    It has the priors of proven actions, and of open ones multiplied by a weight; refuted ones
    have 0.
    """
    total = 0.0
    best = NONE
    for action in range(mask.shape[0]):
        policy[action] = 0
        if mask[action] == BEST:
            policy[action] = prior[action]
            if best == NONE or root_logits[action] > root_logits[best]:
                best = action
        elif mask[action] == OPEN:
            policy[action] = open_weight * prior[action]
        total += policy[action]
    for action in range(mask.shape[0]):
        policy[action] /= total
    return best


@compiled
def _improved_policy(i: int, mixed_values: Float64s, trees: Trees, settings: Settings) -> int:
    """Fills the improved policy of a root; returns the most visited action with the highest score.

    The policy is the softmax of the logits plus the scaled, completed values. The mask contains the
    legal actions; `mixed_values` [P] are the values of unvisited actions by seat.
    """
    mask = trees.masks[i]
    root_logits = trees.root_logits[i]
    policy = trees.policy[i]
    prior = trees.priors[i, ROOT]
    nodes = trees.nodes[i]
    seat = trees.roots[i].seat
    statistics = node_statistics(tree_of(trees, i), ROOT, seat, mask)
    scale = value_scale(statistics, settings.min_value_range)
    # At most 1, but where every action was visited: then it isn't used.
    unvisited_weight = exp(min(0.0, scale * (mixed_values[seat] - statistics.max_value)))
    total = 0.0
    best = NONE
    best_score = -inf
    for action in range(mask.shape[0]):
        policy[action] = 0
        if mask[action] == LEGAL:
            policy[action] = prior[action] * unvisited_weight
            total += policy[action]
    child = nodes[ROOT].child
    while child != NONE:
        action = nodes[child].action
        visits = nodes[child].visits
        advantage = scale * (trees.totals[i, child, seat] / visits - statistics.max_value)
        policy[action] = prior[action] * exp(advantage)
        total += policy[action]
        if visits == statistics.max_visits and root_logits[action] + advantage > best_score:
            best = action
            best_score = root_logits[action] + advantage
        child = nodes[child].sibling
    for action in range(mask.shape[0]):
        policy[action] /= total
    return best


@compiled
def _policy_values(i: int, mixed_values: Float64s, trees: Trees) -> None:
    """Fills the values of a root's improved policy, by seat."""
    nodes = trees.nodes[i]
    values = trees.values[i]
    values[:] = 0
    unvisited = 1.0
    child = nodes[ROOT].child
    while child != NONE:
        probability = trees.policy[i, nodes[child].action]
        unvisited -= probability
        for seat in range(mixed_values.shape[0]):
            values[seat] += probability * trees.totals[i, child, seat] / nodes[child].visits
        child = nodes[child].sibling
    for seat in range(mixed_values.shape[0]):
        values[seat] += unvisited * mixed_values[seat]


@compiled
def decide(first: int, last: int, actions: Int64s, trees: Trees, settings: Settings) -> None:
    """Fills the chosen actions [N], the improved policies and their values."""
    for i in range(first, last):
        tree = tree_of(trees, i)
        if trees.solved[i]:
            actions[i] = _solved_policy(
                tree.priors[ROOT],
                trees.candidates[i],
                _open_weight(i, tree, trees, settings),
                trees.root_logits[i],
                trees.policy[i],
            )
            continue
        mixed_values = np.zeros(np.int64(trees.roots[i].num_players))
        for seat in range(mixed_values.shape[0]):
            set_candidates(i, trees)
            statistics = node_statistics(tree, ROOT, seat, trees.masks[i])
            mixed_values[seat] = statistics.mixed_value
        set_candidates(i, trees)
        actions[i] = _improved_policy(i, mixed_values, trees, settings)
        _policy_values(i, mixed_values, trees)
