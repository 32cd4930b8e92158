"""The variants of Love Links."""

from dataclasses import dataclass

from linkzoo.core import options
from linkzoo.core.arguments import string
from linkzoo.games.love_links.links import LINK_SETS, STANDARD

EDITIONS = {name: {"link_set": name} for name in LINK_SETS.names() if name != STANDARD}


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of Love Links; the section Options of RULES.md explains them.

    Raises:
        ValueError: Names a value that isn't allowed.
    """

    short: bool = False
    link_set: str = STANDARD

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "link_set", LINK_SETS.full_name(string("link_set", self.link_set)))
