"""How games are played to be checked: the same random moves wherever a position is met again."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.kernels import kernels, random_legal
from linkzoo.engine.compiled import Record
from linkzoo.core.game import Game

OVER = -1
_STREAM = 9000  # of tests


def choose(mask: NDArray[np.int8], seed: int, index: int) -> int:
    """A uniformly random legal action, a function of the arguments."""
    return int(random_legal(mask, np.uint64(seed), _STREAM, np.uint64(index)))


def clone(state: Record) -> Record:
    """An independent copy."""
    copy: Record = state.reshape(1).copy()[0]
    return copy


def mask_of(game: Game, state: Record, dirt: int = 7) -> NDArray[np.int8]:
    """The legal actions; the array starts dirty, so that every element has to be written."""
    mask = np.full(game.num_actions, dirt, np.int8)
    game.legal_actions(state, mask)
    check_masks(mask)
    return mask


def check_masks(masks: NDArray[np.int8]) -> None:
    """Of 0 and 1 alone: compiled rules that play what isn't legal may write anywhere."""
    if masks.min() < 0 or masks.max() > 1:
        held = sorted({int(element) for element in masks.flat})
        raise AssertionError(f"the mask holds {held}: not 0 or 1, or not written")


def observation_of(game: Game, state: Record, seat: int, dirt: int = 101) -> NDArray[Any]:
    """What a seat sees; the array starts dirty as well."""
    out = np.full(game.observation.size, dirt, game.observation.dtype)
    game.observe(state, seat, out)
    return out


def outcome_of(game: Game, state: Record) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Payoffs and margins of all seats."""
    payoff, margin = np.full((2, 1, int(state.num_players)), 99, np.float32)
    kernels(game).outcome_one(state.reshape(1).copy(), payoff, margin)
    return payoff[0], margin[0]


def new(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> Record:
    """A new game."""
    state = game.blank(num_players, options)
    game.new_game(state, np.uint64(seed))
    return state


def positions(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> list[Record]:
    """Every position of one random game, the last one included; every decision is asked."""
    state = new(game, num_players, options, seed)
    found = [clone(state)]
    while state.seat != OVER:
        mask = mask_of(game, state)
        if not mask.any():
            raise AssertionError(f"seat {state.seat} is to act, but nothing is legal")
        game.apply(state, choose(mask, seed, len(found)))
        found.append(clone(state))
        if len(found) > game.max_length + 1:
            raise AssertionError(f"no end within max_length, {game.max_length} plies")
    return found


def play_out(game: Game, states: NDArray[Any]) -> NDArray[Any]:
    """Plays every row to its end by random actions, all decisions asked; checks each ply."""
    states = states.copy()
    states["skip_forced"] = 0
    kernel, seeds = kernels(game), np.arange(len(states), dtype=np.uint64)
    masks = np.full((len(states), game.num_actions), 7, np.int8)
    actions = np.full(len(states), 7, np.int64)
    kernel.legal(states, masks)
    while (live := states["seat"] != OVER).any():
        check_masks(masks)
        if (masks.any(1) != live).any():
            raise AssertionError("an action is legal after the end, or none before it")
        ply = states["ply"].copy()
        kernel.random_actions(masks, seeds, np.uint64(int(ply.max())), actions)
        kernel.play(states, actions, masks)
        if (states["ply"] != ply + live).any():
            raise AssertionError("ply doesn't count the actions")
        if states["ply"].max() > game.max_length:
            raise AssertionError(f"no end within max_length, {game.max_length} plies")
    return states


def digest(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> str:
    """A hash of all that a random game shows: states, masks, observations, worlds, outcomes."""
    found = hashlib.sha256()
    for state in positions(game, num_players, options, seed):
        found.update(state.tobytes() + mask_of(game, state).tobytes())
        for seat in range(num_players):
            found.update(observation_of(game, state, seat).tobytes())
            if state.seat != OVER:
                world = clone(state)
                game.redeal(world, seat, np.uint64(seed))
                found.update(world.tobytes())
        for outcome in outcome_of(game, state):
            found.update(outcome.tobytes())
    return found.hexdigest()
