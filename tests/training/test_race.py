"""The race's solver of Connect Four, against known positions and exhaustive search."""

import json
from functools import cache

import numpy as np
import pytest
from lab.race.positions import FILE
from lab.race.solver import COLUMNS, move_values, new_table, stones, value

from tests.driving import first_quick

TABLE = new_table()
POSITIONS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def has_line(bits: int) -> bool:
    return any(bits & bits >> d & bits >> 2 * d & bits >> 3 * d for d in (1, 6, 7, 8))


@cache
def tried(own: int, every: int) -> int:
    """The value for the side to move, by trying everything."""
    if has_line(own ^ every):
        return -1
    cells = [(every + (1 << 7 * column)) & 63 << 7 * column for column in range(COLUMNS)]
    values = [-tried(own ^ every, every | cell) for cell in cells if cell]
    return max(values, default=0)


@pytest.mark.parametrize(
    ("columns", "expected"),  # 1..7, as elsewhere
    [
        ("2252576253462244111563365343671351441", -1),
        ("7422341735647741166133573473242566", 1),
        ("23163416124767223154467471272416755633", 0),
    ],
)
def test_known_positions(columns: str, expected: int) -> None:
    position = stones("".join(str(int(column) - 1) for column in columns))
    assert value(*position, TABLE) == expected
    assert max(move_values(*position, TABLE).values()) == expected


def test_late_positions_are_solved_as_by_trying_everything() -> None:
    results: set[int] = set()
    for columns in [one["columns"] for one in POSITIONS if len(one["columns"]) == 30]:
        values = move_values(*stones(columns), TABLE)
        assert values == {column: -tried(*stones(f"{columns}{column}")) for column in values}
        results.update(values.values())
    assert results == {-1, 0, 1}


@pytest.mark.parametrize("step", first_quick([79, 19]))
def test_the_shipped_positions_have_their_best_columns(step: int) -> None:
    """Some of every ply; each leaves a choice."""
    assert np.bincount([len(one["columns"]) for one in POSITIONS])[11:].tolist() == [40] * 20
    for one in POSITIONS[::step]:
        values = move_values(*stones(one["columns"]), TABLE)
        best = max(values.values())
        assert one["best"] == [column for column in values if values[column] == best]
        assert len(one["best"]) < len(values)
