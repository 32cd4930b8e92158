"""A determinized world depends on the seat's view and the seed, not on hidden information."""

import numpy as np

from tests.common.play import spread_positions
from tests.common.variants import Variant, every_variant


@every_variant
def test_worlds_that_look_alike_are_dealt_alike(variant: Variant) -> None:
    """Redealing a redealt world gives the same bits as redealing the first world."""
    game = variant.game
    for data in spread_positions(variant, 11, 12):
        for seat in range(variant.num_players):
            once, twice = (np.frombuffer(bytearray(data), game.state)[0] for _ in range(2))
            game.determinize(twice, seat, np.uint64(1))
            game.determinize(once, seat, np.uint64(2))
            game.determinize(twice, seat, np.uint64(2))
            assert twice.tobytes() == once.tobytes()
