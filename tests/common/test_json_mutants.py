"""Positions as JSON: those that `from_dict` accepts can be played to their end."""

import json

import numpy as np

from tests.common.mutants import damaged_json, positions, try_json
from tests.common.variants import Variant, few_variants


@few_variants
def test_damaged_json(variant: Variant) -> None:
    """One value changed, moved, dropped, doubled, or taken from another position of the game."""
    env, rng = variant.env(), np.random.default_rng(23)
    env.reset(seed=1)
    states = positions(variant, 7, 5)
    found = [env.game.to_dict(env.game.from_bytes(state)) for state in states]
    refused = 0
    for index, data in enumerate(found):
        for number in range(8):
            mutant = damaged_json(data, found[index - 1], rng)
            if json.dumps(mutant) != json.dumps(data):
                refused += not try_json(env, mutant, number)
    assert refused > 10
