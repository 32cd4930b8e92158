"""Random play for the common tests: the same position always gets the same move."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import GameEnv
from linkzoo.testing.play import choose, clone, mask_of, observation_of, outcome_of
from tests.common.variants import Variant

__all__ = [
    "choose",
    "clone",
    "digest",
    "finish",
    "mask_of",
    "observation_of",
    "outcome_of",
    "plies",
    "run_python",
    "snapshot",
    "spread_positions",
]

ROOT = Path(__file__).parents[2]


def plies(env: GameEnv, seed: int) -> Iterator[int]:
    """Plays on to the end; yields the action about to be taken at every ply."""
    index = 0
    while not all(env.terminations.values()):
        action = choose(env.infos[env.agent_selection]["action_mask"], seed, index)
        yield action
        env.step(action)
        index += 1


def spread_positions(variant: Variant, seed: int, count: int) -> list[bytes]:
    """Positions of one random game, spread over all of it, the last one included."""
    env = variant.env()
    env.reset(seed=seed)
    states = [env.get_state() for _ in plies(env, seed)] + [env.get_state()]
    indices = np.linspace(0, len(states) - 1, min(count, len(states))).astype(int)
    return [states[index] for index in indices]


def finish(env: GameEnv, seed: int) -> bytes:
    """Plays to the end; the last position."""
    for _ in plies(env, seed):
        pass
    return env.get_state()


def snapshot(env: GameEnv) -> dict[str, Any]:
    """Everything that an environment shows, to compare with `==`."""
    return {
        "state": env.get_state(),
        "record": env.record(),
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative_rewards": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": {agent: info["action_mask"].tobytes() for agent, info in env.infos.items()},
        "observations": {agent: digest(env.observe(agent)) for agent in env.possible_agents},
    }


def digest(observation: dict[str, NDArray[Any]]) -> str:
    """A hash of an observation dict."""
    sha256 = hashlib.sha256()
    for name in sorted(observation):
        sha256.update(observation[name].tobytes())
    return sha256.hexdigest()


def run_python(*arguments: str, **environment: str) -> str:
    """The output of a new Python process with this process's import path."""
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
