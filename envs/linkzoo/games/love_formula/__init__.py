"""Love Formula: drafting couples and perfect dates, for two to four (RULES.md)."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from linkzoo.core.arguments import string
from linkzoo.core.contract import Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.game import FixedOptions, Game
from linkzoo.core.positions import JsonHeader
from linkzoo.engine.compiled import rebind
from linkzoo.games.love_formula import (
    action_features,
    determinize,
    heuristic,
    observation,
    tables,
    validation,
)
from linkzoo.games.love_formula.action_features import outcome, spec, terms, traits
from linkzoo.games.love_formula.cards import STANDARD, Cards, full_name, load_cards
from linkzoo.games.love_formula.components import MAX_LENGTH, MAX_PLAYERS
from linkzoo.games.love_formula.guide import LoveFormulaGuide
from linkzoo.games.love_formula.notation import Moves
from linkzoo.games.love_formula.options import Options
from linkzoo.games.love_formula.positions import Positions
from linkzoo.games.love_formula.rules import (
    course,
    draft,
    effects,
    fields,
    legal,
    piles,
    reactions,
    resolution,
    scoring,
    targets,
    turns,
)
from linkzoo.games.love_formula.state import FIELDS, STATE
from linkzoo.games.love_formula.svg import draw_svg, draw_tall
from linkzoo.games.love_formula.text import draw_text
from linkzoo.games.love_formula.validation import decision, frames, stages, zones

NAME, VERSION, PLAYERS = "love_formula", 1, (2, MAX_PLAYERS)
# The modules of compiled functions, which are made for a table of cards.
_RULES = (course, draft, effects, fields, legal, piles, reactions, resolution, scoring, targets)
_FEATURES = (action_features, outcome, spec, terms, traits)
_COMPILED = (*_RULES, *_FEATURES, turns, determinize, heuristic, observation, tables)
_CHECKS = (validation, decision, frames, stages, zones)


@cache
def _game_of(name: str, cards: Cards) -> Game:
    """Love Formula with a table of cards, which is compiled in."""
    constants = {}
    if name != STANDARD:
        constants = tables.constants(cards) | observation.constants(cards)
        constants |= traits.constants(cards)
    bound = rebind((*_COMPILED, *_CHECKS), constants)
    fixed = FixedOptions(
        values={"cards": name}, digest=int(cards.digest, 16), with_options=game_with
    )
    header = JsonHeader(
        NAME, VERSION, Options, STATE, PLAYERS, MAX_LENGTH, fixed.values, fixed.digest
    )
    moves = Moves(cards)
    positions = Positions(moves, header, bound)
    to_dict = positions.to_dict
    return Game(
        name=NAME,
        version=VERSION,
        title="Love Formula",
        players=PLAYERS,
        num_actions=int(tables.constants(cards)["NUM_ACTIONS"]),
        fields=FIELDS,
        options=Options,
        rules=Rules(
            new_game=bound(course.new_game),
            legal_actions=bound(legal.legal_actions),
            apply=bound(course.apply),
            scores=bound(scoring.scores),
            determinize=bound(determinize.determinize),
            reshuffle=bound(determinize.reshuffle),
            heuristic=bound(heuristic.heuristic),
            validate=bound(validation.validate),
        ),
        observation=Observation(
            spec=observation.make_spec(cards),
            observe=bound(observation.observe),
            privileged_spec=observation.make_privileged_spec(cards),
            reveal=bound(observation.reveal),
            action_spec=action_features.ACTION_SPEC,
            observe_action=bound(action_features.action_features),
        ),
        notation=Notation(
            action_to_text=moves.action_to_text,
            text_to_action=moves.text_to_action,
            action_parts=moves.action_parts,
            to_dict=to_dict,
            from_dict=positions.from_dict,
            unordered=("hands", "piles", "packs", "taken", "known", "fields"),
        ),
        drawing=Drawing(
            text=lambda state, seat=None: draw_text(to_dict(state, seat), cards, seat),
            svg=lambda state, seat=None: draw_svg(to_dict(state, seat), cards, seat),
            tall=lambda state, seat=None: draw_tall(to_dict(state, seat), cards, seat),
        ),
        facts=Facts(typical_length=400, max_length=MAX_LENGTH, score_scale=30),
        fixed=fixed,
        guide_class=partial(LoveFormulaGuide, cards),
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """Returns the game with the cards that the options name; ValueError if there are none."""
    name = string("cards", options.get("cards", STANDARD))
    return _game_of(full_name(name), load_cards(name))


GAME = game_with({})
