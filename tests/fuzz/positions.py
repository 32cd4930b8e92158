"""Positions of random games, and what must be possible with one that was accepted."""

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from tests.common.play import choose
from tests.common.variants import VARIANTS, Options, Variant
from tests.fuzz.dice import Dice, same, short

_GAMES = 8  # random games of each variant
_GUARDS = 4  # records before and behind one, in which nobody may write
_GUARD = 0xA5


def variants(game: str) -> list[Variant]:
    """The ways to play a game that the common tests know."""
    return [Variant(game, *case) for case in VARIANTS[game]]


@cache
def trajectory(game: str, variant: int, seed: int) -> NDArray[Any]:
    """All positions of a random game, the last one included; records [plies + 1]."""
    chosen = variants(game)[variant]
    rules = chosen.game
    kernel = kernels(rules)
    states = np.zeros(1, rules.state)
    states[0] = rules.blank(chosen.num_players, chosen.options)
    mask = np.empty((1, rules.num_actions), np.int8)
    kernel.begin(states, np.array([seed], np.uint64), mask)
    outcome = np.zeros((2, chosen.num_players), np.float32)
    found = [states.copy()]
    while states[0].seat >= 0:
        kernel.play_one(states, choose(mask[0], seed, len(found)), mask[0], *outcome)
        found.append(states.copy())
    positions: NDArray[Any] = np.concatenate(found)
    return positions


def position(dice: Dice, game: str, *, fixed: bool = True) -> tuple[Variant, Record]:
    """A position of a random game, and the variant; without `fixed`, of the usual Game object."""
    choices = variants(game)
    usual = [i for i, variant in enumerate(choices) if variant.game is get_game(game)]
    index = dice.pick(usual) if not fixed or dice.chance(0.8) else dice.below(len(choices))
    states = trajectory(game, index, dice.below(_GAMES))
    at = dice.below(len(states)) if dice.chance(0.9) else len(states) - 1
    state: Record = states[at : at + 1].copy()[0]
    return choices[index], state


class Guarded:
    """A record between others that nobody may write to."""

    def __init__(self, game: Game, state: Record) -> None:
        size = game.state.itemsize
        self._bytes = np.full((2 * _GUARDS + 1) * size, _GUARD, np.uint8)
        self.states: NDArray[Any] = self._bytes.view(game.state)[_GUARDS : _GUARDS + 1]
        self.states[0] = state
        self._before = slice(0, _GUARDS * size)
        self._behind = slice((_GUARDS + 1) * size, None)

    def check(self, what: str) -> None:
        """Raises if somebody wrote beside the record."""
        for part in (self._before, self._behind):
            assert (self._bytes[part] == _GUARD).all(), f"{what} wrote beside the record"


def use(dice: Dice, game: Game, state: Record) -> None:
    """Does everything that can be done with a position.

    Its game ends within `max_length`, observations keep to their bounds, JSON gives it back, its
    redealt worlds are positions, and nothing crashes, hangs or writes elsewhere.
    """
    kernel, players = kernels(game), int(state.num_players)
    guarded = Guarded(game, state)
    states = guarded.states
    mask = np.full((1, game.num_actions), 7, np.int8)
    kernel.fill_masks.serial(states, mask)
    guarded.check("legal_actions")
    assert ((mask == 0) | (mask == 1)).all(), "a mask of other numbers than 0 and 1"
    space = _bounds(game)
    for seat in range(players):
        seen = np.full(game.observation.spec.size + 64, 101, game.observation.spec.dtype)
        kernel.observe_one(states, seat, seen[32:-32].reshape(game.observation.spec.shape))
        guarded.check("observe")
        assert (seen[:32] == 101).all(), "observe wrote beside the observation"
        assert (seen[-32:] == 101).all(), "observe wrote beside the observation"
        inside = (seen[32:-32] >= space[0]) & (seen[32:-32] <= space[1])
        assert inside.all(), f"observation {int(inside.argmin())} is out of bounds"
        privileged = game.observation.privileged_spec
        if kernel.reveal_one is not None and privileged is not None:
            kernel.reveal_one(states, seat, np.zeros(privileged.size, privileged.dtype))
            guarded.check("reveal")
    payoff, margin = np.zeros((2, 1, players), np.float32)
    kernel.outcome.serial(states, payoff, margin)
    guarded.check("margins")
    assert np.isfinite(payoff).all(), "payoffs aren't finite"
    assert np.isfinite(margin).all(), "margins aren't finite"
    _as_text(dice, game, states[0], mask[0])
    if int(state.seat) >= 0:
        seat, seed = dice.below(players), np.uint64(dice.below(2**53))
        other = Guarded(game, state)
        game.determinize(other.states[0], seat, seed)
        other.check("redeal")
        game.from_bytes(other.states[0].tobytes())
        _finish(game, other, seed=dice.below(2**32))
    _finish(game, guarded, seed=dice.below(2**32))


def _finish(game: Game, guarded: Guarded, *, seed: int) -> None:
    """Plays on to the end."""
    kernel, states = kernels(game), guarded.states
    mask = np.zeros((1, game.num_actions), np.int8)
    kernel.fill_masks.serial(states, mask)
    outcome = np.zeros((2, int(states[0].num_players)), np.float32)
    plies = 0
    while states[0].seat >= 0 and plies <= game.facts.max_length:
        action = choose(mask[0], seed, plies)
        assert action >= 0, f"player {states[0].seat} has no legal action after {plies} plies"
        kernel.play_one(states, action, mask[0], *outcome)
        guarded.check("apply")
        plies += 1
    assert plies <= game.facts.max_length, f"no end after {plies} plies"
    assert not mask.any(), "legal actions after the end"
    assert np.isfinite(outcome).all(), "the outcome isn't finite"
    _as_text(Dice(seed), game, states[0], mask[0])


def _as_text(dice: Dice, game: Game, state: Record, mask: NDArray[np.int8]) -> None:
    """JSON, moves and drawings of a position."""
    before = state.tobytes()
    data = json.loads(json.dumps(game.to_dict(state)))
    for seat in range(int(state.num_players)):
        json.dumps(game.to_dict(state, seat))
    again = game.from_dict(data)
    for action in np.flatnonzero(mask)[:: 1 + dice.below(8)][:20]:
        text = game.notation.action_to_text(state, int(action))
        found = game.notation.text_to_action(state, text)
        assert found == action, f"{short(text)} is {found}, not {action}"
    if dice.chance(0.1):
        game.drawing.text(state, dice.below(int(state.num_players)))
        game.drawing.text(state, None)
        game.draw_svg(state, None)
    assert again.tobytes() == before, f"JSON gives another position: {_differs(again, state)}"
    assert same(data, json.loads(json.dumps(game.to_dict(again)))), "JSON changes again"
    assert state.tobytes() == before, "to look at a position changed it"


def _differs(one: Record, other: Record) -> str:
    names = one.dtype.names or ()
    return " ".join(name for name in names if not np.array_equal(one[name], other[name]))


@cache
def _bounds(game: Game) -> tuple[NDArray[Any], NDArray[Any]]:
    space = game.observation.spec.space()
    return space.low.ravel(), space.high.ravel()


def warm(game: str) -> None:
    """Uses a position of each Game object, which compiles what there is."""
    seen: set[Any] = set()
    for index, variant in enumerate(variants(game)):
        if variant.game not in seen:
            seen.add(variant.game)
            states = trajectory(game, index, 0)
            use(Dice(0), variant.game, states[len(states) // 2 :][:1].copy()[0])


__all__ = ["Guarded", "Options", "position", "trajectory", "use", "variants", "warm"]
