"""Initial states of self-play games: options, random plies, positions of a file, opponents."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from linkzoo import Game, get_game, load_positions
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_INITIAL_STATE, below, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array, Bools, Int8s, Int64s, UInt64s
from linkzoo_training.config.config import Config
from linkzoo_training.selfplay.backend import HostBackend, KernelArgument, as_tensor
from linkzoo_training.selfplay.opponents import ITSELF, Opponents

_NONE = -1  # no game, no position, no plies

# How a new game starts: a function of the run's seed and the game's number.
START = np.dtype(
    (
        np.record,
        [
            ("number", "i8"),  # of the game; _NONE: the row's game continues
            ("players", "i8"),
            ("seed", "u8"),  # of the game's chance
            ("varied", "i8"),  # whether options are sampled
            ("plies", "i8"),  # random plies to play; _NONE: the position is complete
            ("position", "i8"),  # row of the file's positions; _NONE: the game starts blank
            ("slot", "i8"),  # the opponent's slot, or ITSELF
            ("learner_seat", "i8"),  # against an opponent
        ],
    )
)

# Chances of an iteration's new games, from the configuration.
CHANCES = np.dtype(
    (
        np.record,
        [
            ("seed", "u8"),  # of the run
            ("vary_share", "f8"),  # of games with sampled options
            ("midgame_share", "f8"),  # of games with random opening plies
            ("max_plies", "f8"),  # limit of the random plies
            ("file_share", "f8"),  # of games that begin from a position of the file
            ("pool_share", "f8"),  # of games against an opponent
            ("num_opponents", "i8"),  # 0 for pure self-play
        ],
    )
)

# Indices of a game's random numbers.
_VARIED, _RANDOM, _DEPTH, _POOLED, _OPPONENT, _SEED, _SEAT, _FILED = range(8)
_OPTION = 8  # first of the sampled options
_MAX_DEPTH = 0.8  # largest number of random plies, as a share of the game's typical length


class Chances(NamedTuple):
    """Chances of an iteration's new games, on the games' device."""

    settings: KernelArgument  # CHANCES [1]
    opponents: Tensor  # int64, slots to choose from: the first `num_opponents`


@compiled
def _uniform(seed: np.uint64, number: int, index: int) -> float:
    return random_u64(seed, STREAM_INITIAL_STATE, number, index) / 2.0**64


@compiled
def _draw_opening(start: Record, chances: Record, ends: Int64s) -> None:
    """Draws the number of random plies, or a position of the file."""
    start.position = _NONE
    start.plies = 0
    if _uniform(chances.seed, start.number, _RANDOM) < chances.midgame_share:
        depth = _uniform(chances.seed, start.number, _DEPTH)
        start.plies = np.int64(depth * (chances.max_plies + 1))
    if _uniform(chances.seed, start.number, _FILED) < chances.file_share:
        first = ends[start.players - 1]
        count = ends[start.players] - first
        index = below(count, chances.seed, STREAM_INITIAL_STATE, start.number, _DEPTH)
        start.position = first + index
        start.plies = _NONE


@compiled
def _draw_opponent(start: Record, chances: Record, opponents: Int64s) -> None:
    """Draws the opponent's slot and the learner's seat."""
    start.slot = ITSELF
    if _uniform(chances.seed, start.number, _POOLED) < chances.pool_share:
        choice = _uniform(chances.seed, start.number, _OPPONENT)
        if chances.num_opponents > 0:
            start.slot = opponents[np.int64(choice * chances.num_opponents)]
    start.learner_seat = below(
        start.players, chances.seed, STREAM_INITIAL_STATE, start.number, _SEAT
    )


@compiled
def _draw(
    first: int,
    last: int,
    starts: Records,  # START [n], output
    numbers: Int64s,  # [n], of the new games; _NONE where a game continues
    players: Int8s,  # [n], the number of seats
    settings: Records,  # CHANCES [1]
    ends: Int64s,  # the positions for p players are those in ends[p - 1]..ends[p] - 1
    opponents: Int64s,  # slots to choose from
) -> None:
    """Draws how new games start."""
    for i in range(first, last):
        start = starts[i]
        chances = settings[0]
        start.number = numbers[i]
        if numbers[i] == _NONE:
            continue
        start.players = players[i]
        start.seed = random_u64(chances.seed, STREAM_INITIAL_STATE, start.number, _SEED)
        start.varied = _uniform(chances.seed, start.number, _VARIED) < chances.vary_share
        _draw_opening(start, chances, ends)
        _draw_opponent(start, chances, opponents)


@compiled
def _place(
    first: int, last: int, states: Records, starts: Records, blank: Records, positions: Records
) -> None:
    """Fills the records of new games: blank ones, or positions with new chance."""
    for i in range(first, last):
        start = starts[i]
        if start.number == _NONE:
            continue
        if start.position == _NONE:
            states[i] = blank[i]
        else:
            states[i] = positions[start.position]
            states[i].seed = start.seed


@compiled
def _vary(
    first: int,
    last: int,
    column: Array,  # [n, 1], output: the option's field of the records
    starts: Records,
    seed: np.uint64,  # of the run
    index: int,  # of the option
    low: int,
    high: int,
) -> None:
    """Samples an option of new games from low..high."""
    for i in range(first, last):
        start = starts[i]
        if start.number != _NONE and start.position == _NONE and start.varied:
            bound = high - low + 1
            above = below(bound, seed, STREAM_INITIAL_STATE, start.number, _OPTION + index)
            column[i, 0] = low + above


@compiled
def _keep(
    first: int,
    last: int,
    starts: Records,
    plies: Int64s,  # [n], output: random plies, _NONE where no blank game begins
    seeds: UInt64s,  # [n], output
    from_initial_state: Bools,  # [n], output: default options and no random plies
    slot: Int64s,  # [n], output: the opponent's slot, or ITSELF
    learner_seat: Int8s,  # [n], output
) -> None:
    """Copies new games' starts to the arrays that the games keep."""
    for i in range(first, last):
        start = starts[i]
        plies[i] = _NONE
        if start.number == _NONE:
            continue
        plies[i] = start.plies
        seeds[i] = start.seed
        from_initial_state[i] = not start.varied and start.plies == 0
        slot[i] = start.slot
        learner_seat[i] = start.learner_seat


