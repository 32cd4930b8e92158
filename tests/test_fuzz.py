"""`make fuzz` finds every kind of failure, ends in time, and prints how to repeat a failure."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import event

from linkzoo.engine.cache import Lock
from tests.fuzz import conftest
from tests.fuzz.faulty import WAYS
from tests.fuzz.strategies import changed_bytes, changed_json, changed_text, same_json

ROOT = Path(__file__).parents[1]
FAULTY = "tests/fuzz/faulty.py"
# What the report of each failure says.
SAYS = {
    "raise": "KeyError: 'raised'",
    "warn": "UserWarning: warned",
    "leave": "files left behind: ['litter']",
    "abort": "crashed while running '{}'",
    "exit": "crashed while running '{}'",
    "spin": "crashed while running '{}'",
    "sleep": "crashed while running '{}'",
    "hoard": "MemoryError",
    "seldom": "number=536870912,",  # the smallest that fails
}


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest as `make fuzz` does, with limits that faulty properties reach soon."""
    limits = ["--minutes", "0.01", "--example-seconds", "3", "--gib", "4"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *limits, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def node(way: str) -> str:
    return f"{FAULTY}::test_examples_end[{way}]"


@pytest.mark.slow  # quick: test_every_way_is_tried
@pytest.mark.parametrize(
    "ways",
    [
        ["raise", "warn", "leave", "hoard", "seldom"],
        pytest.param(["abort", "exit", "spin", "sleep"], marks=pytest.mark.nightly),  # processes
    ],
    ids=["failed", "died"],
)
def test_every_failure_is_found(ways: list[str]) -> None:
    """A process that dies is replaced, and the other properties go on."""
    done = fuzz("-n", "1", "--hypothesis-seed", "3", *map(node, [*ways, "accept"]))
    assert done.returncode == 1, done.stdout
    for way in ways:
        assert f"FAILED {node(way)}" in done.stdout
        assert SAYS[way].format(node(way)) in done.stdout
    assert f"{len(ways)} failed, 1 passed" in done.stdout


def test_the_time_of_compiling_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of 100 seconds isn't for the rules of a game, on a busy machine with cold caches."""
    called: list[str] = []
    faulthandler = "tests.fuzz.conftest.faulthandler"
    monkeypatch.setattr(
        f"{faulthandler}.dump_traceback_later", lambda *_, **__: called.append("start")
    )
    monkeypatch.setattr(
        f"{faulthandler}.cancel_dump_traceback_later", lambda: called.append("stop")
    )
    with conftest.time_limit(1.0, 2):
        compile_in_vain(lambda: compile_in_vain(lambda: called.append("compiled")))
        called.append("played")
        Lock(tmp_path / "lock").acquire("a game")  # another process may compile it
    assert called == [
        "start",
        "stop",
        "stop",
        "compiled",
        "start",
        "played",
        "stop",
        "start",
        "stop",
    ]
    compile_in_vain(lambda: None)  # nobody listens any more
    assert called[-1] == "stop"


def compile_in_vain(work: Callable[[], None]) -> None:
    with event.trigger_event("numba:compile"):
        work()


def test_every_way_is_tried() -> None:
    assert list(SAYS) == WAYS


@pytest.mark.slow  # as above
def test_a_failure_is_repeated_by_its_seed() -> None:
    done = fuzz("--hypothesis-seed", "1", node("seldom"))
    line = re.search(r"repeat it: python -m pytest '(.*)' --hypothesis-seed (\d+)", done.stdout)
    assert line is not None, done.stdout
    again = fuzz(line[1], "--hypothesis-seed", line[2])
    assert again.returncode == 1
    assert line[0] in again.stdout  # in its first round


@pytest.mark.slow
@given(st.data())
def test_changes_leave_their_argument_alone(data: st.DataObject) -> None:
    plain = {"a": [1, 2, {"b": None}], "c": "text"}
    data.draw(changed_json(plain, {"a": [3], "c": "x"}))
    assert plain == {"a": [1, 2, {"b": None}], "c": "text"}
    assert isinstance(data.draw(changed_text("W a1-b1")), str)
    assert isinstance(data.draw(changed_bytes(b"0123456789")), bytes)


def test_equal_json_has_equal_types() -> None:
    assert same_json({"a": [1, "x", None]}, {"a": [1, "x", None]})
    for other in ({"a": [1.0]}, {"a": [True]}, {"a": [1, 1]}, {"b": [1]}, [1], None):
        assert not same_json({"a": [1]}, other)
