"""Numbers that change during a run."""

from typing import Generic, NamedTuple, TypeVar

Number = TypeVar("Number")


class Schedule(NamedTuple, Generic[Number]):
    """A number that changes linearly from `first` to `last`."""

    first: Number
    last: Number


def at(schedule: Schedule[float], progress: float) -> float:
    """Returns a schedule's number at a progress of 0..1."""
    return schedule.first + (schedule.last - schedule.first) * progress
