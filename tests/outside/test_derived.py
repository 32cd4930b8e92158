"""What a game needn't say: it follows from the rest, as the package's games say it themselves."""

from types import ModuleType
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import draw, notation, observation, rules

from linkzoo import Game, derived
from linkzoo.batch import kernels
from tests.common.play import outcome_of
from tests.common.variants import Variant, few_variants

GAME = connect_four.GAME
FACTS: dict[str, Any] = {
    "name": "connect_four",
    "min_players": 2,
    "max_players": 2,
    "typical_length": 21,
    "max_length": 42,
}


@few_variants
def test_payoffs_follow_from_winners_and_sides(variant: Variant) -> None:
    """Bit for bit those of the package's games, whoever wins."""
    game, players = variant.game, variant.num_players
    key = f"{game.name}_{players}"
    payoffs = derived.payoffs(key, game.sides, game.min_players, game.max_players)
    sides = np.array(game.sides(players))
    state = game.blank(players, variant.options)
    state.seat = -1
    for winners in range(1, 2 ** (max(sides) + 1)):
        state.winners = sum(1 << seat for seat in range(players) if winners >> sides[seat] & 1)
        out, expected = np.empty(players, np.float32), outcome_of(game, state)[0]
        payoffs(state, out)
        if abs(expected.sum()) < 1e-6:  # Linkage has no draws, and nothing to pay for one
            assert out.tobytes() == expected.tobytes()


def test_payoffs_before_the_end() -> None:
    state = GAME.blank()
    GAME.new_game(state, np.uint64(1))
    out = np.ones(2, np.float32)
    GAME.margins(state, out)
    assert not out.any()
    assert kernels(GAME).rules["payoffs"] is GAME.margins


def test_json_names_what_is_wrong() -> None:
    state = GAME.blank()
    GAME.new_game(state, np.uint64(5))
    data = GAME.to_dict(state)
    assert GAME.from_dict(data).tobytes() == state.tobytes()
    seen = GAME.to_dict(state, 0)
    assert GAME.from_dict(seen).seed == 0
    board = data["board"]
    for name, value, complaint in (
        ("game", "linkage", "^game: "),
        ("version", 2, "^version: "),
        ("options", {}, "^options: missing"),
        ("seed", -1, "^seed: "),
        ("num_players", 3, "^num_players: "),
        ("seat", 2, "^seat: "),
        ("seat", None, "^winners: "),
        ("ply", -1, "^ply: "),
        ("winners", [0], "^winners: "),
        ("winners", [1, 1], "^winners: "),
        ("winners", 3, "^winners: "),
        ("board", board[:5], "^board: "),
        ("board", [*board[:5], board[5][:6]], r"^board\[5\]: "),
        ("board", [*board[:5], [*board[5][:6], 2]], r"^board\[5\]\[6\]: 2 is not in -1..1"),
        ("board", [*board[:5], [*board[5][:6], True]], r"^board\[5\]\[6\]: "),
        ("board", [[0] * 7] * 6, "^seat: it is to act if and only if an action is legal"),
    ):
        with pytest.raises(ValueError, match=complaint):
            GAME.from_dict({**data, name: value})
    with pytest.raises(ValueError, match="missing fields"):
        GAME.from_dict({})


@pytest.mark.parametrize("missing", [rules, observation, notation, draw])
def test_what_is_missing_is_named(missing: ModuleType) -> None:
    modules = [module for module in (rules, observation, notation, draw) if module is not missing]
    with pytest.raises(ValueError, match=r"^a game without \w+"):
        Game.of(*modules, **FACTS, chance=False)


def test_a_game_with_chance_says_how_it_is_dealt_anew() -> None:
    with pytest.raises(ValueError, match=r"^a game without redeal \(or chance=False\)$"):
        Game.of(rules, observation, notation, draw, **FACTS)
    hidden = {**FACTS, "hidden": observation.OBSERVATION}
    with pytest.raises(ValueError, match="without reveal, redeal, to_dict, from_dict"):
        Game.of(rules, observation, notation, draw, **hidden)
