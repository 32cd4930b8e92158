"""Observations: named parts, concatenated in one integer array."""

from collections import namedtuple
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import DTypeLike, NDArray

from linkzoo.core.arguments import boolean, shown


@dataclass(frozen=True)
class ObservationPart:
    """A named part of an observation.

    Attributes:
        name: Its name.
        shape: Its shape.
        low: The smallest value of every element.
        high: The largest value, inclusive.
        meaning: Description of the content.
        broadcast: Whether it repeats one number per leading index over the two board axes.
        categorical: Whether its numbers are categories, not amounts.
    """

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    broadcast: bool = False
    categorical: bool = False

    def __post_init__(self) -> None:
        boolean(f"{self.name}: broadcast", self.broadcast)
        boolean(f"{self.name}: categorical", self.categorical)


@dataclass(frozen=True)
class ObservationSpec:
    """The layout of an observation.

    Attributes:
        parts: The parts, in order.
        shape: The shape of the whole array; flat by default.
        dtype: The integer NumPy type.

    Raises:
        ValueError: The sizes of the parts and the shape differ.
    """

    parts: tuple[ObservationPart, ...]
    shape: tuple[int, ...] = ()
    dtype: DTypeLike = np.int8

    def __post_init__(self) -> None:
        size = sum(prod(part.shape) for part in self.parts)
        if not self.shape:
            object.__setattr__(self, "shape", (size,))
        elif size != prod(self.shape):
            raise ValueError(f"the parts hold {size} numbers, the shape {self.shape}")

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def slices(self) -> dict[str, slice]:
        """Returns the slice of each part in the flat observation, by name."""
        slices = {}
        start = 0
        for part in self.parts:
            end = start + prod(part.shape)
            slices[part.name] = slice(start, end)
            start = end
        return slices

    def starts(self) -> Any:
        """Returns the first element of each part, a named tuple of constants for compiled code.

        The numbers are int64: Numba compiles a function anew for each integer of Python.
        """
        starts = {name: np.int64(part.start) for name, part in self.slices().items()}
        return namedtuple("Starts", starts)(**starts)

    def space(self) -> Box:
        """Returns the gymnasium space, with the true bounds of each part."""
        low = np.empty(self.size, self.dtype)
        high = np.empty(self.size, self.dtype)
        for part, elements in zip(self.parts, self.slices().values(), strict=True):
            low[elements] = part.low
            high[elements] = part.high
        return Box(low.reshape(self.shape), high.reshape(self.shape), dtype=self.dtype)  # type: ignore[arg-type]

    def view(self, observation: NDArray[Any], name: str) -> NDArray[Any]:
        """Returns a part of one observation or of a batch.

        Args:
            observation: `[..., *shape]`; leading axes are kept.
            name: The name of the part.

        Returns:
            A view `[..., *part.shape]`.

        Raises:
            KeyError: The part doesn't exist; the error lists the parts.
        """
        shapes = {part.name: part.shape for part in self.parts}
        if name not in shapes:
            raise KeyError(f"no part {shown(name)}; there are {list(shapes)}")
        batch = observation.shape[: observation.ndim - len(self.shape)]
        flat = observation.reshape(*batch, self.size)
        return flat[..., self.slices()[name]].reshape(*batch, *shapes[name])


class Graph(NamedTuple):
    """Graph structure of an observation: N cells with C features each, in G groups.

    Elements are indices into the flat observation, -1 for none.

    Attributes:
        cells: int64[N, C], the elements that describe each cell.
        neighbours: int64[N, K], the neighbour of each cell by edge type; -1 for none.
        group: int64[N], the group of each cell.
        groups: int64[G, D], the elements that describe each group.
    """

    cells: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    group: NDArray[np.int64]
    groups: NDArray[np.int64]
