"""Connect Four for linkzoo: the game `connect_four` if installed, else `connect_four:GAME`."""

from connect_four import draw, notation, observation, rules
from linkzoo import Game

GAME = Game.of(
    rules,
    observation,
    notation,
    draw,
    name="connect_four",
    min_players=2,
    max_players=2,
    typical_length=21,
    max_length=rules.ROWS * rules.COLUMNS,
    chance=False,
)
