"""Missing parts of a game: defaults follow from the rest, and parts without a default are named."""

from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

import connect_four
import numpy as np
import pytest

from linkzoo import Field, Options
from linkzoo.testing.play import positions
from tests.common.play import outcome_of
from tests.common.variants import Variant, every_size
from tests.outside import cards

GAME = connect_four.GAME
PARTS = (GAME, GAME.rules, GAME.observation, GAME.notation, GAME.drawing, GAME.facts)


@every_size
def test_payoffs_follow_from_winners_and_sides(variant: Variant) -> None:
    """(1/w if it won else 0) - 1/n for a side, scaled to 1 for a sole winner, whoever wins."""
    game, players = variant.game, variant.num_players
    sides = np.array(game.facts.sides(players))
    count = max(sides) + 1
    state = game.blank(players, variant.options)
    state.seat = -1
    for winners in range(1, 2**count):
        state.winners = sum(1 << seat for seat in range(players) if winners >> sides[seat] & 1)
        won = winners.bit_count()
        paid = [(winners >> side & 1) / won - 1 / count for side in sides]
        scaled = np.array(paid) * count / (count - 1)
        np.testing.assert_allclose(outcome_of(game, state)[0], scaled, atol=1e-6)


@every_size
def test_score_margins_follow_from_scores_and_sides(variant: Variant) -> None:
    """Own score - mean of the other sides', over the rules' scale; bit for bit a quotient."""
    game, players = variant.game, variant.num_players
    sides, scores = game.facts.sides(players), np.zeros(players, np.float32)
    assert game.rules.scores is not None
    for state in positions(game, players, variant.options, 3)[::9]:
        game.rules.scores(state, scores)
        by_side = {side: int(score) for side, score in zip(sides, scores, strict=True)}
        others = len(by_side) - 1
        expected = [
            np.float32(by_side[side] * (others + 1) - sum(by_side.values()))
            / np.float32(game.facts.score_scale * others)
            for side in sides
        ]
        assert outcome_of(game, state)[1].tolist() == expected


def test_payoffs_before_the_end() -> None:
    state = GAME.blank()
    GAME.rules.new_game(state, np.uint64(1))
    out = np.ones(2, np.float32)
    GAME.score_margins(state, out)
    assert not out.any()
    assert GAME.payoffs is GAME.score_margins


def test_json_names_what_is_wrong() -> None:
    state = GAME.blank()
    GAME.rules.new_game(state, np.uint64(5))
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


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_a_missing_part_is_named(part: Any) -> None:
    given = {field.name: getattr(part, field.name) for field in fields(part)}
    required = [f.name for f in fields(part) if f.default is f.default_factory is MISSING]
    assert required
    for name in required:
        without = {other: value for other, value in given.items() if other != name}
        with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{name}'"):
            type(part)(**without)
    with pytest.raises(TypeError, match="unexpected keyword argument 'redeal'"):
        type(part)(**given, redeal=None)


@dataclass(frozen=True)
class OptionsWithGravity(Options):
    """An option that is no field of the record."""

    gravity: bool = True


SEEN, FACTS = GAME.observation, GAME.facts
HIDES = replace(SEEN, privileged_spec=SEEN.spec, reveal=SEEN.observe)
DETERMINIZES = replace(GAME.rules, determinize=GAME.determinize)


@pytest.mark.parametrize(
    ("part", "changes", "complaint"),
    [
        (GAME, {"name": "four in a row"}, "^name: 'four in a row' is not an identifier"),
        (GAME, {"players": (3, 2)}, r"^players: 3 is not in 1\.\.2"),
        (GAME, {"players": (2, 33)}, r"^players: 33 is not in 1\.\.32"),
        (GAME, {"facts": replace(FACTS, typical_length=43)}, "^typical_length: 43 is not in"),
        (GAME, {"facts": replace(FACTS, chance=True)}, "^determinize: .* hidden .* or chance"),
        (GAME, {"observation": HIDES}, "^determinize: .* hidden information or chance needs one"),
        (GAME, {"observation": HIDES, "rules": DETERMINIZES}, "^fields: .* hidden information"),
        (GAME, {"options": OptionsWithGravity}, "^fields: the option gravity is no field"),
        (GAME, {"editions": {"tiny": {"gravity": 0}}}, "^editions: tiny: .* no option 'gravity'"),
        (GAME, {"options": dict}, "^options: <class 'dict'> doesn't derive from linkzoo.Options"),
        (GAME, {"fields": (Field("more", "f4"),)}, "^field 'more': f4 is not an integer type"),
        (SEEN, {"privileged_spec": SEEN.spec}, "^privileged_spec and reveal: "),
        (SEEN, {"reveal": SEEN.observe}, "^privileged_spec and reveal: "),
        (SEEN, {"graph": lambda: None, "action_cells": None}, "^graph: action_cells must say"),
        (SEEN.spec.parts[0], {"broadcast": 1}, "^own: broadcast: 1 is not true or false"),
        (SEEN.spec.parts[0], {"categorical": "no"}, "categorical: 'no' is not true or false"),
        (FACTS, {"chance": "no"}, "^chance: 'no' is not true or false"),
        (GAME.notation, {"to_dict": GAME.to_dict}, "^to_dict and from_dict: "),
        (GAME.notation, {"from_dict": GAME.from_dict}, "^to_dict and from_dict: "),
    ],
)
def test_contradictory_parts_are_named(part: Any, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        replace(part, **changes)


def test_fields_contradict_one_another() -> None:
    for names, complaint in (
        ("board board", "^field 'board' is declared twice"),
        ("seed", "^field 'seed' is declared twice"),
        ("round", "^field 'round': the name is an attribute of np.record"),
    ):
        with pytest.raises(ValueError, match=complaint):
            _ = replace(GAME, fields=tuple(Field(name, "i1") for name in names.split())).state
    for field, complaint in (
        (Field("deck", "i1", hidden="seat"), "^field 'deck': hidden is 'others' or 'all'"),  # type: ignore[arg-type]
        (Field("deck", "i1", hidden="others"), "^field 'deck': .* needs an element per seat"),
    ):
        with pytest.raises(ValueError, match=complaint):
            _ = replace(GAME, fields=(field,)).state


def test_json_of_a_seat_lacks_what_is_hidden() -> None:
    """Field(hidden=...) alone leaves it out; the referee's view reads back."""
    game = cards.GAME
    state = game.blank(2)
    game.rules.new_game(state, np.uint64(4))
    whole, seen = game.to_dict(state), game.to_dict(state, 1)
    assert seen == {
        **{name: value for name, value in whole.items() if name != "seed"},
        "hands": [None, whole["hands"][1], None],
        "deck": None,
    }
    assert sum(whole["hands"][1]) == 1
    assert game.from_dict(whole).tobytes() == state.tobytes()
    with pytest.raises(ValueError, match=r"^hands\[0\]: None is not a list"):
        game.from_dict(seen)
