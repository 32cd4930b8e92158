"""What a game needn't say: it follows from the rest, as the package's games say it themselves."""

from types import ModuleType
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import draw, notation, observation, rules

from linkzoo import Game
from linkzoo.core.kernels import kernels
from linkzoo.testing.play import positions
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
    """(1/w if it won else 0) - 1/n for a side, scaled to 1 for a sole winner, whoever wins."""
    game, players = variant.game, variant.num_players
    sides = np.array(game.sides(players))
    count = max(sides) + 1
    state = game.blank(players, variant.options)
    state.seat = -1
    for winners in range(1, 2**count):
        state.winners = sum(1 << seat for seat in range(players) if winners >> sides[seat] & 1)
        won = winners.bit_count()
        paid = [(winners >> side & 1) / won - 1 / count for side in sides]
        scaled = np.array(paid) * count / (count - 1)
        np.testing.assert_allclose(outcome_of(game, state)[0], scaled, atol=1e-6)


@few_variants
def test_margins_follow_from_scores_and_sides(variant: Variant) -> None:
    """Own score - mean of the other sides', over the rules' scale; bit for bit a quotient."""
    game, players = variant.game, variant.num_players
    sides, scores = game.sides(players), np.zeros(players, np.float32)
    assert game.scores is not None
    for state in positions(game, players, variant.options, 3)[::9]:
        game.scores(state, scores)
        by_side = {side: int(score) for side, score in zip(sides, scores, strict=True)}
        others = len(by_side) - 1
        expected = [
            np.float32(by_side[side] * (others + 1) - sum(by_side.values()))
            / np.float32(game.score_scale * others)
            for side in sides
        ]
        assert outcome_of(game, state)[1].tolist() == expected


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
