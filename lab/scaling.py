"""How far workers scale: measured on this machine, and a model of machines with a core per worker.

    python -m lab.scaling linkage_az num_envs=512 horizon=8 num_threads=1 --workers 1 2 4 8

It trains with each number of worker processes, in as many parts. AlphaZero isn't measured before it
learns as many positions per iteration as in the middle of a run: at the start few games have ended,
and the window isn't full. The model's bytes are from the first row, its waits from each row's CPU
times, which grow as parts shrink, and its workers with a core each from the last row.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import AlphaZeroConfig, AnyConfig, load_config
from linkzoo_training.selfplay.dispatch import Answer, Fleet, Handle, Kept, Worker
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.selfplay.processes import ProcessFleet
from linkzoo_training.train import make_trainer

CORES = os.cpu_count() or 1
NETWORK = 1.25e9  # bytes per second of the model: 10 Gbit/s at the learner
MODEL = [2**power for power in range(11)]  # workers of the model
STEADY = 0.1  # largest change of the positions per iteration, over half a window


class CountedFleet(ProcessFleet):
    """Worker processes; counts the bytes that tasks and their results have.

    Attributes:
        tasks: The number of tasks that were sent.
        weights: Bytes of the weights of a task.
        games: Bytes of the rest: the games of tasks and of results, with what is learned from them.
    """

    def __init__(self, make: Callable[[], Worker]) -> None:
        super().__init__(make)
        self.tasks = 0
        self.weights = 0
        self.games = 0

    def send(self, worker: Handle, shared: tuple[Any, Kept], task: Any, name: str) -> None:
        """Sends a task."""
        weights, _ = shared
        if weights is not None:
            self.tasks += 1
            self.weights = len(weights)
            self.games += len(task[-1])
        super().send(worker, shared, task, name)

    def receive(self, worker: Handle) -> Answer:
        """Reads an answer."""
        answer = super().receive(worker)
        if answer.result is not None:
            self.games += len(answer.result)
        return answer


class CountedExecutor(ProcessExecutor):
    """Worker processes of a `CountedFleet`."""

    fleet: CountedFleet

    def _fleet(self, make: Callable[[], Worker]) -> Fleet:
        self.fleet = CountedFleet(make)
        return self.fleet


@dataclass(frozen=True)
class Row:
    """A measured run.

    Attributes:
        workers: The number of workers.
        warm_up: Iterations before it was measured.
        plies_per_second: By the clock.
        idle: The learner's waiting share.
        cores: What other work on the machine left of its cores.
        sent: Bytes of tasks and results per iteration.
        weights: Bytes of the weights of a task.
        games: Bytes per ply of the rest of a task and its result.
        learner: The learner's CPU seconds per ply.
        worker: A worker's CPU seconds per ply.
    """

    workers: int
    warm_up: int
    plies_per_second: float
    idle: float
    cores: float
    sent: float
    weights: int
    games: float
    learner: float
    worker: float


def start_all(executor: ProcessExecutor) -> None:
    """Returns when all workers of a trainer have started."""
    while executor.live < executor.workers:
        list(executor.play(None, [partial(time.sleep, 0.1)]))


def workers_cpu() -> float:
    """Returns the CPU seconds of the live workers (Linux)."""
    ticks = 0
    for child in active_children():
        stat = Path(f"/proc/{child.pid}/stat").read_text(encoding="utf-8")
        fields = stat.rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def machine_cpu() -> float:
    """Returns the CPU seconds of everything on this machine since it started (Linux)."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, *interrupts = map(int, fields[:7])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def warm_up(trainer: Trainer) -> int:
    """Trains until iterations learn as many positions as in the middle of a run.

    Returns:
        The number of iterations: one for PPO, which learns as many from the start.
    """
    trainer.iterate()
    if not isinstance(trainer.config, AlphaZeroConfig):
        return trainer.iteration
    window = trainer.config.window
    samples: list[float] = []
    while not _is_steady(samples, window):
        samples.append(trainer.iterate()["samples"])
    return trainer.iteration


