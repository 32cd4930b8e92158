"""The board as a graph: the features of spaces and circles, and the neighbours."""

import numpy as np
import pytest

from linkzoo.games.link_o.board import BOARDS, load_board
from linkzoo.games.link_o.components import CODES, KINDS
from tests.link_o.helpers import game_of


@pytest.mark.parametrize("name", BOARDS.names())
def test_every_space_and_circle_is_told_of_by_its_own_numbers(name: str) -> None:
    game, board = game_of(name), load_board(name)
    assert game.observation.graph is not None
    assert game.observation.action_cells is not None
    graph, spec = game.observation.graph(), game.observation.spec
    part = {p.name: spec.view(np.arange(spec.size), p.name) for p in spec.parts}
    for i, space in enumerate(board.spaces):
        own = [part[what][..., i].ravel() for what in ("occupied", "linko", "placed_by")]
        own += [part[what][:, i] for what in ("left_shows", "right_shows")]
        if space.partner is not None:  # R12
            number = board.connectors.index(i)
            own += [part["constraint"][:, number], part["blocked"][number : number + 1]]
        assert [element for element in graph.cells[i] if element >= 0] == np.hstack(own).tolist()
        partner = -1 if space.partner is None else space.partner
        assert graph.neighbours[i].tolist() == [space.prev, space.next, partner]
        assert graph.group[i] == space.circle
        on_it = game.observation.action_cells[CODES * i : CODES * (i + 1)]
        assert (on_it == np.arange(CODES) * len(board.spaces) + i).all()
    assert len(graph.groups) == len(board.colours)
    for circle in range(len(board.colours)):
        types = slice(KINDS * circle, KINDS * (circle + 1))
        own = [part[what][types] for what in ("hand", "unseen")]
        own += [part["lacks"][:, types].ravel()]
        assert graph.groups[circle].tolist() == np.hstack(own).tolist()
