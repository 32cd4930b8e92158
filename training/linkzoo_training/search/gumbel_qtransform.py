"""Values of a node's actions as additions to logits: mctx's `qtransform_completed_by_mix_value`.

Values of visited actions are means over simulations; unvisited actions have the mixed value.
Differences are scaled by their range and the visits (value scale 0.1, maxvisit init 50). Sections
are of Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from linkzoo.core.state import Mask
from linkzoo.engine.compiled import compiled
from linkzoo_training.search.gumbel_tree import Tree
from linkzoo_training.search.tree import NONE

_VALUE_SCALE = 0.1
_MAXVISIT_INIT = 50.0

LEGAL, VISITED = 1, 2  # entries of a mask


class Statistics(NamedTuple):
    """Statistics of a node's legal actions for one seat."""

    visits: int  # of all actions
    max_visits: int  # of one action
    mixed_value: float  # completes unvisited actions
    min_value: float  # completed
    max_value: float
    unvisited_prior: float  # sum of the priors of unvisited actions
    best_unvisited: int  # the unvisited action with the greatest prior; NONE if all are visited


@compiled
def node_statistics(tree: Tree, node: int, seat: int, mask: Mask) -> Statistics:
    """Computes the statistics of a node for a seat; marks visited actions as VISITED in `mask`."""
    nodes = tree.nodes
    prior = tree.priors[node]
    visits = 0
    max_visits = 0
    weighted_value = 0.0
    visited_prior = 0.0
    min_value = inf
    max_value = -inf
    child = nodes[node].child
    while child != NONE:
        action = nodes[child].action
        count = nodes[child].visits
        if mask[action]:
            mask[action] = VISITED
            value = tree.totals[child, seat] / count
            visits += count
            max_visits = max(max_visits, count)
            visited_prior += prior[action]
            weighted_value += prior[action] * value
            min_value = min(min_value, value)
            max_value = max(max_value, value)
        child = nodes[child].sibling
    mixed_value = np.float64(tree.raw_values[node, seat])
    if visits > 0:  # appendix D
        mixed_value = (mixed_value + visits * weighted_value / visited_prior) / (visits + 1)
    unvisited_prior = 0.0
    best_unvisited = NONE
    best_prior = -inf
    for action in range(mask.shape[0]):
        if mask[action] == LEGAL:
            unvisited_prior += prior[action]
            if prior[action] > best_prior:
                best_unvisited = action
                best_prior = prior[action]
    if best_unvisited != NONE:
        min_value = min(min_value, mixed_value)
        max_value = max(max_value, mixed_value)
    return Statistics(
        visits, max_visits, mixed_value, min_value, max_value, unvisited_prior, best_unvisited
    )


@compiled
def value_scale(statistics: Statistics, min_value_range: float) -> float:
    """Returns the factor of value differences that are added to logits."""
    value_range = max(statistics.max_value - statistics.min_value, min_value_range)
    return (_MAXVISIT_INIT + statistics.max_visits) * _VALUE_SCALE / value_range
