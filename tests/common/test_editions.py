"""Editions keep the contract like the games that they are editions of."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import linkzoo
from linkzoo import get_game
from linkzoo.games.link_o import board
from linkzoo.registry import NAMES
from linkzoo.testing import check_game
from linkzoo.text.prompts import changed_options
from tests.driving import first_quick

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


@pytest.mark.parametrize(("game", "name"), EDITIONS)
def test_words_say_which_edition_is_played(game: str, name: str) -> None:
    """For the page and language models: the edition, and the defaults that it changes."""
    options = options_of(game, name)
    edition = get_game(game, options)
    chosen = edition.chosen_options(edition.blank(options=options))
    standard = get_game(game).chosen_options(get_game(game).blank())
    lines = changed_options(edition, chosen)
    told = {line.partition(" = ")[0] for line in lines}
    assert told == {option for option, value in chosen.items() if value != standard.get(option)}
    assert set(options) <= told


def test_words_do_not_name_files(tmp_path: Path) -> None:
    """A user's own board."""
    path = tmp_path / "board.json"
    path.write_text((Path(board.__file__).parent / "boards/mini2x4a-h2.json").read_text())
    edition = get_game("link_o", {"board": str(path)})
    lines = changed_options(edition, edition.chosen_options(edition.blank()))
    assert [line.partition(" = ")[0] for line in lines] == ["target", "next_starter"]


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("game", first_quick(sorted(FIRST), slow=0))
def test_the_first_edition_keeps_the_contract(game: str) -> None:
    """In the interpreter alone: compiled below."""
    options = options_of(game, FIRST[game])
    edition = get_game(game, options)
    check_game(edition, num_players=edition.min_players, options=options, seeds=(1,))


@pytest.mark.parametrize(("game", "name"), first_quick(EDITIONS, 0))
def test_every_edition_keeps_the_contract(game: str, name: str) -> None:
    """With each number of players; a game of its own also has its own typical length."""
    options = options_of(game, name)
    edition = get_game(game, options)
    own = edition is not get_game(game)
    check_game(edition, options=None if own else options)


@pytest.mark.parametrize("text", ["{", "{}", '{"name": 1, "name": 2}', '{"name": "x"}'])
@pytest.mark.parametrize(
    ("game", "option"), [("link_o", "board"), ("love_links", "link_set"), ("love_formula", "cards")]
)
def test_errors_of_a_file_name_the_option_and_the_file(
    game: str, option: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^{option}: {re.escape(str(path))}: "):
        get_game(game, {option: str(path)})


def test_errors_of_a_space_name_the_file(tmp_path: Path) -> None:
    """Not the space alone: spaces[0] of which file?"""
    text = (Path(board.__file__).parent / "boards" / "ring4x12.json").read_text()
    path = tmp_path / "mine.json"
    path.write_text(text.replace('"color": "red"', '"color": " red"', 1))
    with pytest.raises(ValueError, match=rf"^board: {re.escape(str(path))}: spaces\[0\]: color"):
        get_game("link_o", {"board": str(path)})
