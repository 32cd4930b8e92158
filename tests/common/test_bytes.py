"""Positions as bytes: the bounds of each field. Damaged bytes: tests/fuzz/test_positions.py."""

import numpy as np
import pytest

from tests.common.play import spread_positions
from tests.common.variants import Variant, every_size, every_variant
from tests.driving import allowed_players


@every_size
def test_every_field_at_its_extremes(variant: Variant) -> None:
    """A number outside a field's declared bounds is refused by name, and nothing changes."""
    env, game = variant.env(), variant.game
    env.reset(seed=1)
    before = env.get_state()
    for field in game.fields:
        info = np.iinfo(np.dtype(field.dtype))
        for value, bound in ((info.min, field.low), (info.max, field.high)):
            if bound is None or bound == value:
                continue
            state = np.frombuffer(bytearray(before), game.state)
            state[field.name].reshape(-1)[-1] = value
            with pytest.raises(ValueError, match=f"^{field.name}: {value} is not in"):
                env.set_state(state.tobytes())
            with pytest.raises(ValueError, match=f"^{field.name}: {value} is not in"):
                env.reset(options={"state": state.tobytes()})
            assert env.get_state() == before


@every_size
def test_the_header_is_checked(variant: Variant) -> None:
    """Wrong seats, players and plies are refused, and winners before the end."""
    env = variant.env()
    env.reset(seed=1)
    before = env.get_state()
    for name, value, wrong in (
        ("num_players", 99, f"99 is not {allowed_players(variant.game)}$"),
        ("seat", 99, "99 is not in"),
        ("ply", -1, "-1 is not in"),
        ("winners", 2**32 - 1, "4294967295 is not in"),
        ("winners", 1, "somebody has won, but the game goes on"),
    ):
        state = np.frombuffer(bytearray(before), env.game.state)
        state[name] = value
        with pytest.raises(ValueError, match=f"^{name}: {wrong}"):
            env.set_state(state.tobytes())
        assert env.get_state() == before


@every_variant
def test_what_the_rules_make_lies_in_the_bounds(variant: Variant) -> None:
    """Every field of a game declares its bounds, and real positions are never refused."""
    game = variant.game
    declared = {field.name for field in game.fields}
    undeclared = set(game.state.names or ()) - declared
    assert undeclared == {
        *("seed", "winners", "ply", "seat", "num_players", "skip_forced"),
        *({"_padding"} & undeclared),
    }
    for data in spread_positions(variant, 3, 8):
        assert game.from_bytes(data).tobytes() == data
        with pytest.raises(ValueError, match="bytes"):
            game.from_bytes(data[:-1])
