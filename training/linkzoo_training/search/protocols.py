"""Signatures of the searches' compiled functions. Parameter names are fixed.

Kernels process rows `first`..`last - 1` and write results into the caller's arrays.
"""

from typing import Protocol

import numpy as np

from linkzoo.core.solver import Memory
from linkzoo.core.state import Actions, Mask, Masks, Record, Records, Seeds
from linkzoo_training.arrays import Float32s, Int64s, UInt64s
from linkzoo_training.search.gumbel_tree import Settings, Trees
from linkzoo_training.search.linear import Horizon, Scorer


class Greedy(Protocol):
    """Fills the actions [N] with the greatest heuristic values; `masks` [N, A] is a buffer."""

    def __call__(
        self, first: int, last: int, states: Records, seeds: Seeds, masks: Masks, actions: Actions
    ) -> None: ...


class PlayOut(Protocol):
    """Plays on from `world[0]`, up to the Horizon or the end of the game.

    `mask` holds the legal actions, before and after. The Scorer plays, or the seed decides.
    """

    def __call__(
        self,
        world: Records,
        mask: Mask,
        seat: int,
        seed: np.uint64,
        scorer: Scorer,
        horizon: Horizon,
        scratch: Records,
        scores: Float32s,
    ) -> None: ...


class FillActionValues(Protocol):
    """Fills values [N, A] of the actions in `masks` for the seats to act, 0 for others.

    `playouts` [N] are the playouts per legal action. The Scorer plays them, up to the Horizon.
    """

    def __call__(
        self,
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        playouts: Int64s,
        score_margin_weight: float,
        scorer: Scorer,
        horizon: Horizon,
        masks: Masks,
        values: Float32s,
    ) -> None: ...


class SearchOne(Protocol):
    """Searches from `root[0]` and returns the chosen action; `mask` [A] is a buffer."""

    def __call__(
        self, root: Records, seed: np.uint64, simulations: int, exploration: float, mask: Mask
    ) -> int: ...


class SearchRows(Protocol):
    """Fills the chosen actions [N] of searches from every record; `masks` [N, A] is a buffer."""

    def __call__(
        self,
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        simulations: int,
        exploration: float,
        masks: Masks,
        actions: Actions,
    ) -> None: ...


class Prove(Protocol):
    """Solves a position with the tree `nodes`, and plays a solved one to its end."""

    def __call__(self, state: Record, memory: Memory, row: int, nodes: Records) -> bool: ...


class FinalValues(Protocol):
    """Fills every seat's value of a finished game; `margins` [P] is a buffer."""

    def __call__(
        self, world: Record, score_margin_weight: float, values: Float32s, margins: Float32s
    ) -> None: ...


class Descend(Protocol):
    """Plays an action at node `leaves[i]`, then descends to a leaf.

    It stops at a finished game, at a node without network outputs and, if others are asked for
    their actions, where another seat is to act. It sets `worlds`, `masks` and the `observations` of
    the seat to act, or `values` if the game is finished or solved. `child` is the node that the
    action leads to (NONE: not yet in the tree).
    """

    def __call__(
        self, i: int, action: int, child: int, trees: Trees, settings: Settings
    ) -> None: ...


class OneTree(Protocol):
    """A step of search i."""

    def __call__(self, i: int, trees: Trees, settings: Settings) -> None: ...


class Instantiate(Protocol):
    """Makes every root [N] the leaf of its tree."""

    def __call__(
        self, first: int, last: int, roots: Records, seeds: UInt64s, trees: Trees
    ) -> None: ...


class SolveRoots(Protocol):
    """Solves the roots of searches `rows` [R] within the limit.

    It sets `values` to exact ones, and marks the `candidates` (`linkzoo.core.solver.Solve`).
    """

    def __call__(
        self, first: int, last: int, rows: Int64s, trees: Trees, settings: Settings
    ) -> None: ...


class Advance(Protocol):
    """Continues the simulations of searches `rows` [R] with the network's outputs.

    Other seats draw from the policy of logits [R, A]; leaves store it and relative values [R, P].
    Roots have theirs already and start their first simulation.
    """

    def __call__(
        self,
        first: int,
        last: int,
        rows: Int64s,
        logits: Float32s,
        values: Float32s,
        trees: Trees,
        settings: Settings,
    ) -> None: ...
