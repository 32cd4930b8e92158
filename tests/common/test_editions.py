"""Editions keep the contract like the games that they are editions of."""

from collections.abc import Mapping
from typing import Any

import pytest

import linkzoo
from linkzoo import get_game
from linkzoo.registry import NAMES
from linkzoo.testing import check_game
from tests.driving import SLOW

EDITIONS = [(game, name) for game in linkzoo.game_names() for name in get_game(game).editions]
FIRST = dict(reversed(EDITIONS))


def options_of(game: str, name: str) -> Mapping[str, Any]:
    return get_game(game).editions[name]


def test_every_game_has_editions() -> None:
    """Each is one with options that aren't standard, and has another record than its game."""
    assert set(FIRST) == set(NAMES)
    for game, name in EDITIONS:
        options = options_of(game, name)
        edition = get_game(game, options)
        assert edition.editions == get_game(game).editions
        state = edition.blank(options=options)
        chosen = {**edition.fixed.values, **edition.chosen_options(state)}
        assert chosen == {**chosen, **options}
        assert chosen != get_game(game).chosen_options(get_game(game).blank())


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("game", FIRST)
def test_the_first_edition_keeps_the_contract(game: str) -> None:
    """In the interpreter alone: compiled below."""
    options = options_of(game, FIRST[game])
    edition = get_game(game, options)
    check_game(edition, num_players=edition.min_players, options=options, seeds=(1,))


@pytest.mark.parametrize(("game", "name"), [pytest.param(*pair, marks=SLOW) for pair in EDITIONS])
def test_every_edition_keeps_the_contract(game: str, name: str) -> None:
    """With each number of players; a game of its own also has its own typical length."""
    options = options_of(game, name)
    edition = get_game(game, options)
    own = edition is not get_game(game)
    check_game(edition, options=None if own else options)
