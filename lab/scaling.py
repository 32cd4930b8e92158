"""How far workers scale: measured on this machine, and a model of machines with a core per worker.

    python -m lab.scaling linkage_az num_envs=128 --workers 1 2 4 8

It trains with each number of worker processes, in as many parts. The first iteration isn't
measured: it begins when all workers have started, and each of them loads compiled code in it.
"""

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from linkzoo_training.config.config import AnyConfig, load_config
from linkzoo_training.selfplay.dispatch import NOTHING, Results
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.selfplay.workers import SelfPlayWorkers
from linkzoo_training.train import make_trainer

NETWORK = 1.25e9  # bytes per second of the model: 10 Gbit/s at the learner
MODEL = [2**power for power in range(11)]  # workers of the model
GAMES = 2048  # of the model


class Counted(ProcessExecutor):
    """Worker processes; notes the bytes of the weights that tasks are sent with."""

    weights = 0

    def play(
        self,
        weights: Any,
        tasks: Sequence[Any],
        kept: Mapping[str, Any] = NOTHING,
        names: Sequence[str] = (),
    ) -> Results:
        """Plays all tasks."""
        if weights is not None:
            self.weights = len(weights)
        return super().play(weights, tasks, kept, names)


@dataclass(frozen=True)
class Row:
    """A measured run: CPU seconds are per ply, bytes per task or per ply.

    Attributes:
        workers: The number of workers.
        plies_per_second: By the clock, after the first iteration.
        idle: The learner's waiting share.
        weights: Bytes of the weights of a task.
        result: Bytes of a task's result per ply: its batch and the states of its games.
        learner: The learner's CPU seconds per ply.
        worker: A worker's CPU seconds per ply.
    """

    workers: int
    plies_per_second: float
    idle: float
    weights: int
    result: float
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


def measure(config: AnyConfig, workers: int, iterations: int) -> Row:
    """Trains for some iterations after a first one."""
    with Counted(workers) as executor:
        trainer = make_trainer(replace(config, parts=workers), executor)
        assert isinstance(trainer.play, SelfPlayWorkers)
        start_all(executor)
        trainer.iterate()
        started = time.perf_counter()
        learner_before = time.process_time()
        workers_before = workers_cpu()
        idle = [trainer.iterate()["learner idle"] for _ in range(iterations)]
        seconds = time.perf_counter() - started
        learner = time.process_time() - learner_before
        played = workers_cpu() - workers_before
        while not trainer.play.ready(1):
            pass
        received = sum(map(len, trainer.play._received.values()))
    plies = config.num_envs * config.horizon
    return Row(
        workers,
        plies * iterations / seconds,
        sum(idle) / iterations,
        executor.weights,
        received / plies,
        learner / (plies * iterations),
        played / (plies * iterations),
    )


@dataclass(frozen=True)
class Prediction:
    """The model's row for a number of workers.

    Attributes:
        workers: The number of workers, each on a core of its own.
        plies_per_second: Of the whole run.
        idle: The learner's waiting share.
        bytes_per_second: Weights and results that pass the learner's network.
    """

    workers: int
    plies_per_second: float
    idle: float
    bytes_per_second: float


def traffic(row: Row, plies: int, workers: int) -> float:
    """Returns the bytes of the weights and results of an iteration."""
    return workers * row.weights + plies * row.result


def predict(row: Row, plies: int, workers: int) -> Prediction:
    """Returns the model's row; an iteration has `plies`, in as many parts as workers.

    The learner learns from an iteration while the workers play the next one, and each is as fast as
    the slower of both: learning, playing, or sending weights to all workers and results back.
    """
    learning = plies * row.learner
    playing = plies / workers * row.worker
    sent = traffic(row, plies, workers)
    seconds = max(learning, playing + sent / NETWORK)
    return Prediction(workers, plies / seconds, 1 - learning / seconds, sent / seconds)


def waits_on(cores: int, row: Row, workers: int) -> float:
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
    cores = os.cpu_count() or 1
    load = f"load {os.getloadavg()[0]:.0f}, {cores} cores"
    columns = (
        "workers|plies/s|learner waits|the model's wait|bytes an iteration|the model's bytes|"
        "weights a task|result a ply|learner's CPU a ply|workers'"
    )
    first = rows[0]
    plies = config.num_envs * config.horizon
    lines = [f"`{config.name}`, {config.num_envs} games, measured ({load}):", ""]
    lines += [f"| {columns.replace('|', ' | ')} |", "|---:" * 10 + "|"]
    lines += [
        f"| {row.workers} | {row.plies_per_second:,.0f} | {row.idle:.1%} | "
        f"{waits_on(cores, row, row.workers):.1%} | {traffic(row, plies, row.workers):,.0f} | "
        f"{traffic(first, plies, row.workers):,.0f} | {row.weights:,} B | {row.result:,.0f} B | "
        f"{row.learner * 1e6:,.0f} us | {row.worker * 1e6:,.0f} us |"
        for row in rows
    ]
    source = f"the CPU times and bytes with {first.workers} workers"
    assumed = f"{GAMES:,} games, a core per worker, 10 Gbit/s at the learner"
    lines += ["", f"**A model, not a measurement,** from {source}; {assumed}:", ""]
    lines += ["| workers | plies/s | learner waits | network |", "|---:|---:|---:|---:|"]
    for workers in MODEL:
        row = predict(first, GAMES * config.horizon, workers)
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
    parser.add_argument("--iterations", type=int, default=3)
    args = parser.parse_args()
    config = load_config(args.config, args.settings)
    rows = [measure(config, workers, args.iterations) for workers in args.workers]
    print(report(config, rows))


if __name__ == "__main__":
    main()
