"""Seconds to import the package and to play a first game: `python -m benchmarks.startup linkage`.

The cold run compiles into an empty cache folder, the warm one finds it there.
"""

import argparse
import os
import subprocess
import sys
import tempfile

CODE = """
import time
start = time.perf_counter()
import linkzoo
imported = time.perf_counter()
env = linkzoo.make({game!r})
env.reset(seed=0)
while not env.terminations[env.agent_selection]:
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
print(imported - start, time.perf_counter() - imported)
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
            imported, game = map(float, done.stdout.split())
            print(f"{run}: import linkzoo {imported:.2f} s, the first game {game:.2f} s")


if __name__ == "__main__":
    main()
