"""Compares our engine with standard tools: `python -m lab.engine threads`.

`threads` steps games on two threads with our threads, a `ThreadPoolExecutor`, and Numba's `prange`
with each available threading layer. Prints microseconds per step (median over the rounds, minimum
in brackets) and the ratio to ours.

`compile` runs the first steps of `make` and `make_vec` without a cache: with our engine, with
Numba's compiler for "callees", and with "plain" Numba, including its cache. Prints seconds since
the start of the process (CPU time in brackets) and the ratio to ours, then the CPU microseconds of
one thread for a step of 1,024 games.

`cache` does the same with everything compiled. It doesn't measure recompilation after changes: our
cache is keyed by the code and constants of a function, Numba's by its file. With Numba's, a comment
in `core/kernels.py` recompiles that file's functions, a change in a game's `state.py` leaves its
rules with the old constants, and functions made by factories, such as all loops over games, are
recompiled in every process.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache, partial
from importlib import import_module
from itertools import pairwise, product
from multiprocessing import get_context
from statistics import median
from tempfile import TemporaryDirectory
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

GAMES, SIZES = "linkage love_links link_o love_formula".split(), [64, 256, 1024, 8192, 32768]
ENGINES, LAYERS = ["ours", "callees", "plain"], ["workqueue", "omp", "tbb"]
# By column: the variants with the number of threads or slices; the best one counts.
COLUMNS = {
    "ours": [("ours", 2)],
    "one thread": [("ours", 1)],
    "executor": [("executor", 2), ("executor", 4), ("executor", 8)],
    **{layer: [("prange", 2), ("prange", 8)] for layer in LAYERS},
}


class Plain(CPUDispatcher):
    """A function compiled and cached by Numba."""

    def __init__(self, function: FunctionType, **_: Any) -> None:
        super().__init__(function, targetoptions={"nopython": True, "nogil": True})
        self.function = function
        self.enable_caching()


def use(engine: str, layer: str = "default", cache: str = "") -> None:
    """Selects the compiler, Numba's threading layer and the cache folder; must be called first."""
    config: Any = numba.config
    config.THREADING_LAYER, config.CACHE_DIR = layer, cache or config.CACHE_DIR
    package = ModuleType("linkzoo")  # replaces the real package, which makes games
    package.__path__ = [f"{folder}/linkzoo" for folder in sys.path]
    sys.modules["linkzoo"] = package
    callees = vars(import_module("linkzoo.engine.callees"))
    compiled = vars(import_module("linkzoo.engine.compiled"))
    callees["_SUPPORTED"] &= engine == "ours"
    if engine == "plain":
        compiled["_Compiled"] = Plain
    del sys.modules["linkzoo"]


def start(game: str, began: float) -> list[float]:
    """Returns seconds from `began` to the end of the first steps, CPU seconds, and step time."""
    import linkzoo

    env = linkzoo.make(game)
    env.reset(seed=0)
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    vec = linkzoo.make_vec(game, 1024)
    vec.reset(0)
    vec.step(vec.random_actions(0))
    spent = time.time() - began, time.process_time()
    return [*spent, measure(game, 1024, "ours", 1, 0, 0.3, time.thread_time)]


