"""Leduc hold'em for linkzoo: the game `leduc` if installed, else `leduc:GAME`."""

from leduc import observation, rules, text
from linkzoo import Chance, Drawing, Facts, Game, Notation, Observation, Rules

GAME = Game(
    name="leduc",
    version=0,
    title="Leduc hold'em",
    players=(2, rules.MAX_PLAYERS),
    num_actions=3,
    fields=rules.FIELDS,
    rules=Rules(
        new_game=rules.new_game,
        legal_actions=rules.legal_actions,
        apply=rules.apply,
        payoffs=rules.payoffs,
        determinize=rules.determinize,
    ),
    observation=Observation(
        spec=observation.SPEC,
        observe=observation.observe,
        privileged_spec=observation.HIDDEN,
        reveal=observation.reveal,
    ),
    notation=Notation(action_to_text=text.action_to_text, text_to_action=text.text_to_action),
    drawing=Drawing(text=text.draw),
    chance=Chance(),
    facts=Facts(typical_length=6, max_length=2 * rules.MOVES, open_moves=True),
)
