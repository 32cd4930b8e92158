"""Tasks of `make gpu` with their targets: commands and the numbers that they print.

Imports the standard library alone, so that `make gpu` can say what else is missing.
"""

import re
from dataclasses import dataclass
from enum import Enum
from math import inf
from pathlib import Path
from typing import NamedTuple

# Random play at 2^17 games, in steps/s. Linkage first: it compiles fastest.
GAMES = {"linkage": 200e6, "love_links": 50e6, "link_o": 50e6, "love_formula": 50e6}
# Other boards and cards, whose rules are compiled anew.
OTHER_RULES = ("ring4x12", "ring4x16x2", "mini2x4", "love_links", "love_formula")
PREFLIGHT = "preflight"
TRAINED = "linkage_ppo_gpu"  # preset that is trained for a minute


class When(Enum):
    """When a task runs."""

    FIRST = "before all others, which need it"
    BESIDE = "beside others"
    ALONE = "beside others until it is ready to measure, then alone"
    LAST = "alone, after the others or when only its time is left"


class Bar(NamedTuple):
    """A number printed by a task, with its target."""

    what: str
    pattern: str  # regular expression with the number as a group
    least: float = -inf
    most: float = inf

    def measured(self, printed: str) -> float | None:
        """Returns the number; None if it wasn't printed."""
        found = re.search(self.pattern, printed)
        return None if found is None else float(found[1].replace(",", ""))


@dataclass(frozen=True)
class Task:
    """A command `python -m ...`."""

    name: str
    when: When
    arguments: tuple[str, ...]
    bars: tuple[Bar, ...] = ()
    seconds: float = 0.0  # that the last task needs


def tasks(runs: Path) -> list[Task]:
    """Returns all tasks, in order; `runs` is the folder of training runs."""
    return [
        Task(PREFLIGHT, When.FIRST, ("lab.gpu_preflight",)),
        *tests(),
        *(play_at_random(game, least) for game, least in GAMES.items()),
        Task("play-connect_four", When.ALONE, ("lab.gpu_play", "connect_four:GAME")),
        Task("pgx-connect_four", When.ALONE, ("lab.gpu_play", "connect_four", "--pgx")),
        *benchmarks(),
        training(runs),
    ]


def tests() -> list[Task]:
    """Returns the tests in parts of similar length: by game and by algorithm."""
    parts = {
        **{f"games-{game}": ("games", f"{game} and not other_rules") for game in GAMES},
        **{f"other-{which}": ("games", f"other_rules and {which}") for which in OTHER_RULES},
        "transfers": ("transfers", ""),
        "alphazero": ("training", "alphazero"),
        "ppo": ("training", "not alphazero and not there"),
        "ppo-there": ("training", "there"),
    }
    options = "-q", "-p", "no:cacheprovider", "--tb=short"
    return [
        Task(
            f"tests-{name}",
            When.BESIDE,
            ("pytest", *options, f"tests/gpu/test_{file}.py", "-k", which),
        )
        for name, (file, which) in parts.items()
    ]


def play_at_random(game: str, least: float) -> Task:
    bar = Bar(f"random play of {game}, steps/s", r"131,072 games: ([\d,]+) steps/s", least=least)
    return Task(f"play-{game}", When.ALONE, ("lab.gpu_play", game), (bar,))


def benchmarks() -> list[Task]:
    """Returns the benchmarks of training speed and of GPU idle time."""
    ppo = "lab.ppo", "--rounds", "5"
    flat = *ppo, "love_links_ppo_gpu"
    # Few plies an iteration: the shares of playing and learning stay the same.
    searching = "linkage_az_gpu", "simulations=[32]", "horizon=4", "window=4", "--rounds", "4"
    return [
        Task(
            "ppo-there",
            When.ALONE,
            (*flat, "env_device=cuda", "num_envs=32768"),
            (
                speed("PPO, flat network, games on the GPU, steps/s", 3e6),
                idle("PPO, flat network, games on the GPU"),
            ),
        ),
        Task("ppo-flat", When.ALONE, flat, (speed("PPO, flat network, steps/s", 1e6),)),
        Task(
            "ppo-board",
            When.ALONE,
            (*ppo, "linkage_ppo_gpu"),
            (idle("PPO, board network"),),
        ),
        Task(
            "alphazero",
            When.ALONE,
            ("lab.alphazero", *searching),
            (speed("AlphaZero, 32 simulations, plies/s", 20e3), idle("AlphaZero, 32 simulations")),
        ),
    ]


def speed(what: str, least: float) -> Bar:
    """Returns the target of a training benchmark."""
    return Bar(what, r"end to end ([\d,]+) steps/s", least=least)


def idle(what: str) -> Bar:
    """Returns the target of a training benchmark's GPU idle time."""
    return Bar(f"GPU idle in {what}, %", r"GPU idle ([\d.]+)%", most=15)


def training(runs: Path) -> Task:
    """Returns a minute of training and a short evaluation."""
    settings = "max_seconds=60", "eval={every: 1000, final_blocks: 10}"
    where = "--resume", "--folder", str(runs / TRAINED)
    arguments = "linkzoo_training", "train", TRAINED, *settings, *where
    return Task(f"train-{TRAINED}", When.LAST, arguments, seconds=100.0)
