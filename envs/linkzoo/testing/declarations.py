"""Checks of a game's declarations; they raise AssertionError."""

from math import prod

import numpy as np

from linkzoo.core.features import FeatureMap
from linkzoo.core.game import Game
from linkzoo.testing.play import require


def sides(game: Game) -> None:
    """Checks that every seat has a side, and that sides are numbered from 0."""
    for players in range(game.min_players, game.max_players + 1):
        numbers = game.facts.sides(players)
        require(len(numbers) == players, f"{numbers} of {players} players")
        require(set(numbers) == set(range(max(numbers) + 1)), f"{numbers} leave a number out")


def action_cells(game: Game) -> None:
    """Checks that actions with a cell have distinct cells on valid planes."""
    action_cells = game.observation.action_cells
    if action_cells is None:
        return
    shape = action_cells.shape
    require(shape[:1] == (game.num_actions,) and len(shape) < 3, f"the shape is {shape}")
    used = action_cells[action_cells >= 0]
    require(len(np.unique(used)) == len(used), "two actions lie in one place")
    count = prod(game.observation.spec.shape[1:])
    if game.observation.graph is not None:
        count = len(game.observation.graph().cells)
    require((action_cells < count * game.num_actions).all(), "there are more planes than actions")


def graph(game: Game) -> None:
    """Checks that every index in the graph's tables is in range."""
    if game.observation.graph is None:
        return
    tables = game.observation.graph()
    spec = game.observation.spec
    cells = len(tables.cells)
    groups = len(tables.groups)
    for name, table, shape, low, end in (
        ("cells", tables.cells, (cells, -1), -1, spec.size),
        ("neighbours", tables.neighbours, (cells, -1), -1, cells),
        ("group", tables.group, (cells,), 0, groups),
        ("groups", tables.groups, (groups, -1), -1, spec.size),
    ):
        require(table.dtype.kind == "i", f"{name} has numbers of {table.dtype}")
        same = table.ndim == len(shape) and len(table) == shape[0]
        require(same, f"{name} has shape {table.shape}")
        inside = (table >= low).all() and (table < end).all()
        require(inside, f"{name} has numbers outside {low}..{end - 1}")
    require(set(tables.group.tolist()) == set(range(groups)), "a group has no cells")
    for elements in (tables.cells, tables.groups):
        FeatureMap(spec).index(elements)  # ValueError for elements that networks can't read


CHECKS = (sides, action_cells, graph)
