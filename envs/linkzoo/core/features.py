"""Network features of an observation: planes as they are, other numbers one-hot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationSpec
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel

RAW = -(2**15)  # level of a numeric feature
_MAX_LEVELS = 64  # numbers with a wider range aren't one-hot


class FeatureMap:
    """Maps a flat observation to integer features for a network.

    First come the elements of planes and lists, unchanged; then the broadcast parts, one number
    each. Broadcast and categorical numbers are one-hot: a role, a threshold or a key changes the
    whole policy, which networks learn slowly from a single small number. `len(map)` is the
    number of features F, and `map(observations)` returns the integers [N, F] of flat observations
    [N, size].

    Args:
        spec: The layout of the observations, such as `game.observation.spec`.
    """

    def __init__(self, spec: ObservationSpec) -> None:
        columns: list[int] = []
        levels: list[int] = []
        scale: list[float] = []
        parts = list(zip(spec.parts, spec.slices().values(), strict=True))
        for part, elements in sorted(parts, key=lambda pair: pair[0].broadcast):
            indices = np.arange(elements.start, elements.stop)
            if part.broadcast:
                indices = indices.reshape(-1, int(np.prod(part.shape[-2:])))[:, 0]
            part_levels: Sequence[int] = [RAW]
            part_scale = 1.0 / max(abs(part.low), abs(part.high), 1)
            values = range(part.low, part.high + 1)
            if (part.broadcast or part.categorical) and len(values) <= _MAX_LEVELS:  # one-hot
                part_levels = values
                part_scale = 1.0
            for column in indices:
                for level in part_levels:
                    columns.append(int(column))
                    levels.append(level)
                    scale.append(part_scale)
        # The element that holds each element's number: the first copy in a broadcast part.
        self.first = np.arange(spec.size)
        for part, elements in parts:
            if part.broadcast:
                copies = int(np.prod(part.shape[-2:]))
                firsts = np.arange(elements.start, elements.stop, copies)
                self.first[elements] = np.repeat(firsts, copies)
        self.columns = np.array(columns, np.int64)
        self.levels = np.array(levels, np.int64)
        # Scale of each feature, to the range -1..1.
        self.scale = np.array(scale, np.float32)
        self.dtype = np.dtype(spec.dtype)
        # [C, H, W] of the planes, which come first, for board observations.
        broadcast = sum(int(np.prod(part.shape)) for part in spec.parts if part.broadcast)
        self.board: tuple[int, int, int] | None = None
        if len(spec.shape) == 3:
            height, width = spec.shape[1:]
            self.board = ((spec.size - broadcast) // (height * width), height, width)

    def __len__(self) -> int:
        return len(self.columns)

    def index(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the numeric features that hold elements of an observation.

        Args:
            elements: int64 of any shape, indices into the flat observation; -1 for none.

        Returns:
            int64 of the same shape, indices into the features; their number for -1.

        Raises:
            ValueError: An element is categorical, broadcast or out of range.
        """
        raw = np.flatnonzero(self.levels == RAW)
        known = {-1: len(self), **dict(zip(self.columns[raw].tolist(), raw.tolist(), strict=True))}
        flat = elements.ravel().tolist()
        unknown = set(flat) - known.keys()
        if unknown:
            raise ValueError(f"element {min(unknown)} of the observation is no number of a list")
        return np.array([known[element] for element in flat], np.int64).reshape(elements.shape)

    def fill(self, observations: NDArray[Any], features: NDArray[Any]) -> None:
        """Fills features [N, F] from flat observations [N, size]."""
        FILL(features, observations, self.columns, self.levels)

    def __call__(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Returns the features [N, F] of flat observations [N, size]."""
        features = np.empty((len(observations), len(self)), self.dtype)
        self.fill(observations, features)
        return features

    def scaled(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Returns the features of flat observations [N, size], float32[N, F] in -1..1."""
        scaled: NDArray[np.float32] = self(observations) * self.scale
        return scaled


@compiled
def fill_features(
    first: int,
    last: int,
    features: NDArray[Any],
    observations: NDArray[Any],
    columns: NDArray[np.int64],
    levels: NDArray[np.int64],
) -> None:
    """Fills features [N, F] of flat observations [N, size]; see `FeatureMap`."""
    for i in range(first, last):
        for k in range(columns.shape[0]):
            value = observations[i, columns[k]]
            features[i, k] = value if levels[k] == RAW else value == levels[k]


FILL = RowKernel(fill_features, 512)
