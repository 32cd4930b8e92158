"""The games by name: the package's own, installed and registered games.

Wherever a game's name is taken, `module:name` and `FILE.py:name` import the module or file first.
The name belongs to a `Game` in the module, or to a game that the module registers.
"""

import copyreg
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import gymnasium
import pettingzoo

from linkzoo.core.arguments import mapping, shown
from linkzoo.core.game import Game
from linkzoo.core.imports import import_hint, import_home, whole_path
from linkzoo.core.names import gymnasium_id, versioned_name
from linkzoo.games import VERSIONS

# The package's own: each name is a sub-package with a GAME, and a module of versioned environments
# `<name>_v0`.
NAMES = tuple(VERSIONS)

_ADDRESS = re.compile(r"(?:.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")
_known: dict[str, Game] = {}  # games that were registered or asked for
_addresses: dict[str, str] = {}  # how games were asked for: `module:name`, `/PATH/FILE.py:name`


def game_names() -> tuple[str, ...]:
    """Returns the names of all games: the package's own, installed and registered ones."""
    return tuple(dict.fromkeys((*NAMES, *_installed(), *_known)))


def get_game(name: str, options: Mapping[str, Any] | None = None) -> Game:
    """Returns a game, the same object each time.

    Args:
        name: A name of `game_names()`, or `module:name` or `FILE.py:name` of a game from elsewhere.
        options: Options by name. Those in `Game.fixed` choose among several Game objects; others
            are fields of the record and change nothing here.

    Raises:
        ValueError: There is no such game; the message names the games.
    """
    if options is not None:
        options = mapping("options", options)
    game = _find(name)
    if options and game.fixed.with_options is not None:
        return game.fixed.with_options(options)
    return game


def register(game: Game) -> None:
    """Makes a game known by its name, here and in the registries of gymnasium and PettingZoo.

    It is known in this process; another one finds it by `module:name` or `FILE.py:name`, or if it
    is installed.

    Args:
        game: The game.

    Raises:
        ValueError: It is no Game, or another game has its name.
    """
    if not isinstance(game, Game):
        raise ValueError(f"{shown(game)} is not a Game")
    _check_name(game)
    _keep(game)


def id_of(game: Game) -> str:
    """Returns the name by which another process finds a game, too.

    It is the game's own name, `module:name`, or `FILE.py:name` with the file's whole path.
    """
    if game.name in NAMES or game.name in _installed():
        return game.name
    return _addresses.get(game.name, game.name)


def get_same_game(name: str, options: Mapping[str, Any], digest: str | None) -> Game:
    """Returns a game whose compiled-in data must be unchanged.

    Args:
        name: The game's name, as for `get_game`.
        options: Its options.
        digest: `Game.digest` of then; None for any data.

    Raises:
        ValueError: There is no such game, or it is made of other data now.
    """
    game = get_game(name, options)
    if digest is not None and digest != game.digest:
        raise ValueError(
            f"digest: {game} is made of other data than then: {game.digest!r} now, "
            f"{shown(digest)} then; was the file changed?"
        )
    return game


# A game travels to another process as the name by which it is found there.
copyreg.pickle(
    Game, lambda game: (get_same_game, (id_of(game), dict(game.fixed.values), game.digest))
)


def announce(name: str, version: int, game: str) -> None:
    """Registers a game with gymnasium and, where it has a registry (from 1.27 on), PettingZoo.

    Args:
        name: The game's name.
        version: The game's version.
        game: An argument of `get_game`.
    """
    env_id = gymnasium_id(name, version)
    if env_id in gymnasium.registry:
        return
    kwargs = {"game": game}
    gymnasium.register(
        id=env_id,
        entry_point="linkzoo.envs.gym:SeatEnv",
        vector_entry_point="linkzoo.envs.gym_vector:SeatVectorEnv",
        kwargs=kwargs,
    )
    if hasattr(pettingzoo, "register"):
        env_name = f"linkzoo/{versioned_name(name, version)}"
        parallel_env = "linkzoo.envs.constructors:parallel_env"
        pettingzoo.register("aec", env_name, "linkzoo.envs.aec:GameEnv", kwargs=kwargs)
        pettingzoo.register("parallel", env_name, parallel_env, kwargs=kwargs)


@cache
def _installed() -> dict[str, set[str]]:
    """Returns the addresses of installed packages' games by name; nothing is imported."""
    addresses: dict[str, set[str]] = {}
    for point in entry_points(group="linkzoo.games"):  # `name = "module:name"`
        addresses.setdefault(point.name, set()).add(point.value)
    return addresses


def _find(name: str) -> Game:
    if isinstance(name, str):
        if name in _known:
            return _known[name]
        if ":" in name:
            game = _load(name)
            _check_name(game)
            _addresses.setdefault(game.name, whole_path(name))
            return _keep(game)
        addresses = set(_installed().get(name, ()))
        if name in NAMES:
            addresses.add(f"linkzoo.games.{name}:GAME")
        if len(addresses) > 1:
            raise ValueError(f"several games are called {name!r}: {sorted(addresses)}")
        for address in addresses:
            game = _load(address)
            if game.name != name:
                raise ValueError(f"{address} is called {game.name!r}, not {name!r}")
            return _keep(game)
    raise ValueError(
        f"no game {shown(name)}; there are {list(game_names())}, and module:name or "
        "FILE.py:name of a game from outside"
    )


def _load(address: str) -> Game:
    if not _ADDRESS.fullmatch(address):
        raise ValueError(
            f"no game {shown(address)}; a game from outside is module:name or FILE.py:name"
        )
    home, _, inside = address.rpartition(":")
    try:
        module = import_home(home)
    except Exception as error:  # another's code can raise anything
        reason = f"{type(error).__name__}: {error}{import_hint(home, error)}"
        raise ValueError(f"no game {shown(address)}; can't import {home}: {reason}") from error
    game = getattr(module, inside, _known.get(inside))
    if not isinstance(game, Game):
        names = [key for key, value in vars(module).items() if isinstance(value, Game)]
        raise ValueError(f"no game {shown(address)}; the games of {home} are {names}")
    return game


def _check_name(game: Game) -> None:
    if game.name in game_names() and _find(game.name) is not game:
        raise ValueError(
            f"another game is called {game.name!r} (so is one that was loaded by its file and by "
            f"its module); the names {list(game_names())} are taken"
        )


def _keep(game: Game) -> Game:
    _known[game.name] = game
    announce(game.name, game.version, id_of(game))
    return game
