"""Measures one thing in a process of its own: `python -m benchmarks.measure linkzoo-aec linkage`.

Prints the number alone, in the unit that MEASUREMENTS names. `compare.py` sets them side by side.
All play is uniformly random among the legal moves; compiling and a first round aren't timed.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

SECONDS = 3.0  # that a measurement lasts
GAMES = 1024  # of a batch


def rate(work: Callable[[], int]) -> float:
    """Units of work a second, after a first round."""
    work()
    done, start = 0, time.perf_counter()
    while (seconds := time.perf_counter() - start) < SECONDS:
        done += work()
    return done / seconds


def aec(env: Any) -> float:
    """Steps a second of a PettingZoo environment, through the usual loop."""
    chance = np.random.Generator(np.random.PCG64(0)).random

    def work() -> int:
        env.reset()
        steps = 0
        while True:
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                return steps
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(chance() * len(legal))]))
            steps += 1

    env.reset(seed=0)
    return rate(work)


def linkzoo_aec(game: str) -> float:
    import linkzoo

    return aec(linkzoo.make(game))


def pettingzoo_aec(game: str) -> float:
    from importlib import import_module

    return aec(import_module(f"pettingzoo.classic.{game}").env())


def linkzoo_vector(game: str) -> float:
    """Steps a second of a batch: random choice, step, mask, observation, restart."""
    from linkzoo import make_vec
    from linkzoo.batch import kernels

    vec = make_vec(game, GAMES, check=False)
    now = vec.reset(0)
    choose = kernels(vec.game).random_actions
    seeds, actions = np.arange(GAMES, dtype=np.uint64), np.empty(GAMES, np.int64)
    rounds = iter(range(2**62))

    def work() -> int:
        for _ in range(100):
            choose(now.action_mask, seeds, next(rounds), actions)
            vec.step(actions)
        return 100 * GAMES

    return rate(work)


def pgx_vector(game: str) -> float:
    """The same work in pgx: one jitted loop of 100 plies, observations included."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(game)
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    def plies(state: Any, key: Any) -> Any:
        def ply(carry: Any, _: Any) -> Any:
            state, key = carry
            key, choose, chance = jax.random.split(key, 3)
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            action = jax.random.categorical(choose, logits, axis=-1)
            state = step(state, action, jax.random.split(chance, GAMES))
            return (state, key), state.observation.sum()  # so that it has to be computed

        return jax.lax.scan(ply, (state, key), None, length=100)

    run = jax.jit(plies)
    key = jax.random.PRNGKey(0)
    held = [(jax.jit(init)(jax.random.split(key, GAMES)), key)]

    def work() -> int:
        held[0], seen = run(*held[0])
        seen.block_until_ready()
        return 100 * GAMES

    return rate(work)


def uct(game: str) -> float:
    """Complete random playouts a second from the first position, all threads searching."""
    import numba

    from linkzoo import Positions, get_game
    from linkzoo.batch import kernels
    from linkzoo_training.agents import UctAgent

    rules = get_game(game)
    states = np.zeros(8 * numba.get_num_threads(), rules.state)
    states[:] = rules.blank()
    seeds = np.arange(len(states), dtype=np.uint64)
    kernels(rules).begin(states, seeds, np.empty((len(states), rules.num_actions), np.int8))
    agent = UctAgent(1000)

    def work() -> int:
        agent.act(Positions(rules, states, seeds))
        return len(states) * 1000

    return rate(work)


def copying(of: Callable[[Any], object], game: str) -> float:
    """Microseconds to copy, from Python, what `of` takes from an environment."""
    import linkzoo

    env = linkzoo.make(game)
    env.reset(seed=0)
    size = 10_000

    def work() -> int:
        for _ in range(size):
            of(env)
        return size

    return 1e6 / rate(work)


MEASUREMENTS: dict[str, tuple[Callable[[str], float], str]] = {
    "linkzoo-aec": (linkzoo_aec, "steps/s"),
    "pettingzoo-aec": (pettingzoo_aec, "steps/s"),
    "linkzoo-vector": (linkzoo_vector, "steps/s"),
    "pgx-vector": (pgx_vector, "steps/s"),
    "uct": (uct, "playouts/s"),
    "clone": (partial(copying, lambda env: env.get_state()), "µs"),
    "clone-env": (partial(copying, lambda env: env.clone()), "µs"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("game")
    arguments = parser.parse_args()
    print(MEASUREMENTS[arguments.what][0](arguments.game))


if __name__ == "__main__":
    main()
