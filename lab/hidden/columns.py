"""The games of the benchmark: each is small enough that NashConv is exact."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from linkzoo import exact


class Column(NamedTuple):
    """A game of two seats with hidden information."""

    game: str
    options: Mapping[str, Any]

    def tree(self) -> exact.GameTree:
        """Returns the game's whole tree."""
        return exact.tree(self.game, 2, self.options)


COLUMNS = {
    "leduc": Column("leduc:GAME", {}),
    "liars_dice": Column("tests.exact.games:LIARS_DICE", {}),
    "link_o mini2x4a-h3": Column("link_o", {"board": "mini2x4a-h3"}),
    "link_o mini2x4b-h3": Column("link_o", {"board": "mini2x4b-h3"}),
    "love_formula mini8": Column("love_formula", {"cards": "mini8"}),
    "love_formula mini8-draft": Column("love_formula", {"cards": "mini8-draft"}),
}
