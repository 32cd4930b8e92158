"""LINK-O: dominoes on four linked circles, for two to six (RULES.md)."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from linkzoo.core.arguments import string
from linkzoo.core.contract import Chance, Drawing, Facts, Notation
from linkzoo.core.game import FixedOptions, Game
from linkzoo.core.positions import JsonHeader
from linkzoo.games import COMPATIBLE_VERSIONS, VERSIONS
from linkzoo.games.link_o.binding import make_observation, make_rules
from linkzoo.games.link_o.board import BOARDS, STANDARD_BOARD, Board, load_board
from linkzoo.games.link_o.components import CODES, MAX_PLAYERS
from linkzoo.games.link_o.guide import LinkOGuide
from linkzoo.games.link_o.notation import MoveTexts
from linkzoo.games.link_o.options import EDITIONS, MAX_ROUNDS, options_on
from linkzoo.games.link_o.positions import PositionJson
from linkzoo.games.link_o.state import FIELDS, SCORE_SCALE
from linkzoo.games.link_o.svg import draw_page, draw_svg, draw_tall
from linkzoo.games.link_o.text import draw_text

_NAME = "link_o"
_VERSION = VERSIONS[_NAME]
_MIN_PLAYERS = 2


@cache
def _game_on(board_name: str, board: Board) -> Game:
    """Returns the game on a board, which is compiled in (`binding`)."""
    size = len(board.spaces)
    players = (_MIN_PLAYERS, min(MAX_PLAYERS, board.tiles // board.hand))
    max_length = MAX_ROUNDS * size
    options = options_on(board_name, board)
    fixed = {"board": board_name}
    digest = int(board.digest, 16)
    moves = MoveTexts(board)
    header = JsonHeader(_NAME, _VERSION, options, FIELDS, players, max_length, fixed, digest)
    positions = PositionJson(board, header)
    return Game(
        name=_NAME,
        version=_VERSION,
        compatible_versions=COMPATIBLE_VERSIONS,
        title="LINK-O",
        players=players,
        num_actions=CODES * size,
        fields=FIELDS,
        options=options,
        editions=EDITIONS,
        rules=make_rules(board),
        observation=make_observation(board),
        notation=Notation(
            action_to_text=moves.action_to_text,
            text_to_action=moves.text_to_action,
            action_parts=moves.action_parts,
            to_dict=positions.to_dict,
            from_dict=positions.from_dict,
            unordered=("hands",),
        ),
        drawing=Drawing(
            text=lambda state, seat=None: draw_text(positions.view(state, seat), board, seat),
            svg=lambda state, seat=None: draw_svg(positions.view(state, seat), board, seat),
            page=lambda state, seat=None: draw_page(positions.view(state, seat), board, seat),
            tall=lambda state, seat=None: draw_tall(positions.view(state, seat), board, seat),
        ),
        facts=Facts(
            typical_length=board.typical_length,
            max_length=max_length,
            score_scale=SCORE_SCALE,
            open_moves=True,
            summary="Lay tiles in four linked circles, and get rid of yours first.",
            minutes=20,
            playout_options={"target": 0, "redeal_inference": True},  # a round, in likely worlds
            playout_plies=14,
        ),
        fixed=FixedOptions(values=fixed, digest=digest, with_options=game_with),
        guide_class=partial(LinkOGuide, positions),
        chance=Chance(pile="bag", size="bag_size"),
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """Returns the game on the board that the options name; ValueError if there is no such board."""
    name = string("board", options.get("board", STANDARD_BOARD))
    return _game_on(BOARDS.full_name(name), load_board(name))


GAME = game_with({})
