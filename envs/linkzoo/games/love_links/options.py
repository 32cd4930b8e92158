"""The variants of Love Links."""

from dataclasses import dataclass

from linkzoo.core import options


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of Love Links; the section Options of RULES.md explains them."""

    short: bool = False
