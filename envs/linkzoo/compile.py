"""Compiles games ahead of their first use, in parallel processes: `python -m linkzoo.compile`."""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from linkzoo.core.agent import Positions, RandomAgent
from linkzoo.core.kernels import kernels
from linkzoo.envs.aec import GameEnv
from linkzoo.envs.vector import VecEnv
from linkzoo.registry import NAMES, get_game

# The start of our processes: Ctrl-C ends them without a traceback, unless it is ignored.
_QUIET = """
import signal
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
"""
# Functions that use a game, by its name, in all ways that are to be compiled.
ENVIRONMENTS = "linkzoo.compile:use_environments"
ON_DEVICE = "linkzoo.compile:use_device"


def compile_ahead(games: Sequence[str], uses: Sequence[str], *arguments: Any) -> Iterator[str]:
    """Compiles the code that functions use, in as many processes as there are cores.

    Args:
        games: The games' names.
        uses: Functions (`module:function`) that take a game's name and the `arguments`.
        arguments: Further arguments of the functions.

    Yields:
        A line for each game that is ready.

    Raises:
        ValueError: There is no such game.
        ChildProcessError: A process fails.
    """
    titles = {name: get_game(name).title for name in games}
    remaining = dict.fromkeys(titles, len(uses))
    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {
            pool.submit(_run, use, name, *arguments): name for use in uses for name in titles
        }
        try:
            for done in as_completed(running):
                done.result()  # raises its error
                name = running[done]
                remaining[name] -= 1
                if not remaining[name]:
                    yield f"{titles[name]}: ready ({time.perf_counter() - started:.0f} s)"
        finally:  # after Ctrl-C too: no others are begun
            pool.shutdown(cancel_futures=True)


def _run(use: str, *arguments: Any) -> None:
    module, _, function = use.partition(":")
    code = f"{_QUIET}from {module} import {function}; {function}(*{arguments!r})"
    status = subprocess.run([sys.executable, "-c", code], check=False).returncode  # noqa: S603  # ours
    if status:
        raise ChildProcessError(f"compiling {arguments[0]} failed in {use} (exit code {status})")


def use_environments(name: str) -> None:
    """Calls all compiled functions that the environments of a game call."""
    env = GameEnv(name)
    env.reset(seed=0)
    start = env.get_state()
    data = env.to_dict()
    action = int(env.infos[env.agent_selection]["action_mask"].argmax())
    env.text_to_action(env.action_to_text(action))
    env.step(action)
    env.last()
    env.state()
    env.game.drawing.text(np.frombuffer(start, env.game.state).copy()[0])
    env.reset(options={"state": data})
    vec = VecEnv(name, 2)
    positions = Positions(vec.game, vec.states, np.zeros(2, np.uint64))
    vec.reset(0)
    vec.step(RandomAgent().act(positions))
    outcome = kernels(vec.game).outcome
    payoffs = np.zeros((2, vec.num_players), np.float32)
    margins = np.zeros((2, vec.num_players), np.float32)
    outcome(vec.states, payoffs, margins)
    outcome.serial(vec.states, payoffs, margins)


def compile_for(capability: tuple[int, int]) -> None:
    """From now on, this process compiles kernels for such a GPU, and runs them on the CPU."""
    from linkzoo.cuda import device, vector

    device.only_compile(capability)
    vector.DEVICE = "cpu"


def use_device(name: str, capability: tuple[int, int]) -> None:
    """Compiles the kernels of `make_vec(name, ..., device="cuda")`; needs no GPU."""
    from linkzoo.cuda.vector import CudaVecEnv

    compile_for(capability)
    vec = CudaVecEnv(name, 2, check=False)
    vec.reset(0)
    vec.step(vec.random_actions(0))
    vec.refresh()


def capability_of(arch: str | None) -> tuple[int, int]:
    """Returns the compute capability of an architecture such as "sm_90", or of this machine's GPU.

    Raises ValueError, ImportError or RuntimeError.
    """
    from linkzoo.cuda import require, require_packages

    if arch is not None:
        match = re.fullmatch(r"sm_(\d+)(\d)", arch)
        if match is None:
            raise ValueError(f"arch={arch!r}: not an architecture such as sm_90")
        require_packages()
        return int(match[1]), int(match[2])
    require()
    import torch

    return torch.cuda.get_device_capability()


def add_device(parser: argparse.ArgumentParser) -> None:
    """Adds the options --device and --arch."""
    text = "device to compile for (default: %(default)s); cuda needs no GPU if --arch names one"
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help=text)
    text = "with --device cuda: GPU architecture, such as sm_90 (default: this machine's)"
    parser.add_argument("--arch", help=text)


def main() -> None:
    """Compiles the games that the arguments name, or all, and prints when each is ready."""
    parser = argparse.ArgumentParser(prog="python -m linkzoo.compile", description=__doc__)
    parser.add_argument("games", metavar="GAME", nargs="*", help=f"default: all of {list(NAMES)}")
    add_device(parser)
    args = parser.parse_args()
    try:
        games = args.games or NAMES
        if args.device == "cuda":
            lines = compile_ahead(games, (ON_DEVICE,), capability_of(args.arch))
        else:
            lines = compile_ahead(games, (ENVIRONMENTS,))
        for line in lines:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except (ValueError, ImportError, RuntimeError, ChildProcessError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
