"""Tasks of `make gpu` with their targets: commands and the numbers that they print."""

import re
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import NamedTuple

from linkzoo import game_names
from linkzoo_training.config.config import load_config

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests" / "gpu").glob("test_*.py"), reverse=True)  # games' are longest
# AlphaZero first: its strength has a time limit.
PRESETS = [
    path.stem for kind in ("az", "ppo") for path in sorted(ROOT.glob(f"configs/*_{kind}_gpu.yaml"))
]


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
    module: str
    arguments: tuple[str, ...]
    bars: tuple[Bar, ...] = ()
    run: Path | None = None  # folder of a training run, resumed until finished
    needs: Path | None = None  # file that must exist

    @property
    def command(self) -> str:
        return " ".join(["python -m", self.module, *self.arguments])


def speed(what: str, least: float) -> Bar:
    """Returns the target of a training benchmark."""
    return Bar(what, r"end to end ([\d,]+) steps/s", least=least)


def tasks(device: str, presets: list[str], runs: Path) -> list[Task]:
    """Returns all tasks, in order."""
    on = f"device={device}"
    return [
        *tests(),
        *(play_at_random(game, device) for game in game_names()),
        *benchmarks(on),
        *(task for preset in presets for task in training(preset, on, runs)),
    ]


def tests() -> list[Task]:
    """Returns one task per file, but one per game for the games' file, which is slow to compile."""
    found = []
    for path in TESTS:
        name, file = path.stem.removeprefix("test_"), str(path.relative_to(ROOT))
        if name != "games":
            found.append(Task(f"tests of {name}", "pytest", ("-q", file)))
            continue
        for what in (*(f"{game} and not other_rules" for game in game_names()), "other_rules"):
            title = what.removesuffix(" and not other_rules")
            found.append(Task(f"tests of {name}: {title}", "pytest", ("-q", file, "-k", what)))
    return found


def play_at_random(game: str, device: str) -> Task:
    least = {"linkage": 200e6}.get(game, 50e6)
    bar = Bar(f"random play of {game}, steps/s", r"lock-step +([\d,]+) steps/s", least=least)
    arguments = "bench", "--game", game, "--device", device
    return Task(f"play {game}", "linkzoo_training", arguments, (bar,))


def benchmarks(on: str) -> list[Task]:
    """Returns the benchmarks of training speed and of GPU idle time."""
    there = "env_device=cuda", "num_envs=32768"
    board, flat = ("linkage_ppo_gpu", on), ("love_links_ppo_gpu", on)
    searching = "linkage_az_gpu", on, "simulations=[32]", "window=4"
    idle = r"GPU idle ([\d.]+)%"
    return [
        Task(
            "PPO, board network",
            "benchmarks.ppo",
            board,
            (Bar("GPU idle in PPO, board network, %", idle, most=15),),
        ),
        Task(
            "PPO, flat network",
            "benchmarks.ppo",
            flat,
            (speed("PPO, flat network, steps/s", 1e6),),
        ),
        Task(
            "PPO, flat network, games on it",
            "benchmarks.ppo",
            (*flat, *there),
            (speed("PPO, flat network, games on the GPU, steps/s", 3e6),),
        ),
        Task(
            "AlphaZero, 32 simulations",
            "benchmarks.alphazero",
            searching,
            (
                speed("AlphaZero, 32 simulations, plies/s", 20e3),
                Bar("GPU idle in AlphaZero, 32 simulations, %", idle, most=15),
            ),
        ),
    ]


def training(preset: str, on: str, runs: Path) -> list[Task]:
    """Returns the training of a preset and, if it has a time limit, its strength test."""
    config = load_config(preset, [on])
    name, run = Path(preset).stem, runs / config.name
    arguments = "train", preset, on, "--resume", "--folder", str(run)
    found = [Task(f"train {name}", "linkzoo_training", arguments, run=run)]
    if config.max_seconds is not None:
        checkpoint, fair = run / "checkpoint", "threshold=[13,14]"
        bar = Bar(
            f"{name} after {config.max_seconds / 60:.0f} minutes, raw, on the fair ladder: "
            "score against uct-1000, %",
            r"uct-1000 [^│]*│[^│]*│ *([\d.]+)",
            least=90,
        )
        command = "evaluate", str(checkpoint), "--ladder", fair
        strength = Task(
            f"strength of {name}", "linkzoo_training", command, (bar,), needs=checkpoint
        )
        found.append(strength)
    return found
