"""`linkzoo tools bench`: the speed of the installed package on this machine, in random play.

A benchmark is a function `work` that returns the number of units it did.
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numba
import numpy as np

from linkzoo import Positions, __version__, game_names, get_game, make, make_vec
from linkzoo.core.kernels import kernels
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.agents.baselines import UctAgent
from linkzoo_training.commands.common import add_game, add_players, processor

HELP = "measure this machine's speed"

GAMES = 1024  # in the vector environment
_TABLE_GAMES = 2**14  # of the table by cores
_CUDA_GAMES = 2**17  # in the vector environment on a GPU
_SIMULATIONS = 1000
_SECONDS = 2.0  # per measurement

Work = Callable[[], int]


def add_arguments(parser: ArgumentParser) -> None:
    add_game(parser, game_names()[0])
    add_players(parser)
    text = "print a table of steps/s by threads, from one to all cores"
    parser.add_argument("--cores", action="store_true", help=text)
    text = "device that plays; cuda measures only games in lock-step (default: %(default)s)"
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help=text)


def run(args: Namespace) -> None:
    """Prints each measurement as it is made."""
    if args.cores and args.device != "cpu":
        raise ValueError("--cores measures the CPU: leave out --device")
    measure_device = {"cpu": measure, "cuda": measure_cuda}[args.device]
    if args.cores:
        measure_device = measure_cores
    for line in measure_device(args.game, args.players):
        print(line, flush=True)


def measure(name: str, num_players: int | None = None) -> Iterator[str]:
    """Yields a line for each measurement, as it is made."""
    env = make(name, num_players)
    players = len(env.possible_agents)
    yield f"{get_game(name).title}, {players} players, {get_num_threads()} threads, random play"
    yield f"  AEC environment, all checks  {rate(aec_steps(env)):>12,.0f} steps/s (one thread)"
    speed = rate(vector_steps(name, num_players))
    yield f"  {GAMES:,} games in lock-step     {speed:>12,.0f} steps/s"
    yield f"  UCT from the first position  {rate(playouts(name, num_players)):>12,.0f} playouts/s"


def measure_cores(name: str, num_players: int | None = None) -> Iterator[str]:
    """Yields the lines of a Markdown table: steps/s of games in lock-step by threads."""
    game = get_game(name)
    players = num_players or game.min_players
    yield f"{game.title}, {players} players, {_TABLE_GAMES:,} games in lock-step, random play"
    yield f"{processor()}, linkzoo {__version__}, numba {numba.__version__}"
    yield ""
    yield "| threads | steps/s | times one thread |"
    yield "|---:|---:|---:|"
    single = 0.0
    for threads in thread_counts(get_num_threads()):
        speed = rate(vector_steps(name, num_players, _TABLE_GAMES, num_threads=threads))
        single = single or speed
        yield f"| {threads} | {speed:,.0f} | {speed / single:.2f} |"


def thread_counts(cores: int) -> list[int]:
    """Returns the powers of two below the number of cores, and that number."""
    return [*(2**power for power in range((cores - 1).bit_length())), cores]


def measure_cuda(name: str, num_players: int | None = None) -> Iterator[str]:
    """Yields a line for each measurement on torch's current GPU; ValueError if there is none."""
    try:
        work = vector_steps(name, num_players, _CUDA_GAMES, device="cuda")
    except (ImportError, RuntimeError) as error:
        raise ValueError(f"--device cuda: {error}") from error
    import torch

    game = get_game(name)
    players = num_players or game.min_players
    yield f"{game.title}, {players} players, {torch.cuda.get_device_name()}, random play"
    yield f"  {_CUDA_GAMES:,} games in lock-step    {rate(work):>12,.0f} steps/s"


def rate(
    work: Work, seconds: float | None = None, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Returns units of work per second of a clock, after a warm-up call that compiles."""
    if seconds is None:
        seconds = _SECONDS
    work()
    done = 0
    start = clock()
    while (spent := clock() - start) < seconds:
        done += work()
    return done / spent


def aec_steps(env: Any) -> Work:
    """Plays one game of a PettingZoo environment in the usual loop; units are steps."""
    chance = np.random.Generator(np.random.PCG64(0)).random
    env.reset(seed=0)

    def work() -> int:
        env.reset()
        steps = 0
        while True:
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                return steps
            # of int8, `nonzero` would take a third of a step with LINK-O's 1,664 actions
            legal = observation["action_mask"].view(bool).nonzero()[0]
            env.step(int(legal[int(chance() * len(legal))]))
            steps += 1

    return work


def vector_steps(
    name: str, num_players: int | None = None, games: int = GAMES, **settings: Any
) -> Work:
    """Plays games in lock-step, including the choice of random actions; units are steps.

    `settings` are those of `make_vec`, such as `num_threads`; every device plays the same actions.
    """
    vec: Any = make_vec(name, games, num_players, check=False, **settings)  # numpy or torch arrays
    vec.reset(0)
    rounds = count()

    def work() -> int:
        for _ in range(100):
            vec.step(vec.random_actions(next(rounds)))
        if settings.get("device") == "cuda":
            import torch

            torch.cuda.synchronize()
        return 100 * games

    return work


def playouts(name: str, num_players: int | None = None) -> Work:
    """Searches the first position on all threads; units are random games to the end."""
    game = get_game(name)
    states = np.zeros(8 * get_num_threads(), game.state)
    states[:] = game.blank(num_players)
    seeds = np.arange(len(states), dtype=np.uint64)
    kernels(game).begin(states, seeds, np.empty((len(states), game.num_actions), np.int8))
    agent = UctAgent(_SIMULATIONS)

    def work() -> int:
        agent.act(Positions(game, states, seeds))
        return len(states) * _SIMULATIONS

    return work
