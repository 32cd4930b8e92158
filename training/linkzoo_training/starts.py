"""Where the games that a trainer learns from begin: varied options, and random plies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game
from linkzoo.batch import kernels
from linkzoo.chance import below, word
from linkzoo_training.config import Config

_STREAM_START = 2002  # what a game begins with; index = games begun so far
_VARIED, _RANDOM, _DEPTH, _SEED, _OPTION = 0, 1, 2, 5, 8  # positions; 3, 4, 6 are the caller's


class Starts:
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
        config, kernel, count = self.config, kernels(self.game), len(rows)
        indices = np.arange(self.begun, self.begun + count)
        self.begun += count
        states = self._blank[rows]
        varied = np.array([self.uniform(i, _VARIED) for i in indices]) < (
            config.vary_share * bool(config.vary)
        )
        for k, (option, (low, high)) in enumerate(config.vary.items()):
            for j in np.flatnonzero(varied):
                states[option][j] = low + self.below(high - low + 1, indices[j], _OPTION + k)
        seeds = np.array([self._word(i, _SEED) for i in indices], np.uint64)
        masks = np.empty((count, self.game.num_actions), np.int8)
        kernel.begin(states, seeds, masks)
        share = config.midgame + (config.midgame_final - config.midgame) * progress
        deepest = config.midgame_depth * self.game.typical_length
        plies = np.array(
            [
                int(self.uniform(i, _DEPTH) * (deepest + 1))
                if self.uniform(i, _RANDOM) < share
                else 0
                for i in indices
            ]
        )
        kernel.random_plies(states, masks, seeds, plies)
        return states, ~varied & (plies == 0), indices

    def uniform(self, index: Any, position: int) -> float:
        """A number in 0..1 of a game."""
        return float(self._word(index, position)) / 2**64

    def below(self, bound: int, index: Any, position: int) -> int:
        """An integer in 0..bound-1 of a game."""
        return int(below(bound, np.uint64(self.config.seed), _STREAM_START, index, position))

    def _word(self, index: Any, position: int) -> np.uint64:
        return np.uint64(word(np.uint64(self.config.seed), _STREAM_START, index, position))
