"""LINK-O's observation and privileged observation: every piece against the oracle."""

from collections import Counter
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.core.game import Game
from tests.driving import first_quick, same
from tests.link_o.helpers import (
    GAME,
    SHORT,
    Both,
    clone,
    game_of,
    legal_mask,
    margins,
    midgame,
    observe,
    payoffs,
    play_random,
    position,
    read,
    start,
    walk,
)
from tests.link_o.oracle import ALL_TILES, TYPES, Json, Oracle, Setup

SETUPS = (
    *(Setup(players) for players in range(2, 7)),
    Setup(4, {"dig": "one", "target": 0}),
    Setup(3, {"board": "ring4x12", "circle_bonus": 100, "target": 777}),
    Setup(6, {"board": "ring4x16x2", "next_starter": "random"}),
)


def reveal(state: np.record, seat: int, game: Game = GAME) -> NDArray[Any]:
    """The flat privileged observation; the array starts dirty."""
    assert game.observation.privileged_spec is not None
    assert game.observation.reveal is not None
    out = np.full(game.observation.privileged_spec.size, 77, game.observation.privileged_spec.dtype)
    game.observation.reveal(state, seat, out)
    return out


def piece(state: np.record, name: str, seat: int = 0) -> NDArray[Any]:
    """One named piece of a seat's observation."""
    return GAME.observation.spec.view(observe(state, seat), name)


def expect(state: np.record, oracle: Oracle, game: Game) -> None:
    """Every piece of every seat equals the oracle's, within its declared bounds."""
    assert game.observation.privileged_spec is not None
    for seat in range(oracle.num_players):
        for spec, flat, pieces in (
            (game.observation.spec, observe(state, seat, game=game), oracle.observation(seat)),
            (game.observation.privileged_spec, reveal(state, seat, game), oracle.hidden(seat)),
        ):
            assert spec.space().contains(flat.reshape(spec.shape))
            assert {piece.name for piece in spec.parts} == set(pieces)
            for name, expected in pieces.items():
                seen = spec.view(flat, name)
                assert np.array_equal(seen, expected), f"{name} of seat {seat}: {seen}"


@pytest.mark.parametrize("setup", first_quick([SHORT, *SETUPS], slow=0), ids=str)
def test_every_piece_at_every_ply(setup: Setup) -> None:
    """Section 6, relative to each seat; the last position too."""
    game = game_of(setup.options.get("board", "ring4x16"))
    for state, oracle, _ in walk(setup, 600):
        expect(state, oracle, game)


def test_sizes() -> None:
    """The pieces fill the vector; sizes don't depend on the number of players."""
    spec = GAME.observation.spec
    assert prod(spec.shape) == sum(prod(part.shape) for part in spec.parts)
    for players in range(2, 7):
        assert observe(start(Setup(players)), 0).size == spec.size
    for one in spec.parts:
        assert one.meaning
        assert one.low < one.high


def by_hand() -> Json:
    """Three players in their fourth round."""
    board = {4: "red LINK-O", 5: "red 3-1", 6: "red LINK-O", 48: "yellow LINK-O", 29: "blue 2-0"}
    hands = [["red 1-1", "red 1-4"], ["green 0-4", "..."], ["blue 4-4"]]
    data = position(
        board,
        hands,
        first=(1,),
        scores=[103, 0, 35],
        round=4,
        ply=160,
        starter=2,
        last_round={"winner": 2, "points": 35, "how": "out"},
        dug=[0, 0, 2],
        passed=[False, False, False],
        options={"target": 150},
    )
    data["lacks"][2] = ["red 0-0", "green LINK-O"]
    data["board"]["29"]["by"] = 0
    return data


