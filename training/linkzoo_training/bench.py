"""How fast the installed package is on this machine, game by game and search by search."""

import time
from collections.abc import Callable, Iterator

import numba
import numpy as np

from linkzoo import get_game, make, make_vec
from linkzoo.agent import Positions
from linkzoo.batch import kernels
from linkzoo_training.agents import UctAgent

_SECONDS = 2.0  # that each measurement lasts
_GAMES = 1024  # of the vector environment
_SIMULATIONS = 1000


def measure(name: str) -> Iterator[str]:
    """A line for each measurement, as it is made; compiling isn't timed."""
    threads = numba.get_num_threads()
    yield f"{get_game(name).title}, {threads} threads, random play"
    yield f"  AEC environment, all checks  {_rate(_aec(name)):>12,.0f} steps/s (one thread)"
    yield f"  {_GAMES:,} games in lock-step     {_rate(_vector(name)):>12,.0f} steps/s"
    yield f"  UCT from the first position  {_rate(_search(name, threads)):>12,.0f} playouts/s"


def _rate(work: Callable[[], int]) -> float:
    """Units of work a second, after a first round that compiles."""
    work()
    done, start = 0, time.perf_counter()
    while (seconds := time.perf_counter() - start) < _SECONDS:
        done += work()
    return done / seconds


def _aec(name: str) -> Callable[[], int]:
    env = make(name)
    rng = np.random.Generator(np.random.PCG64(0))

    def work() -> int:
        env.reset(seed=int(rng.integers(2**32)))
        steps = 0
        while not env.terminations[env.agent_selection]:
            legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
            env.step(int(legal[int(rng.random() * len(legal))]))
            steps += 1
        return steps

    return work


def _vector(name: str) -> Callable[[], int]:
    vec = make_vec(name, _GAMES)
    now = vec.reset(0)
    actions = np.empty(_GAMES, np.int64)
    seeds = np.arange(_GAMES, dtype=np.uint64)
    choose = kernels(vec.game).random_actions
    ply = 0

    def work() -> int:
        nonlocal ply
        ply += 1
        choose(now.action_mask, seeds, ply, actions)
        vec.step(actions)
        return _GAMES

    return work


def _search(name: str, threads: int) -> Callable[[], int]:
    game = get_game(name)
    states = np.zeros(4 * threads, game.state)
    states[:] = game.blank()
    masks = np.empty((len(states), game.num_actions), np.int8)
    seeds = np.arange(len(states), dtype=np.uint64)
    kernels(game).begin(states, seeds, masks)
    agent = UctAgent(_SIMULATIONS)

    def work() -> int:
        agent.act(Positions(game, states, seeds))
        return len(states) * _SIMULATIONS

    return work
