"""The variants of Love Formula."""

from dataclasses import dataclass
from typing import Literal

from linkzoo.core import options
from linkzoo.core.arguments import string
from linkzoo.games.love_formula.cards import STANDARD, TABLES

# The numbers of `voluntary_discards` in the record.
WINDOWS = 0
OFF = 1

EDITIONS = {name: {"cards": name} for name in TABLES.names() if name != STANDARD}


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of Love Formula; the section Options of RULES.md explains them.

    Raises:
        ValueError: Names a value that isn't allowed.
    """

    cards: str = STANDARD
    voluntary_discards: Literal["windows", "off"] = "windows"
    skip_forced: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cards", TABLES.full_name(string("cards", self.cards)))
