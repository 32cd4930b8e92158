"""Where the games that a trainer learns from begin: varied options, random plies, and opponents."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_INITIAL_STATE, below, word
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import Rows
from linkzoo_training.config import Config
from linkzoo_training.schedule import at

ITSELF = -1  # the opponent of a self-play game

# What is drawn for a game: positions of its words.
_VARIED, _RANDOM, _DEPTH, _POOLED, _OPPONENT, _SEED, _SEAT = range(7)
_OPTION = 8  # of the first of the options that vary


class Drawn(NamedTuple):
    """What N games begin with, in arrays or in tensors."""

    plies: Any  # int64[N]: random ones; -1 for a game that doesn't begin
    seed: Any  # int64[N]: the bits of a uint64
    options: Any  # int64[N, V]: of the options that vary
    usual: Any  # bool[N]: whether it is played from the start with the options that count
    opponent: Any  # int64[N]: one of those to choose from, or ITSELF
    learner_seat: Any  # int8[N]


@compiled
def _uniform(seed: Any, number: Any, position: Any) -> Any:
    """A number in 0..1."""
    return word(seed, STREAM_INITIAL_STATE, number, position) / 2.0**64


@compiled
def _draw(
    first: Any,
    last: Any,
    numbers: Any,
    players: Any,
    seed: Any,
    vary_share: Any,
    ranges: Any,
    random_share: Any,
    deepest: Any,
    pool_share: Any,
    opponents: Any,
    count: Any,
    plies: Any,
    seeds: Any,
    options: Any,
    usual: Any,
    opponent: Any,
    learner_seat: Any,
) -> None:
    """Draws what games begin with, each a function of the seed and of its number.

    None is drawn where the number is negative. `ranges` [V, 3] are of the options that vary: the
    lowest value, the highest, and the one that counts. The first `count` of `opponents` are chosen
    from.
    """
    for i in range(first, last):
        number = numbers[i]
        plies[i] = -1
        if number < 0:
            continue
        varied = _uniform(seed, number, _VARIED) < vary_share
        for k in range(ranges.shape[0]):
            options[i, k] = ranges[k, 2]
            if varied:
                values = ranges[k, 1] - ranges[k, 0] + 1
                drawn = below(values, seed, STREAM_INITIAL_STATE, number, _OPTION + k)
                options[i, k] = ranges[k, 0] + drawn
        plies[i] = 0
        if _uniform(seed, number, _RANDOM) < random_share:
            plies[i] = np.int64(_uniform(seed, number, _DEPTH) * (deepest + 1))
        seeds[i] = np.int64(word(seed, STREAM_INITIAL_STATE, number, _SEED))
        usual[i] = not varied and plies[i] == 0
        opponent[i] = ITSELF
        if count > 0 and _uniform(seed, number, _POOLED) < pool_share:
            opponent[i] = opponents[np.int64(_uniform(seed, number, _OPPONENT) * count)]
        learner_seat[i] = below(players[i], seed, STREAM_INITIAL_STATE, number, _SEAT)


DRAW = Rows(_draw, 512)


class InitialStates:
    """Begins games by a configuration, each a function of the seed and of its number.

    `blank` are records [N] with the number of players and the options that count set, one for each
    game that is played side by side.
    """

    def __init__(self, config: Config, blank: NDArray[Any]) -> None:
        self.config, self.game = config, get_game(config.game, config.options)
        self.begun = 0  # games begun so far
        self.varied = list(config.initial_states.vary)  # options
        self._blank = blank.copy()
        ranges = [(*config.initial_states.vary[name], blank[name][0]) for name in self.varied]
        self._ranges = np.array(ranges or [(0, 0, 0)], np.int64)  # GPUs don't take empty arrays

    def chances(
        self, progress: float, pool_share: float, opponents: Sequence[int] | NDArray[np.int64]
    ) -> tuple[Any, ...]:
        """What DRAW draws by at a progress of 0..1 of the run: its arguments from `seed` on."""
        config = self.config.initial_states
        return (
            np.uint64(self.config.seed),
            config.vary_share * bool(config.vary),
            self._ranges,
            float(at(config.midgame, progress)),
            config.depth * self.game.typical_length,
            pool_share,
            np.array([*opponents, ITSELF], np.int64),
            len(opponents),
        )

    def room(self, count: int) -> Drawn:
        """Arrays for what is drawn for so many games."""
        return Drawn(
            plies=np.empty(count, np.int64),
            seed=np.empty(count, np.int64),
            options=np.empty((count, len(self._ranges)), np.int64),
            usual=np.empty(count, np.bool_),
            opponent=np.empty(count, np.int64),
            learner_seat=np.empty(count, np.int8),
        )

    def begin(
        self,
        rows: NDArray[np.int64],
        progress: float,
        pool_share: float = 0.0,
        opponents: Sequence[int] | NDArray[np.int64] = (),
    ) -> tuple[NDArray[Any], Drawn]:
        """New games for `rows` [R] of the blank records, at a progress of 0..1 of the run.

        A share of them is played against one of `opponents`. Returns records [R] and what was drawn
        for them.
        """
        kernel, count, states = kernels(self.game), len(rows), self._blank[rows]
        numbers = np.arange(self.begun, self.begun + count)
        self.begun += count
        drawn, players = self.room(count), states["num_players"].copy()
        DRAW(numbers, players, *self.chances(progress, pool_share, opponents), *drawn)
        for k, option in enumerate(self.varied):
            states[option] = drawn.options[:, k]
        masks = np.empty((count, self.game.num_actions), np.int8)
        seeds = drawn.seed.view(np.uint64)
        kernel.renew(states, masks, seeds, seeds, drawn.plies)
        return states, drawn
