"""The symmetries of the boards: games on circles that change places are the same games (R9-R15)."""

from typing import Any

import numpy as np
import pytest

from linkzoo import get_game
from linkzoo.games.link_o.board import BOARDS, load_board
from linkzoo.games.link_o.symmetry import Symmetry, of_board
from linkzoo.testing.play import action_features_of
from tests.driving import first_quick, legal_list, legal_mask


def moved_tile(tile: str, colours: dict[str, str], *, mirror: bool = False) -> str:
    colour, face = tile.split()
    if mirror and face != "LINK-O":
        face = "-".join(reversed(face.split("-")))
    return f"{colours[colour]} {face}"


def moved(position: dict[str, Any], board_name: str, symmetry: Symmetry) -> dict[str, Any]:
    """A position as JSON, its circles laid onto others."""
    board = load_board(board_name)
    order = list(board.colours)
    colours = {colour: order[symmetry.circles[c]] for c, colour in enumerate(order)}

    def by_type(tiles: list[str]) -> list[str]:
        def key(tile: str) -> tuple[int, int, str]:
            colour, face = tile.split()
            return order.index(colour), face == "LINK-O", face

        return sorted((moved_tile(tile, colours) for tile in tiles), key=key)

    laid = {}
    for space, what in position["board"].items():
        mirror = bool(symmetry.mirrored[board.spaces[int(space)].circle])
        laid[str(symmetry.spaces[int(space)])] = {
            **what,
            "tile": moved_tile(what["tile"], colours, mirror=mirror),
        }
    return {
        **position,
        "hands": [by_type(hand) for hand in position["hands"]],
        "bag": [moved_tile(tile, colours) for tile in position["bag"]],
        "lacks": [by_type(types) for types in position["lacks"]],
        "board": dict(sorted(laid.items(), key=lambda item: int(item[0]))),
    }


EDITIONS = list(get_game("link_o").editions)
STANDARD_BOARDS = [name for name in BOARDS.names() if name not in EDITIONS]


@pytest.mark.parametrize("board", STANDARD_BOARDS)
def test_every_board_has_the_eight_of_the_square(board: str) -> None:
    """Four circles in a ring of links: rotations, and mirror images that mirror every circle."""
    symmetries = of_board(load_board(board))
    assert len({row.spaces.tobytes() for row in symmetries}) == len(symmetries) == 8
    assert symmetries[0].spaces.tolist() == list(range(len(load_board(board).spaces)))
    assert sorted(row.mirrored.all() for row in symmetries) == [False] * 4 + [True] * 4
    assert sorted(row.mirrored.any() for row in symmetries) == [False] * 4 + [True] * 4


@pytest.mark.parametrize(
    ("board", "count"), [("mini2x4a-h2", 8), ("mini2x4a-h3", 8), ("mini2x4b-h3", 16)]
)
def test_two_circles_may_be_mirrored_by_themselves(board: str, count: int) -> None:
    """The circles change places, each is mirrored, and two links change places, too."""
    symmetries = of_board(load_board(board))
    assert len({row.spaces.tobytes() for row in symmetries}) == len(symmetries) == count
    assert all(row.circles[2:].tolist() == [2, 3] for row in symmetries)
    mirrored = {(*row.circles[:2].tolist(), *row.mirrored[:2].tolist()) for row in symmetries}
    assert len(mirrored) == 8


@pytest.mark.nightly  # quick: the others of this file, and `check_game` of an edition
@pytest.mark.parametrize(
    "board", first_quick(["ring4x16", *EDITIONS, "ring4x12", "ring4x16x2"], slow=0)
)
@pytest.mark.parametrize("players", first_quick([2, 5], slow=0))
def test_games_on_moved_circles_are_the_same(board: str, players: int) -> None:
    game = get_game("link_o", {"board": board})
    players = min(players, game.max_players)
    plies = min(30, game.facts.typical_length - 1)
    assert game.observation.symmetries is not None
    assert game.observation.reveal is not None
    assert game.observation.privileged_spec is not None
    observations, actions, hidden = game.observation.symmetries()
    assert (observations[0] == np.arange(game.observation.spec.size)).all()
    assert (actions[0] == np.arange(game.num_actions)).all()
    assert (hidden[0] == np.arange(game.observation.privileged_spec.size)).all()
    rng = np.random.Generator(np.random.PCG64(players))
    for number, symmetry in enumerate(of_board(load_board(board))):
        state = game.blank(players, {"board": board})
        game.rules.new_game(state, np.uint64(number))
        for _ in range(int(rng.integers(plies))):
            if state["seat"] < 0:
                break
            game.rules.apply(state, int(rng.choice(legal_list(state, game=game))))
        image = game.from_dict(moved(game.to_dict(state), board, symmetry))
        for _ in range(12):
            if state["seat"] < 0:
                break
            assert image["seat"] == state["seat"]
            assert (
                legal_mask(image, game=game)[actions[number]] == legal_mask(state, game=game)
            ).all()
            for seat in range(players):
                seen = np.zeros((2, game.observation.spec.size), np.int8)
                game.observation.observe(state, seat, seen[0])
                game.observation.observe(image, seat, seen[1])
                assert (seen[1] == seen[0][observations[number]]).all()
                unseen = np.zeros((2, game.observation.privileged_spec.size), np.int8)
                game.observation.reveal(state, seat, unseen[0])
                game.observation.reveal(image, seat, unseen[1])
                assert (unseen[1] == unseen[0][hidden[number]]).all()
            legal = np.flatnonzero(legal_mask(state, game=game))
            order = np.argsort(np.argsort(actions[number, legal]))
            features = action_features_of(game, state)
            assert (action_features_of(game, image)[order] == features).all()
            action = int(rng.choice(legal_list(state, game=game)))
            rounds = state["round_number"]
            game.rules.apply(state, action)
            game.rules.apply(image, int(actions[number, action]))
            if state["seat"] < 0 or state["round_number"] != rounds:
                break  # the next deal is another in the image
