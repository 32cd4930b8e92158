"""Seconds to import the package and to play a first game: `python -m lab.startup linkage`.

The cold run starts with an empty cache folder, the warm one reuses it. On a busy machine, the CPU
seconds in brackets are more reliable.
"""

import argparse
import os
import subprocess
import sys
import tempfile

CODE = """
import time
def clocks():
    return time.perf_counter(), time.process_time()
start = clocks()
import linkzoo
imported = clocks()
env = linkzoo.make({game!r})
env.reset(seed=0)
while not env.terminations[env.agent_selection]:
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
played = clocks()
print(*(b - a for a, b in zip(start + imported, imported + played, strict=True)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        for run in ("cold", "warm"):
            done = subprocess.run(
                [sys.executable, "-c", CODE.format(game=arguments.game)],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
            )
            imported, imported_cpu, game, game_cpu = map(float, done.stdout.split())
            print(
                f"{run}: import linkzoo {imported:.2f} s ({imported_cpu:.2f}), "
                f"the first game {game:.2f} s ({game_cpu:.2f})"
            )


if __name__ == "__main__":
    main()
