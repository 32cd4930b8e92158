"""What a network reads of an observation: planes as they are, other numbers one-hot."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec
from linkzoo.engine.threads import Rows

RAW = -(2**15)  # the level of a feature that is a number itself
_MOST_LEVELS = 64  # numbers of a wider range stay numbers


class FeatureMap:
    """What a network reads of a flat observation, as integer features.

    First come the elements of planes and lists, as they are; then the broadcast pieces, each number
    once. Broadcast and categorical numbers are one-hot: whether they have each of their values. A
    role, a threshold or a key changes the whole policy, which a single small number would teach a
    network only slowly.
    """

    def __init__(self, spec: ObservationSpec) -> None:
        columns: list[int] = []
        levels: list[int] = []
        scale: list[float] = []
        pieces = list(zip(spec.pieces, spec.slices().values(), strict=True))
        for piece, where in sorted(pieces, key=lambda pair: pair[0].broadcast):
            indices = np.arange(where.start, where.stop)
            if piece.broadcast:
                indices = indices.reshape(-1, int(np.prod(piece.shape[-2:])))[:, 0]
            values = range(piece.low, piece.high + 1)
            one_hot = (piece.broadcast or piece.categorical) and len(values) <= _MOST_LEVELS
            for column in indices:
                for level in values if one_hot else [RAW]:
                    columns.append(int(column))
                    levels.append(level)
                    bound = max(abs(piece.low), abs(piece.high))
                    scale.append(1.0 if one_hot else 1.0 / max(bound, 1))
        self.columns = np.array(columns, np.int64)
        self.levels = np.array(levels, np.int64)
        # What each feature is multiplied with, so that it lies in -1..1.
        self.scale = np.array(scale, np.float32)
        self.dtype = np.dtype(spec.dtype)
        # [C, H, W] of the planes, which come first, if the observation is of a board.
        broadcast = sum(int(np.prod(piece.shape)) for piece in spec.pieces if piece.broadcast)
        self.board: tuple[int, int, int] | None = None
        if len(spec.shape) == 3:
            height, width = spec.shape[1:]
            self.board = ((spec.size - broadcast) // (height * width), height, width)

    def __len__(self) -> int:
        return len(self.columns)

    def index(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which features are these elements of an observation, of any shape; `len` for element -1.

        ValueError for a categorical or broadcast element, or one that the observation doesn't have.
        """
        raw = np.flatnonzero(self.levels == RAW)
        known = {-1: len(self), **dict(zip(self.columns[raw].tolist(), raw.tolist(), strict=True))}
        flat = elements.ravel().tolist()
        unknown = set(flat) - known.keys()
        if unknown:
            raise ValueError(f"element {min(unknown)} of the observation is no number of a list")
        return np.array([known[one] for one in flat], np.int64).reshape(elements.shape)

    def fill(self, observations: NDArray[Any], features: NDArray[Any]) -> None:
        """Fills features [N, F] from flat observations [N, size]."""
        FILL(features, observations, self.columns, self.levels)

    def __call__(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The features [N, F] of flat observations [N, size]."""
        features = np.empty((len(observations), len(self)), self.dtype)
        self.fill(observations, features)
        return features

    def scaled(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """The features of flat observations [N, size], float32[N, F] in -1..1."""
        scaled: NDArray[np.float32] = self(observations) * self.scale
        return scaled


@compiled
def _fill(
    first: Any, last: Any, features: Any, observations: Any, columns: Any, levels: Any
) -> None:
    for i in range(first, last):
        for k in range(columns.shape[0]):
            value = observations[i, columns[k]]
            features[i, k] = value if levels[k] == RAW else value == levels[k]


FILL = Rows(_fill, 64)
