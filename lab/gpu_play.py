"""Random play on a GPU: `python -m lab.gpu_play linkage`.

Measures steps/s by the number of games in lock-step, and the times of `step`, `random_actions` and
`refresh` on the GPU and on the host, which launches them. `connect_four --pgx` measures pgx.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from lab.gpu_turn import wait_for_turn
from lab.measure import pgx_vector

from linkzoo import make_vec
from linkzoo_training.commands.tools.bench import Work, rate, vector_steps

SIZES = 2**15, 2**17, 2**19  # games in lock-step
_SECONDS = 1.0  # per size
_CALLS = 20  # of each method

Calls = dict[str, tuple[Callable[[int], Any], Callable[[Any], object]]]


def call_times(prepare: Callable[[int], Any], call: Callable[[Any], object]) -> tuple[float, float]:
    """Returns the mean microseconds of calls on the GPU and on the host, which doesn't wait."""
    import torch  # not beside JAX, which loads CUDA's libraries of its own

    there, here = list[tuple[torch.cuda.Event, torch.cuda.Event]](), 0.0
    for i in range(_CALLS):
        argument = prepare(i)
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        start = time.perf_counter()
        call(argument)
        here += time.perf_counter() - start
        last.record()
        there.append((first, last))
    torch.cuda.synchronize()
    milliseconds = sum(first.elapsed_time(last) for first, last in there)
    return milliseconds / _CALLS * 1e3, here / _CALLS * 1e6


def calls_of(name: str, games: int) -> Calls:
    """Returns the timed calls by name: a function that makes an argument, and one that takes it."""
    vec: Any = make_vec(name, games, device="cuda", check=False)
    vec.reset(0)
    return {
        "step": (vec.random_actions, vec.step),
        "random_actions": (int, vec.random_actions),
        "refresh": (lambda _: None, vec.refresh),
    }


def peer() -> Callable[..., Work] | None:
    """Returns the measurement of pgx; None, with the reason printed, where it can't run."""
    missing = [name for name in ("jax", "pgx") if find_spec(name) is None]
    if missing:
        print(f"not measured: {' and '.join(missing)} can't be imported")
        return None
    import jax

    print(f"jax {jax.__version__}, {jax.devices()}")
    return pgx_vector if jax.default_backend() == "gpu" else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--pgx", action="store_true", help="measure pgx, if it is installed")
    arguments = parser.parse_args()
    make = peer() if arguments.pgx else partial(vector_steps, device="cuda")
    if make is None:
        return
    works = {games: make(arguments.game, None, games=games) for games in SIZES}
    calls = {} if arguments.pgx else calls_of(arguments.game, SIZES[1])
    for work in works.values():  # compiles
        work()
    for prepare, call in calls.values():
        call(prepare(0))
    wait_for_turn()
    for games, work in works.items():
        print(f"{games:,} games: {rate(work, _SECONDS):,.0f} steps/s", flush=True)
    for what, (prepare, call) in calls.items():
        there, host = call_times(prepare, call)
        print(
            f"{what} of {SIZES[1]:,} games: {there:,.0f} µs on the GPU, {host:,.0f} µs of the host"
        )


if __name__ == "__main__":
    main()
