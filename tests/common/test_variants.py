"""The list of variants is complete, and games refuse invalid options."""

import pickle
from dataclasses import fields
from typing import Any

import pytest

import linkzoo
from linkzoo import VecEnv, get_game, make, make_vec
from tests.common.variants import ALL, REFUSED, VARIANTS, Variant, every_variant
from tests.driving import allowed_players


def option_names(name: str) -> list[str]:
    options: Any = get_game(name).options
    return [field.name for field in fields(options)]


def chosen(name: str, players: int, options: dict[str, Any]) -> dict[str, Any]:
    game = get_game(name, options)
    return {**game.fixed.values, **game.chosen_options(game.blank(players, options))}


def test_every_game_has_variants() -> None:
    assert set(VARIANTS) == set(REFUSED) == set(linkzoo.game_names())


def test_variants_differ() -> None:
    assert len({str(variant) for variant in ALL}) == len(ALL)


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_every_number_of_players_and_every_option_occurs(name: str) -> None:
    game = get_game(name)
    assert {players for players, _ in VARIANTS[name]} == set(
        range(game.min_players, game.max_players + 1)
    )
    standard = chosen(name, game.min_players, {})
    for option in option_names(name):
        seen = {chosen(name, players, options)[option] for players, options in VARIANTS[name]}
        assert standard[option] in seen, f"{option} never has its usual value"
        assert len(seen) >= 2, f"{option} is {seen} in every variant"


@every_variant
def test_the_game_of_the_options(variant: Variant) -> None:
    """Options that are compiled in lead to a game of their own, always the same object."""
    game = variant.game
    assert pickle.loads(pickle.dumps(game)) is game
    options = chosen(*variant)
    assert get_game(variant.name, options) is game
    for option, value in game.fixed.values.items():
        assert options[option] == value
        assert option not in (game.state.names or ())
        with pytest.raises(ValueError, match=f"^{option}: "):
            get_game(variant.name, {option: None})
    assert make(variant.name, variant.num_players, **options).game is game
    assert make_vec(variant.name, 1, variant.num_players, **options).game is game


def test_games_have_keys_of_their_own() -> None:
    """Compiled code is cached under the key."""
    games = {id(variant.game): variant.game for variant in ALL}.values()
    assert len({game.key for game in games}) == len(set(games)) == len(games)
    for game in games:
        own = game.chosen_options(game.blank())
        if game.digest is not None:
            assert own == {**own, **game.fixed.values}
        for option in game.fixed.values:
            others = [other for other in games if other.name == game.name and other is not game]
            assert others, f"{option} has one value in all variants"
            with pytest.raises(ValueError, match=f"^{option}: "):
                game.blank(options=others[0].fixed.values)


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_every_game_has_skip_forced(name: str) -> None:
    assert "skip_forced" in option_names(name)


def make_pair(name: str, *players: Any, **kwargs: Any) -> VecEnv:
    return make_vec(name, 2, *players, **kwargs)


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_wrong_options_and_players_are_refused(name: str) -> None:
    game = get_game(name)
    options, players = REFUSED[name]
    (option,) = options
    counts = allowed_players(game)
    for build in (make, make_pair):
        with pytest.raises(ValueError, match=option):
            build(name, **options)
        with pytest.raises(ValueError, match=f"num_players: {players} is not {counts}$"):
            build(name, players)
        with pytest.raises(ValueError, match="has no option 'colour_of_the_box'"):
            build(name, colour_of_the_box=3)
        no_numbers: tuple[Any, ...] = (2.0, "2", True)
        for wrong in no_numbers:
            with pytest.raises(ValueError, match=r"num_players: .* is not an integer"):
                build(name, wrong)
        with pytest.raises(ValueError, match=r"reward='points' is not one of \['win', 'score'\]"):
            build(name, reward="points")
        with pytest.raises(ValueError, match="skip_forced: 2 is not true or false"):
            build(name, skip_forced=2)
    assert int(game.blank().num_players) == game.min_players


def test_unknown_games_are_refused() -> None:
    for name in ("chess", "", None, ["x"]):
        with pytest.raises(ValueError, match=r"no game .*; there are"):
            get_game(name)  # type: ignore[arg-type]
