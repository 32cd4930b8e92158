"""Initial states of self-play games: options, random plies, positions of a file, opponents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game, get_game, load_positions
from linkzoo.core.kernels import kernels
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_INITIAL_STATE, below, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Bools, Int8s, Int64s
from linkzoo_training.config.config import Config
from linkzoo_training.selfplay.backend import HostBackend, as_tensor
from linkzoo_training.selfplay.opponents import ITSELF, Opponents

# Positions of a game's random numbers.
_VARIED, _RANDOM, _DEPTH, _POOLED, _OPPONENT, _SEED, _SEAT, _FILED = range(8)
_OPTION = 8  # first of the sampled options
_MAX_DEPTH = 0.8  # largest number of random plies, as a share of the game's typical length


@compiled
def _uniform(seed: np.uint64, number: int, position: int) -> float:
    return random_u64(seed, STREAM_INITIAL_STATE, number, position) / 2.0**64


@compiled
def _draw(
    first: int,
    last: int,
    numbers: Int64s,  # [N], of the new games; negative where a game continues
    players: Int8s,  # [N], the number of seats
    blank: NDArray[np.uint8],  # [N, bytes], records with players and default options set
    seed: np.uint64,  # the run's
    vary_share: float,  # of games with sampled options
    ranges: Int64s,  # [V, 5]: lowest, highest, default value, offset and size in bytes
    random_share: float,  # of games with random opening plies
    deepest: float,  # maximum number of random plies
    file_share: float,  # of games that begin from a position of the file
    positions: NDArray[np.uint8],  # [M, bytes], those of the file, by number of players
    ends: Int64s,  # the positions for p players are those in ends[p - 1]..ends[p] - 1
    seed_offset: int,  # of a record's seed, in bytes
    pool_share: float,  # of games against an opponent
    opponents: Int64s,  # slots to choose from, the first `count`
    count: int,  # 0 for pure self-play
    states: NDArray[np.uint8],  # [N, bytes], output: blank records with options, or positions
    plies: Int64s,  # [N], output: random plies, -1 where no new game begins
    seeds: Int64s,  # [N], output: bits of a uint64
    from_initial_state: Bools,  # [N], output: default options and no random plies
    slot: Int64s,  # [N], output: the opponent's slot, or ITSELF
    learner_seat: Int8s,  # [N], output: the learner's seat against an opponent
) -> None:
    """Draws the settings of new games, each a function of the seed and the game's number."""
    for i in range(first, last):
        number = numbers[i]
        plies[i] = -1
        if number < 0:
            continue
        for byte in range(blank.shape[1]):
            states[i, byte] = blank[i, byte]
        varied = _uniform(seed, number, _VARIED) < vary_share
        for k in range(ranges.shape[0]):
            value = ranges[k, 2]
            if varied:
                bound = ranges[k, 1] - ranges[k, 0] + 1
                above = below(bound, seed, STREAM_INITIAL_STATE, number, _OPTION + k)
                value = ranges[k, 0] + above
            for byte in range(ranges[k, 4]):  # little-endian
                states[i, ranges[k, 3] + byte] = (value >> (8 * byte)) & 255
        plies[i] = 0
        if _uniform(seed, number, _RANDOM) < random_share:
            plies[i] = np.int64(_uniform(seed, number, _DEPTH) * (deepest + 1))
        game_seed = random_u64(seed, STREAM_INITIAL_STATE, number, _SEED)
        seeds[i] = np.int64(game_seed)
        if _uniform(seed, number, _FILED) < file_share:
            start = ends[players[i] - 1]
            count_here = ends[players[i]] - start
            chosen = start + below(count_here, seed, STREAM_INITIAL_STATE, number, _DEPTH)
            for byte in range(positions.shape[1]):
                states[i, byte] = positions[chosen, byte]
            for byte in range(8):  # later chance is new
                states[i, seed_offset + byte] = (game_seed >> np.uint64(8 * byte)) & np.uint64(255)
            plies[i] = -1
        from_initial_state[i] = not varied and plies[i] == 0
        slot[i] = ITSELF
        if count > 0 and _uniform(seed, number, _POOLED) < pool_share:
            slot[i] = opponents[np.int64(_uniform(seed, number, _OPPONENT) * count)]
        learner_seat[i] = below(players[i], seed, STREAM_INITIAL_STATE, number, _SEAT)


