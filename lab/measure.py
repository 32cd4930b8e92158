"""Runs one measurement in its own process: `python -m lab.measure linkzoo-aec linkage`.

Prints only the number, in the unit in MEASUREMENTS; `compare.py` makes the tables. All moves are
uniformly random and legal; compilation and a warm-up round aren't timed. A process with one core
counts CPU seconds, so other programs hardly matter.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import linkzoo
from linkzoo_training.commands.tools.bench import (
    GAMES,
    Work,
    aec_steps,
    playouts,
    rate,
    vector_steps,
)

SECONDS = 3.0  # per measurement


def linkzoo_aec(game: str, players: int | None) -> Work:
    return aec_steps(linkzoo.make(game, players))


def pettingzoo_aec(game: str, _: int | None) -> Work:
    from importlib import import_module

    return aec_steps(import_module(f"pettingzoo.classic.{game}").env())


def pgx_vector(game: str, _: int | None, games: int = GAMES) -> Work:
    """Measures pgx: a jitted loop of 100 plies, observations included."""
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
            state = step(state, action, jax.random.split(chance, games))
            return (state, key), state.observation.sum()  # forces its computation

        return jax.lax.scan(ply, (state, key), None, length=100)

    run = jax.jit(plies)
    key = jax.random.PRNGKey(0)
    held = [(jax.jit(init)(jax.random.split(key, games)), key)]

    def work() -> int:
        held[0], seen = run(*held[0])
        seen.block_until_ready()
        return 100 * games

    return work


def open_spiel_steps(game: str, _: int | None) -> Work:
    """Measures one game from Python: observation, legal actions, and the action."""
    import pyspiel

    rules = pyspiel.load_game(game)
    chance = np.random.Generator(np.random.PCG64(0)).random

    def work() -> int:
        state, steps = rules.new_initial_state(), 0
        while not state.is_terminal():
            np.array(state.observation_tensor(), np.float32)
            legal = np.array(state.legal_actions_mask(), np.int8).nonzero()[0]
            state.apply_action(int(legal[int(chance() * len(legal))]))
            steps += 1
        return steps

    return work


def open_spiel_playouts(game: str, _: int | None) -> Work:
    """Measures a search of the first position on one core; units are random games to the end."""
    import pyspiel

    rules = pyspiel.load_game(game)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    policy, simulations = pyspiel.ChildSelectionPolicy.UCT, 1000

    def work() -> int:
        bot = pyspiel.MCTSBot(rules, evaluator, 1.0, simulations, 1000, False, 0, False, policy)
        bot.step(rules.new_initial_state())
        return simulations

    return work


def copying(of: Callable[[Any], object], game: str, players: int | None) -> Work:
    """Measures copying, from Python, the result of `of` on an environment."""
    env = linkzoo.make(game, players)
    env.reset(seed=0)
    size = 10_000

    def work() -> int:
        for _ in range(size):
            of(env)
        return size

    return work


MEASUREMENTS: dict[str, tuple[Callable[[str, int | None], Work], str]] = {
    "linkzoo-aec": (linkzoo_aec, "steps/s"),
    "pettingzoo-aec": (pettingzoo_aec, "steps/s"),
    "open_spiel-state": (open_spiel_steps, "steps/s"),
    "linkzoo-vector": (vector_steps, "steps/s"),
    "pgx-vector": (pgx_vector, "steps/s"),
    "linkzoo-uct": (playouts, "playouts/s"),
    "open_spiel-uct": (open_spiel_playouts, "playouts/s"),
    "clone": (partial(copying, lambda env: env.get_state()), "µs"),
    "clone-env": (partial(copying, lambda env: env.clone()), "µs"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("game")
    parser.add_argument("--players", type=int)
    parser.add_argument("--games", type=int, help="in lock-step, of the vector measurements")
    arguments = parser.parse_args()
    work: Any  # not every one has games
    work, unit = MEASUREMENTS[arguments.what]
    if arguments.games is not None:
        work = partial(work, games=arguments.games)
    alone = len(os.sched_getaffinity(0)) == 1
    clock = time.process_time if alone else time.perf_counter
    speed = rate(work(arguments.game, arguments.players), SECONDS, clock)
    print(1e6 / speed if unit == "µs" else speed)


if __name__ == "__main__":
    main()
