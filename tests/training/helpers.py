"""Positions for agents to act in."""

from typing import Any

import numpy as np

from linkzoo import Game, Positions
from linkzoo.batch import kernels
from linkzoo_training.config import AlphaZeroConfig, PpoConfig, read_config
from linkzoo_training.search.exact import successors
from linkzoo_training.trainer import Trainer


def begin(game: Game, count: int, seed: int = 0, **options: Any) -> Positions:
    """New games, with the seeds seed, seed + 1, … for the games and for the agents."""
    states = np.zeros(count, game.state)
    states[:] = game.blank(options=options)
    seeds = np.arange(seed, seed + count, dtype=np.uint64)
    kernels(game).begin(states, seeds, np.empty((count, game.num_actions), np.int8))
    return Positions(game, states, seeds)


def midgame(game: Game, count: int, plies: int, **options: Any) -> Positions:
    """Positions some random plies into the game; earlier where it would have ended."""
    start = begin(game, count, **options)
    masks = start.action_mask
    depths = np.full(count, plies, np.int64)
    kernels(game).random_plies(start.states, masks, start.seeds, depths)
    return Positions(game, start.states, start.seeds)


def value(game: Game, state: np.record, seat: int) -> float:
    """What `seat` gets if both sides play perfectly, by trying everything."""
    if state.seat < 0:
        out = np.zeros(2, np.float32)
        game.payoffs(state, out)
        return float(out[seat])
    best = max if state.seat == seat else min
    return best(value(game, after, seat) for after in successors(game, state).values())


def ppo_config(data: Any) -> PpoConfig:
    """A configuration of PPO from its fields."""
    config = read_config(data)
    assert isinstance(config, PpoConfig)
    return config


def alphazero_config(data: Any) -> AlphaZeroConfig:
    """A configuration of AlphaZero from its fields."""
    config = read_config(data)
    assert isinstance(config, AlphaZeroConfig)
    return config


def kept_wins(trainer: Trainer, options: dict[str, Any]) -> tuple[int, float]:
    """Positions where the choice decides, and the share in which the bare policy keeps the win."""
    game, decided, kept = trainer.game, 0, 0
    for plies in (1, 2, 3):
        positions = midgame(game, 60, plies, **options)
        actions = trainer.agent().act(positions)
        for state, action in zip(positions.states, actions, strict=True):
            values = {
                move: value(game, after, state.seat)
                for move, after in successors(game, state).items()
            }
            if min(values.values()) < max(values.values()):
                decided += 1
                kept += values[int(action)] == 1
    return decided, kept / decided
