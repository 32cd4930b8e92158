"""What a batch of Gumbel searches consists of: arrays with a row for each, and their settings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Trees(NamedTuple):
    """N searches side by side, each of up to S nodes: arrays with a row for each."""

    roots: NDArray[Any]  # records [N]: what is searched
    seeds: NDArray[np.uint64]  # [N]: all the randomness
    nodes: NDArray[Any]  # NODE[N, S]
    totals: NDArray[np.float64]  # [N, S, P]: sums of values, by seat
    priors: NDArray[np.float32]  # [N, S, A]: what the network plays there
    raw: NDArray[np.float32]  # [N, S, P]: the network's values, by seat
    noisy: NDArray[np.float64]  # [N, A]: logits of the root's actions plus Gumbel noise
    worlds: NDArray[Any]  # records [N]: where the simulation is
    leaves: NDArray[np.int64]  # [N]: the node there
    beyond: NDArray[np.bool_]  # [N]: whether others' replies led on from the node, which was new
    simulation: NDArray[np.int64]  # [N]: which it is, from 0; -1: the root's own evaluation
    waiting: NDArray[np.bool_]  # [N]: for what the network says of the world
    masks: NDArray[np.int8]  # [N, A]: of the legal actions there
    observations: NDArray[Any]  # [N, F]: what the seat to act sees there
    values: NDArray[np.float32]  # [N, P]: of the leaf, by seat
    margins: NDArray[np.float32]  # [N, P]: working space
    solved: NDArray[np.bool_]  # [N]: whether the root is, exactly
    policy: NDArray[np.float32]  # [N, A]: the improved one


class Settings(NamedTuple):
    """What a search goes by (see GumbelSearch)."""

    wanted: NDArray[np.int64]  # rows of Sequential Halving for each number of considered actions
    least_range: float
    score_margin_weight: float
    reply_exponent: float  # of others' probabilities, before they draw: 1 / temperature
    solver_limit: int  # positions to solve a root; 0: there is no solver
    leaf_limit: int  # positions to solve a leaf
    memory: tuple[NDArray[Any], ...]  # of the solver, with a row for each search
