"""Data of a batch of Gumbel searches: arrays with one row per search, and settings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Trees(NamedTuple):
    """N searches of up to S nodes each: arrays with one row per search."""

    roots: NDArray[Any]  # records [N]: searched positions
    seeds: NDArray[np.uint64]  # [N]: all the randomness
    nodes: NDArray[Any]  # NODE[N, S]
    totals: NDArray[np.float64]  # [N, S, P]: sums of values, by seat
    priors: NDArray[np.float32]  # [N, S, A]: the network's policy
    raw: NDArray[np.float32]  # [N, S, P]: the network's values, by seat
    noisy: NDArray[np.float64]  # [N, A]: logits of the root's actions plus Gumbel noise
    worlds: NDArray[Any]  # records [N]: current position of the simulation
    leaves: NDArray[np.int64]  # [N]: node of that position
    left_tree: NDArray[np.bool_]  # [N]: whether replies led beyond a new node
    simulation: NDArray[np.int64]  # [N]: index of the simulation; -1: evaluation of the root
    waiting: NDArray[np.bool_]  # [N]: whether the search waits for the network
    masks: NDArray[np.int8]  # [N, A]: legal actions in the world
    observations: NDArray[Any]  # [N, F]: observation of the seat to act in the world
    values: NDArray[np.float32]  # [N, P]: values of the leaf, by seat
    margins: NDArray[np.float32]  # [N, P]: buffer
    solved: NDArray[np.bool_]  # [N]: whether the root is solved exactly
    policy: NDArray[np.float32]  # [N, A]: improved policy


class Settings(NamedTuple):
    """Settings of a search, as in GumbelSearch."""

    wanted: NDArray[np.int64]  # rows of Sequential Halving for each number of considered actions
    min_value_range: float
    score_margin_weight: float
    reply_exponent: float  # applied to other seats' probabilities: 1 / temperature
    solver_limit: int  # positions to solve a root; 0: no solver
    leaf_limit: int  # positions to solve a leaf
    memory: tuple[NDArray[Any], ...]  # the solver's, one row per search
