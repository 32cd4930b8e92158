"""`import linkzoo` loads no torch, compiles nothing, and exports the public API."""

import json
from importlib import import_module

import pytest

import linkzoo
from linkzoo import Game, get_game
from tests.common.play import run_python

# Run in a fresh process: which modules come with the package, and what numba has compiled.
LOOK = """
import gc, json, sys
import linkzoo
from numba.core.dispatcher import Dispatcher
for name in linkzoo.game_names(){only}:
    linkzoo.get_game(name)
    {more}
dispatchers = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
print(json.dumps({{
    "modules": sorted(sys.modules),
    "functions": len(dispatchers),
    "compiled": [str(one) for one in dispatchers if one.signatures and "linkzoo" in one.__module__],
}}))
"""

HEAVY = {"torch", "jax", "tensorflow", "matplotlib", "pygame", "pandas", "linkzoo_training"}


def look(more: str, only: str = "") -> dict[str, list[str]]:
    run = ("-c", LOOK.format(more=more, only=only))
    loaded: dict[str, list[str]] = json.loads(run_python(*run))
    return loaded


@pytest.mark.slow
def test_making_environments_compiles_nothing_and_loads_nothing_heavy() -> None:
    loaded = look("linkzoo.load_policy; linkzoo.make(name); linkzoo.make_vec(name, 2)")
    assert loaded["compiled"] == []
    assert loaded["functions"], "the look-out doesn't see the compiled functions"
    assert not HEAVY & set(loaded["modules"])


@pytest.mark.slow
def test_the_look_out_sees_what_is_compiled() -> None:
    """With one game: it has to see that something is compiled, not everything."""
    loaded = look("linkzoo.make_vec(name, 2).reset()", only="[:1]")
    assert loaded["compiled"]
    assert not {"torch", "numba.cuda", "linkzoo.cuda"} & set(loaded["modules"])


def test_collecting_the_tests_compiles_nothing(compiled_by_collecting: list[str]) -> None:
    """A parametrize list that plays a game is made in every worker, whatever test it runs."""
    assert compiled_by_collecting == []


def test_public_names() -> None:
    assert isinstance(linkzoo.game_names(), tuple)  # not the module of the same name
    for name in linkzoo.__all__:
        assert hasattr(linkzoo, name), name
    assert linkzoo.__version__


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_every_game_is_complete(name: str) -> None:
    game = get_game(name)
    assert isinstance(game, Game)
    assert game is get_game(name)
    assert game.name == name
    assert game.title
    assert 2 <= game.min_players <= game.max_players
    assert 0 < game.facts.typical_length <= game.facts.max_length
    versioned = import_module(f"linkzoo.{game.versioned_name}")
    assert getattr(linkzoo, game.versioned_name) is versioned
    for constructor in ("env", "raw_env", "parallel_env"):
        assert name in getattr(versioned, constructor).__doc__
