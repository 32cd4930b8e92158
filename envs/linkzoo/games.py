"""The games of the package, by name."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from linkzoo.fields import mapping, shown
from linkzoo.game import Game

# Each name is a sub-package with a GAME, and a module of versioned environments `<name>_v0`. If
# options of the game are compiled in, the sub-package also has `game_with(options)`.
NAMES = ("linkage", "love_links", "link_o", "love_formula")


def get_game(name: str, options: Mapping[str, Any] | None = None) -> Game:
    """The game called `name` that plays these options: the same object each time.

    Most options are fields of the record and change nothing here; those in `Game.fixed` choose
    among several Game objects. ValueError if there is no such game.
    """
    if name not in NAMES:
        raise ValueError(f"no game {shown(name)}; there are {list(NAMES)}")
    options = None if options is None else mapping("options", options)
    package = import_module(f"linkzoo.{name}")
    game: Game = package.game_with(options) if options and package.GAME.fixed else package.GAME
    return game
