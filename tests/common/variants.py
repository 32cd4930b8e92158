"""What the common tests run over: for each game, numbers of players and options worth trying.

This is the only file under tests/common that names games. A new game gets its entry here;
test_variants.py fails until every number of players and every option of the game occurs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from linkzoo import Game, GameEnv, get_game

Options = dict[str, Any]

_OTHER_CARDS = str(Path(__file__).with_name("love_formula_cards.csv"))

VARIANTS: dict[str, list[tuple[int, Options]]] = {
    "linkage": [
        (2, {}),
        (2, {"skip_forced": True}),
        (2, {"free_hole": True}),
        (2, {"threshold": 8}),
        (2, {"threshold": 30}),
        (2, {"board_size": 6, "threshold": 9}),
        (2, {"board_size": 6, "threshold": 9, "free_hole": True}),
        (2, {"board_size": 5, "threshold": 7, "skip_forced": True}),
        (2, {"board_size": 4, "threshold": 5}),
        (2, {"board_size": 4, "threshold": 5, "free_hole": True, "skip_forced": True}),
        (2, {"board_size": 3, "threshold": 3}),
        (2, {"board_size": 3, "threshold": 1, "free_hole": True}),
    ],
    "love_links": [
        (2, {}),
        (3, {}),
        (4, {}),
        (2, {"short": True}),
        (3, {"skip_forced": True}),
        (4, {"short": True, "skip_forced": True}),
    ],
    "link_o": [
        (2, {}),
        (3, {"target": 0}),
        (4, {}),
        (5, {"target": 0}),
        (6, {"target": 0}),
        (2, {"target": 0, "board": "ring4x12", "dig": "one", "skip_forced": True}),
        (3, {"target": 20, "circle_bonus": 16, "next_starter": "winner", "max_rounds": 2}),
        (4, {"target": 0, "board": "ring4x16x2", "open_connectors": "adjacent_only"}),
        (2, {"target": 20, "next_starter": "random", "blocked_tie": "split"}),
        (3, {"target": 0, "redeal_inference": True, "circle_bonus": 16}),
    ],
    "love_formula": [
        (2, {}),
        (3, {}),
        (4, {}),
        (2, {"skip_forced": False}),
        (3, {"voluntary_discards": "off"}),
        (3, {"cards": _OTHER_CARDS}),
    ],
}

# An option value and a number of players that the game refuses.
REFUSED: dict[str, tuple[Options, int]] = {
    "linkage": ({"board_size": 8}, 3),
    "love_links": ({"short": 90}, 5),
    "link_o": ({"dig": "two"}, 7),
    "love_formula": ({"voluntary_discards": "never"}, 5),
}


class Variant(NamedTuple):
    """One way to play a game."""

    name: str
    num_players: int
    options: Options

    @property
    def game(self) -> Game:
        return get_game(self.name, self.options)

    def env(self, **kwargs: Any) -> GameEnv:
        """The AEC environment."""
        return GameEnv(self.name, self.num_players, **kwargs, **self.options)

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        return "-".join([self.name, str(self.num_players), *options])


ALL = [Variant(name, *case) for name, cases in VARIANTS.items() for case in cases]
# One for each game and number of players, where more would only take longer.
FEW = list({(variant.name, variant.num_players): variant for variant in reversed(ALL)}.values())


@dataclass(frozen=True)
class _Cases:
    variants: list[Variant]

    def __call__(self, test: Callable[..., None]) -> Callable[..., None]:
        marked: Callable[..., None] = pytest.mark.parametrize("variant", self.variants, ids=str)(
            test
        )
        return marked


every_variant = _Cases(ALL)
few_variants = _Cases(FEW)
# Of games that several numbers of players can play.
variants_of_several_sizes = _Cases(
    [variant for variant in FEW if variant.game.min_players < variant.game.max_players]
)


def games(variant: Variant) -> settings:
    """Hypothesis plays ten games; of long ones fewer, about a thousand decisions in all."""
    return settings(max_examples=min(10, max(2, 1000 // variant.game.typical_length)))
