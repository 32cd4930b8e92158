"""Small boards: fewer circles, spaces, pips, LINK-Os and tiles in a hand, in a single round."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from linkzoo import get_game, make
from linkzoo.games import link_o
from linkzoo.games.link_o.board import load_board
from tests.driving import first_quick, same
from tests.link_o.helpers import game_of, legal_mask, play_random
from tests.link_o.oracle import Board, Oracle

EDITIONS = list(link_o.GAME.editions)
# Circles, links, LINK-Os of a colour, and the hand.
SHAPES = {
    "mini2x4a-h2": (2, 1, 1, 2),
    "mini2x4a-h3": (2, 1, 1, 3),
    "mini2x4b-h3": (2, 2, 1, 3),
    "mini2x4b-l2-h3": (2, 2, 2, 3),
}


def board_of(name: str) -> Board:
    """The board as the oracle reads it."""
    path = Path(link_o.__file__).parent / "boards" / f"{name}.json"
    return Board.read(json.loads(path.read_text()))


def test_the_editions_are_boards() -> None:
    """Each is one option's value, and has the shape that its name says."""
    shapes = {}
    for name, options in link_o.GAME.editions.items():
        assert options == {"board": name}
        board = load_board(name)
        assert (board.max_pip, len(board.spaces)) == (1, 4 * len(board.colours))
        links = len(board.connectors) // 2
        shapes[name] = (len(board.colours), links, board.linkos, board.hand)
    assert shapes == SHAPES


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", first_quick(EDITIONS[::-1], slow=0))
def test_an_edition_plays_as_the_oracle_does(name: str) -> None:
    """R2: fewer tiles. From every deal to the end: moves, masks, observations and JSON."""
    game = game_of(name)
    board = board_of(name)
    for seed in range(6):
        players = game.min_players + seed % (game.max_players - 1)
        state = game.blank(players)
        game.rules.new_game(state, np.uint64(seed))
        oracle = Oracle.begin(game.to_dict(state), board)
        rng = np.random.default_rng(seed)
        while not oracle.over:
            same(legal_mask(state, game=game), oracle.mask())
            assert game.to_dict(state) == oracle.to_dict()
            assert game.from_dict(game.to_dict(state)).tobytes() == state.tobytes()
            seen = np.empty(game.observation.spec.size, np.int8)
            for seat in range(players):
                game.observation.observe(state, seat, seen)
                for part, values in oracle.observation(seat).items():
                    same(game.observation.spec.view(seen, part), values)
            moves = oracle.moves()
            move = moves[int(rng.integers(len(moves)))]
            game.rules.apply(state, game.notation.text_to_action(state, move))
            oracle.follow(move, game.to_dict(state))
        assert game.to_dict(state) == oracle.to_dict()


@pytest.mark.usefixtures("uncompiled")
def test_an_edition_is_one_round_that_seat_0_begins() -> None:
    """R3, R20: by the board alone; other options may still be chosen."""
    for seed in range(4):
        env = make("link_o", board="mini2x4b-h3")
        env.reset(seed=seed)
        data = env.to_dict()
        assert (data["seat"], data["starter"]) == (0, 0)
        assert [len(hand) for hand in data["hands"]] == [3, 3]
        assert len(data["bag"]) == 2
        state = env.game.from_bytes(env.get_state())
        end = play_random(state, np.random.default_rng(seed), game=env.game)
        assert end.seat < 0
        assert end.round_number == 1
    longer = game_of("mini2x4b-h3").blank(2, {"target": 20, "next_starter": "winner"})
    assert (longer.target, longer.next_starter) == (20, 1)


@pytest.mark.usefixtures("uncompiled")
def test_seat_0_begins_every_round_on_any_board() -> None:
    """R3: `next_starter="first_seat"` says who starts the first round, too."""
    game = get_game("link_o", {"board": "mini2x4a-h2"})
    options = {"target": 1000, "max_rounds": 3, "next_starter": "first_seat"}
    for seed in range(3):
        state = game.blank(3, options)
        game.rules.new_game(state, np.uint64(seed))
        starters = Counter([int(state.starter)])
        rng = np.random.default_rng(seed)
        while state.seat >= 0:
            number = state.round_number
            play_random(state, rng, 1, game=game)
            if state.round_number > number:
                starters[int(state.starter)] += 1
        assert starters == {0: 3}
        data = game.to_dict(state)
        data["starter"] = 1
        with pytest.raises(ValueError, match="starter"):
            game.from_dict(data)


def test_as_many_play_as_there_are_hands() -> None:
    """R1, R2: 8 tiles are four hands of 2, or two of 3."""
    most = {name: game_of(name).max_players for name in EDITIONS}
    assert most == {"mini2x4a-h2": 4, "mini2x4a-h3": 2, "mini2x4b-h3": 2, "mini2x4b-l2-h3": 3}
    with pytest.raises(ValueError, match="num_players"):
        make("link_o", 3, board="mini2x4b-h3")


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", first_quick(EDITIONS[::-1], slow=0))
def test_tiles_that_an_edition_lacks_are_refused(name: str) -> None:
    """R2: in a hand, in the bag, on the board and among the types that a seat lacks."""
    game = game_of(name)
    state = game.blank(2)
    game.rules.new_game(state, np.uint64(1))
    data = game.to_dict(state)
    for field in ("hands", "lacks"):
        for tile in ("red 0-2", "green 0-0", "yellow LINK-O"):
            wrong = json.loads(json.dumps(data))
            wrong[field][0] = [*wrong[field][0], tile]
            with pytest.raises(ValueError, match=field):
                game.from_dict(wrong)
    for bit in (2, 16 + 14, 32, 63):
        other = state.copy()
        other.lacks[0] |= np.uint64(1) << np.uint64(bit)
        with pytest.raises(ValueError, match="lacks"):
            game.from_bytes(other.tobytes())
