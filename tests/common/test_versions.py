"""A game's version: one fact, in the names of its environments and in its files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import connect_four
import gymnasium
import numpy as np
import pettingzoo
import pytest

import linkzoo
from linkzoo import GameRecord, get_game
from linkzoo.games import COMPATIBLE_VERSIONS, VERSIONS

PLAYED = Path(__file__).parents[2] / "docs" / "games" / "played"
SEVENTH = replace(connect_four.GAME, name="cf7", version=7, compatible_versions=(5,))


@pytest.fixture
def seventh(registered_before: None) -> None:
    """Registers version 7 of a game, for one test."""
    linkzoo.register(SEVENTH)


@pytest.mark.usefixtures("seventh")
def test_every_name_ends_in_the_version() -> None:
    assert linkzoo.make("cf7").metadata["name"] == SEVENTH.versioned_name == "cf7_v7"
    seat: Any = gymnasium.make("linkzoo/Cf7-v7", seat=1)
    assert seat.unwrapped.env.game is SEVENTH
    assert "linkzoo/Cf7-v0" not in gymnasium.registry
    if hasattr(pettingzoo, "make"):
        aec: Any = pettingzoo.make("aec", "linkzoo/cf7_v7")
        assert aec.unwrapped.game is SEVENTH


@pytest.mark.parametrize("name", VERSIONS)
def test_shipped_games_take_their_version_from_one_place(name: str) -> None:
    game = get_game(name)
    assert (game.version, game.compatible_versions) == (VERSIONS[name], COMPATIBLE_VERSIONS)
    env = getattr(linkzoo, game.versioned_name).env()
    assert env.metadata["name"] == f"{name}_v{VERSIONS[name]}"


@pytest.mark.parametrize("version", [-1, 2**31, 1.0, True, "1", None])
def test_a_version_is_a_natural_number(version: Any) -> None:
    with pytest.raises(ValueError, match=r"^version: "):
        replace(connect_four.GAME, version=version)
    with pytest.raises(ValueError, match=r"^version: "):
        replace(connect_four.GAME, compatible_versions=(0, version))


def position_of(game: linkzoo.Game) -> dict[str, Any]:
    env = linkzoo.make("cf7" if game is SEVENTH else game.name)
    env.reset(seed=3)
    return env.to_dict()


@pytest.mark.slow
@pytest.mark.usefixtures("seventh")
@pytest.mark.parametrize("name", ["cf7", *VERSIONS])
def test_files_of_compatible_versions_load(name: str) -> None:
    """Positions and records: the same position, and files of the present version again."""
    game = get_game(name)
    position = position_of(game)
    record = GameRecord.of(game, game.from_dict(position), start=position)
    for version in (game.version, *game.compatible_versions):
        old = {**position, "version": version}
        assert game.to_dict(game.from_dict(old)) == position
        data = {**record.to_dict(), "version": version, "start": old}
        loaded = GameRecord.from_dict(data)
        assert loaded.to_dict() == record.to_dict()
        assert list(replace(record, version=version, start=old).replay()) == list(record.replay())


@pytest.mark.usefixtures("seventh")
@pytest.mark.parametrize("name", ["cf7", *VERSIONS])
@pytest.mark.parametrize("version", [6, 8, "0", None, True, 0.0])
def test_files_of_other_versions_are_refused(name: str, version: Any) -> None:
    game = get_game(name)
    position = position_of(game)
    complaint = rf"^version: this is version {game.version} of {name}, which reads"
    with pytest.raises(ValueError, match=complaint):
        game.from_dict({**position, "version": version})
    record = GameRecord.of(game, game.from_dict(position))
    with pytest.raises(ValueError, match=complaint):
        GameRecord.from_dict({**record.to_dict(), "version": version})
    with pytest.raises(ValueError, match=complaint):
        list(replace(record, version=version).replay())


@pytest.mark.parametrize("game", ["link_o", None, 5, np.zeros(2)])
def test_a_position_of_another_game_says_so(game: Any) -> None:
    """Before it lists the fields that differ."""
    position = {**position_of(get_game("linkage")), "game": game, "other": 0}
    with pytest.raises(ValueError, match=r"^game: this is a position of .*, not of 'linkage'$"):
        get_game("linkage").from_dict(position)


@pytest.mark.parametrize("name", VERSIONS)
def test_the_shipped_records_are_of_version_1(name: str) -> None:
    """They were recorded when the files counted from 1."""
    data = json.loads((PLAYED / f"{name}.json").read_bytes())
    assert data["version"] == 1
    assert GameRecord.from_dict(data).version == 0
