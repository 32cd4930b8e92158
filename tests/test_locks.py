"""The locks of `make lock`: one for each Python, with exact versions and nothing else."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts.check_lock import FOLDER, read_lock

PROJECT = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = sorted(FOLDER.glob("*.txt"))
EXTRAS = ("train", "web", "dev", "release", "docs", "browser", "cuda")


def test_every_python_has_one() -> None:
    supported = set(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])))
    assert {path.stem for path in LOCKS} == supported


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_is_exact(path: Path) -> None:
    """No address, path or hash: any index, and torch from any, will do."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"://|@|--|\\", text)
    assert all(str(pin.specifier).startswith("==") for pin in read_lock(path))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_is_about_pyproject(path: Path) -> None:
    """`make lock` was called after the last change of a range."""
    extras = [text for extra in EXTRAS for text in PROJECT["optional-dependencies"][extra]]
    pins = {canonicalize_name(pin.name): pin.specifier for pin in read_lock(path)}
    for text in (*PROJECT["dependencies"], *extras):
        wanted = Requirement(text)
        version = str(pins[canonicalize_name(wanted.name)]).removeprefix("==")
        assert version in wanted.specifier, text
