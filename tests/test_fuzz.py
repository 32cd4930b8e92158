"""The runner of `make fuzz`: it survives every end of a mutant and repeats it by its number."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import linkzoo
import linkzoo_training
from tests.fuzz.cells import SUBJECTS, cells
from tests.fuzz.dice import Dice, mutate_bytes, mutate_json, mutate_text, same, short
from tests.fuzz.runner import Cell, Finding, Fuzz, Limits
from tests.fuzz.subjects import api, files

ROOT = Path(__file__).parents[1]


def faulty(way: str, first: int = 0, last: int = 0) -> tuple[Cell, list[Finding]]:
    """What the runner finds in mutants that end in this way."""
    limits = Limits(
        seconds=0.5 if way == "spin" else 30.0, clock=1.0 if way == "sleep" else 100.0, gib=0.75
    )
    fuzz = Fuzz([Cell("faulty", way)], 3, limits=limits, tell=lambda _: None)
    fuzz.repeat(first, last)
    return fuzz.cells[0], list(fuzz.tally.findings.values())


@pytest.mark.parametrize(
    ("way", "kind", "message"),
    [
        ("raise", "KeyError", "raised"),
        ("warn", "UserWarning", "warned"),
        ("leave", "AssertionError", "litter"),
        ("abort", "SIGABRT", ""),
        ("exit", "exit 3", ""),
        ("spin", "no end in 0.5 s of the processor", ""),
        ("sleep", "no end in 1 s", ""),
        ("hoard", "MemoryError", ""),
    ],
)
def test_each_end_is_found_with_its_mutant(way: str, kind: str, message: str) -> None:
    cell, [finding] = faulty(way, 7, 7)
    assert finding.kind == kind
    assert message in finding.message
    assert finding.note == Noted(3, way, 7).text
    assert (finding.first, finding.last) == (7, 7)
    assert (cell.tried, cell.findings) == (1, 1)


class Noted:
    """The note of a faulty mutant, told from its seed, way and number alone."""

    def __init__(self, seed: int, way: str, number: int) -> None:
        dice = Dice(seed, "faulty", way, number)
        self.text = f"{way} {dice.below(10**6)}"


def test_mutants_are_counted_and_the_others_go_on() -> None:
    """Random ends: the same ones whether they are tried together or alone, and each counted."""
    cell, [finding] = faulty("some", 0, 39)
    assert cell.tried == 40
    assert min(cell.refused, cell.accepted, cell.findings) > 0
    assert finding.times == cell.findings
    again, [alone] = faulty("some", finding.first, finding.last)
    assert (again.tried, again.findings) == (1, 1)
    assert (alone.note, alone.key) == (finding.note, finding.key)


def test_a_child_that_died_is_replaced() -> None:
    cell, [finding] = faulty("abort", 0, 2)
    assert (cell.tried, cell.findings, finding.times) == (3, 3, 3)


def test_the_line_of_a_finding_repeats_it() -> None:
    _, [finding] = faulty("raise", 5, 5)
    command = finding.command(3)
    assert command.startswith("python -m tests.fuzz ")
    done = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"mutant {finding.note}" in done.stdout
    assert command in done.stdout
    assert "KeyError: 'raised'" in done.stdout


def test_nothing_found_is_status_0() -> None:
    words = "-m tests.fuzz --subject faulty --game accept --mutant 0-9".split()
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "findings" not in done.stdout
    assert done.stdout.split()[-3:-1] == ["10", "0"]


def test_each_cell_has_its_turn() -> None:
    """However short the run; one of which nothing was tried makes the command fail."""
    ways = ("accept", "raise", "refuse")
    fuzz = Fuzz([Cell("faulty", way) for way in ways], 3, workers=1, tell=lambda _: None)
    assert fuzz.untried == fuzz.cells
    fuzz.run(0.001)
    assert fuzz.untried == []


def test_every_subject_is_there() -> None:
    folder = Path(__file__).parent / "fuzz" / "subjects"
    assert {path.stem for path in folder.glob("*.py")} == {*SUBJECTS, "faulty", "__init__"}
    assert len({(cell.subject, cell.game) for cell in cells()}) == len(cells())
    assert {cell.subject for cell in cells()} == set(SUBJECTS)


def test_every_public_function_has_generators(tmp_path: Path) -> None:
    """A new parameter needs an entry in `generators`, what isn't called one in `LEFT_OUT`."""
    where = api.world("linkage", tmp_path)
    for name in api.public():
        assert api.choices(name, where).keys() <= {*api.generators(where), "name"}, name
    packages = {*linkzoo.__all__, *linkzoo_training.__all__}
    modules = {name for name in linkzoo.__all__ if isinstance(getattr(linkzoo, name), ModuleType)}
    assert packages - modules <= {*api.public(), *api.LEFT_OUT}
    number = next(n for n in range(99) if not api.attempt(Dice(0, n), "linkage", tmp_path))
    assert number < 99  # a refusal that names what is wrong


@pytest.mark.parametrize("ending", ["json", "csv", "yaml"])
def test_plain_files_are_read_and_keys_set_twice_refused(ending: str, tmp_path: Path) -> None:
    name, kind = next(
        (name, kind) for name, kind in files.kinds().items() if kind.name.endswith(ending)
    )
    for way, (verdict, made) in files.ways(Dice(0), kind).items():
        data = made()
        path = files.write(tmp_path, name, data if isinstance(data, bytes) else data.encode())
        if verdict == api.SAME:
            kind.read(path)
        elif verdict == api.WRONG:
            with pytest.raises(ValueError, match=r"\w"):
                kind.read(path)
        assert way


def test_mutants_depend_on_their_number_alone() -> None:
    data = {"a": [1, 2, {"b": None}], "c": "text"}
    for make in (
        lambda dice: mutate_bytes(dice, b"0123456789"),
        lambda dice: mutate_text(dice, "W a1-b1"),
        lambda dice: short(mutate_json(dice, data)),
    ):
        first = [make(Dice(0, i)) for i in range(200)]
        assert first == [make(Dice(0, i)) for i in range(200)]
        assert len(set(map(repr, first))) > 50
        assert first != [make(Dice(1, i)) for i in range(200)]
    assert data == {"a": [1, 2, {"b": None}], "c": "text"}


def test_same_looks_at_types() -> None:
    assert same({"a": [1, "x", None]}, {"a": [1, "x", None]})
    for other in ({"a": [1.0]}, {"a": [True]}, {"a": [1, 1]}, {"b": [1]}, [1], None):
        assert not same({"a": [1]}, other)
