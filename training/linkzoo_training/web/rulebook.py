"""A game's rules for the page, with positions of a random game as pictures."""

from functools import cache

import numpy as np

from linkzoo import Game, get_game
from linkzoo.core.kernels import kernels, random_legal
from linkzoo.core.state import Record
from linkzoo.engine.rng import STREAM_ACTION
from linkzoo_training.web.views import Json, picture

_SEED = np.uint64(1)
_SHOWN = 0.4  # the part of the example game after which a move is shown


@cache
def rulebook(name: str) -> Json:
    """Returns a game's title, its rules in short and in full, as Markdown, and its pictures."""
    game = get_game(name)
    states, actions = _example(game)
    shown = int(_SHOWN * len(actions))
    before, after, end = states[shown], states[shown + 1], states[-1]
    seat, last = int(before.seat), actions[shown]
    return {
        "title": game.title,
        "short": game.words.rules_text(),
        "full": game.words.rules_text(full=True),
        "pictures": [
            _picture(game, states[0], int(states[0].seat), game.words.prompt(states[0])),
            {
                **_picture(game, after, seat, game.words.event(before, last, seat)),
                "touched": game.words.touched(before, last, seat),
            },
            _picture(game, end, None, game.words.prompt(end)),
        ],
    }


def _picture(game: Game, state: Record, seat: int | None, words: str) -> Json:
    return {"svg": picture(game, state, seat, tall=True), "words": words, "touched": ()}


def _example(game: Game) -> tuple[list[Record], list[int]]:
    """Returns the positions and actions of a random game."""
    states = np.array([game.blank(game.min_players, {})], game.state)
    mask = np.zeros((1, game.num_actions), np.int8)
    kernels(game).begin(states, np.array([_SEED]), mask)
    outcome = np.zeros((2, game.min_players), np.float32)
    positions = [states.copy()[0]]
    actions: list[int] = []
    while states[0].seat >= 0:
        actions.append(int(random_legal(mask[0], _SEED, STREAM_ACTION, len(actions))))
        kernels(game).play_one(states, actions[-1], mask[0], *outcome)
        positions.append(states.copy()[0])
    return positions, actions
