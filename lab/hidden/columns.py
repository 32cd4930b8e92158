"""The games of the benchmark: editions whose NashConv is exact, and whole games."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from linkzoo import Game, get_game


class Column(NamedTuple):
    """A game with hidden information.

    Attributes:
        game: Its name, or `module:NAME`.
        options: Its options.
        num_players: The number of players.
        exact: Whether its whole tree is known; otherwise matches measure.
    """

    game: str
    options: Mapping[str, Any]
    num_players: int = 2
    exact: bool = True

    def rules(self) -> Game:
        """Returns the game."""
        return get_game(self.game, self.options)


COLUMNS = {
    "leduc": Column("leduc:GAME", {}),
    "liars_dice": Column("tests.exact.games:LIARS_DICE", {}),
    "link_o mini2x4a-h3": Column("link_o", {"board": "mini2x4a-h3"}),
    "love_formula mini8-draft": Column("love_formula", {"cards": "mini8-draft"}),
    "link_o, 2 players": Column("link_o", {}, exact=False),
    "love_formula, 2 players": Column("love_formula", {}, exact=False),
    "love_formula, 3 players": Column("love_formula", {}, 3, exact=False),
    "link_o, 4 players": Column("link_o", {}, 4, exact=False),
}
