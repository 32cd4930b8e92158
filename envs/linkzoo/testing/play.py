"""Random games for tests, reproducible from any position."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels, random_legal
from linkzoo.core.state import OVER, Mask, Record, Records

_STREAM = 9000  # reserved for tests


def require(condition: Any, otherwise: str) -> None:
    """Raises AssertionError unless the condition holds."""
    if not condition:
        raise AssertionError(otherwise)


def require_same(state: Record, expected: Record, otherwise: str) -> None:
    """Raises AssertionError unless two records are equal; the message names the first field."""
    if state.tobytes() == expected.tobytes():
        return
    for name in expected.dtype.names or ():
        if not np.array_equal(state[name], expected[name]):
            index = tuple(np.argwhere(state[name] != expected[name])[0].tolist())
            value = int(state[name][index])
            right = int(expected[name][index])
            raise AssertionError(f"{otherwise}: {name}{list(index) or ''} is {value}, not {right}")


def choose(mask: Mask, seed: int, index: int) -> int:
    """Returns a uniformly random legal action, a function of the arguments."""
    return int(random_legal(mask, np.uint64(seed), _STREAM, index))


def clone(state: Record) -> Record:
    """Returns an independent copy of a record."""
    return state.reshape(1).copy()[0]  # type: ignore[no-any-return]  # a record


def mask_of(game: Game, state: Record, dirt: int = 7) -> Mask:
    """Returns the mask; the array is initialised with `dirt`, to detect unwritten elements."""
    mask = np.full(game.num_actions, dirt, np.int8)
    game.rules.legal_actions(state, mask)
    check_masks(mask)
    return mask


def check_masks(masks: NDArray[np.int8]) -> None:
    """Checks masks before use: an illegal action may write outside the record."""
    if masks.min() < 0 or masks.max() > 1:
        values = sorted({int(element) for element in masks.flat})
        raise AssertionError(f"the mask holds {values}: an element isn't 0 or 1, or isn't written")


def observation_of(game: Game, state: Record, seat: int, dirt: int = 101) -> NDArray[Any]:
    """Returns a seat's flat observation; the array is initialised with `dirt`."""
    spec = game.observation.spec
    out = np.full(spec.size, dirt, spec.dtype)
    game.observation.observe(state, seat, out)
    return out


def action_features_of(game: Game, state: Record, dirt: int = 100) -> NDArray[np.int8]:
    """Returns the features [M, K] of the M legal actions; [0, 0] without action features."""
    spec = game.observation.action_spec
    observe_action = game.observation.observe_action
    if spec is None or observe_action is None:
        return np.zeros((0, 0), np.int8)
    legal = np.flatnonzero(mask_of(game, state)).tolist()
    rows = np.full((len(legal), spec.size), dirt, np.int8)
    for row, action in zip(rows, legal, strict=True):
        observe_action(state, action, clone(state), row)
    return rows


def outcome_of(game: Game, state: Record) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns payoffs (zeros before the end) and score margins of all seats."""
    payoff, margin = np.full((2, 1, int(state.num_players)), 99, np.float32)
    kernels(game).outcome.serial(state.reshape(1).copy(), payoff, margin)
    return payoff[0], margin[0]


def new(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> Record:
    """Returns the record of a new game."""
    state = game.blank(num_players, options)
    game.rules.new_game(state, np.uint64(seed))
    return state


def positions(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> list[Record]:
    """Returns every position of one random game, including the last."""
    state = new(game, num_players, options, seed)
    history = [clone(state)]
    while state.seat != OVER:
        mask = mask_of(game, state)
        require(mask.any(), f"seat {state.seat} is to act, but no action is legal")
        game.rules.apply(state, choose(mask, seed, len(history)))
        history.append(clone(state))
        require(len(history) <= game.facts.max_length + 1, "no end within max_length plies")
    return history


def play_out(game: Game, states: Records) -> Records:
    """Plays these records to their ends at random, without `skip_forced`."""
    states = states.copy()
    states["skip_forced"] = 0
    kernel = kernels(game)
    seeds = np.arange(len(states), dtype=np.uint64)
    masks = np.full((len(states), game.num_actions), 7, np.int8)
    actions = np.full(len(states), 7, np.int64)
    kernel.fill_masks(states, masks)
    while (live := states["seat"] != OVER).any():
        check_masks(masks)
        same = (masks.any(1) == live).all()
        require(same, "an action is legal after the end, or none is legal before it")
        ply = states["ply"].copy()
        kernel.random_actions(masks, seeds, np.array([ply.max()], np.int64), actions)
        kernel.play(states, actions, masks)
        require((states["ply"] == ply + live).all(), "ply doesn't count the actions")
        require(states["ply"].max() <= game.facts.max_length, "no end within max_length plies")
    return states


def digest(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> str:
    """Returns a hash of a random game: records, masks, observations, worlds and outcomes."""
    hashed = hashlib.sha256()
    for state in positions(game, num_players, options, seed):
        hashed.update(state.tobytes() + mask_of(game, state).tobytes())
        hashed.update(action_features_of(game, state).tobytes())
        for seat in range(num_players):
            hashed.update(observation_of(game, state, seat).tobytes())
            if state.seat != OVER:
                world = clone(state)
                game.determinize(world, seat, np.uint64(seed))
                hashed.update(world.tobytes())
        for outcome in outcome_of(game, state):
            hashed.update(outcome.tobytes())
    return hashed.hexdigest()
