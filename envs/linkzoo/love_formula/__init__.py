"""Love Formula: drafting couples and perfect dates, for two to four (RULES.md)."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from linkzoo.compiled import bind
from linkzoo.fields import string
from linkzoo.game import Game
from linkzoo.love_formula import (
    appraisal,
    draft,
    effects,
    flaws,
    observation,
    reactions,
    redeal,
    rules,
    scoring,
    table,
    turns,
)
from linkzoo.love_formula.cards import STANDARD, load_cards
from linkzoo.love_formula.draw import draw_svg, draw_text
from linkzoo.love_formula.notation import NAME, VERSION, Notation
from linkzoo.love_formula.options import Options
from linkzoo.love_formula.pieces import MAX_LENGTH, MAX_PLAYERS, tables
from linkzoo.love_formula.position import Reader

_MODULES = (
    table,
    draft,
    reactions,
    effects,
    scoring,
    turns,
    rules,
    redeal,
    observation,
    appraisal,
    flaws,
)


@cache
def _game_of(cards_name: str) -> Game:
    """Love Formula with a table of cards, which is compiled in."""
    cards = load_cards(cards_name)
    names, seen = tables(cards), observation.observation(cards)
    bound = bind(_MODULES, f"{NAME}_{cards.digest}", **names, AT=observation.starts(seen))
    everything: dict[str, Any] = {}
    for space in bound:
        everything |= vars(space)
    compiled = SimpleNamespace(**everything)
    fixed, digest = {"cards": cards_name}, int(cards.digest, 16)
    notation = Notation(cards, fixed, digest, compiled)
    return Game(
        name=NAME,
        title="Love Formula",
        version=VERSION,
        min_players=2,
        max_players=MAX_PLAYERS,
        typical_length=400,
        max_length=MAX_LENGTH,
        state=table.STATE,
        num_actions=int(names["NUM_ACTIONS"]),
        observation=seen,
        options=Options,
        new_game=compiled.new_game,
        legal_actions=compiled.legal_actions,
        apply=compiled.apply,
        observe=compiled.observe,
        payoffs=compiled.payoffs,
        margins=compiled.margins,
        redeal=compiled.redeal,
        action_to_text=notation.moves.action_to_text,
        text_to_action=notation.moves.text_to_action,
        action_parts=notation.moves.action_parts,
        to_dict=notation.to_dict,
        from_dict=Reader(notation, int(names["NUM_ACTIONS"])).from_dict,
        draw_text=lambda state, seat=None: draw_text(notation.to_dict(state, seat), cards, seat),
        draw_svg=lambda state, seat=None: draw_svg(notation.to_dict(state, seat), cards, seat),
        uct_c=1.0,
        hidden=observation.hidden(cards),
        reveal=compiled.reveal,
        appraise=compiled.appraise,
        fixed=fixed,
        digest=digest,
        with_options=game_with,
        fields=(*table.OPTIONS, *table.FIELDS),
        flaw=compiled.flaw,
    )


def game_with(options: Mapping[str, Any]) -> Game:
    """The game with the cards that the options name; ValueError if there is no such table."""
    return _game_of(string("cards", options.get("cards", STANDARD)))


GAME = _game_of(STANDARD)
