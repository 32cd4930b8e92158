"""F16: a redealt world depends on what the seat can see, and on the seed, not on what is hidden."""

import numpy as np

from tests.common.mutants import positions
from tests.common.variants import Variant, every_variant


@every_variant
def test_worlds_that_look_alike_are_dealt_alike(variant: Variant) -> None:
    """Redealing a redealt world gives, bit for bit, what redealing the first one gives."""
    game = variant.game
    for data in positions(variant, 11, 12):
        for seat in range(variant.num_players):
            once, twice = (np.frombuffer(bytearray(data), game.state)[0] for _ in range(2))
            game.redeal(twice, seat, np.uint64(1))
            game.redeal(once, seat, np.uint64(2))
            game.redeal(twice, seat, np.uint64(2))
            assert twice.tobytes() == once.tobytes()
