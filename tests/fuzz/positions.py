"""Positions of random games, and the checks of every position that is accepted."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from tests.common.play import choose, mask_of
from tests.common.variants import ALL, Variant
from tests.driving import first_quick
from tests.fuzz.strategies import same_json, short

_GAMES = 8  # random games of each variant
_GUARDS = 4  # records before and after a position, in which nothing may be written
_GUARD = 0xA5


class Edition(NamedTuple):
    """The variants of a game that share compiled rules: its usual ones, or another data file."""

    name: str
    variants: list[Variant]

    @property
    def game(self) -> Game:
        """The rules."""
        return self.variants[0].game

    @property
    def usual(self) -> bool:
        """Whether the game has its usual data."""
        return self.game is get_game(self.name)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        options = {str(value).rpartition("/")[2] for value in self.game.fixed.values.values()}
        return self.name if self.usual else "-".join([self.name, *sorted(options)])


def _editions() -> list[Edition]:
    editions: dict[Any, Edition] = {}
    for variant in ALL:
        edition = editions.setdefault(id(variant.game), Edition(variant.name, []))
        edition.variants.append(variant)
    return list(editions.values())


EDITIONS = _editions()
USUAL = [edition for edition in EDITIONS if edition.usual]
_OTHERS = [edition for edition in EDITIONS if not edition.usual]


def every_game(quick: str, *others: Any, slow: int = 1) -> pytest.MarkDecorator:
    """Parametrizes a property: over one game in the quick suite, over others in the slow one.

    Args:
        quick: The game of the quick suite.
        others: More editions.
        slow: The number of games in the slow tests; the rest is nightly.
    """
    usual = sorted(USUAL, key=lambda edition: edition.name != quick)
    cases = [*first_quick(usual, slow=slow), *others]
    return pytest.mark.parametrize("edition", cases, ids=str)


def every_edition(quick: str) -> pytest.MarkDecorator:
    """Parametrizes a property as `every_game`; other editions are nightly."""
    return every_game(quick, *first_quick(_OTHERS, quick=0, slow=0))


def edition_of(name: str) -> Edition:
    """Returns the edition with this text, by which caches know it."""
    return next(edition for edition in EDITIONS if str(edition) == name)


@cache
def trajectory(edition_name: str, index: int, seed: int) -> NDArray[Any]:
    """Returns all positions of a random game, the last one included: records [plies + 1]."""
    variant = edition_of(edition_name).variants[index]
    game = variant.game
    kernel = kernels(game)
    states = np.zeros(1, game.state)
    states[0] = game.blank(variant.num_players, variant.options)
    mask = np.empty((1, game.num_actions), np.int8)
    kernel.begin(states, np.array([seed], np.uint64), mask)
    positions = [states.copy()]
    while states[0].seat >= 0:
        kernel.play_one(states, choose(mask[0], seed, len(positions)), mask[0])
        positions.append(states.copy())
    every: NDArray[Any] = np.concatenate(positions)
    return every


class Position(NamedTuple):
    """A position of a random game, and the variant that was played."""

    variant: Variant
    state: Record

    def __repr__(self) -> str:
        return f"ply {self.state.ply} of {self.variant}, seed {self.state.seed}"


@st.composite
def positions(draw: Callable[[Any], Any], edition: Edition, num_players: int = 0) -> Position:
    """A position of a random game; with this number of players, if one is given."""
    indices = [
        index
        for index, variant in enumerate(edition.variants)
        if num_players in (0, variant.num_players)
    ]
    index = draw(st.sampled_from(indices))
    states = trajectory(str(edition), index, draw(st.integers(0, _GAMES - 1)))
    last = len(states) - 1
    ply = draw(st.integers(0, last))
    if draw(st.integers(0, 9)) == 9:
        ply = last
    state: Record = states[ply : ply + 1].copy()[0]
    return Position(edition.variants[index], state)


class Guarded:
    """A record between others that nobody may write to."""

    def __init__(self, game: Game, state: Record) -> None:
        size = game.state.itemsize
        self._bytes = np.full((2 * _GUARDS + 1) * size, _GUARD, np.uint8)
        self.states: NDArray[Any] = self._bytes.view(game.state)[_GUARDS : _GUARDS + 1]
        self.states[0] = state
        self._before = slice(0, _GUARDS * size)
        self._after = slice((_GUARDS + 1) * size, None)

    def check(self, function: str) -> None:
        """Raises if something was written beside the record."""
        for part in (self._before, self._after):
            assert (self._bytes[part] == _GUARD).all(), f"{function} wrote beside the record"


def check_position(game: Game, state: Record, seed: int) -> None:
    """Does everything that can be done with a position; `seed` decides details.

    Masks hold 0 and 1, observations keep to their bounds, payoffs are finite, JSON gives the
    position back, worlds drawn for a seat are positions, the game ends within `max_length`, and
    nothing is written beside the arrays.
    """
    kernel = kernels(game)
    players = int(state.num_players)
    guarded = Guarded(game, state)
    mask = np.full((1, game.num_actions), 7, np.int8)
    kernel.fill_masks.serial(guarded.states, mask)
    guarded.check("legal_actions")
    assert ((mask == 0) | (mask == 1)).all(), "a mask of other numbers than 0 and 1"
    for seat in range(players):
        _check_observation(game, guarded, seat)
    payoff, margin = np.zeros((2, 1, players), np.float32)
    kernel.outcome.serial(guarded.states, payoff, margin)
    guarded.check("margins")
    assert np.isfinite(payoff).all(), "payoffs aren't finite"
    assert np.isfinite(margin).all(), "margins aren't finite"
    _check_texts(game, guarded.states[0], mask[0], seed)
    if int(state.seat) >= 0:
        world = Guarded(game, state)
        game.determinize(world.states[0], seed % players, np.uint64(seed))
        world.check("determinize")
        game.from_bytes(world.states[0].tobytes())
        _play_to_the_end(game, world, seed)
    _play_to_the_end(game, guarded, seed + 1)


def _check_observation(game: Game, guarded: Guarded, seat: int) -> None:
    kernel = kernels(game)
    spec = game.observation.spec
    numbers = np.full(spec.size + 64, 101, spec.dtype)
    kernel.observe_one(guarded.states, seat, numbers[32:-32].reshape(spec.shape))
    guarded.check("observe")
    assert (numbers[:32] == 101).all(), "observe wrote beside the observation"
    assert (numbers[-32:] == 101).all(), "observe wrote beside the observation"
    low, high = _bounds(game)
    inside = (numbers[32:-32] >= low) & (numbers[32:-32] <= high)
    assert inside.all(), f"observation {int(inside.argmin())} is out of bounds"
    privileged = game.observation.privileged_spec
    if kernel.reveal_one is not None and privileged is not None:
        kernel.reveal_one(guarded.states, seat, np.zeros(privileged.size, privileged.dtype))
        guarded.check("reveal")


@cache
def _bounds(game: Game) -> tuple[NDArray[Any], NDArray[Any]]:
    space = game.observation.spec.space()
    return space.low.ravel(), space.high.ravel()


def _play_to_the_end(game: Game, guarded: Guarded, seed: int) -> None:
    kernel = kernels(game)
    states = guarded.states
    mask = np.zeros((1, game.num_actions), np.int8)
    kernel.fill_masks.serial(states, mask)
    plies = 0
    while states[0].seat >= 0 and plies <= game.facts.max_length:
        action = choose(mask[0], seed, plies)
        assert action >= 0, f"player {states[0].seat} has no legal action after {plies} plies"
        kernel.play_one(states, action, mask[0])
        guarded.check("apply")
        plies += 1
    assert plies <= game.facts.max_length, f"no end after {plies} plies"
    assert not mask.any(), "legal actions after the end"
    outcome = np.zeros((2, 1, int(states[0].num_players)), np.float32)
    kernel.outcome.serial(states, *outcome)
    assert np.isfinite(outcome).all(), "the outcome isn't finite"
    _check_texts(game, states[0], mask[0], seed)


def _check_texts(game: Game, state: Record, mask: NDArray[np.int8], seed: int) -> None:
    """Checks that JSON and moves round-trip, and draws one position of eight."""
    before = state.tobytes()
    data = json.loads(json.dumps(game.to_dict(state)))
    for seat in range(int(state.num_players)):
        json.dumps(game.to_dict(state, seat))
    again = game.from_dict(data)
    for action in np.flatnonzero(mask)[:: 1 + seed % 8][:20]:
        text = game.notation.action_to_text(state, int(action))
        read = game.notation.text_to_action(state, text)
        assert read == action, f"{short(text)} is {read}, not {action}"
    if seed % 8 == 0:
        game.drawing.text(state, seed // 8 % int(state.num_players))
        game.drawing.text(state, None)
        game.draw_svg(state, None)
    names = state.dtype.names or ()
    different = [name for name in names if not np.array_equal(again[name], state[name])]
    assert again.tobytes() == before, f"JSON gives another position: {different}"
    assert same_json(data, json.loads(json.dumps(game.to_dict(again)))), "JSON changes again"
    assert state.tobytes() == before, "to look at a position changed it"


def compile_edition(edition: Edition) -> None:
    """Uses a position, which compiles its rules or loads them from the cache."""
    _compile(str(edition))


@cache
def _compile(edition_name: str) -> None:
    states = trajectory(edition_name, 0, 0)
    middle = len(states) // 2
    check_position(edition_of(edition_name).game, states[middle : middle + 1].copy()[0], 0)


def legal_actions(position: Position) -> list[int]:
    """Returns the legal action numbers of a position."""
    mask = mask_of(position.variant.game, position.state)
    return [int(action) for action in np.flatnonzero(mask)]
