"""Which tests of wings a change concerns: `pytest --changed-since REVISION` leaves the others out.

A wing's test imports one of the wings (`tests.packages`). It runs if a file changed that it stands
on: a module that it imports, directly or through others, or data beside such a module. Changes of
`EVERYTHING` run all tests. Tests of the core always run.
"""

import subprocess
from functools import cache
from pathlib import Path

from tests.packages import ENVS, ROOT, TRAINING, WINGS, imports, inside

EVERYTHING = (
    "pyproject.toml",
    "constraints.txt",
    "Makefile",
    "locks",
    ".ci",
    "envs/linkzoo/core",
    "envs/linkzoo/engine",
    "tests/conftest.py",
)
_MODULES = {**ENVS.modules, **TRAINING.modules}


def changed_files(revision: str) -> set[str]:
    """Returns the files that differ from a revision, untracked ones included.

    Raises:
        ValueError: Git doesn't know the revision.
    """
    commands = (
        ("diff", "--name-only", "--no-renames", revision, "--"),
        ("ls-files", "--others", "--exclude-standard"),
    )
    names = set[str]()
    for command in commands:
        done = subprocess.run(
            ("git", *command),  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ValueError(f"--changed-since {revision}: {done.stderr.strip()}")
        names.update(done.stdout.split("\n"))
    return names - {""}


def changes_everything(changed: set[str]) -> bool:
    """Returns whether one of the changed files concerns all tests."""
    return any(_below(name, place) for name in changed for place in EVERYTHING)


def concerns(test: Path, changed: set[str]) -> bool:
    """Returns whether a test file has to run after a change."""
    files = stands_on(test)
    if not any(_is_in_a_wing(file) for file in files):
        return True
    folders = {str(file.parent.relative_to(ROOT)) for file in files}
    own = {str(file.relative_to(ROOT)) for file in files}
    data = {name for name in changed if not name.endswith(".py")}
    return bool(own & changed) or any(_below(name, folder) for name in data for folder in folders)


def stands_on(test: Path) -> frozenset[Path]:
    """Returns the files of both packages and of the tests that a test file imports, and itself."""
    seen = set[Path]()
    waiting = [test]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _imported(path)
    return frozenset(seen)


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    files = []
    for name in imports(path.read_text(encoding="utf-8")):
        for module in (name, name.rpartition(".")[0]):
            if module in _MODULES:
                files.append(_MODULES[module])
            elif module.startswith("tests."):
                helper = ROOT / f"{module.replace('.', '/')}.py"
                files += [helper] if helper.is_file() else []
    return tuple(files)


def _is_in_a_wing(path: Path) -> bool:
    return any(inside(module, wing) for wing in WINGS for module in _names_of(path))


@cache
def _names_of(path: Path) -> tuple[str, ...]:
    return tuple(module for module, file in _MODULES.items() if file == path)


def _below(name: str, folder: str) -> bool:
    return f"{name}/".startswith(f"{folder}/")
