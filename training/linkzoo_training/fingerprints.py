"""What a policy relies on, as hashes: of the rules, and of the observation."""

import hashlib
import json
from functools import cache

import numpy as np

from linkzoo import Game
from linkzoo.core.kernels import kernels

_GAMES = 32  # of every number of players, side by side: too few for several threads


@cache
def fingerprints(game: Game) -> dict[str, str]:
    """SHA-256 of the rules and of the observation, as they show along fixed random games.

    There are games of every number of players, each played to its end. `rules` are the seat and its
    legal actions at every ply, and the winners, payoffs and margins of every game; `observation` is
    what the seat sees at every ply. A change of behaviour changes them, a change of code alone
    doesn't.
    """
    rules, seen = hashlib.sha256(), hashlib.sha256()
    seen.update(json.dumps([vars(piece) for piece in game.observation.pieces]).encode())
    kernel, spec = kernels(game), game.observation
    for players in range(game.min_players, game.max_players + 1):
        states = np.zeros(_GAMES, game.state)
        states[:] = game.blank(players, game.fixed)
        seeds = np.arange(_GAMES, dtype=np.uint64)
        masks = np.empty((_GAMES, game.num_actions), np.int8)
        kernel.begin(states, seeds, masks)
        ply = 0
        while len(states):
            seats, observed = states["seat"].copy(), np.empty((len(states), spec.size), spec.dtype)
            kernel.observe(states, seats, observed)
            rules.update(seats.tobytes() + masks.tobytes())
            seen.update(observed.tobytes())
            actions = np.empty(len(states), np.int64)
            kernel.random_actions(masks, seeds, np.int64(ply), actions)
            kernel.play(states, actions, masks)
            ply += 1
            over = states["seat"] < 0
            ends = states[over]
            payoff = np.zeros((len(ends), players), np.float32)
            margin = np.zeros_like(payoff)
            kernel.outcome(ends, payoff, margin)
            rules.update(ends["winners"].tobytes() + payoff.tobytes() + margin.tobytes())
            states, masks, seeds = states[~over], masks[~over], seeds[~over]
    return {"rules": rules.hexdigest(), "observation": seen.hexdigest()}