def _is_steady(samples: Sequence[float], window: int) -> bool:
    """Returns whether the samples in a window are as many as half a window before."""
    half = max(1, window // 2)
    before = sum(samples[-window - half : -half])
    now = sum(samples[-window:])
    return len(samples) >= window + half and abs(now - before) <= STEADY * now


def measure(config: AnyConfig, workers: int, iterations: int) -> Row:
    """Trains for some iterations after the warm-up."""
    with CountedExecutor(workers) as executor:
        trainer = make_trainer(replace(config, parts=workers), executor)
        start_all(executor)
        before = warm_up(trainer)
        fleet = executor.fleet
        plies = config.num_envs * config.horizon * iterations

        def meters() -> list[float]:
            cpu = time.process_time(), workers_cpu(), machine_cpu()
            return [time.perf_counter(), *cpu, fleet.tasks * fleet.weights, fleet.games]

        started = meters()
        idle = [trainer.iterate()["learner idle"] for _ in range(iterations)]
        spent = [end - start for start, end in zip(started, meters(), strict=True)]
        seconds, learner, played, everything, weights, games = spent
    return Row(
        workers=workers,
        warm_up=before,
        plies_per_second=plies / seconds,
        idle=sum(idle) / iterations,
        cores=CORES - (everything - learner - played) / seconds,
        sent=(weights + games) / iterations,
        weights=fleet.weights,
        games=games / plies,
        learner=learner / plies,
        worker=played / plies,
    )


@dataclass(frozen=True)
class Prediction:
    """The model's row for a number of workers.

    Attributes:
        workers: The number of workers, each on a core of its own.
        plies_per_second: Of the whole run.
        idle: The learner's waiting share.
        bytes_per_second: Weights and games that pass the learner's network.
    """

    workers: int
    plies_per_second: float
    idle: float
    bytes_per_second: float


def predict(row: Row, plies: int, workers: int) -> Prediction:
    """Returns the model's row; each worker plays a part of `plies` in an iteration.

    The learner learns from an iteration while the workers play the next one, and each is as fast as
    the slower of both: learning, or playing with what passes the learner's network.
    """
    sent = row.games + row.weights / plies  # per ply, as all other numbers
    playing = row.worker / workers + sent / NETWORK
    seconds = max(row.learner, playing)
    return Prediction(workers, 1 / seconds, 1 - row.learner / seconds, sent / seconds)


def waits_on(cores: float, row: Row, workers: int) -> float:
    """Returns the model's waiting share of a learner that shares cores with its workers.

    The system gives each busy process the same share of the cores. While the learner learns, all
    are busy, until the workers have played their plies; then it waits for the rest of them.
    """
    share = min(1.0, cores / (workers + 1))
    learning = row.learner / share
    played = workers * share * learning  # CPU seconds of the workers meanwhile
    waiting = max(0.0, row.worker - played) / min(workers, cores)
    return waiting / (learning + waiting)


def report(config: AnyConfig, rows: Sequence[Row]) -> str:
    """Returns the measured table and the model's, as Markdown."""
    columns = (
        "workers|warm-up|plies/s|learner waits|the model's wait|bytes an iteration|"
        "the model's bytes|cores left|weights a task|games a ply|learner's CPU a ply|workers'"
    )
    first, last = rows[0], rows[-1]
    plies = config.num_envs * config.horizon
    lines = [f"`{config.name}`, {config.num_envs} games, measured on {CORES} cores:", ""]
    lines += [f"| {columns.replace('|', ' | ')} |", "|---:" * (columns.count("|") + 1) + "|"]
    lines += [
        f"| {row.workers} | {row.warm_up} | {row.plies_per_second:,.0f} | {row.idle:.1%} | "
        f"{waits_on(row.cores, row, row.workers):.1%} | {row.sent:,.0f} | "
        f"{row.workers * first.weights + plies * first.games:,.0f} | {row.cores:.2f} | "
        f"{row.weights:,} B | {row.games:,.0f} B | {row.learner * 1e6:,.0f} us | "
        f"{row.worker * 1e6:,.0f} us |"
        for row in rows
    ]
    part = plies // last.workers
    source = f"the CPU times and bytes with {last.workers} workers"
    assumed = f"parts of {part:,} plies, a core per worker, 10 Gbit/s at the learner"
    lines += ["", f"**A model, not a measurement,** from {source}; {assumed}:", ""]
    lines += ["| workers | plies/s | learner waits | network |", "|---:|---:|---:|---:|"]
    for workers in MODEL:
        row = predict(last, part, workers)
        lines.append(
            f"| {workers:,} | {row.plies_per_second:,.0f} | {row.idle:.0%} | "
            f"{row.bytes_per_second / 1e6:,.1f} MB/s |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measures, and prints the tables."""
    parser = argparse.ArgumentParser(description="How far workers scale.")
    parser.add_argument("config", nargs="?", default="linkage_az")
    parser.add_argument("settings", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--iterations", type=int, default=6)
    args = parser.parse_args()
    config = load_config(args.config, args.settings)
    rows = [measure(config, workers, args.iterations) for workers in args.workers]
    print(report(config, rows))


if __name__ == "__main__":
    main()
