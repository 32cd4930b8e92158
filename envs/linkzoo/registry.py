"""The games by name: the package's own, those of installed packages, and registered ones.

Wherever a game's name is taken, `module:name` imports the module first. The name is that of a
`Game` in the module, or of a game that the module registers.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import gymnasium
import pettingzoo

from linkzoo.core.arguments import mapping, shown
from linkzoo.core.game import Game

# The package's own: each name is a sub-package with a GAME, and a module of versioned environments
# `<name>_v0`.
NAMES = ("linkage", "love_links", "link_o", "love_formula")
GROUP = "linkzoo.games"  # of entry points: `name = "module:name"`

_ADDRESS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_known: dict[str, Game] = {}  # games that were registered or asked for
_addresses: dict[str, str] = {}  # the `module:name` by which games were asked for


def game_names() -> tuple[str, ...]:
    """The names of all games: the package's own first."""
    return tuple(dict.fromkeys((*NAMES, *_installed(), *_known)))


def get_game(name: str, options: Mapping[str, Any] | None = None) -> Game:
    """The game called `name` that plays these options: the same object each time.

    Most options are fields of the record and change nothing here; those in `Game.fixed` choose
    among several Game objects. ValueError if there is no such game.
    """
    options = None if options is None else mapping("options", options)
    game = _find(name)
    return game.with_options(options) if options and game.with_options else game


def register(game: Game) -> None:
    """Makes a game known by its name, here and in the registries of gymnasium and PettingZoo.

    It is known in this process; another one finds it by `module:name`, or if it is installed.
    ValueError if it is no Game, or if another game has its name.
    """
    if not isinstance(game, Game):
        raise ValueError(f"{shown(game)} is not a Game")
    if not game.name.isidentifier():
        raise ValueError(f"a game's name is an identifier, not {shown(game.name)}")
    _check_name(game)
    _keep(game)


def id_of(game: Game) -> str:
    """The name by which another process finds a game, too: its own, or `module:name`."""
    installed = game.name in NAMES or game.name in _installed()
    return game.name if installed else _addresses.get(game.name, game.name)


def announce(name: str, game: str) -> None:
    """Makes gymnasium and, where it has a registry (from 1.27 on), PettingZoo know a game.

    The ids are made of its name; they make what `get_game(game)` gives.
    """
    title = "".join(word.capitalize() for word in name.split("_"))
    if f"linkzoo/{title}-v0" in gymnasium.registry:
        return
    kwargs = {"game": game}
    gymnasium.register(
        id=f"linkzoo/{title}-v0",
        entry_point="linkzoo.envs.gym:SeatEnv",
        vector_entry_point="linkzoo.integrations.vector:SeatVectorEnv",
        kwargs=kwargs,
    )
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", f"linkzoo/{name}_v0", "linkzoo.envs.aec:GameEnv", kwargs=kwargs)
        pettingzoo.register(
            "parallel", f"linkzoo/{name}_v0", "linkzoo.envs.aec:parallel_env", kwargs=kwargs
        )


@cache
def _installed() -> dict[str, set[str]]:
    """Where the games of installed packages are, by their entry points; nothing is imported."""
    found: dict[str, set[str]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, set()).add(point.value)
    return found


def _find(name: str) -> Game:
    if isinstance(name, str):
        if name in _known:
            return _known[name]
        if ":" in name:
            game = _load(name)
            _check_name(game)
            _addresses.setdefault(game.name, name)
            return _keep(game)
        own = {f"linkzoo.games.{name}:GAME"} if name in NAMES else set()
        addresses = own | _installed().get(name, set())
        if len(addresses) > 1:
            raise ValueError(f"several games are called {name!r}: {sorted(addresses)}")
        for address in addresses:
            game = _load(address)
            if game.name != name:
                raise ValueError(f"{address} is called {game.name!r}, not {name!r}")
            return _keep(game)
    raise ValueError(
        f"no game {shown(name)}; there are {list(game_names())}, and module:name of a game from outside"
    )


def _load(address: str) -> Game:
    """The game at `module:name`."""
    if not _ADDRESS.fullmatch(address):
        raise ValueError(f"no game {shown(address)}; a game from outside is module:name")
    home, _, inside = address.partition(":")
    try:
        module = import_module(home)
    except Exception as error:  # another's code can raise anything
        raise ValueError(
            f"no game {shown(address)}; can't import {home}: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, inside, _known.get(inside))
    if not isinstance(found, Game):
        there = [key for key, value in vars(module).items() if isinstance(value, Game)]
        raise ValueError(f"no game {shown(address)}; the games of {home} are {there}")
    return found


def _check_name(game: Game) -> None:
    if game.name in game_names() and _find(game.name) is not game:
        raise ValueError(
            f"another game is called {game.name!r}; the names {list(game_names())} are taken"
        )


def _keep(game: Game) -> Game:
    _known[game.name] = game
    announce(game.name, id_of(game))
    return game
