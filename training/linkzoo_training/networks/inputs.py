"""The inputs of networks: features of observations, and for some networks of legal actions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo.core.observation import ObservationSpec
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel

MAX_LISTED = 64  # legal actions of a position that a network reads; it ignores others


class Inputs:
    """Encodes positions as integers [N, F], followed by MAX_LISTED rows of legal actions.

    A row is 1 + the action and its features (`Observation.action_spec`); zeros follow the last.

    Args:
        game: The game.
        lists_actions: Whether the rows of actions are there.

    Attributes:
        map: The map of the observation, to the first `len(map)` integers.
        row: The length of a row; 0 without rows.
        width: All integers of a position.
        dtype: The integer NumPy type.

    Raises:
        ValueError: The game has no action features.
    """

    def __init__(self, game: Game, *, lists_actions: bool = False) -> None:
        self.game = game
        self.map = FeatureMap(game.observation.spec)
        self.row = 0
        self.width = len(self.map)
        self.dtype = self.map.dtype
        if lists_actions:
            if game.observation.action_spec is None:
                raise ValueError(f"network: {game.name} has no action features; use 'flat'")
            self.row = 1 + game.observation.action_spec.size
            self.width += MAX_LISTED * self.row
            self.dtype = np.dtype(np.int16)

    def encode(
        self, states: NDArray[Any] | None, masks: NDArray[np.int8], observations: NDArray[Any]
    ) -> NDArray[Any]:
        """Returns the inputs [N, width] of the seats to act.

        Args:
            states: Unfinished records [N]; None does without rows of actions.
            masks: Their legal actions, [N, A].
            observations: Flat observations [N, size] of the seats to act.
        """
        inputs = np.empty((len(observations), self.width), self.dtype)
        self.map.fill(observations, inputs[:, : len(self.map)])
        observe_actions = kernels(self.game).observe_actions
        if self.row and observe_actions is not None and states is not None:
            observe_actions(states, np.empty_like(states), masks, inputs[:, len(self.map) :])
        return inputs


def context_of(spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns the indices int64[C] of the features that are equal for all actions."""
    starts = (spec.slices()[part.name].start for part in spec.parts if part.broadcast)
    return np.array(list(starts), np.int64)


@compiled
def _relabel(
    first: int,
    last: int,
    rows: NDArray[Any],
    symmetry: NDArray[np.int64],
    actions: NDArray[np.int64],
    size: int,
) -> None:
    for i in range(first, last):
        for start in range(0, rows.shape[1], size):
            if rows[i, start] == 0:
                break
            rows[i, start] = 1 + actions[symmetry[i], rows[i, start] - 1]


# `(rows, symmetry, actions, size)`: renames the actions of rows [N, MAX_LISTED * size] by row
# `symmetry[i]` of `actions` [S, A], in place.
RELABEL = RowKernel(_relabel, 4096)
