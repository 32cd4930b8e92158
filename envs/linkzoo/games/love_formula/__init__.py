"""Love Formula: drafting couples and perfect dates, for two to four (RULES.md)."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from linkzoo.engine.compiled import bind
from linkzoo.core.arguments import string
from linkzoo.core.game import Game
from linkzoo.games.love_formula import observation, options
from linkzoo.games.love_formula.cards import STANDARD, load_cards
from linkzoo.games.love_formula.drawing.draw import draw_svg, draw_text
from linkzoo.games.love_formula.pieces import MAX_LENGTH, MAX_PLAYERS, tables
from linkzoo.games.love_formula.rules import MODULES
from linkzoo.games.love_formula.text.notation import NAME, VERSION, Notation
from linkzoo.games.love_formula.text.position import Reader


@cache
def _game_of(cards_name: str) -> Game:
    """Love Formula with a table of cards, which is compiled in."""
    cards = load_cards(cards_name)
    names, seen = tables(cards), observation.observation(cards)
    bound = bind(
        (*MODULES, observation), f"{NAME}_{cards.digest}", **names, AT=observation.starts(seen)
    )
    everything: dict[str, Any] = {}
    for space in bound:
        everything |= vars(space)
    compiled = SimpleNamespace(**everything)
    fixed, digest = {"cards": cards_name}, int(cards.digest, 16)
    notation = Notation(cards, fixed, digest, compiled)
    return Game.of(
        options,
        compiled,
        notation.moves,
        notation,
        Reader(notation, int(names["NUM_ACTIONS"])),
        name=NAME,
        version=VERSION,
        min_players=2,
        max_players=MAX_PLAYERS,
        typical_length=400,
        max_length=MAX_LENGTH,
        num_actions=int(names["NUM_ACTIONS"]),
        observation=seen,
        draw_text=lambda state, seat=None: draw_text(notation.to_dict(state, seat), cards, seat),
        draw_svg=lambda state, seat=None: draw_svg(notation.to_dict(state, seat), cards, seat),
        hidden=observation.hidden(cards),
        fixed=fixed,
        digest=digest,
        with_options=game_with,
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """The game with the cards that the options name; ValueError if there is no such table."""
    return _game_of(string("cards", options.get("cards", STANDARD)))


GAME = _game_of(STANDARD)
