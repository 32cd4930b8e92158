"""Linkage, by Ethan Larson: dominoes of four colours, More against Fewer groups (RULES.md)."""

from linkzoo.core.game import Game
from linkzoo.games.linkage import (
    draw,
    notation,
    observation,
    options,
    pieces,
    rules,
    solver,
    symmetry,
)

GAME = Game.of(
    options,
    pieces,
    rules,
    observation,
    notation,
    draw,
    symmetry,
    min_players=2,
    max_players=2,
    typical_length=21,
    score_scale=25,
    seat_names=("More", "Fewer"),
    role_options=("free_hole",),
    uct_c=0.35,
    chance=False,
    solver=solver,
)
