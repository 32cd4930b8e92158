"""Prints hashes of seeded games, one line per variant.

`python -m tests.common.fingerprint GAMES one` plays the first 100 plies of GAMES games of one
variant per game, hashing the records at each ply and everything else at every eighth. `GAMES all`
plays every variant to the end, `GAMES link_o` those of that game, hashing everything at every ply.
The hashes must not depend on the process, on PYTHONHASHSEED, or on NUMBA_DISABLE_JIT=1.
"""

import hashlib
import json
import sys
from itertools import islice
from typing import Any

import numpy as np

from linkzoo import make_vec
from tests.common.play import (
    choose,
    clone,
    mask_of,
    observation_of,
    outcome_of,
    plies,
)
from tests.common.variants import ALL, ONE, Variant

VARIANTS = {"one": ONE, "all": ALL}
for _variant in ALL:
    VARIANTS.setdefault(_variant.name, []).append(_variant)


def play_games(variant: Variant, games: int, every: int, most: int | None, into: Any) -> None:
    """AEC games: records and, at `every`-th plies, masks, observations, redealt worlds; ends."""
    game = variant.game
    env = variant.env()
    for seed in range(games):
        env.reset(seed=seed)
        for ply, _ in enumerate(islice(plies(env, seed), most)):
            into.update(env.get_state())
            if ply % every:
                continue
            state = game.from_bytes(env.get_state())
            into.update(mask_of(game, state))
            for seat in range(variant.num_players):
                into.update(observation_of(game, state, seat))
            world = clone(state)
            game.determinize(world, int(state.seat), np.uint64(1000 + ply))
            into.update(world.tobytes())
        state = game.from_bytes(env.get_state())
        into.update(state.tobytes())
        into.update(json.dumps(env.to_dict()).encode())
        for array in outcome_of(game, state):
            into.update(array)


def play_vector(variant: Variant, steps: int, into: Any) -> None:
    """A few steps of a small vector environment."""
    vec = make_vec(variant.name, 2, variant.num_players, **variant.options)
    now = vec.reset(seed=5)
    for step in range(steps):
        now = vec.step([choose(mask, i, step) for i, mask in enumerate(now.action_mask)])
        for array in vars(now).values():
            into.update(array)
        into.update(vec.states)


def fingerprints(games: int, which: str) -> dict[str, str]:
    """A hash for each variant: `which` is a key of VARIANTS."""
    digests = {}
    for variant in VARIANTS[which]:
        into = hashlib.sha256()
        every, most = (8, 100) if which == "one" else (1, None)
        play_games(variant, games, every, most, into)
        play_vector(variant, 12, into)
        digests[str(variant)] = into.hexdigest()
    return digests


if __name__ == "__main__":
    for name, value in fingerprints(int(sys.argv[1]), sys.argv[2]).items():
        print(f"{name}: {value}")
