"""The variants of Love Links."""

from dataclasses import dataclass

from linkzoo.core import game


@dataclass(frozen=True)
class Options(game.Options):
    """Variants of Love Links; ValueError names a value that isn't allowed.

    - `short`: the game ends as soon as a side has 90 points (R21).
    """

    short: bool = False
