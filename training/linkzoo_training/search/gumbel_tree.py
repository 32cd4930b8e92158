"""Data of a batch of Gumbel searches: arrays with one row per search, and settings."""

from typing import NamedTuple

from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Array, Bools, Float32s, Float64s, Int8s, Int64s, UInt64s
from linkzoo_training.search.tree import node_dtype

NODE = node_dtype(("expanded", "i4"))  # whether it has network outputs; final positions have none


class Trees(NamedTuple):
    """N searches of up to S nodes each: arrays with one row per search."""

    roots: Array  # records [N]: searched positions
    seeds: UInt64s  # [N]: all the randomness
    nodes: Array  # NODE[N, S]
    totals: Float64s  # [N, S, P]: sums of the simulations' values, by seat
    priors: Float32s  # [N, S, A]: the network's policy
    raw_values: Float32s  # [N, S, P]: the network's values, by seat
    root_logits: Float64s  # [N, A]: logits of the root's actions plus Gumbel noise
    worlds: Array  # records [N]: current position of the simulation
    leaves: Int64s  # [N]: node of that position
    left_tree: Bools  # [N]: whether replies led beyond a new node
    simulation: Int64s  # [N]: index of the simulation; -1: evaluation of the root
    waiting: Bools  # [N]: whether the search waits for the network
    masks: Int8s  # [N, A]: legal actions in the world
    candidates: Int8s  # [N, A]: the root's actions, marked as `core.solver.Solve` does
    observations: Array  # [N, F]: observation of the seat to act in the world
    values: Float32s  # [N, P]: values of the leaf, by seat
    margins: Float32s  # [N, P]: buffer
    solved: Bools  # [N]: whether the root is solved exactly
    policy: Float32s  # [N, A]: improved policy


class Settings(NamedTuple):
    """Settings of a search, as in GumbelSearch."""

    considered_visits: Int64s  # schedules of Sequential Halving, by number of considered actions
    min_value_range: float
    score_margin_weight: float
    reply_exponent: float  # applied to other seats' probabilities: 1 / temperature
    solver_limit: int  # positions to solve a root; 0: no solver
    leaf_limit: int  # positions to solve a leaf
    memory: tuple[Array, ...]  # the solver's, one row per search
    targets: bool  # whether policies are training targets


class Tree(NamedTuple):
    """One search of `Trees`, of up to S nodes."""

    nodes: Array  # NODE[S]
    totals: Float64s  # [S, P]
    priors: Float32s  # [S, A]
    raw_values: Float32s  # [S, P]


@compiled
def tree_of(trees: Trees, i: int) -> Tree:
    """Returns search i."""
    return Tree(trees.nodes[i], trees.totals[i], trees.priors[i], trees.raw_values[i])


@compiled
def set_candidates(i: int, trees: Trees) -> None:
    """Sets the mask of search i to the root's candidates."""
    for action in range(trees.masks.shape[1]):
        trees.masks[i, action] = trees.candidates[i, action]
