"""Hashes of the rules and of the observation that a policy was trained with."""

import hashlib
import json
from functools import cache

import numpy as np

from linkzoo import Game
from linkzoo.core.kernels import kernels

_GAMES = 32  # per number of players, side by side: too few for several threads


@cache
def fingerprints(game: Game) -> dict[str, str]:
    """Returns SHA-256 hashes of the rules and the observation along fixed random games.

    Games with every number of players are played to the end. `rules` covers the seat to act and its
    legal actions at every ply, and the winners, payoffs and score margins of every game;
    `observation` covers the observations at every ply. Hashes change with behaviour, not with code.
    """
    spec = game.observation.spec
    rules_hash = hashlib.sha256()
    observation_hash = hashlib.sha256()
    observation_hash.update(json.dumps([vars(part) for part in spec.parts]).encode())
    kernel = kernels(game)
    for players in range(game.min_players, game.max_players + 1):
        states = np.zeros(_GAMES, game.state)
        states[:] = game.blank(players, game.fixed.values)
        seeds = np.arange(_GAMES, dtype=np.uint64)
        masks = np.empty((_GAMES, game.num_actions), np.int8)
        kernel.begin(states, seeds, masks)
        ply = 0
        while len(states):
            seats = states["seat"].copy()
            observations = np.empty((len(states), spec.size), spec.dtype)
            kernel.observe(states, seats, observations)
            rules_hash.update(seats.tobytes() + masks.tobytes())
            observation_hash.update(observations.tobytes())
            actions = np.empty(len(states), np.int64)
            kernel.random_actions(masks, seeds, np.array([ply]), actions)
            kernel.play(states, actions, masks)
            ply += 1
            over = states["seat"] < 0
            ends = states[over]
            payoff, margin = np.zeros((2, len(ends), players), np.float32)
            kernel.outcome(ends, payoff, margin)
            rules_hash.update(ends["winners"].tobytes() + payoff.tobytes() + margin.tobytes())
            states = states[~over]
            masks = masks[~over]
            seeds = seeds[~over]
    return {"rules": rules_hash.hexdigest(), "observation": observation_hash.hexdigest()}
