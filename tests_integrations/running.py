"""How the tests run the examples."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_example(name: str, *arguments: str) -> str:
    """Runs an example to its end in a process of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def wins(printed: str) -> tuple[float, ...]:
    """The shares of wins that an example printed: against random and greedy, before and after."""
    lines = re.findall(r"wins against ([0-9.]+)% .* random, ([0-9.]+)% .* greedy", printed)
    assert len(lines) == 2, printed
    return tuple(float(share) for line in lines for share in line)


def load_example(name: str, **replaced: Any) -> Any:
    """An example as a module, some of its names replaced."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for key, value in replaced.items():
        assert hasattr(module, key)
        setattr(module, key, value)
    return module


def run_main(module: Any, *arguments: str) -> None:
    """Runs a loaded example in this process."""
    before = sys.argv
    sys.argv = ["example", *arguments]
    try:
        module.main()
    finally:
        sys.argv = before
