"""How the common tests play: the same uniformly random moves wherever a position is met again."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, GameEnv
from linkzoo.batch import kernels, random_legal

ROOT = Path(__file__).parents[2]
_STREAM = 9000  # no stream of the package


def choose(mask: NDArray[np.int8], seed: int, index: int) -> int:
    """A uniformly random legal action, a function of the arguments."""
    return int(random_legal(mask, np.uint64(seed), _STREAM, np.uint64(index)))


def plies(env: GameEnv, seed: int) -> Iterator[int]:
    """Plays on to the end; yields the action about to be taken at every ply."""
    index = 0
    while not all(env.terminations.values()):
        action = choose(env.infos[env.agent_selection]["action_mask"], seed, index)
        yield action
        env.step(action)
        index += 1


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
    found = hashlib.sha256()
    for name in sorted(observation):
        found.update(observation[name].tobytes())
    return found.hexdigest()


# One record, without an environment around it


def clone(state: np.record) -> np.record:
    """An independent copy."""
    copy: np.record = state.reshape(1).copy()[0]
    return copy


def mask_of(game: Game, state: np.record) -> NDArray[np.int8]:
    """The legal actions; the array starts dirty, so that every element has to be written."""
    mask = np.full(game.num_actions, 7, np.int8)
    game.legal_actions(state, mask)
    return mask


def observation_of(game: Game, state: np.record, seat: int) -> NDArray[Any]:
    """What a seat sees; the array starts dirty as well."""
    out = np.full(game.observation.size, 101, game.observation.dtype)
    game.observe(state, seat, out)
    return out


def outcome_of(game: Game, state: np.record) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Payoffs and margins of all seats."""
    payoff, margin = np.full((2, 1, int(state.num_players)), 99, np.float32)
    kernels(game).outcome_one(state.reshape(1).copy(), payoff, margin)
    return payoff[0], margin[0]


def run_python(*arguments: str, **environment: str) -> str:
    """What a fresh Python process prints, with this one's import path."""
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
