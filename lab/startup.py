"""CPU seconds until something happens for the first time, each in a new process.

    python -m lab.startup linkage                                             # the first game
    python -m lab.startup --train examples/connect_four/connect_four_az.yaml  # the first iteration

The cold run starts with an empty cache folder, the warm one reuses it. Wall-clock seconds are in
brackets; on a busy machine, CPU seconds are more reliable.
"""

import argparse
import os
import subprocess
import sys
import tempfile

_CLOCKS = """
import time
def clocks():
    return time.process_time(), time.perf_counter()
start = clocks()
"""
_GAME = """
import linkzoo
imported = clocks()
env = linkzoo.make({what!r})
env.reset(seed=0)
while not env.terminations[env.agent_selection]:
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
"""
_TRAIN = """
from linkzoo_training.config.config import load_config
from linkzoo_training.train import make_trainer
imported = clocks()
make_trainer(load_config({what!r})).iterate()
"""
_PRINT = """
done = clocks()
print(*(b - a for a, b in zip(start + imported, imported + done, strict=True)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("game", nargs="?")
    what.add_argument("--train", metavar="CONFIG")
    arguments = parser.parse_args()
    first = _GAME.format(what=arguments.game)
    if arguments.train is not None:
        first = _TRAIN.format(what=arguments.train)
    with tempfile.TemporaryDirectory() as cache:
        for run in ("cold", "warm"):
            finished = subprocess.run(
                [sys.executable, "-c", _CLOCKS + first + _PRINT],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
            )
            imported_cpu, imported, first_cpu, took = map(float, finished.stdout.split())
            print(
                f"{run}: imports {imported_cpu:.2f} s ({imported:.2f}), "
                f"the rest {first_cpu:.2f} s ({took:.2f})"
            )


if __name__ == "__main__":
    main()
