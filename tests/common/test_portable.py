"""Digests of compiled functions that don't depend on Python's version."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from linkzoo.engine import portable
from linkzoo.engine.portable import portable_source

SOURCE = '''
from linkzoo.engine.compiled import compiled

SIZE = 5
PAIR = (1, 2)

def plain(x: int, more: int = 3) -> int:
    """Says something."""
    return x + more

def make(bonus):
    @compiled
    def inner(x):
        total = bonus  # a comment
        for k in range(SIZE):
            total += sum([plain(k) for k in range(x)])
        return total + PAIR[0]
    return inner

run = make(7)
'''


@pytest.fixture
def digest(tmp_path: Path) -> Callable[..., str]:
    """The digest of `run` in a module whose source has been edited."""
    number = iter(range(1000))

    def find(*edits: tuple[str, str], versions: tuple[str, ...] = ()) -> str:
        return portable_source(load(*edits).run, *versions).digest

    def load(*edits: tuple[str, str]) -> ModuleType:
        text = SOURCE
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"rules{next(number)}.py"
        path.write_text(text, encoding="utf-8")
        spec = spec_from_file_location("rules", path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules["rules"] = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    find.load = load  # type: ignore[attr-defined]
    return find


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # a comment", ""),
        ("Says something", "Says something else"),
        ('    """Says something."""\n', ""),
        ("x: int, more: int = 3) -> int", "x, more=3)"),
        ("SIZE = 5\n", "SIZE = 5\nOTHER = 6\n\n"),
        ("x + more", "(x + more)"),
    ],
)
def test_what_compiles_to_the_same_code(digest: Callable[..., str], old: str, new: str) -> None:
    assert digest((old, new)) == digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIZE = 5", "SIZE = 6"),
        ("PAIR = (1, 2)", "PAIR = (1, 3)"),
        ("make(7)", "make(8)"),
        ("more: int = 3", "more: int = 4"),
        ("x + more", "x - more"),
        ("x + more", "x + 1 * more"),
        ("plain(k)", "plain(k, 1)"),
        ("return total + PAIR[0]", "return None"),
    ],
)
def test_what_compiles_to_other_code(digest: Callable[..., str], old: str, new: str) -> None:
    assert digest((old, new)) != digest()


def test_versions_count(digest: Callable[..., str]) -> None:
    assert digest(versions=("1",)) != digest(versions=("2",)) != digest()


def test_a_file_that_was_edited_since_its_import(digest: Callable[..., str]) -> None:
    """The old code still runs: its digest is neither the new file's nor the old file's."""
    module = digest.load()  # type: ignore[attr-defined]
    path = Path(module.__file__)
    edited = SOURCE.replace("x + more", "x - more")
    path.write_text(edited, encoding="utf-8")
    source_digest = portable_source(module.run).digest
    assert source_digest not in (digest(), digest(("x + more", "x - more")))
    path.unlink()
    portable._trees.cache_clear()
    assert portable_source(module.run).digest not in (digest(), source_digest, "")
