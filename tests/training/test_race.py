"""The race's solvers, against known positions and exhaustive search."""

import itertools
import json
from functools import cache

import numpy as np
import pytest
from lab.race import solver_hex
from lab.race.games import GAMES
from lab.race.positions import SOLVERS
from lab.race.solver_connect_four import COLUMNS, move_values, new_table, stones, value

from tests.driving import first_quick

pytestmark = pytest.mark.slow  # of the lab alone
TABLE = new_table()
Board = frozenset[tuple[int, int]]
POSITIONS = {
    name: [json.loads(line) for line in game.positions.read_text(encoding="utf-8").splitlines()]
    for name, game in GAMES.items()
}


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
    actions = [int(column) - 1 for column in columns]
    assert value(*stones(actions), TABLE) == expected
    assert max(move_values(actions, TABLE).values()) == expected


def test_late_positions_are_solved_as_by_trying_everything() -> None:
    results: set[int] = set()
    late = [row["actions"] for row in POSITIONS["connect_four"] if len(row["actions"]) == 30]
    for actions in late:
        values = move_values(actions, TABLE)
        assert values == {column: -tried(*stones([*actions, column])) for column in values}
        results.update(values.values())
    assert results == {-1, 0, 1}


def chain_wins(board: Board, vertical: bool) -> bool:
    """Whether the stones of `board` reach the far edge, cell by cell."""
    todo = [cell for cell in board if cell[0 if vertical else 1] == 0]
    chain = set(todo)
    while todo:
        row, column = todo.pop()
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
            cell = (row + down, column + right)
            if cell in board and cell not in chain:
                chain.add(cell)
                todo.append(cell)
    return any(cell[0 if vertical else 1] == solver_hex.SIZE - 1 for cell in chain)


@cache
def tried_hex(own: Board, other: Board, vertical: bool) -> int:
    """The value for the seat to move, by trying everything."""
    if chain_wins(other, not vertical):
        return -1
    every = set(itertools.product(range(solver_hex.SIZE), repeat=2))
    cells = every - own - other
    if any(tried_hex(other, own | {cell}, not vertical) == -1 for cell in cells):
        return 1
    return -1


@pytest.mark.nightly  # quick: the shipped positions, and the rules in outside/test_hex.py
def test_late_positions_of_hex_are_solved_as_by_trying_everything() -> None:
    table = solver_hex.new_table()
    results = []
    for row in POSITIONS["hex"][::8]:
        empty = sorted(set(range(solver_hex.CELLS)) - set(row["actions"]))
        actions = (row["actions"] + empty)[:27]
        mover = len(actions) % 2
        stones = [divmod(cell, solver_hex.SIZE) for cell in actions]
        sides = [frozenset(stones[seat::2]) for seat in range(2)]
        if any(chain_wins(sides[seat], seat == 0) for seat in range(2)):
            continue
        for action, expected in solver_hex.move_values(actions, table).items():
            own = sides[mover] | {divmod(action, solver_hex.SIZE)}
            assert expected == -tried_hex(sides[1 - mover], own, mover == 1)
            results.append(expected)
    assert set(results) == {-1, 1}


@pytest.mark.parametrize("step", first_quick([79, 19], slow=0))
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_the_shipped_positions_have_their_best_actions(name: str, step: int) -> None:
    """Some of every ply; each leaves a choice."""
    rows = POSITIONS[name]
    solver = SOLVERS[name]
    table = solver.new_table()
    plies = np.bincount([len(row["actions"]) for row in rows])[solver.plies.start :]
    assert plies.tolist() == [2 * solver.each] * len(solver.plies)
    for row in rows[::step]:
        values = solver.move_values(row["actions"], table)
        best = max(values.values())
        assert row["best"] == [action for action in values if values[action] == best]
        assert len(row["best"]) < len(values)
