"""Love Links: bracelets of links whose keys fit locks, for two to four (RULES.md)."""

from linkzoo.core.game import Game
from linkzoo.games.love_links import draw, notation, observation, options, pieces, rules, table

GAME = Game.of(
    options,
    pieces,
    table,
    rules,
    observation,
    notation,
    draw,
    min_players=2,
    max_players=pieces.MAX_PLAYERS,
    typical_length=89,
    max_length=pieces.TOTAL,
    score_scale=100,
    uct_c=0.7,
)
