"""Scripts of users: arrays of `make_vec` in JAX without a copy, and tables of decisions."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import linkzoo
from linkzoo_training.commands.cli import main


def test_jax_reads_every_array_without_a_copy() -> None:
    jax = pytest.importorskip("jax")
    vec = linkzoo.make_vec("linkage", num_envs=64)
    now = vec.reset(seed=1)
    for field in fields(now):
        array = getattr(now, field.name)
        if array.ctypes.data % 64:
            continue  # JAX copies arrays whose address isn't a multiple of 64
        view = jax.numpy.from_dlpack(array, copy=False)
        assert view.unsafe_buffer_pointer() == array.ctypes.data, field.name
        np.testing.assert_array_equal(np.asarray(view), array)


def test_a_table_of_decisions(tmp_path: Path) -> None:
    """The Parquet file has the decisions of the NumPy file, with the results of their seats."""
    parquet = pytest.importorskip("pyarrow.parquet")
    command = "data selfplay greedy random --game love_links --games 6 --batch 4 --format"
    for form in ("npz", "parquet"):
        assert main([*command.split(), form, "--out", str(tmp_path / form)]) == 0
    for number in ("000000", "000004"):
        arrays = np.load(tmp_path / "npz" / f"games-{number}.npz")
        table = parquet.read_table(tmp_path / "parquet" / f"games-{number}.parquet")
        for name in ("game", "seat", "action"):
            np.testing.assert_array_equal(table[name].to_numpy(), arrays[name])
        for name in ("observation", "action_mask"):
            rows = np.stack(table[name].to_numpy())
            np.testing.assert_array_equal(rows, arrays[name].reshape(len(rows), -1))
        game = arrays["game"] - arrays["game"].min()
        for name, per_seat in (("agent", "agents"), ("payoff", "payoff"), ("score", "score")):
            expected = arrays[per_seat][game, arrays["seat"]]
            np.testing.assert_array_equal(table[name].to_numpy(), expected)
        about = json.loads(table.schema.metadata[b"linkzoo"])
        assert about["game"] == "love_links"
    assert json.loads((tmp_path / "parquet" / "dataset.json").read_text())["files"] == "parquet"
