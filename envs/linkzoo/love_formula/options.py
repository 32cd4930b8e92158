"""The variants of Love Formula."""

from dataclasses import dataclass
from typing import Literal, get_args

from linkzoo.fields import boolean, shown, string
from linkzoo.love_formula.cards import STANDARD, load_cards

Discards = Literal["windows", "off"]

# What the record holds of the Literal option: its index.
WINDOWS, OFF = 0, 1


@dataclass(frozen=True)
class Options:
    """Variants of Love Formula; ValueError names a value that isn't allowed.

    - `cards`: the table of the package, or a CSV file of the user's own.
    - `voluntary_discards`: offered in the windows of own cards (R11), or not at all.
    - `skip_forced`: a decision with one legal action is taken without asking.
    """

    cards: str = STANDARD
    voluntary_discards: Discards = "windows"
    skip_forced: bool = True

    def __post_init__(self) -> None:
        load_cards(string("cards", self.cards))
        if self.voluntary_discards not in get_args(Discards):
            raise ValueError(
                f"voluntary_discards: {shown(self.voluntary_discards)} is none of "
                f"{list(get_args(Discards))}"
            )
        boolean("skip_forced", self.skip_forced)
