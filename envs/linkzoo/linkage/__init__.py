"""Linkage, by Ethan Larson: dominoes of four colours, More against Fewer groups (RULES.md)."""

from linkzoo.game import Game
from linkzoo.linkage import draw, notation, observation, rules
from linkzoo.linkage.options import Options
from linkzoo.linkage.pieces import ACTION_CELLS, MAX_PIECES, NUM_ACTIONS
from linkzoo.linkage.symmetry import symmetries

GAME = Game(
    name=notation.NAME,
    title="Linkage",
    version=notation.VERSION,
    min_players=2,
    max_players=2,
    typical_length=21,
    max_length=MAX_PIECES + 2,
    state=rules.STATE,
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
    action_cells=ACTION_CELLS,
    symmetries=symmetries,
    seat_names=("More", "Fewer"),
    role_options=("free_hole",),
    uct_c=0.35,
    chance=False,
    fields=(*rules.OPTIONS, *rules.FIELDS),
    flaw=rules.flaw,
)