DRAW = RowKernel(_draw, 512)


class InitialStates:
    """Starts a run's games, each a function of the seed and the game's number.

    `blank` are the records of N parallel games, uint8 [N, bytes], with players and options set.
    """

    def __init__(self, config: Config, blank: Tensor, backend: HostBackend) -> None:
        self._config, self._backend = config, backend
        self._game = get_game(config.game, config.options)
        records = blank.cpu().numpy().reshape(-1).view(self._game.state)
        self._blank, self.players = blank.clone(), backend.tensor(records["num_players"])
        self.begun = backend.zeros(1, dtype=torch.int64)  # games started so far
        self.from_initial_state = backend.zeros(len(blank), dtype=torch.bool)  # per game
        self.opponents = Opponents(config.pool, self._game, self.players, backend)
        self._saved = {
            "opponent": self.opponents.slot,
            "learner_seat": self.opponents.learner_seat,
            "from_initial_state": self.from_initial_state,
        }
        ranges = []
        for option, (low, high) in config.initial_states.vary.items():
            dtype, offset = self._game.state.fields[option][:2]  # type: ignore[index]  # structured dtype
            ranges.append((low, high, records[option][0], offset, dtype.itemsize))
        self._positions = _read_positions(config, self._game, backend)
        # GPUs don't take empty arrays
        self._ranges = backend.tensor(np.array(ranges or [(0, 0, 0, 0, 0)], np.int64))

    def chances(self, progress: float, opponents: Sequence[int]) -> tuple[Any, ...]:
        """Returns the arguments of DRAW from `seed` to `count`, at a progress of the run (0..1)."""
        config = self._config.initial_states
        return (
            np.uint64(self._config.seed),
            config.vary_share * bool(config.vary),
            self._ranges,
            float(config.midgame.at(progress)),
            _MAX_DEPTH * self._game.facts.typical_length,
            config.file_share * (config.file is not None),
            *self._positions,
            self._game.state.fields["seed"][1],  # type: ignore[index]  # structured dtype
            self._config.pool.share,
            self._backend.tensor(np.array([*opponents, ITSELF], np.int64)),
            len(opponents),
        )

    def begin(
        self, which: Tensor, games: slice, states: Tensor, mask: Tensor, chances: tuple[Any, ...]
    ) -> None:
        """Starts new games where `which` [n] is set in a slice of the run's games.

        Overwrites their records `states`, uint8 [n, bytes], and the rows of new games in `mask`,
        int8 [n, A], but not of positions from a file.
        """
        run, opponents = self._backend.run, self.opponents
        numbers = torch.where(which, self.begun + which.cumsum(0) - 1, -1)
        self.begun += which.sum()
        plies, seeds = torch.empty_like(numbers), torch.empty_like(numbers)
        kept = self.from_initial_state, opponents.slot, opponents.learner_seat
        given = numbers, self.players[games], self._blank[games]
        run(DRAW, *given, *chances, states, plies, seeds, *(tensor[games] for tensor in kept))
        seeds = self._backend.view(seeds, np.uint64)
        records = self._backend.view(states, self._game.state)
        run(kernels(self._game).reset_rows, records, mask, seeds, seeds, plies)

    def tensors(self) -> dict[str, Tensor]:
        """Returns the state as CPU tensors by name, without the number of games started."""
        return {name: tensor.to("cpu", copy=True) for name, tensor in self._saved.items()}

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores the state from `tensors`."""
        for name, tensor in self._saved.items():
            tensor.copy_(saved[name])


def _read_positions(config: Config, game: Game, backend: HostBackend) -> tuple[Tensor, Tensor]:
    """Returns the positions of the file, uint8 [M, bytes], and where each number of players ends.

    Raises:
        ValueError: The file is wrong, or has no position for one of the numbers of players.
    """
    path, ends = config.initial_states.file, np.zeros(game.max_players + 1, np.int64)
    states = np.zeros(1, game.state) if path is None else load_positions(path, game)
    states = states[np.argsort(states["num_players"], kind="stable")]
    for players in config.players if path is not None else ():
        if players not in states["num_players"]:
            raise ValueError(f"initial_states.file: {path} has no position for {players} players")
    ends[:] = np.searchsorted(states["num_players"], np.arange(len(ends)), "right")
    return as_tensor(states).to(backend.home), backend.tensor(ends)
