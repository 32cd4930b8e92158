"""The games of the package, by name."""

from importlib import import_module

from linkzoo.game import Game

# Each name is a sub-package with a GAME, and a module of versioned environments `<name>_v0`.
NAMES = ("linkage", "love_links")


def get_game(name: str) -> Game:
    """The game called `name`; ValueError if there is none."""
    if name not in NAMES:
        raise ValueError(f"no game {name!r}; there are {list(NAMES)}")
    game: Game = import_module(f"linkzoo.{name}").GAME
    return game
