"""Love Links: bracelets of links whose keys fit locks, for two to four (RULES.md)."""

from linkzoo.game import Game
from linkzoo.love_links import draw, notation, observation, rules, table
from linkzoo.love_links.options import Options
from linkzoo.love_links.pieces import NUM_ACTIONS, TOTAL

GAME = Game(
    name=notation.NAME,
    title="Love Links",
    version=notation.VERSION,
    min_players=2,
    max_players=4,
    typical_length=89,
    max_length=TOTAL,
    state=table.STATE,
    num_actions=NUM_ACTIONS,
    observation=observation.OBSERVATION,
    options=Options,
    new_game=rules.new_game,
    legal_actions=rules.legal_actions,
    apply=rules.apply,
    observe=observation.observe,
    payoffs=rules.payoffs,
    margins=rules.margins,
    redeal=rules.redeal,
    action_to_text=notation.action_to_text,
    text_to_action=notation.text_to_action,
    action_parts=notation.action_parts,
    to_dict=notation.to_dict,
    from_dict=notation.from_dict,
    draw_text=draw.draw_text,
    draw_svg=draw.draw_svg,
    uct_c=0.7,
    sides=table.sides,
    fields=(*table.OPTIONS, *table.FIELDS),
    flaw=rules.flaw,
)
