"""The encoder of a run: what its networks read of its games, and samples for input statistics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, VecStep, make_vec
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_INPUTS, words
from linkzoo.core.features import FeatureMap

_GAMES = 64  # that show how inputs vary
_MOMENTS = 128  # at which it looks, at most


class Encoder:
    """The features of what a seat sees and, with `hidden`, of what is hidden from it."""

    def __init__(self, game: Game, *, hidden: bool) -> None:
        self._game = game
        self._seen = FeatureMap(game.observation)
        self._spec = game.hidden if hidden else None
        self._hidden = None if self._spec is None else FeatureMap(self._spec)
        self.dtype = self._seen.dtype

    @property
    def widths(self) -> tuple[int, int]:
        """The numbers of features: seen, and hidden."""
        return len(self._seen), 0 if self._hidden is None else len(self._hidden)

    def encode(
        self, states: NDArray[Any], now: VecStep, seen: NDArray[Any], hidden: NDArray[Any]
    ) -> None:
        """Fills features [N, F] and [N, H] of the seats that are to act in records [N]."""
        self._seen.fill(now.observation.reshape(len(states), -1), seen)
        reveal = kernels(self._game).reveal
        if self._spec is not None and self._hidden is not None and reveal is not None:
            revealed = np.empty((len(states), self._spec.size), self.dtype)
            reveal(states, now.seat, revealed)
            self._hidden.fill(revealed, hidden)

    def sample_inputs(
        self, agent: Agent, players: tuple[int, ...], options: dict[str, Any], seed: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Features [M, F] and [M, H] of a few games that an agent plays against itself."""
        game = self._game
        vec = make_vec(game.name, _GAMES, players, check=False, **options)
        now, every = vec.reset(seed), max(1, game.typical_length // _MOMENTS)
        samples = []
        for ply in range(game.typical_length):
            if ply % every == 0:
                seen, hidden = (np.empty((_GAMES, width), self.dtype) for width in self.widths)
                self.encode(vec.states, now, seen, hidden)
                samples.append((seen, hidden))
            seeds = words(seed, STREAM_INPUTS, ply, np.arange(_GAMES))
            positions = Positions(game, vec.states.copy(), seeds)
            now = vec.step(agent.act(positions))
        return tuple(np.concatenate(part) for part in zip(*samples, strict=True))  # type: ignore[return-value]
