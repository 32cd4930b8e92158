"""The trees of a Gumbel search and their selection of actions.

At the root, actions are sampled without replacement by Gumbel noise on the logits and halved by
their values (Sequential Halving); below it, visits follow the improved policy. Formulas are from
mctx (`gumbel_muzero_policy`, value scale 0.1, maxvisit init 50, completed by the mixed value),
section numbers from Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022.
"""

from math import ceil, exp, inf, log2

import numpy as np

from linkzoo.core.state import Mask
from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Float32s, Float64s
from linkzoo_training.search.gumbel_batch import Tree
from linkzoo_training.search.tree import NONE, ROOT, node_dtype

_VALUE_SCALE = 0.1
_MAXVISIT_INIT = 50.0

LEGAL, VISITED = 1, 2  # entries of a mask
NODE = node_dtype(("known", "i4"))  # whether it has network outputs; final positions have none


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Returns the schedule of Sequential Halving with `considered` actions.

    Simulation s tries the best action among those with as many visits as entry s (mctx,
    `get_sequence_of_considered_visits`).
    """
    if considered <= 1:
        return list(range(simulations))
    phases, left = ceil(log2(considered)), considered
    visits, sequence = [0] * considered, list[int]()
    while len(sequence) < simulations:
        for _ in range(max(1, int(simulations / (phases * left)))):
            sequence += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return sequence[:simulations]


@compiled
def node_statistics(
    tree: Tree, node: int, seat: int, mask: Mask
) -> tuple[int, int, float, float, float, float, int]:
    """Computes statistics of a node's legal actions; marks visited ones as VISITED in `mask`.

    Returns the visits, the maximum visits of one action, the mixed value (appendix D of the paper),
    which stands for unvisited actions, the minimum and maximum completed value, and of unvisited
    actions the sum of priors and the one with the greatest prior (-1: none), all for `seat`.
    """
    nodes, totals, prior = tree.nodes, tree.totals, tree.priors[node]
    visits, most, weighted, weight = 0, 0, 0.0, 0.0
    low, high = inf, -inf
    child = nodes[node].child
    while child != NONE:
        action, count = nodes[child].action, nodes[child].visits
        if mask[action]:
            mask[action] = VISITED
            value = totals[child, seat] / count
            visits += count
            most = max(most, count)
            weight += prior[action]
            weighted += prior[action] * value
            low, high = min(low, value), max(high, value)
        child = nodes[child].sibling
    mixed = np.float64(tree.raw[node, seat])
    if visits > 0:
        mixed = (mixed + visits * weighted / weight) / (visits + 1)
    rest, best, best_prior = 0.0, NONE, -inf
    for action in range(mask.shape[0]):
        if mask[action] == LEGAL:
            rest += prior[action]
            if prior[action] > best_prior:
                best, best_prior = action, prior[action]
    if best != NONE:
        low, high = min(low, mixed), max(high, mixed)
    return visits, most, mixed, low, high, rest, best


@compiled
def stretch_of(most: int, low: float, high: float, min_value_range: float) -> float:
    """Returns the factor of value differences that are added to logits."""
    return (_MAXVISIT_INIT + most) * _VALUE_SCALE / max(high - low, min_value_range)


@compiled
def root_action(
    tree: Tree, seat: int, mask: Mask, noisy: Float64s, wanted: int, min_value_range: float
) -> tuple[int, int]:
    """Returns the root action with the highest score, and its child (-1: none yet).

    Only actions with `wanted` visits compete; `noisy` are the logits plus Gumbel noise.
    """
    nodes, totals = tree.nodes, tree.totals
    _, most, _, low, high, _, _ = node_statistics(tree, ROOT, seat, mask)
    best, best_child, best_score = NONE, NONE, -inf
    if wanted == 0:
        for action in range(mask.shape[0]):
            if mask[action] == LEGAL and noisy[action] > best_score:
                best, best_score = action, noisy[action]
        return best, NONE
    stretch = stretch_of(most, low, high, min_value_range)
    child = nodes[ROOT].child
    while child != NONE:
        action = nodes[child].action
        if nodes[child].visits == wanted:
            score = noisy[action] + stretch * (totals[child, seat] / nodes[child].visits - high)
            if score > best_score:
                best, best_child, best_score = action, child, score
        child = nodes[child].sibling
    return best, best_child


@compiled
def inner_action(
    tree: Tree, node: int, seat: int, mask: Mask, min_value_range: float
) -> tuple[int, int]:
    """Returns the next action below the root, and its child (-1: none yet).

    Its share of the visits is furthest below the improved policy (section 5).
    """
    nodes, totals, prior = tree.nodes, tree.totals, tree.priors[node]
    visits, most, mixed, low, high, rest, best = node_statistics(tree, node, seat, mask)
    stretch = stretch_of(most, low, high, min_value_range)
    unseen = exp(stretch * (mixed - high)) if best != NONE else 0.0
    total = rest * unseen
    child = nodes[node].child
    while child != NONE:
        action = nodes[child].action
        if mask[action] == VISITED:
            value = totals[child, seat] / nodes[child].visits
            total += prior[action] * exp(stretch * (value - high))
        child = nodes[child].sibling
    best_child = NONE
    best_score = prior[best] * unseen / total if best != NONE else -inf
    child = nodes[node].child
    while child != NONE:
        action = nodes[child].action
        if mask[action] == VISITED:
            value = totals[child, seat] / nodes[child].visits
            share = prior[action] * exp(stretch * (value - high)) / total
            score = share - nodes[child].visits / (1.0 + visits)
            if score > best_score:
                best, best_child, best_score = action, child, score
        child = nodes[child].sibling
    return best, best_child


@compiled
def drawn(logits: Float32s, factor: float, mask: Mask, uniform: float) -> int:
    """Draws one of the actions in `mask` by the softmax of logits [A] times `factor`."""
    most, total = -inf, 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            most = max(most, np.float64(logits[action]))
    for action in range(mask.shape[0]):
        if mask[action]:
            total += exp(factor * (logits[action] - most))
    left, chosen = uniform * total, NONE
    for action in range(mask.shape[0]):
        if mask[action] and left >= 0:
            chosen = action
            left -= exp(factor * (logits[action] - most))
    return chosen
