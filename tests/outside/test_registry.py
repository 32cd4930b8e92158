"""Games from outside the package: by registration, by `module:name`, as installed ones."""

import sys
from dataclasses import replace
from pathlib import Path

import connect_four
import gymnasium
import pytest

import linkzoo
from linkzoo import registry
from linkzoo.envs.gym import SeatEnv
from tests.common.play import run_python

GAME, ADDRESS = connect_four.GAME, "connect_four:GAME"


@pytest.fixture(autouse=True)
def _nothing_is_known(registered_before: None) -> None:
    """Each test begins without the game."""
    registry._known.pop("connect_four", None)
    registry._addresses.pop("connect_four", None)


def test_by_module_and_name() -> None:
    with pytest.raises(ValueError, match="no game 'connect_four'; there are"):
        linkzoo.get_game("connect_four")
    assert linkzoo.get_game(ADDRESS) is GAME
    assert linkzoo.get_game("connect_four") is GAME
    assert linkzoo.game_names() == (*registry.NAMES, "connect_four")
    assert registry.id_of(GAME) == ADDRESS
    assert registry.id_of(linkzoo.get_game("linkage")) == "linkage"
    assert linkzoo.make(ADDRESS).metadata["name"] == "connect_four_v0"
    assert linkzoo.get_game("linkzoo.games.link_o:GAME") is linkzoo.get_game("link_o")


def test_by_registration() -> None:
    for _ in range(2):  # the same game as often as one likes
        linkzoo.register(GAME)
    assert linkzoo.make("connect_four").game is linkzoo.make_vec("connect_four", 2).game is GAME
    assert linkzoo.get_game("connect_four:connect_four") is GAME  # registered, no attribute
    seat = gymnasium.make("linkzoo/ConnectFour-v0", seat=1).unwrapped
    assert isinstance(seat, SeatEnv)
    assert seat.env.game is GAME


def test_what_is_refused() -> None:
    for name, complaint in {
        "no_such_module:GAME": "can't import no_such_module",
        "connect_four.no_such:GAME": "can't import connect_four.no_such",
        "connect_four:NAME": r"the games of connect_four are \['GAME'\]",
        "connect_four:rules": r"the games of connect_four are \['GAME'\]",
        ":GAME": "a game from outside is module:name",
        "connect_four:": "a game from outside is module:name",
        ".rules:GAME": "a game from outside is module:name",
        "a b:c": "a game from outside is module:name",
    }.items():
        with pytest.raises(ValueError, match=complaint):
            linkzoo.make(name)
    for wrong in (3, None, "connect_four", connect_four):
        with pytest.raises(ValueError, match="is not a Game"):
            linkzoo.register(wrong)  # type: ignore[arg-type]


def test_a_name_is_taken_once() -> None:
    linkzoo.register(GAME)
    with pytest.raises(
        ValueError, match=r"another game is called 'connect_four' \(so .*\); .* are taken"
    ):
        linkzoo.register(replace(GAME, title="Four in a Row"))
    with pytest.raises(ValueError, match="another game is called 'linkage'"):
        linkzoo.register(replace(GAME, name="linkage"))
    assert linkzoo.get_game("connect_four") is GAME


def test_a_module_whose_game_has_a_taken_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = "from dataclasses import replace\nimport connect_four\nGAME = replace(connect_four.GAME)"
    (tmp_path / "copied_game.py").write_text(code)
    linkzoo.get_game(ADDRESS)
    with pytest.raises(ValueError, match="another game is called 'connect_four'"):
        linkzoo.get_game("copied_game:GAME")
    assert registry.id_of(GAME) == ADDRESS


INSTALLED = """
import sys
import linkzoo
from linkzoo import registry
assert "connect_four" in linkzoo.game_names()
assert "connect_four" not in sys.modules
env = linkzoo.make("connect_four")
assert registry.id_of(env.game) == "connect_four"
assert linkzoo.get_game("connect_four:GAME") is env.game
print(*linkzoo.game_names())
"""
TWICE = """
import linkzoo
try:
    linkzoo.get_game("connect_four")
except ValueError as error:
    print(error)
"""


def install(folder: Path, name: str, value: str) -> None:
    """The metadata that pip writes for a package with one entry point."""
    folder = folder / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[linkzoo.games]\nconnect_four = {value}\n")


@pytest.mark.slow
@pytest.mark.last
def test_installed_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They appear by their entry point, and are imported when they are asked for."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    install(tmp_path, "four", ADDRESS)
    assert run_python("-c", INSTALLED).split() == [*registry.NAMES, "connect_four"]
    install(tmp_path, "other", "other_four:GAME")
    assert run_python("-c", TWICE) == (
        "several games are called 'connect_four': ['connect_four:GAME', 'other_four:GAME']\n"
    )


SPAWNED = """
import multiprocessing, sys
import linkzoo
def title(game):
    return game.title
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(title, (linkzoo.get_game("connect_four:GAME"),)))
"""


@pytest.mark.slow  # quick: test_installed_games
@pytest.mark.last
def test_another_process_finds_the_game(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNED)
    assert run_python(str(tmp_path / "script.py")) == "Connect Four\n"


@pytest.mark.parametrize("text", ["1 / 0", "def", "assert False, 'no'"])
def test_a_module_that_fails(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises, the error is one line."""
    (tmp_path / "badmod.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"^no game 'badmod:GAME'; can't import badmod: \w+Error:"):
        linkzoo.get_game("badmod:GAME")
