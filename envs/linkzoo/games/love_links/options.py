"""The variants of Love Links."""

from dataclasses import dataclass

from linkzoo.core import options


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of Love Links.

    Attributes:
        short: The game ends as soon as a side has 90 points (R21).
    """

    short: bool = False
