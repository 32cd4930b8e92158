"""Results of a Gumbel search at its roots: the improved policy, its values and an action."""

from math import exp, inf

import numpy as np

from linkzoo.core.state import Mask
from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Float32s, Float64s, Int64s
from linkzoo_training.search.gumbel_batch import Settings, Trees, set_candidates, tree_of
from linkzoo_training.search.gumbel_tree import LEGAL, node_statistics, stretch_of
from linkzoo_training.search.tree import NONE, ROOT


@compiled
def _perfect(prior: Float32s, mask: Mask, noisy: Float64s, policy: Float32s) -> int:
    """Fills the policy of a solved root over the best actions in `mask`; returns the action."""
    total, best = 0.0, NONE
    for action in range(mask.shape[0]):
        policy[action] = prior[action] * (mask[action] != 0)
        total += policy[action]
        if mask[action] and (best == NONE or noisy[action] > noisy[best]):
            best = action
    for action in range(mask.shape[0]):
        policy[action] /= total
    return best


@compiled
def _improve(i: int, mixed: Float64s, trees: Trees, settings: Settings) -> int:
    """Fills the improved policy of a root and its values; returns the chosen action.

    The mask contains the legal actions; `mixed` [P] are the values of unvisited actions by seat.
    """
    mask, noisy, policy = trees.masks[i], trees.noisy[i], trees.policy[i]
    prior, nodes, totals = trees.priors[i, ROOT], trees.nodes[i], trees.totals[i]
    seat = trees.roots[i].seat
    _, most, _, low, high, _, _ = node_statistics(tree_of(trees, i), ROOT, seat, mask)
    stretch = stretch_of(most, low, high, settings.min_value_range)
    unseen, total = exp(stretch * (mixed[seat] - high)), 0.0
    best, best_score = NONE, -inf
    for action in range(mask.shape[0]):
        policy[action] = 0
        if mask[action] == LEGAL:
            policy[action] = prior[action] * unseen
            total += policy[action]
    child = nodes[ROOT].child
    while child != NONE:
        action, visits = nodes[child].action, nodes[child].visits
        lead = stretch * (totals[child, seat] / visits - high)
        policy[action] = prior[action] * exp(lead)
        total += policy[action]
        if visits == most and noisy[action] + lead > best_score:
            best, best_score = action, noisy[action] + lead
        child = nodes[child].sibling
    share = 1.0
    values = trees.values[i]
    values[:] = 0
    for action in range(mask.shape[0]):
        policy[action] /= total
    child = nodes[ROOT].child
    while child != NONE:
        chance = policy[nodes[child].action]
        share -= chance
        for seat in range(mixed.shape[0]):
            values[seat] += chance * totals[child, seat] / nodes[child].visits
        child = nodes[child].sibling
    for seat in range(mixed.shape[0]):
        values[seat] += share * mixed[seat]
    return best


@compiled
def decide(first: int, last: int, actions: Int64s, trees: Trees, settings: Settings) -> None:
    """Fills the chosen actions, the improved policies and their values."""
    for i in range(first, last):
        mask, tree = trees.masks[i], tree_of(trees, i)
        if trees.solved[i]:
            candidates, noisy = trees.candidates[i], trees.noisy[i]
            actions[i] = _perfect(tree.priors[ROOT], candidates, noisy, trees.policy[i])
            continue
        mixed = np.zeros(np.int64(trees.roots[i].num_players))
        for seat in range(mixed.shape[0]):
            set_candidates(i, trees)
            mixed[seat] = node_statistics(tree, ROOT, seat, mask)[2]
        set_candidates(i, trees)
        actions[i] = _improve(i, mixed, trees, settings)
