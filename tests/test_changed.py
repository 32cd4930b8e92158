"""Tests of wings run when the wing, or a file that it stands on, changed."""

import subprocess
from pathlib import Path

import pytest

from tests.changed import changed_files, changes_everything, concerns
from tests.packages import ROOT

RULES = ROOT / "tests/linkage/test_rules.py"


def first_test_of(folder: str) -> Path:
    return min((ROOT / "tests" / folder).glob("test_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("training/linkzoo_training/web/server.py", True),
        ("training/linkzoo_training/web/static/start.css", True),  # data beside a module
        ("training/linkzoo_training/evaluation/match.py", True),  # the wing stands on it
        ("tests/web/server.py", True),  # its tests share it
        ("training/linkzoo_training/linear/fit.py", False),
        ("docs/web.md", False),
        ("tests/linkage/test_rules.py", False),
    ],
)
def test_the_page_is_tested_when_it_is_concerned(changed: str, expected: bool) -> None:
    assert (ROOT / changed).exists()
    assert concerns(first_test_of("web"), {changed}) is expected


def test_tests_of_the_core_always_run() -> None:
    assert concerns(RULES, {"docs/web.md"})
    assert concerns(RULES, set())


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"envs/linkzoo/core/kernels.py"}, True),
        ({"locks/3.11.txt"}, True),
        ({"pyproject.toml", "README.md"}, True),
        ({"envs/linkzoo/core_of_another.py"}, False),
        ({"README.md"}, False),
        (set(), False),
    ],
)
def test_some_changes_concern_everything(changed: set[str], expected: bool) -> None:
    assert changes_everything(changed) is expected


def test_a_revision_that_git_does_not_know() -> None:
    with pytest.raises(ValueError, match="--changed-since no-such-revision: fatal"):
        changed_files("no-such-revision")


def test_make_names_the_revision_in_one_word() -> None:
    """As a word of its own pytest would take it for a path, and collect the whole clone."""
    command = ("make", "--dry-run", "test", "SINCE=HEAD")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert " -m pytest --changed-since=HEAD -m " in done.stdout
