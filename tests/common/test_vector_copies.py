"""Copies of a vector environment are independent and continue like fresh ones."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkzoo import VecEnv, VecStep, make_vec
from tests.common.variants import Variant, every_size
from tests.driving import first_quick

GAMES = 5
COPIES: list[Callable[[VecEnv], VecEnv]] = [
    copy.copy,
    copy.deepcopy,
    lambda vec: pickle.loads(pickle.dumps(vec)),
]


def build(variant: Variant, **kwargs: Any) -> VecEnv:
    return make_vec(variant.name, GAMES, variant.num_players, **kwargs, **variant.options)


def step(vec: VecEnv, now: VecStep, turn: int) -> VecStep:
    legal = [np.flatnonzero(mask) for mask in now.action_mask]
    return vec.step([int(row[turn % len(row)]) for row in legal])


def shown(now: VecStep) -> dict[str, list[Any]]:
    return {name: array.tolist() for name, array in vars(now).items()}


def fresh(variant: Variant, reward: str, steps: int) -> dict[str, list[Any]]:
    """The arrays of an environment that was never copied."""
    vec = build(variant, reward=reward)
    now = vec.reset(7)
    for turn in range(steps):
        now = step(vec, now, turn)
    return shown(now)


@every_size
@pytest.mark.parametrize("duplicate", COPIES, ids=["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("reward", first_quick(["win", "score"], slow=0))
def test_copies_go_on_by_themselves(
    variant: Variant, duplicate: Callable[[VecEnv], VecEnv], reward: str
) -> None:
    """The observation of a copy is a view of the copy's own array."""
    vec = build(variant, reward=reward)
    now = vec.reset(7)
    for turn in range(3):
        now = step(vec, now, turn)
    other = duplicate(vec)
    assert other.game is vec.game
    assert shown(other._now) == shown(now)
    there = other._now
    for turn in range(3, 9):
        there = step(other, there, turn)
        assert shown(there) == fresh(variant, reward, turn + 1)
    assert shown(vec._now) == fresh(variant, reward, 3)
    for turn in range(3, 6):
        now = step(vec, now, turn)
    assert shown(now) == fresh(variant, reward, 6)
    assert shown(there) == fresh(variant, reward, 9)
    for name, array in vars(there).items():
        assert not np.shares_memory(array, getattr(now, name))
    assert np.array_equal(other.refresh().observation, there.observation)


def test_a_copy_before_reset_has_to_be_reset() -> None:
    first, other = make_vec("linkage", GAMES), copy.deepcopy(make_vec("linkage", GAMES))
    with pytest.raises(RuntimeError, match="step before reset"):
        other.step(np.zeros(GAMES, np.int64))
    assert shown(other.reset(7)) == shown(first.reset(7))


def test_arrays_set_from_outside() -> None:
    """`step` plays the records that are there, not those that were there when it was first used."""
    vec, other = make_vec("linkage", GAMES), make_vec("linkage", GAMES)
    for one in (vec, other):
        step(one, one.reset(7), 0)
    vec.states = other.states.copy()
    assert shown(step(vec, vec.refresh(), 1)) == shown(step(other, other.refresh(), 1))
    assert vec.states.tobytes() == other.states.tobytes()
