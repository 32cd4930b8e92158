"""Checks of a game's declarations; they raise AssertionError."""

from math import prod

import numpy as np

from linkzoo.core.features import FeatureMap
from linkzoo.core.game import Game
from linkzoo.testing.play import require


def sides(game: Game) -> None:
    """Checks that every seat has a side, and that sides are numbered from 0."""
    for players in range(game.min_players, game.max_players + 1):
        found = game.facts.sides(players)
        require(len(found) == players, f"{found} of {players} players")
        require(set(found) == set(range(max(found) + 1)), f"{found} leave a number out")


def action_cells(game: Game) -> None:
    """Checks that actions with a cell have distinct places on valid planes."""
    places, graph = game.observation.action_cells, game.observation.graph
    if places is None:
        return
    shape = places.shape
    require(shape[:1] == (game.num_actions,) and len(shape) < 3, f"the shape is {shape}")
    used = places[places >= 0]
    require(len(np.unique(used)) == len(used), "two actions lie in one place")
    cells = prod(game.observation.spec.shape[1:]) if graph is None else len(graph().cells)
    require((places < cells * game.num_actions).all(), "there are more planes than actions")


def graph(game: Game) -> None:
    """Checks that every index in the graph's tables is in range."""
    if game.observation.graph is None:
        return
    tables, spec = game.observation.graph(), game.observation.spec
    cells, groups = len(tables.cells), len(tables.groups)
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
