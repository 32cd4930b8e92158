"""Speed on a busy machine: `python -m lab.busy`.

In every other round, starts as many busy processes as there are cores. Prints ratios within this
run: medians over rounds that alternate between quiet and busy. For `make_vec("linkage", 1024)`: two
threads against one, and busy against quiet. For training: `linkage_ppo_quick`, busy against quiet,
without the first iteration, which compiles.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from linkzoo.engine.threads import MAX_THREADS
from linkzoo_training.commands.tools.bench import Work, vector_steps

WORKS = {"one thread": 1, "two threads": 2}
BUSY = "while True: pass"


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Runs `count` processes that each occupy a core."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        time.sleep(0.5)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def speed(work: Work, seconds: float) -> float:
    """Returns units per second."""
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        done += work()
    return done / spent


def training(name: str) -> Work:
    """Returns iterations of a preset as work; units are steps."""
    from linkzoo_training.algorithms.ppo import PPOTrainer
    from linkzoo_training.config.config import PPOConfig, load_config

    config = load_config(name)
    assert isinstance(config, PPOConfig)
    trainer = PPOTrainer(config)

    def work() -> int:
        before = trainer.steps
        trainer.iterate()
        return trainer.steps - before

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=2, help="processes beside this one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement, at least")
    parser.add_argument("--preset", default="linkage_ppo_quick")
    arguments = parser.parse_args()
    works = {
        what: vector_steps("linkage", num_threads=min(threads, MAX_THREADS))
        for what, threads in WORKS.items()
    }
    works["training"] = training(arguments.preset)
    for work in works.values():
        work()
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(arguments.rounds):
        for beside in (0, arguments.busy):
            with neighbours(beside):
                for what, work in works.items():
                    found.setdefault((what, beside), []).append(speed(work, arguments.seconds))
    fast = {key: median(speeds) for key, speeds in found.items()}
    print(f"{MAX_THREADS} cores, {arguments.busy} busy processes, {arguments.rounds} rounds\n")
    print("| what | quiet, steps/s | busy, steps/s | busy / quiet |")
    print("|---|---:|---:|---:|")
    for what in works:
        quiet, busy = fast[what, 0], fast[what, arguments.busy]
        print(f"| {what} | {quiet:,.0f} | {busy:,.0f} | {busy / quiet:.2f} |")
    for name, beside in (("quiet", 0), ("busy", arguments.busy)):
        ratio = fast["two threads", beside] / fast["one thread", beside]
        print(f"\ntwo threads / one thread, {name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
