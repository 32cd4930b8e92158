"""`action_parts`: what a person points at to make a move, and where the pictures have it."""

import re

import numpy as np
import pytest

from linkzoo import games, get_game
from linkzoo.batch import kernels
from linkzoo.compiled import Record

# Choices without a place in the picture: how a tile lies, and what a card asks in words.
_WORDS = re.compile(r"\d-\d|LINK-O|PASS|YES|FREE|OPEN_DISCARD|OBSTACLE .*|CARD .*|COUPLE .*")


def _positions(name: str, plies: int) -> list[tuple[Record, list[int]]]:
    """Positions of a random game with their legal actions."""
    game = get_game(name)
    found: list[tuple[Record, list[int]]] = []
    states, mask = np.zeros(1, game.state), np.zeros((1, game.num_actions), np.int8)
    states[0] = game.blank(game.min_players)
    kernels(game).begin_one(states, np.array([5], np.uint64), mask)
    outcome = np.zeros((2, game.min_players), np.float32)
    dice = np.random.default_rng(1)
    while states[0].seat >= 0 and len(found) < plies:
        legal = np.flatnonzero(mask[0]).tolist()
        found.append((states.copy()[0], legal))
        kernels(game).play_one(states, int(dice.choice(legal)), mask[0], *outcome)
    return found


@pytest.mark.parametrize("name", games)
def test_parts_name_one_action_each(name: str) -> None:
    game = get_game(name)
    assert game.action_parts is not None
    for state, legal in _positions(name, 60):
        named = {game.action_parts(state, action) for action in legal}
        assert len(named) == len(legal)


@pytest.mark.parametrize("name", games)
def test_parts_lie_in_the_picture_of_the_seat_to_act(name: str) -> None:
    game = get_game(name)
    assert game.action_parts is not None
    for state, legal in _positions(name, 60):
        svg = game.draw_svg(state, int(state.seat))
        drawn = set(re.findall(r'data-part="([^"]*)"', svg))
        parts = {part for action in legal for part in game.action_parts(state, action)}
        missing = {part for part in parts if part.replace("&", "&amp;") not in drawn}
        assert {part for part in missing if not _WORDS.fullmatch(part)} == set()


@pytest.mark.parametrize("options", [{"free_hole": True}])
def test_linkage_places_the_hole_and_takes_a_role_by_pointing(options: dict[str, bool]) -> None:
    game = get_game("linkage")
    assert game.action_parts is not None
    states, mask = np.zeros(1, game.state), np.zeros((1, game.num_actions), np.int8)
    states[0] = game.blank(2, options)
    kernels(game).begin_one(states, np.array([0], np.uint64), mask)
    hole = game.text_to_action(states[0], "hole d4")
    assert game.action_parts(states[0], hole) == ("d4",)
    kernels(game).play_one(states, hole, mask[0], *np.zeros((2, 2), np.float32))
    parts = [game.action_parts(states[0], int(action)) for action in np.flatnonzero(mask[0])]
    assert parts == [("take more",), ("take fewer",)]
    assert 'data-part="take more"' in game.draw_svg(states[0])
