"""Positions for agents to act in."""

from functools import cache
from typing import Any

import numpy as np
import torch

from linkzoo import Game, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import AlphaZeroConfig, PPOConfig, read_config
from linkzoo_training.search.solver import successors


def assert_close(found: Any, expected: Any, *, rtol: float = 1.3e-6, atol: float = 1e-5) -> None:
    """Tensors, or several, are close, of one kind and shape; torch's own imports its compiler."""
    if isinstance(found, tuple | list):
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, rtol=rtol, atol=atol)
        return
    found, expected = torch.as_tensor(found).detach(), torch.as_tensor(expected).detach()
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found.double(), expected.double(), rtol=rtol, atol=atol)


def begin(game: Game, count: int, seed: int = 0, **options: Any) -> Positions:
    """New games, with the seeds seed, seed + 1, … for the games and for the agents."""
    return midgame(game, count, 0, seed, **options)


def midgame(
    game: Game, count: int, plies: int, seed: int = 0, *, players: int | None = None, **options: Any
) -> Positions:
    """Positions some random plies into the game; earlier where it would have ended."""
    states = np.zeros(count, game.state)
    states[:] = game.blank(players, options)
    seeds = np.arange(seed, seed + count, dtype=np.uint64)
    masks = np.empty((count, game.num_actions), np.int8)
    kernels(game).reset_rows(states, masks, seeds, seeds, np.full(count, plies, np.int64))
    return Positions(game, states, seeds)


def value(game: Game, state: np.record, seat: int) -> float:
    """The payoff of `seat` under perfect play of both sides, by exhaustive search."""
    if state.seat < 0:
        out = np.zeros(2, np.float32)
        game.payoffs(state, out)
        return float(out[seat])
    best = max if state.seat == seat else min
    return best(value(game, after, seat) for after in successors(game, state).values())


def ppo_config(data: Any) -> PPOConfig:
    """A configuration of PPO from its fields."""
    config = read_config(data)
    assert isinstance(config, PPOConfig)
    return config


def alphazero_config(data: Any) -> AlphaZeroConfig:
    """A configuration of AlphaZero from its fields."""
    config = read_config(data)
    assert isinstance(config, AlphaZeroConfig)
    return config


@cache
def decisions(name: str, **options: Any) -> list[tuple[Positions, list[dict[int, float]]]]:
    """Positions of a small game, in groups of equal depth, and the values of their moves."""
    game, groups = get_game(name), []
    for plies in (1, 2, 3):
        positions = midgame(game, 60, plies, **options)
        values = [
            {move: value(game, after, state.seat) for move, after in moves.items()}
            for state in positions.states
            for moves in [successors(game, state)]
        ]
        groups.append((positions, values))
    return groups


def against_perfect_play(trainer: Trainer, **options: Any) -> tuple[int, float, float]:
    """How right the bare network is early in a small game, without a search.

    Positions where the choice decides, the share of them in which the policy keeps the win, and the
    mean square error of the values of all positions, which are 1 or -1.
    """
    agent, decided, kept, errors = trainer.agent(), 0, 0, []
    for positions, values in decisions(trainer.game.name, **options):
        _, thought = agent.evaluate(positions)
        actions = agent.act(positions)
        for judged, action, worth in zip(thought[:, 0].tolist(), actions, values, strict=True):
            errors.append((judged - max(worth.values())) ** 2)
            if min(worth.values()) < max(worth.values()):
                decided += 1
                kept += worth[int(action)] == 1
    return decided, kept / decided, float(np.mean(errors))


def weights(trainer: Trainer) -> bytes:
    """Those of the policy that would be published."""
    published = trainer.agent().network.state_dict().values()
    return b"".join(tensor.numpy().tobytes() for tensor in published)
