"""Love Links: bracelets of links whose keys fit locks, for two to four (RULES.md)."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from linkzoo.core.arguments import string
from linkzoo.core.contract import Chance, Drawing, Facts, Notation
from linkzoo.core.game import FixedOptions, Game
from linkzoo.core.positions import JsonHeader
from linkzoo.games import COMPATIBLE_VERSIONS, VERSIONS
from linkzoo.games.love_links import components, notation
from linkzoo.games.love_links.binding import make_observation, make_rules
from linkzoo.games.love_links.guide import LoveLinksGuide
from linkzoo.games.love_links.links import (
    LINK_SETS,
    MIN_PLAYERS,
    STANDARD,
    LinkSet,
    load_links,
)
from linkzoo.games.love_links.options import EDITIONS, Options
from linkzoo.games.love_links.positions import PositionJson
from linkzoo.games.love_links.state import FIELDS, FIELDS_WITH_DIGEST, sides
from linkzoo.games.love_links.svg import draw_page, draw_svg, draw_tall
from linkzoo.games.love_links.tables import link_tables
from linkzoo.games.love_links.text import draw_text

_NAME = "love_links"
_VERSION = VERSIONS[_NAME]


@cache
def _game_of(name: str, links: LinkSet) -> Game:
    """Returns the game with a set of links, which is compiled in (`binding`)."""
    fixed = {"link_set": name}
    digest = int(links.digest, 16)
    fields = FIELDS
    if digest:
        fields = FIELDS_WITH_DIGEST
    players = (MIN_PLAYERS, links.max_players)
    length = sum(links.copies)
    header = JsonHeader(_NAME, _VERSION, Options, fields, players, length, fixed, digest)
    positions = PositionJson(links, header)
    return Game(
        name=_NAME,
        version=_VERSION,
        compatible_versions=COMPATIBLE_VERSIONS,
        title="Love Links",
        players=players,
        num_actions=components.NUM_ACTIONS,
        fields=fields,
        options=Options,
        editions=EDITIONS,
        rules=make_rules(links),
        observation=make_observation(links),
        notation=Notation(
            action_to_text=notation.action_to_text,
            text_to_action=notation.text_to_action,
            action_parts=notation.action_parts,
            to_dict=positions.to_dict,
            from_dict=positions.from_dict,
            unordered=("hands", "bracelets"),
        ),
        drawing=Drawing(
            text=lambda state, seat=None: draw_text(positions.to_dict(state, seat), links),
            svg=lambda state, seat=None: draw_svg(positions.to_dict(state, seat), links),
            page=lambda state, seat=None: draw_page(positions.to_dict(state, seat), links),
            tall=lambda state, seat=None: draw_tall(positions.to_dict(state, seat), links),
        ),
        facts=Facts(
            typical_length=links.typical_length,
            max_length=length,
            score_scale=100,
            sides=sides,
            summary="Join links whose keys fit the locks, and close bracelets full of gems.",
            minutes=20,
            playout_plies=10,  # five turns
            uct_c=0.7,
        ),
        fixed=FixedOptions(values=fixed, digest=digest, with_options=game_with),
        guide_class=partial(LoveLinksGuide, links),
        chance=Chance(
            pile="supply",
            size="supply_size",
            starts=tuple(link_tables(links).first_link[:-1].tolist()),
        ),
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """Returns the game with the links that the options name; ValueError if there are none."""
    name = string("link_set", options.get("link_set", STANDARD))
    return _game_of(LINK_SETS.full_name(name), load_links(name))


GAME = game_with({})
