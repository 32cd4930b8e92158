"""Hex on 6x6 for linkzoo: the game `hex` if installed, else `hex_6x6:GAME`."""

from hex_6x6 import observation, rules, text
from linkzoo import Drawing, Facts, Game, Notation, Observation, Rules

GAME = Game(
    name="hex",
    version=0,
    title="Hex 6x6",
    players=(2, 2),
    num_actions=rules.CELLS,
    fields=rules.FIELDS,
    rules=Rules(new_game=rules.new_game, legal_actions=rules.legal_actions, apply=rules.apply),
    observation=Observation(
        spec=observation.SPEC,
        observe=observation.observe,
        action_cells=observation.ACTION_CELLS,
        symmetries=observation.symmetries,
    ),
    notation=Notation(action_to_text=text.action_to_text, text_to_action=text.text_to_action),
    drawing=Drawing(text=text.draw),
    facts=Facts(typical_length=27, max_length=rules.CELLS, chance=False),
)