DRAW = RowKernel(_draw, 4096)
PLACE = RowKernel(_place, 4096)
VARY = RowKernel(_vary, 4096)
KEEP = RowKernel(_keep, 4096)


class InitialStates:
    """Starts a run's games, each as a function of the seed and the game's number.

    Args:
        config: The run's configuration.
        blank: Records of N parallel games, uint8 [N, bytes], with players and options set.
        backend: Where the games are played.

    Attributes:
        players: int8 [N], the numbers of seats.
        begun: int64 [1], games started so far.
        from_initial_state: bool [N], games with default options that began without random plies.
        opponents: The games' opponents.

    Raises:
        ValueError: The file of positions is wrong.
    """

    def __init__(self, config: Config, blank: Tensor, backend: HostBackend) -> None:
        self._config = config
        self._backend = backend
        self._game = get_game(config.game, config.options)
        records = blank.cpu().numpy().reshape(-1).view(self._game.state)
        self._blank = blank.clone()
        self.players = backend.tensor(records["num_players"])
        self.begun = backend.zeros(1, dtype=torch.int64)
        self.from_initial_state = backend.zeros(len(blank), dtype=torch.bool)
        self.opponents = Opponents(config.pool, self._game, self.players, backend)
        self._saved = {
            "opponent": self.opponents.slot,
            "learner_seat": self.opponents.learner_seat,
            "from_initial_state": self.from_initial_state,
        }
        self._positions, self._ends = _read_positions(config, self._game, backend)

    def chances(self, progress: float, opponents: Sequence[int]) -> Chances:
        """Returns the chances of new games.

        Args:
            progress: Progress of the run, 0..1.
            opponents: The slots to draw opponents from.
        """
        config = self._config.initial_states
        settings = np.zeros(1, CHANCES)
        settings["seed"] = self._config.seed
        settings["midgame_share"] = config.midgame.at(progress)
        settings["max_plies"] = _MAX_DEPTH * self._game.facts.typical_length
        settings["pool_share"] = self._config.pool.share
        settings["num_opponents"] = len(opponents)
        if config.vary:
            settings["vary_share"] = config.vary_share
        if config.file is not None:
            settings["file_share"] = config.file_share
        on_device = self._backend.tensor(settings.view(np.uint8))
        slots = np.array([*opponents, ITSELF], np.int64)  # GPUs don't take empty arrays
        return Chances(self._backend.view(on_device, CHANCES), self._backend.tensor(slots))

    def begin(
        self, new: Tensor, games: slice, states: Tensor, mask: Tensor, chances: Chances
    ) -> None:
        """Starts new games in a slice of the run's games.

        Args:
            new: bool [n], where a new game begins.
            games: The slice.
            states: The slice's records, uint8 [n, bytes]; those of new games are overwritten.
            mask: Legal actions, int8 [n, A]; the rows of new games are overwritten, except where a
                position of the file is placed.
            chances: The chances of this iteration.
        """
        backend = self._backend
        numbers = torch.where(new, self.begun + new.cumsum(0) - 1, _NONE)
        self.begun += new.sum()
        memory = torch.zeros(len(new), START.itemsize, dtype=torch.uint8, device=self._blank.device)
        starts = backend.view(memory, START)
        players = self.players[games]
        backend.run(DRAW, starts, numbers, players, chances.settings, self._ends, chances.opponents)

        records = backend.view(states, self._game.state)
        blank = backend.view(self._blank[games], self._game.state)
        positions = backend.view(self._positions, self._game.state)
        backend.run(PLACE, records, starts, blank, positions)

        seed = np.uint64(self._config.seed)
        vary = self._config.initial_states.vary
        for index, (option, (low, high)) in enumerate(vary.items()):
            column = backend.column(states, self._game.state, option)
            backend.run(VARY, column, starts, seed, index, low, high)

        plies = torch.empty_like(numbers)
        seeds = backend.view(torch.zeros_like(numbers), np.uint64)
        started = self.from_initial_state[games]
        slot = self.opponents.slot[games]
        learner_seat = self.opponents.learner_seat[games]
        backend.run(KEEP, starts, plies, seeds, started, slot, learner_seat)
        backend.run(kernels(self._game).reset_rows, records, mask, seeds, seeds, plies)

    def tensors(self) -> dict[str, Tensor]:
        """Returns the state as CPU tensors by name, without the number of games started."""
        return {name: tensor.to("cpu", copy=True) for name, tensor in self._saved.items()}

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores the state from `tensors`."""
        for name, tensor in self._saved.items():
            tensor.copy_(saved[name])


def _read_positions(config: Config, game: Game, backend: HostBackend) -> tuple[Tensor, Tensor]:
    """Returns the file's positions, uint8 [M, bytes], and where each number of players ends.

    Raises:
        ValueError: The file is wrong, or has no position for one of the numbers of players.
    """
    path = config.initial_states.file
    states = np.zeros(1, game.state)
    if path is not None:
        states = load_positions(path, game)
        for players in config.players:
            if players not in states["num_players"]:
                raise ValueError(
                    f"initial_states.file: {path} has no position for {players} players"
                )
    states = states[np.argsort(states["num_players"], kind="stable")]
    ends = np.searchsorted(states["num_players"], np.arange(game.max_players + 1), "right")
    return as_tensor(states).to(backend.home), backend.tensor(ends)
