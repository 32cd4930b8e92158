"""Arrays of `make_vec` in other libraries, without a copy: DLPack."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import linkzoo

LIBRARIES = ("numpy", "torch")


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_array_is_read_without_a_copy(library: str) -> None:
    """The script of a user: views are taken once, and show each step."""
    module: Any = pytest.importorskip(library)
    vec = linkzoo.make_vec("linkage", num_envs=8)
    now = vec.reset(seed=1)
    views = {field.name: module.from_dlpack(getattr(now, field.name)) for field in fields(now)}
    for step in range(40):
        vec.step(vec.random_actions(step))
    assert now.episode_length.max() > 1
    for name, view in views.items():
        array = getattr(now, name)
        assert tuple(view.shape) == array.shape
        assert np.asarray(view).ctypes.data == array.ctypes.data, name
        assert (np.asarray(view) == array).all(), name
