"""Variants for the common tests: numbers of players and options of each game.

This is the only file under tests/common that names games. A new game gets its entry here;
test_variants.py fails until every number of players and every option of the game occurs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from linkzoo import Game, GameEnv, get_game
from linkzoo.games.link_o import board
from linkzoo.games.love_formula import cards
from tests.driving import NIGHTLY, SLOW

Options = dict[str, Any]

OTHER_CARDS = str(Path(__file__).with_name("love_formula_cards.csv"))


class DataFile(NamedTuple):
    """A file that an option names, a word in it that may be another one, and how it is read."""

    option: str
    path: Path
    word: str
    read: Callable[[str], Any]


FILES = {
    "link_o": DataFile(
        "board",
        Path(board.__file__).parent / "boards/ring4x12.json",
        "ring4x12",
        lambda path: board.load_board(path).spaces,
    ),
    "love_formula": DataFile(
        "cards",
        Path(cards.__file__).with_name("cards.csv"),
        "DESIGNED",
        lambda path: cards.load_cards(path).cards,
    ),
}

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
        (3, {"cards": OTHER_CARDS}),
    ],
}

for _name, _variants in VARIANTS.items():
    for _edition in get_game(_name).editions.values():
        _game = get_game(_name, _edition)
        for _players in range(_game.min_players, _game.max_players + 1):
            _variants.append((_players, {**_edition}))

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
# One for each game, with the most players.
ONE = list({variant.name: variant for variant in sorted(FEW, key=lambda v: v.num_players)}.values())

# One random game in the quick and the slow tests, more every night. The first seed needs every bit.
SEEDS = [
    pytest.param([2**64 - 1], id="a_game"),
    pytest.param([1, 2**32], id="more_games", marks=NIGHTLY),
]
random_games = pytest.mark.parametrize("seeds", SEEDS)

# Whose rules are compiled for a board, links or cards of their own, which takes longest.
OTHER_RULES = [variant for variant in ALL if variant.game is not get_game(variant.name)]


def _with_most_options(variants: list[Variant]) -> list[Variant]:
    """Returns one variant of each game, the first of those with the most options."""
    ordered = sorted(variants, key=lambda variant: len(variant.options), reverse=True)
    return list({variant.name: variant for variant in reversed(ordered)}.values())


SLOWEST = "love_formula"  # to compile
OTHER_BOARD = "link_o"  # whose other rules the slow tests compile; those of others are nightly


def _without_the_slowest(variants: list[Variant]) -> list[Variant]:
    return [variant for variant in variants if variant.name != SLOWEST]


# Of each game, the one with most options: in LINK-O it has another board.
MANY_OPTIONS = _with_most_options(
    [
        variant
        for variant in ALL
        if variant not in ONE and (variant.name == OTHER_BOARD or variant not in OTHER_RULES)
    ]
)


@dataclass(frozen=True)
class _Cases:
    """Parametrizes a test: over `quick` in every run, over `slow` in the slow tests.

    The others of `every` are nightly.
    """

    quick: list[Variant]
    slow: list[Variant]
    every: list[Variant]

    def __call__(self, test: Callable[..., None]) -> Callable[..., None]:
        cases: list[Any] = [*self.quick]
        for variant in self.every:
            if variant not in self.quick:
                marks = SLOW if variant in self.slow else NIGHTLY
                cases.append(pytest.param(variant, marks=marks))
        marked: Callable[..., None] = pytest.mark.parametrize("variant", cases, ids=str)(test)
        return marked


# One of each game is tried by every run, in the size in which most planted faults are found.
every_variant = _Cases(ONE, MANY_OPTIONS, ALL)
# For code that reads no options: the tests over every variant check what depends on them.
_BY_PLAYERS = sorted(FEW, key=lambda variant: variant.num_players, reverse=True)
FEWEST = list({variant.name: variant for variant in _BY_PLAYERS}.values())
every_size = _Cases(ONE, FEWEST, FEW)
# For what games only carry through: the same code, whatever their rules are. One of several sizes.
CARRIED = next(variant for variant in ONE if variant.name == "love_links")
SOONEST = next(variant for variant in ONE if variant.name == "linkage")
one_game = _Cases([CARRIED], [SOONEST], ONE)
# Of games that several numbers of players can play.
_SIZED = [variant for variant in FEW if variant.game.min_players < variant.game.max_players]
every_size_of_sized_games = _Cases([CARRIED], _without_the_slowest(ONE), _SIZED)
