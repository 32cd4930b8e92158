"""Connect Four for linkzoo: the game `connect_four` if installed, else `connect_four:GAME`."""

from connect_four import observation, rules, text
from linkzoo import Drawing, Facts, Game, Notation, Observation, Rules

GAME = Game(
    name="connect_four",
    version=0,
    title="Connect Four",
    players=(2, 2),
    num_actions=rules.COLUMNS,
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
    facts=Facts(typical_length=21, max_length=rules.ROWS * rules.COLUMNS, chance=False),
)
