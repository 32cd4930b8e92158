"""Love Formula: drafting couples and perfect dates, for two to four (RULES.md)."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from linkzoo.core.arguments import string
from linkzoo.core.contract import Chance, Drawing, Facts, Notation
from linkzoo.core.game import FixedOptions, Game
from linkzoo.core.positions import JsonHeader
from linkzoo.games import COMPATIBLE_VERSIONS, VERSIONS
from linkzoo.games.love_formula.binding import make_observation, make_rules
from linkzoo.games.love_formula.cards import MIN_PLAYERS, STANDARD, TABLES, Cards, load_cards
from linkzoo.games.love_formula.components import MAX_LENGTH
from linkzoo.games.love_formula.guide import LoveFormulaGuide
from linkzoo.games.love_formula.notation import MoveTexts
from linkzoo.games.love_formula.options import EDITIONS, Options
from linkzoo.games.love_formula.positions import PositionJson
from linkzoo.games.love_formula.state import FIELDS
from linkzoo.games.love_formula.svg import draw_page, draw_svg, draw_tall
from linkzoo.games.love_formula.tables import card_tables
from linkzoo.games.love_formula.text import draw_text

_NAME = "love_formula"
_VERSION = VERSIONS[_NAME]


@cache
def _game_of(name: str, cards: Cards) -> Game:
    """Returns the game with a table of cards, which is compiled in (`binding`)."""
    fixed = {"cards": name}
    digest = int(cards.digest, 16)
    players = (MIN_PLAYERS, cards.max_players)
    moves = MoveTexts(cards)
    header = JsonHeader(_NAME, _VERSION, Options, FIELDS, players, MAX_LENGTH, fixed, digest)
    positions = PositionJson(cards, header)
    return Game(
        name=_NAME,
        version=_VERSION,
        compatible_versions=COMPATIBLE_VERSIONS,
        title="Love Formula",
        players=players,
        num_actions=card_tables(cards).num_actions,
        fields=FIELDS,
        options=Options,
        editions=EDITIONS,
        rules=make_rules(cards),
        observation=make_observation(cards),
        notation=Notation(
            action_to_text=moves.action_to_text,
            text_to_action=moves.text_to_action,
            action_parts=moves.action_parts,
            to_dict=positions.to_dict,
            from_dict=positions.from_dict,
            unordered=("hands", "piles", "packs", "taken", "known", "fields"),
        ),
        drawing=Drawing(
            text=lambda state, seat=None: draw_text(positions.view(state, seat), cards, seat),
            svg=lambda state, seat=None: draw_svg(positions.view(state, seat), cards, seat),
            page=lambda state, seat=None: draw_page(positions.view(state, seat), cards, seat),
            tall=lambda state, seat=None: draw_tall(positions.view(state, seat), cards, seat),
        ),
        facts=Facts(
            typical_length=cards.course.typical_length,
            max_length=MAX_LENGTH,
            score_scale=30,
            summary="Draft cards, make couples, give them a perfect date, and keep rivals off.",
            minutes=45,
            playout_plies=60,
        ),
        fixed=FixedOptions(values=fixed, digest=digest, with_options=game_with),
        guide_class=partial(LoveFormulaGuide, cards, positions),
        chance=Chance(pile="deck", size="deck_size"),
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """Returns the game with the cards that the options name; ValueError if there are none."""
    name = string("cards", options.get("cards", STANDARD))
    return _game_of(TABLES.full_name(name), load_cards(name))


GAME = game_with({})