def test_a_position_by_hand() -> None:
    """Worked out on paper, seen by seats 0 and 2."""
    state = read(by_hand())
    seen = {p.name: piece(state, p.name) for p in GAME.observation.spec.parts}
    assert [TYPES[t] for t in np.flatnonzero(seen["hand"])] == ["red 1-1", "red 1-4"]
    assert np.flatnonzero(seen["occupied"]).tolist() == [4, 5, 6, 29, 48]
    assert np.flatnonzero(seen["linko"]).tolist() == [4, 6, 48]
    # 4 is a 3: it shows to 3 (from the right) and to 5; 5 shows 3 to 4 and 1 to 6; 29 has 2 and 0.
    assert np.argwhere(seen["left_shows"]).tolist() == [[0, 30], [1, 6], [3, 5]]
    assert np.argwhere(seen["right_shows"]).tolist() == [[2, 28], [3, 3], [3, 4]]
    # Connectors by id: 4, 8, 24, 28, 32, 44, 48, 52.
    assert np.argwhere(seen["constraint"]).tolist() == [[2, 3], [3, 0], [3, 3]]
    assert seen["blocked"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert seen["placed_by"][[4, 5, 6, 29, 48, 0]].tolist() == [3, 3, 3, 1, 3, 0]
    assert seen["hand_size"].tolist() == [2, 68 - 5 - 2 - 1 - 44, 1, 0, 0, 0]
    assert seen["bag_size"].tolist() == [44]
    assert seen["scores"].tolist() == [[1, 3], [0, 0], [0, 35], *[[0, 0]] * 3]
    assert seen["target"].tolist() == [1, 50]
    assert seen["first_turn"].tolist() == [0, 1, 0, 0, 0, 0]
    assert seen["starter"].tolist() == [0, 0, 1, 0, 0, 0]
    assert seen["to_act"].tolist() == [1, 0, 0, 0, 0, 0]
    assert (seen["round"].tolist(), seen["num_players"].tolist()) == ([4], [3])
    assert [TYPES[t] for t in np.flatnonzero(seen["lacks"][2])] == ["red 0-0", "green LINK-O"]
    assert seen["lacks"][[0, 1, 3, 4, 5]].sum() == 0
    assert seen["dug"].tolist() == [0, 0, 2, 0, 0, 0]
    other = {p.name: piece(state, p.name, 2) for p in GAME.observation.spec.parts}
    assert [TYPES[t] for t in np.flatnonzero(other["hand"])] == ["blue 4-4"]
    assert other["placed_by"][[4, 5, 6, 29, 48, 0]].tolist() == [1, 1, 1, 2, 1, 0]
    assert other["to_act"].tolist() == [0, 1, 0, 0, 0, 0]
    assert other["scores"].tolist()[:3] == [[0, 35], [1, 3], [0, 0]]
    assert other["dug"].tolist() == [2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_what_is_unseen(players: int) -> None:
    """All 68 tiles: the own hand, the board, and the rest; by type."""
    state = midgame(Setup(players), 3, 17)
    board = Counter(
        TYPES.index(text if text in TYPES else f"{text[:-3]}{text[-1]}-{text[-3]}")
        for text in (cell["tile"] for cell in GAME.to_dict(state)["board"].values())
    )
    full = Counter(TYPES.index(tile) for tile in ALL_TILES)
    for seat in range(players):
        whole = piece(state, "hand", seat) + piece(state, "unseen", seat)
        assert whole.tolist() == [full[number] - board[number] for number in range(64)]
        assert piece(state, "unseen", seat).sum() == (
            piece(state, "hand_size", seat)[1:].sum() + piece(state, "bag_size", seat)[0]
        )


# What others certainly lack


def lacking(both: Both, seat: int) -> set[str]:
    """The types, as the JSON has them."""
    return set(both.data["lacks"][seat])


def test_lacks_of_a_dig_that_leaves_tiles() -> None:
    """P replaces the known lacks: the tiles that stay may be of those types."""
    top = ["blue 0-1", "red 2-4"]
    data = position({4: "red 2-2"}, [["red 1-2", "..."], ["yellow 0-1"]], top=top)
    data["lacks"][1] = ["green 0-1"]
    both = Both(data).play("@5 red 2-1")
    # Placeable then: beside 4 on 3 a red with a 2 or a LINK-O, on 6 a 1, on 28 (across) a 2.
    expected = {
        *("red 0-2", "red 1-2", "red 2-2", "red 2-3", "red 2-4", "red LINK-O"),
        *("red 0-1", "red 1-1", "red 1-3", "red 1-4", "blue 2-2", "blue LINK-O"),
    }
    assert both.data["dug"][1] == 2
    assert lacking(both, 1) == set()  # it has just dug one of these types
    both.play("@3 red 4-2")
    assert lacking(both, 1) == expected


def test_lacks_of_a_dig_that_leaves_nothing() -> None:
    """One tile dug and placed: P is added to the known lacks."""
    data = position({4: "red 2-2"}, [["red 1-2", "..."], ["yellow 0-1"]], top=["red 2-4"])
    data["lacks"][1] = ["green 0-1"]
    both = Both(data).play("@5 red 2-1")
    assert both.data["dug"][1] == 1
    assert lacking(both, 1) == {"green 0-1"}  # it has just dug one of the other types
    both.play("@3 red 4-2")
    assert "green 0-1" in lacking(both, 1)
    assert {"red 2-3", "red 2-4", "blue LINK-O"} <= lacking(both, 1)
    assert len(lacking(both, 1)) == 13


def test_lacks_of_a_pass() -> None:
    """With an empty bag nothing comes into the hand; on a first turn P has openers only."""
    hand = ["red 2-3", *(f"{color} 0-{v}" for color in ("green", "yellow") for v in (1, 2, 3))]
    data = position({4: "red 2-2"}, [hand, ["..."]], seat=1, bag=[], first=(0,))
    data["lacks"][0] = ["green 3-3"]
    both = Both(data).play("@5 red 2-1")
    assert both.data["passed"][0]
    openers = {tile for tile in lacking(both, 0) if tile.endswith("LINK-O") or tile[-1] == tile[-3]}
    assert openers == lacking(both, 0)
    assert {"green 3-3", "red 1-1", "red LINK-O", "blue 2-2", "blue 0-0", "green 0-0"} <= openers
    assert "blue 3-3" in openers  # 24 is open to first turns
    assert "red 2-3" not in openers


def test_lacks_starts_empty_in_every_round() -> None:
    """After a deal only the starter's digging shows lacks."""
    state, rng = start(Setup(4, {"target": 200}), 1), np.random.default_rng(1)
    before, rounds = 1, 0
    while state.seat >= 0:
        play_random(state, rng, 1)
        data = GAME.to_dict(state)
        if data["round"] != before and data["seat"] is not None:
            before, rounds = data["round"], rounds + 1
            for seat in range(4):
                has_lacks = data["dug"][seat] > 0 and seat != data["seat"]
                assert bool(data["lacks"][seat]) == has_lacks
    assert rounds >= 3


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_lacks_is_true(players: int) -> None:
    """No hand holds a type that it is known to lack, even after digging."""
    known_lacks = 0
    for seed in range(4):
        state, rng = start(Setup(players, {"target": 0}), seed), np.random.default_rng(seed)
        while state.seat >= 0:
            data = GAME.to_dict(state)
            for seat, hand in enumerate(data["hands"]):
                wrong = [tile for tile in hand if tile in data["lacks"][seat]]
                assert not wrong
                if seat == data["seat"] and data["dug"][seat]:  # the last one dug is to be placed
                    moves = np.flatnonzero(legal_mask(state))
                    texts = [GAME.notation.action_to_text(state, int(action)) for action in moves]
                    assert len({text.split()[1] for text in texts}) == 1
                known_lacks += len(data["lacks"][seat])
            play_random(state, rng, 1)
    assert known_lacks > 50


# Symmetry


def rotated(data: Json, by: int) -> Json:
    """The same match with every seat moved on by some seats."""
    players = data["num_players"]

    def moved(seat: int | None) -> int | None:
        return None if seat is None else (seat + by) % players

    def rolled(values: list[Any]) -> list[Any]:
        return [values[(index - by) % players] for index in range(players)]

    last = data["last_round"]
    return data | {
        "seat": moved(data["seat"]),
        "starter": moved(data["starter"]),
        "board": {space: cell | {"by": moved(cell["by"])} for space, cell in data["board"].items()},
        **{
            name: rolled(data[name])
            for name in ("hands", "scores", "first_turn", "lacks", "dug", "passed")
        },
        "last_round": None if last is None else last | {"winner": moved(last["winner"])},
        "winners": sorted((seat + by) % players for seat in data["winners"]),
    }


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_seats_are_symmetric(players: int) -> None:
    """Moving everything on by some seats changes nobody's view, up to the end of the round."""
    ended = 0
    for seed in range(2):
        state = midgame(Setup(players, {"target": 0}), seed, 9 + seed)
        data = GAME.to_dict(state)
        for by in range(1, players):
            one, other = clone(state), GAME.from_dict(rotated(data, by))
            rng = np.random.default_rng(seed)
            while True:
                same(legal_mask(other), legal_mask(one))
                for seat in range(players):
                    there = (seat + by) % players
                    same(observe(other, there), observe(one, seat))
                    same(reveal(other, there), reveal(one, seat))
                assert margins(other) == pytest.approx(np.roll(margins(one), by).tolist())
                assert payoffs(other) == pytest.approx(np.roll(payoffs(one), by).tolist())
                assert GAME.to_dict(other) == rotated(GAME.to_dict(one), by)
                if one.seat < 0:
                    break
                action = int(rng.choice(np.flatnonzero(legal_mask(one))))
                GAME.rules.apply(one, action)
                GAME.rules.apply(other, action)
            ended += 1
    assert ended == 2 * (players - 1)
