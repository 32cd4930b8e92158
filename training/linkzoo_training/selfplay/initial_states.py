"""Where the games that a trainer learns from begin: varied options, and random plies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game
from linkzoo.batch import kernels
from linkzoo.chance import STREAM_INITIAL_STATE, words
from linkzoo_training.config import Config
from linkzoo_training.schedule import at

# What is drawn for a game: positions of its words. Those without _ are for whoever asks.
_VARIED, _RANDOM, _DEPTH, POOLED, OPPONENT, _SEED, SEAT = range(7)
_OPTION = 8  # of the first of the options that vary


class InitialStates:
    """Begins games by a configuration, each a function of the seed and of its number.

    `blank` are records [N] with the number of players and the options that count set, one for each
    game that is played side by side.
    """

    def __init__(self, config: Config, blank: NDArray[Any]) -> None:
        self.config, self.game = config, get_game(config.game, config.options)
        self.begun = 0  # games begun so far
        self._blank = blank.copy()

    def draw(
        self, rows: NDArray[np.int64], progress: float
    ) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.int64]]:
        """New games for `rows` of the blank records, at a progress of 0..1 of the run.

        Returns records [R], whether each is from the start with the options that count, and the
        games' numbers.
        """
        config, kernel, count = self.config.initial_states, kernels(self.game), len(rows)
        indices = np.arange(self.begun, self.begun + count)
        self.begun += count
        states = self._blank[rows]
        varied = self.uniform(indices, _VARIED) < config.vary_share * bool(config.vary)
        for k, (option, (low, high)) in enumerate(config.vary.items()):
            drawn = self.below(high - low + 1, indices[varied], _OPTION + k)
            states[option][varied] = low + drawn
        seeds = self._words(indices, _SEED)
        masks = np.empty((count, self.game.num_actions), np.int8)
        kernel.begin(states, seeds, masks)
        share = at(config.midgame, progress)
        deepest = config.depth * self.game.typical_length
        depths = (self.uniform(indices, _DEPTH) * (deepest + 1)).astype(np.int64)
        plies = np.where(self.uniform(indices, _RANDOM) < share, depths, 0)
        kernel.random_plies(states, masks, seeds, plies)
        return states, ~varied & (plies == 0), indices

    def uniform(self, indices: NDArray[np.int64], position: int) -> NDArray[np.float64]:
        """A number in 0..1 of each of some games [N]."""
        return self._words(indices, position) / 2.0**64

    def below(
        self, bound: int | NDArray[Any], indices: NDArray[np.int64], position: int
    ) -> NDArray[np.int64]:
        """An integer in 0..bound-1 of each of some games [N]."""
        drawn = self._words(indices, position) % np.asarray(bound, np.uint64)
        return drawn.astype(np.int64)

    def _words(self, indices: NDArray[np.int64], position: int) -> NDArray[np.uint64]:
        return words(self.config.seed, STREAM_INITIAL_STATE, indices, position)
