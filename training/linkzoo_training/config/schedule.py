"""Numbers that change during a run."""

from typing import Generic, NamedTuple, TypeVar

Number = TypeVar("Number", bound=float)


class Schedule(NamedTuple, Generic[Number]):
    """A number that changes linearly from `first` to `last`."""

    first: Number
    last: Number

    def at(self, progress: float) -> float:
        """Returns the number at a progress of 0..1."""
        return self.first + (self.last - self.first) * progress