@lru_cache(1)
class Steps:
    """Steps of a game in lock-step, the same for each variant."""

    def __init__(self, name: str, games: int) -> None:
        import linkzoo
        from linkzoo.core.kernels import kernels

        vec = linkzoo.make_vec(name, games, check=False, num_threads=1)
        now = vec.reset(0)
        drawn = []
        for number in range(60 + min(max(2**17 // games, 4), 64)):  # games differ after 60
            if number == 60:
                self._begun = vec.states.copy(), vec.episodes.copy()
            drawn.append(vec.random_actions(number))
            vec.step(drawn[-1])
        self._drawn = drawn[60:]
        filled = now.seat, now.reward, now.score, now.done, now.episode_length
        seen = now.action_mask, now.observation.reshape(games, -1)
        chosen = np.zeros(games, np.int64), np.zeros(1, np.uint64)  # actions and seed
        self._arrays = vec.states, *chosen, vec.episodes, *seen, *filled
        self._rows = kernels(vec.game).step
        self._ways: dict[tuple[str, int], Callable[[], object]] = {}

    def measure(self, way: str, number: int, pause: float, seconds: float, clock: Any) -> float:
        """Returns microseconds per step; the caller is busy during pauses."""
        if (way, number) not in self._ways:
            self._ways[way, number] = getattr(self, f"_{way}")(number)
            self.measure(way, number, 0, 0, clock)
        step = self._ways[way, number]
        states, actions, _, episodes, *_ = self._arrays
        spent, steps, end = 0.0, 0, clock() + seconds
        while steps == 0 or clock() < end:
            states[:], episodes[:] = self._begun
            for drawn in self._drawn:
                actions[:] = drawn
                until = clock() + pause
                while (began := clock()) < until:
                    pass
                step()
                spent += clock() - began
            steps += len(self._drawn)
        return 1e6 * spent / steps

    def _ours(self, threads: int) -> Callable[[], object]:
        return partial(self._rows.bind(*self._arrays), threads)

    def _executor(self, slices: int) -> Callable[[], object]:
        """Lets the caller and a thread take slices until none is left."""
        from linkzoo.engine.compiled import entry_point

        kernel, pool = entry_point(self._rows.kernel, 0, 0, *self._arrays), ThreadPoolExecutor(1)
        ends = [len(self._arrays[0]) * number // slices for number in range(slices + 1)]

        def step() -> None:
            left = iter(list(pairwise(ends)))

            def take() -> None:
                for first, last in left:
                    kernel(first, last, *self._arrays)

            helper = pool.submit(take)
            take()
            if not helper.cancel():
                helper.result()

        return step

    def _prange(self, slices: int) -> Callable[[], object]:
        """Uses Numba's threads, with the layer chosen in `use`."""
        kernel, njit = self._rows.kernel, vars(numba)["njit"]

        def drive(*arrays: Any) -> None:
            count = len(arrays[0])
            for part in numba.prange(slices):
                kernel(count * part // slices, count * (part + 1) // slices, *arrays)

        numba.set_num_threads(2)
        numba.set_parallel_chunksize(1)
        return partial(njit(drive, parallel=True, nogil=True), *self._arrays)


def measure(name: str, games: int, *how: Any) -> float:
    return Steps(name, games).measure(*how)


process: Any = partial(ProcessPoolExecutor, 1, get_context("spawn"), use)  # calls `use` first


def head(title: str, *columns: str) -> None:
    print(f"\n{title}; load average before: {os.getloadavg()[0]:.1f}\n\n| {' | '.join(columns)} |")
    print("|---|" + "---:|" * (len(columns) - 1), flush=True)


def ratio(some: Iterable[float], others: Iterable[float]) -> str:
    """Returns the median ratio over the rounds."""
    return f"{median(a / b for a, b in zip(some, others, strict=True)):.2f}×"


def threads(options: argparse.Namespace) -> None:
    """Prints a table for each load and each pause."""
    from lab.busy import neighbours

    with ExitStack() as stack:
        processes = dict.fromkeys(COLUMNS, stack.enter_context(process(("ours",))))
        for layer in LAYERS:
            processes[layer] = stack.enter_context(process(("ours", layer)))
            try:
                processes[layer].submit(
                    measure, "linkage", 128, "prange", 2, 0, 0, time.time
                ).result()
            except ValueError:  # the layer isn't available
                del processes[layer]
        for beside, pause in product(dict.fromkeys((0, options.busy)), options.pauses):
            head(f"{beside} busy processes, pauses of {pause:.0f} µs", "game", "games", *processes)
            with neighbours(beside):
                for game, size in product(options.games, options.sizes):
                    how = pause / 1e6, 0.08, time.perf_counter
                    cells = compare(processes, (game, size), how, options.rounds or 9)
                    print(f"| {game} | {size:,} | {' | '.join(cells)} |", flush=True)


def compare(processes: dict[str, Any], games: Any, how: Any, rounds: int) -> list[str]:
    """Returns the times of each column's best variant, in alternating rounds."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for _ in range(rounds):
        for name, pool in processes.items():
            for way in COLUMNS[name]:
                spent = pool.submit(measure, *games, *way, *how).result()
                found.setdefault((name, *way), []).append(spent)
    best = [min((found[name, *way] for way in COLUMNS[name]), key=median) for name in processes]
    return [f"{median(each):.0f} ({min(each):.0f}), {ratio(each, best[0])}" for each in best]


def starts(options: argparse.Namespace) -> None:
    """Prints a table of cold or warm starts."""
    cold = options.what == "compile"
    columns = [f"{engine}, {unit}" for engine in ENGINES for unit in ("s", "µs a step")]
    head(f"{'cold' if cold else 'warm'} start", "game", *columns)
    for game in options.games:
        found: dict[str, list[list[float]]] = {engine: [] for engine in ENGINES}
        with ExitStack() as stack:
            caches: dict[str, str] = {}
            for _, engine in product(range(options.rounds or (2 if cold else 8)), ENGINES):
                if cold or engine not in caches:
                    caches[engine] = stack.enter_context(TemporaryDirectory())
                with process((engine, "default", caches[engine])) as pool:
                    found[engine].append(pool.submit(start, game, time.time()).result())
        cells = []
        for runs in found.values():
            seconds, cpu, step = zip(*runs[not cold :], strict=True)  # without the first, cold run
            _, least, fastest = zip(*found["ours"][not cold :], strict=True)
            cells.append(f"{median(seconds):.2f} ({median(cpu):.2f}), {ratio(cpu, least)}")
            cells.append(f"{median(step):.0f}, {ratio(step, fastest)}")
        print(f"| {game} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["threads", "compile", "cache"])
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--pauses", type=float, nargs="+", default=[0, 1000], metavar="µs")
    parser.add_argument("--busy", type=int, default=0, help="also beside so many busy processes")
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    (threads if options.what == "threads" else starts)(options)


if __name__ == "__main__":
    main()
