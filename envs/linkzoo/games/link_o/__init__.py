"""LINK-O: dominoes on four linked circles, for two to six (RULES.md)."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkzoo.engine.compiled import bind
from linkzoo.core.arguments import string
from linkzoo.core.game import Game
from linkzoo.games.link_o import observation, options, redeal, rules, table
from linkzoo.games.link_o.board import load_board
from linkzoo.games.link_o.draw import draw_svg, draw_text
from linkzoo.games.link_o.graph import graph
from linkzoo.games.link_o.notation import NAME, VERSION, Notation
from linkzoo.games.link_o.options import BOARD, MAX_ROUNDS
from linkzoo.games.link_o.pieces import CODES, MAX_PLAYERS, layout
from linkzoo.games.link_o.symmetry import symmetries


@cache
def _game_on(board_name: str) -> Game:
    """LINK-O on a board, which is compiled in."""
    board = load_board(board_name)
    tables, seen = layout(board), observation.observation(board)
    placing, playing, dealing, seeing = bind(
        (table, rules, redeal, observation),
        f"link_o_{board.digest}",
        BOARD=tables,
        AT=observation.starts(seen),
    )
    fixed, digest = {"board": board_name}, int(board.digest, 16)
    notation = Notation(board, fixed, digest, SimpleNamespace(**vars(placing) | vars(playing)))
    return Game.of(
        options,
        placing,
        playing,
        dealing,
        seeing,
        notation,
        title="LINK-O",
        name=NAME,
        version=VERSION,
        min_players=2,
        max_players=MAX_PLAYERS,
        typical_length=163,
        max_length=MAX_ROUNDS * tables.size,
        num_actions=CODES * tables.size,
        observation=seen,
        action_cells=np.arange(CODES * tables.size).reshape(CODES, -1).T.ravel(),
        graph=lambda: graph(board, seen),
        draw_text=lambda state, seat=None: draw_text(notation.to_dict(state, seat), board, seat),
        draw_svg=lambda state, seat=None: draw_svg(notation.to_dict(state, seat), board, seat),
        symmetries=lambda: symmetries(board, seen, observation.HIDDEN),
        fixed=fixed,
        digest=digest,
        with_options=game_with,
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """The game on the board that the options name; ValueError if there is no such board."""
    return _game_on(string("board", options.get("board", BOARD)))


GAME = _game_on(BOARD)
