"""The selection of actions in a Gumbel search (mctx: `gumbel_muzero_policy`).

At the root, actions are sampled without replacement by Gumbel noise on the logits and halved by
their values (Sequential Halving). Below it, visits follow the improved policy. Sections are of
Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022.
"""

from math import ceil, exp, inf, log2

import numpy as np

from linkzoo.core.state import Mask
from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Float32s, Float64s
from linkzoo_training.search.gumbel_qtransform import (
    LEGAL,
    VISITED,
    node_statistics,
    value_scale,
)
from linkzoo_training.search.gumbel_tree import Tree
from linkzoo_training.search.tree import NONE, ROOT


def sequence_of_considered_visits(considered: int, simulations: int) -> list[int]:
    """Returns the schedule of Sequential Halving.

    Simulation s tries the best action among those with as many visits as entry s (mctx:
    `get_sequence_of_considered_visits`).

    Args:
        considered: The number of considered actions.
        simulations: The number of simulations, the length of the schedule.
    """
    if considered <= 1:
        return list(range(simulations))
    phases = ceil(log2(considered))
    remaining = considered
    visits = [0] * considered
    sequence: list[int] = []
    while len(sequence) < simulations:
        for _ in range(max(1, int(simulations / (phases * remaining)))):
            sequence += visits[:remaining]
            visits[:remaining] = [count + 1 for count in visits[:remaining]]
        remaining = max(2, remaining // 2)
    return sequence[:simulations]


@compiled
def root_action_selection(
    tree: Tree,
    seat: int,
    mask: Mask,
    root_logits: Float64s,
    considered_visit: int,
    min_value_range: float,
) -> tuple[int, int]:
    """Selects the root's action with the highest logit plus noise plus scaled value.

    Args:
        tree: The search.
        seat: The seat to act.
        mask: Legal actions; visited ones are marked.
        root_logits: Logits plus Gumbel noise, [A].
        considered_visit: Only actions with that many visits compete (Sequential Halving).
        min_value_range: See GumbelSearch.

    Returns:
        The action and its child (NONE: not yet in the tree).
    """
    nodes = tree.nodes
    statistics = node_statistics(tree, ROOT, seat, mask)
    best = NONE
    best_child = NONE
    best_score = -inf
    if considered_visit == 0:
        for action in range(mask.shape[0]):
            if mask[action] == LEGAL and root_logits[action] > best_score:
                best = action
                best_score = root_logits[action]
        return best, NONE
    scale = value_scale(statistics, min_value_range)
    child = nodes[ROOT].child
    while child != NONE:
        action = nodes[child].action
        if nodes[child].visits == considered_visit:
            value = tree.totals[child, seat] / nodes[child].visits
            score = root_logits[action] + scale * (value - statistics.max_value)
            if score > best_score:
                best = action
                best_child = child
                best_score = score
        child = nodes[child].sibling
    return best, best_child


@compiled
def interior_action_selection(
    tree: Tree, node: int, seat: int, mask: Mask, min_value_range: float
) -> tuple[int, int]:
    """Selects the action whose share of visits is furthest below the improved policy (section 5).

    The improved policy is the softmax of the logits plus the scaled, completed values.

    Args:
        tree: The search.
        node: A node below the root.
        seat: The seat to act.
        mask: Legal actions; visited ones are marked.
        min_value_range: See GumbelSearch.

    Returns:
        The action and its child (NONE: not yet in the tree).
    """
    nodes = tree.nodes
    prior = tree.priors[node]
    statistics = node_statistics(tree, node, seat, mask)
    scale = value_scale(statistics, min_value_range)
    best = statistics.best_unvisited
    best_child = NONE
    best_score = -inf
    unvisited_weight = 0.0
    if best != NONE:
        unvisited_weight = exp(scale * (statistics.mixed_value - statistics.max_value))
    total = statistics.unvisited_prior * unvisited_weight
    child = nodes[node].child
    while child != NONE:
        action = nodes[child].action
        if mask[action] == VISITED:
            value = tree.totals[child, seat] / nodes[child].visits
            total += prior[action] * exp(scale * (value - statistics.max_value))
        child = nodes[child].sibling
    if best != NONE:
        best_score = prior[best] * unvisited_weight / total
    child = nodes[node].child
    while child != NONE:
        action = nodes[child].action
        if mask[action] == VISITED:
            value = tree.totals[child, seat] / nodes[child].visits
            improved = prior[action] * exp(scale * (value - statistics.max_value)) / total
            score = improved - nodes[child].visits / (1.0 + statistics.visits)
            if score > best_score:
                best = action
                best_child = child
                best_score = score
        child = nodes[child].sibling
    return best, best_child


@compiled
def sample_action(logits: Float32s | Float64s, factor: float, mask: Mask, uniform: float) -> int:
    """Draws one of the actions in `mask` by the softmax of logits [A] times `factor`."""
    max_logit = -inf
    total = 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            max_logit = max(max_logit, np.float64(logits[action]))
    for action in range(mask.shape[0]):
        if mask[action]:
            total += exp(factor * (logits[action] - max_logit))
    remaining = uniform * total
    chosen = NONE
    for action in range(mask.shape[0]):
        if mask[action] and remaining >= 0:
            chosen = action
            remaining -= exp(factor * (logits[action] - max_logit))
    return chosen
