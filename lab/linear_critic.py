"""The critic of a linear scorer's playouts: `python lab/linear_critic.py link_o`.

The scorer plays games by the options for playouts. A ridge regression predicts what a game brings
to the seat to act (payoff and score margin, weighed as in playouts) from the features of its
action: the same features and context as the scorer's, in a file of the same format.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, game_names, get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.linear import LinearAgent, save_scorer, shipped_file
from linkzoo_training.agents.playing import NOBODY, play_games
from linkzoo_training.agents.playouts import SOONER_MARGIN_WEIGHT
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.linear import action_spec

_PENALTY = 1e-5  # of terms of unit length: a square sum of 1


def played(game: Game, players: int, games: int, seed: int) -> tuple[NDArray[np.int8], ...]:
    """Returns features int8[M, K] of the scorer's actions, and their results, float32[M]."""
    seeds = random_u64s(seed, STREAM_ACTION, np.arange(games), players)
    states = np.repeat(game.blank(players, dict(game.facts.playout_options)), games)
    masks, plies = np.empty((games, game.num_actions), np.int8), np.zeros(games, np.int64)
    kernels(game).reset_rows(states, masks, seeds, seeds, plies)
    size, features, rows, seats = action_spec(game).size, [], [], []
    observe_actions = kernels(game).observe_actions
    assert observe_actions is not None
    nobody = np.zeros(games, np.int64)
    for actions in play_games(
        game, states, [LinearAgent()], lambda _: nobody, lambda at: seeds[at]
    ):
        at = np.flatnonzero(actions != NOBODY)
        masks = np.zeros((len(at), game.num_actions), np.int8)
        masks[np.arange(len(at)), actions[at]] = 1
        found = np.empty((len(at), 1 + size), np.int16)
        observe_actions(states[at], states[at], masks, found)
        features.append(found[:, 1:].astype(np.int8))
        rows.append(at)
        seats.append(states["seat"][at])
    payoff, margin = np.empty((2, games, players), np.float32)
    kernels(game).outcome(states, payoff, margin)
    result = payoff + SOONER_MARGIN_WEIGHT * margin
    return np.concatenate(features), result[np.concatenate(rows), np.concatenate(seats)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Fits what a linear scorer's playouts end with")
    parser.add_argument("game", choices=game_names())
    parser.add_argument("--games", type=int, default=8000, help="of each number of players")
    parser.add_argument("--seed", type=int, default=4806)
    arguments = parser.parse_args()
    game = get_game(arguments.game)
    context, size = context_of(action_spec(game)), action_spec(game).size
    width = size * (1 + len(context))
    square, product = np.zeros((width, width)), np.zeros(width)
    for players in range(game.min_players, game.max_players + 1):
        features, results = played(game, players, arguments.games, arguments.seed)
        for part in np.array_split(np.arange(len(features)), 1 + len(features) // 50_000):
            x = features[part].astype(np.float32)
            terms = np.concatenate([x, *(x * x[:, [k]] for k in context)], 1)
            square += terms.T @ terms
            product += terms.T @ results[part]
        print(f"{players} players: {len(features)} decisions", flush=True)
    scale = np.sqrt(np.diag(square)) + 1e-9
    weights = np.linalg.solve(
        square / np.outer(scale, scale) + _PENALTY * np.eye(width), product / scale
    )
    save_scorer(
        game,
        (weights / scale).reshape(-1, size).T.astype(np.float32),
        shipped_file(game, "critic"),
    )


if __name__ == "__main__":
    main()
