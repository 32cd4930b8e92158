"""Numbers that change in the course of a run."""

from typing import Generic, NamedTuple, TypeVar

Number = TypeVar("Number")


class Schedule(NamedTuple, Generic[Number]):
    """A number that goes linearly from `first` to `last`: `[first, last]`, or one that stays."""

    first: Number
    last: Number


def at(schedule: Schedule[float], progress: float) -> float:
    """A schedule's number at a progress of 0..1."""
    return schedule.first + (schedule.last - schedule.first) * progress
