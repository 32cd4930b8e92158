"""`action_parts`: the elements a person selects to make a move, and their place in drawings."""

import re
from collections import Counter
from html import unescape

import numpy as np
import pytest

from linkzoo import game_names, get_game
from linkzoo.core.kernels import kernels
from linkzoo.testing import properties
from linkzoo.testing.play import mask_of, positions

# Choices without a place in the picture: how a tile lies, and what a card asks in words.
_WORDS = re.compile(r"\d-\d|LINK-O|PASS|YES|OPEN_DISCARD")


@pytest.mark.slow
@pytest.mark.parametrize("name", game_names())
def test_parts_keep_the_contract(name: str) -> None:
    game = get_game(name)
    assert game.notation.action_parts is not None
    for players in (game.min_players, game.max_players):
        properties.action_parts(game, positions(game, players, dict(game.fixed.values), 5)[::2])


@pytest.mark.slow
@pytest.mark.parametrize("name", game_names())
def test_parts_lie_in_the_picture_of_the_seat_to_act(name: str) -> None:
    game = get_game(name)
    assert game.notation.action_parts is not None
    for players in (game.min_players, game.max_players):
        for state in positions(game, players, dict(game.fixed.values), 6)[:-1:8]:
            svg = unescape(game.draw_svg(state, int(state.seat)))
            legal = np.flatnonzero(mask_of(game, state)).tolist()
            parts = {part for action in legal for part in game.notation.action_parts(state, action)}
            missing = {part for part in parts if f'data-part="{part}"' not in svg}
            assert {part for part in missing if not _WORDS.fullmatch(part)} == set()


@pytest.mark.slow
def test_love_formula_names_obstacles_by_their_copies() -> None:
    """Of two copies in the field each is pointed at by its number, when one comes or goes."""
    game, found = get_game("love_formula"), 0
    for seed in (3, 4, 6):  # two copies are rare
        before = b""
        for state in positions(game, 4, dict(game.fixed.values), seed):
            if state.obstacle_type.tobytes() == before:
                continue
            before = state.obstacle_type.tobytes()
            number = Counter(entry["card"] for entry in game.to_dict(state)["obstacles"])
            named = [f"{card}#{rank}" for card in number for rank in range(1, number[card] + 1)]
            drawn = re.findall(r'data-part="OBSTACLE ([^"]*)"', unescape(game.draw_svg(state)))
            assert sorted(drawn) == sorted(named)
            found += max(number.values(), default=0) > 1
    assert found > 4  # changes of the field with two copies in it


@pytest.mark.parametrize("options", [{"free_hole": True}])
def test_linkage_places_the_hole_and_takes_a_role_by_pointing(options: dict[str, bool]) -> None:
    game = get_game("linkage")
    assert game.notation.action_parts is not None
    states, mask = np.zeros(1, game.state), np.zeros((1, game.num_actions), np.int8)
    states[0] = game.blank(2, options)
    kernels(game).begin(states, np.array([0], np.uint64), mask)
    hole = game.notation.text_to_action(states[0], "hole d4")
    assert game.notation.action_parts(states[0], hole) == ("d4",)
    kernels(game).play_one(states, hole, mask[0])
    parts = [
        game.notation.action_parts(states[0], int(action)) for action in np.flatnonzero(mask[0])
    ]
    assert parts == [("take more",), ("take fewer",)]
    assert 'data-part="take more"' in game.draw_svg(states[0])
