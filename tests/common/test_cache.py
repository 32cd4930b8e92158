"""The compilation cache (`linkzoo.engine.cache`): invalidation, locking and messages."""

import errno
import importlib
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest
from numba.core.caching import CacheImpl, IndexDataCacheFile

import linkzoo
from linkzoo import compile as ahead
from linkzoo.engine import cache
from linkzoo.engine.cache import source_of
from linkzoo.engine.compiled import compiled

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT),  # type: ignore[attr-defined]
    reason="in the interpreter nothing is compiled",
)

# A game in a package of its own: rules over a table that is read from a file.
GAME = {
    "__init__": """
from types import SimpleNamespace
GAME = SimpleNamespace(title="A Fifth Game")
""",
    "pieces": """
from pathlib import Path
import numpy as np
from fifth import more
SIZE = 7
UNUSED = 1
TABLE = np.loadtxt(Path(__file__).with_name("table.csv"), dtype=np.int64)
""",
    "rules": """
import numpy as np
from numba import types
from numba.extending import intrinsic
from linkzoo.engine.compiled import compiled
from fifth import pieces
from fifth.pieces import TABLE

@compiled
def scaled(number):
    return number * pieces.SIZE

@compiled
def answer():
    return scaled(TABLE[0]) - TABLE.shape[0]

@compiled
def apart():
    return 41

@compiled
def far():
    return scaled(1) + pieces.more.FAR

@compiled
def near(step=3):
    return pieces.more.NEAR + step

@intrinsic
def _five(_typing):
    return types.int64(), lambda context, builder, signature, values: types_five(context)

def types_five(context):
    return context.get_constant(types.int64, 5)

@compiled
def both():
    return far() + near() + _five()

def make_twice(function):
    @compiled
    def twice():
        return 2 * function()

    return twice

twice_answer, twice_apart = make_twice(answer), make_twice(apart)
""",
    "more": """
FAR = 10
NEAR = 20
""",
}


@pytest.fixture(autouse=True)
def _nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_announced", set())
    monkeypatch.setattr(cache, "_warned", set())


@pytest.fixture
def fifth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """Writes the fifth game, with changes (file, old text, new text), and imports its rules.

    The compiled code is beside it, also if NUMBA_CACHE_DIR is set.
    """
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "fifth"
    folder.mkdir()

    def load(*changes: tuple[str, str, str]) -> ModuleType:
        files = {f"{name}.py": text for name, text in GAME.items()} | {"table.csv": "6\n5\n"}
        for name, old, new in changes:
            assert old in files[name]
            files[name] = files[name].replace(old, new)
        for name, text in files.items():
            (folder / name).write_text(text)
            os.utime(folder / name, ns=(10**18, 10**18))
        forget()
        return importlib.import_module("fifth.rules")

    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "fifth"]:
            del sys.modules[name]
        importlib.invalidate_caches()

    yield load
    forget()


def digests(rules: ModuleType) -> tuple[str, str]:
    return source_of(rules.answer).digest, source_of(rules.apart).digest


@pytest.mark.parametrize(
    "change",
    [
        ("rules.py", "number * pieces", "number + pieces"),  # what it calls
        ("rules.py", "TABLE[0]", "TABLE[1]"),  # a constant within
        ("pieces.py", "SIZE = 7", "SIZE = 8"),  # a constant of another module
        ("table.csv", "6\n5\n", "6\n4\n"),  # data
        ("table.csv", "6\n5\n", "6\n5\n4\n"),
        ("pieces.py", "np.int64", "np.int32"),
    ],
    ids=lambda change: f"{change[0]}-{change[2].strip()}",
)
def test_what_code_is_made_of_makes_it_anew(
    fifth: Callable[..., ModuleType], change: tuple[str, str, str]
) -> None:
    """And nothing else: the function apart stays as it is."""
    before = digests(fifth())
    after = digests(fifth(change))
    assert after[0] != before[0]
    assert after[1] == before[1]
    assert digests(fifth()) == before


@pytest.mark.parametrize(
    "change",
    [
        ("more.py", "FAR = 10", "FAR = 11"),  # two functions take a name each of one module
        ("more.py", "NEAR = 20", "NEAR = 21"),
        ("rules.py", "step=3", "step=4"),
        ("rules.py", "int64, 5)", "int64, 6)"),  # in what makes an intrinsic's code
    ],
    ids=lambda change: change[2],
)
def test_what_it_is_made_of_in_roundabout_ways(
    fifth: Callable[..., ModuleType], change: tuple[str, str, str]
) -> None:
    before, after = fifth(), fifth(change)
    assert source_of(before.both).digest != source_of(after.both).digest
    assert digests(before) == digests(after)


def test_settings_of_numba_are_part_of_it(
    fifth: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba's own cache would go on without the checks of bounds."""
    before = digests(fifth())
    # Numba makes the names of its settings as it is imported. Bounds may be checked here already.
    checked: bool = numba.config.BOUNDSCHECK  # type: ignore[attr-defined]
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", not checked)
    after = digests(fifth())
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_where_and_when_a_function_was_written_is_no_matter(
    fifth: Callable[..., ModuleType], tmp_path: Path
) -> None:
    """Compiled code stays valid after a clone, a checkout or a changed comment."""
    assert fifth().both() == 45
    rules = fifth(("rules.py", "import numpy", "# A comment.\n\nimport numpy"))
    for file in tmp_path.glob("fifth/*.py"):
        file.touch()
    assert rules.both() == 45
    assert sum(rules.both.stats.cache_hits.values()) == 1


def test_installations_share_the_folder_that_is_named(
    fifth: Callable[..., ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel in one environment and a clone in another compile once, with NUMBA_CACHE_DIR."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "named"))
    assert fifth().both() == 45
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "fifth").rename(elsewhere / "fifth")
    monkeypatch.syspath_prepend(elsewhere)
    for name in [name for name in sys.modules if name.partition(".")[0] == "fifth"]:
        del sys.modules[name]
    rules = importlib.import_module("fifth.rules")
    assert str(rules.__file__).startswith(str(elsewhere))
    assert rules.both() == 45
    assert sum(rules.both.stats.cache_hits.values()) == 1


@pytest.mark.parametrize(
    "change",
    [
        ("pieces.py", "UNUSED = 1", "UNUSED = 2"),
        ("rules.py", "import numpy", "# A comment.\n\nimport numpy"),
        ("rules.py", "return 41", "return 42"),  # answer() doesn't use it
    ],
    ids=lambda change: change[1],
)
def test_what_it_is_not_made_of_leaves_it(
    fifth: Callable[..., ModuleType], change: tuple[str, str, str]
) -> None:
    assert digests(fifth())[0] == digests(fifth(change))[0]


# Edits (file, old text, new text), and the games that they are to make anew.
EDITS = [
    (
        [("engine/rng.py", "_SHIFT = np.uint64(32)", "_SHIFT = np.uint64(31)")],
        set(linkzoo.game_names()),
    ),
    (
        [
            ("games/linkage/rules.py", "state.ply += 1", "state.ply += 2"),
            ("games/love_formula/cards.csv", "preparation,event,2,4", "preparation,event,3,4"),
        ],
        {"linkage", "love_formula"},
    ),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, to edit."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "fonts")
    shutil.copytree(Path(linkzoo.__file__).parent, folder / "linkzoo", ignore=ignored)
    return folder


SHOW_DIGESTS = """
import linkzoo
from linkzoo.core.kernels import kernels
from linkzoo.engine.cache import source_of
for name in linkzoo.game_names():
    made = kernels(linkzoo.get_game(name))
    rows = (made.step, made.outcome, made.reset_rows)
    found = [source_of(one.kernel).digest for one in rows]
    print(name, "-".join(found))
"""


def digests_of_games(folder: Path) -> dict[str, str]:
    """The digests of the functions that play the games, in the package of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW_DIGESTS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.slow
def test_an_edit_recompiles_the_games_that_hold_it(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No others; and digests are the same in every process."""
    before = digests_of_games(package)
    assert set(before) == set(linkzoo.game_names())
    exec(SHOW_DIGESTS, {})
    assert dict(line.split() for line in capsys.readouterr().out.splitlines()) == before
    for edits, changed in EDITS:
        texts = {}
        for file, old, new in edits:
            path = package / "linkzoo" / file
            texts[path] = path.read_text(encoding="utf-8")
            assert old in texts[path]
            path.write_text(texts[path].replace(old, new, 1), encoding="utf-8")
        after = digests_of_games(package)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        assert {name for name in before if before[name] != after[name]} == changed


def make_limited(limit: int) -> Any:
    @compiled
    def limited() -> int:
        return limit

    return limited


def test_closures_are_part_of_it() -> None:
    one, two, again = make_limited(1), make_limited(2), make_limited(1)
    assert source_of(one).digest == source_of(again).digest != source_of(two).digest


def test_a_cached_function_is_found_again(fifth: Callable[..., ModuleType], tmp_path: Path) -> None:
    """And is never stale, even when the files keep their sizes and times."""
    answers = []
    for change in ((), (("pieces.py", "SIZE = 7", "SIZE = 8"),), ()):
        rules = fifth(*change)
        answers.append(rules.answer())
    assert answers == [40, 46, 40]
    assert sum(rules.answer.stats.cache_hits.values()) == 1  # the third is the first
    assert len(list(tmp_path.glob("fifth/__pycache__/*.nbi"))) == 2
    assert not list(tmp_path.glob("fifth/__pycache__/*scaled*"))  # it is a part of the other


def test_closures_of_one_factory_are_cached_side_by_side(
    fifth: Callable[..., ModuleType],
) -> None:
    """Each closure is loaded from the cache; a changed callee recompiles its caller alone."""
    rules = fifth()
    assert (rules.twice_answer(), rules.twice_apart()) == (80, 82)
    rules = fifth(("pieces.py", "SIZE = 7", "SIZE = 8"))
    assert (rules.twice_answer(), rules.twice_apart()) == (92, 82)
    hits = [sum(one.stats.cache_hits.values()) for one in (rules.twice_answer, rules.twice_apart)]
    assert hits == [0, 1]


def test_old_versions_do_not_pile_up(
    fifth: Callable[..., ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fifth" / "__pycache__"
    fifth().apart()
    monkeypatch.setattr(cache, "_VERSIONS", 3)
    for number in range(8):
        before = {file.name for file in folder.glob("*answer*.nb?")}
        fifth(("pieces.py", "SIZE = 7", f"SIZE = {number + 10}")).answer()
        new = {file for file in folder.glob("*answer*.nb?") if file.name not in before}
        assert len(new) == 2
        for file in new:
            os.utime(file, (10**9 + number, 10**9 + number))
    assert len(list(folder.glob("*answer*.nbi"))) == len(list(folder.glob("*answer*.nbc"))) == 3
    assert len(list(folder.glob("*answer*.lock"))) == 3
    assert len(list(folder.glob("*apart*.nb?"))) == 2


def test_a_game_says_once_that_it_compiles(
    fifth: Callable[..., ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not when little is to be done, and not when it is cached."""
    fifth().answer()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(cache, "_SECONDS", 14.0)
    rules = fifth(("pieces.py", "SIZE = 7", "SIZE = 8"))
    rules.answer()
    rules.apart()
    assert capsys.readouterr().err == "compiling A Fifth Game, once, about 30 s\n"
    monkeypatch.setattr(cache, "_announced", set())
    fifth(("pieces.py", "SIZE = 7", "SIZE = 8")).answer()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_one_process_compiles(fifth: Callable[..., ModuleType], tmp_path: Path) -> None:
    """Of two at once; the other loads it."""
    fifth()
    code = (
        "import time, numba.core.caching as caching\n"
        "save = caching.Cache.save_overload\n"
        "caching.Cache.save_overload = lambda *all: (time.sleep(0.5), save(*all))\n"
        "from fifth.rules import answer\n"
        "print(answer(), sum(answer.stats.cache_hits.values()))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=tmp_path)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[0].split() for process in started]
    # A process that comes very late counts no miss; one that waited counts its hit.
    assert sorted(outputs) == [[b"40", b"0"], [b"40", b"1"]]


@pytest.mark.slow
def test_the_lock_of_a_killed_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It waits while the process lives, says so, and goes on when it is dead."""
    code = (
        "import time, sys; from pathlib import Path; from linkzoo.engine.cache import Lock\n"
        "Lock(Path(sys.argv[1])).acquire('x')\nprint('held', flush=True)\ntime.sleep(60)"
    )
    path = tmp_path / "function.lock"
    held = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert held.stdout is not None
    held.stdout.readline()
    lock = cache.Lock(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_PATIENCE", 0.0)
        patch.setattr(cache, "_WAIT", 0.3)
        assert lock.acquire("A Game")
    assert capsys.readouterr().err == "waiting for another process that compiles A Game\n"
    lock.release()
    held.kill()
    held.communicate()
    assert not lock.acquire("A Game")
    lock.release()
    assert capsys.readouterr().err == ""


def full_disk(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_costs_one_warning(
    fifth: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As root a folder can't be made unwritable, so writing itself fails here."""
    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", full_disk)
    rules = fifth()
    with pytest.warns(RuntimeWarning, match=r"No space left.*NUMBA_CACHE_DIR") as caught:
        assert (rules.answer(), rules.apart()) == (40, 41)
    assert len(caught) == 1
    assert str(tmp_path) in str(caught[0].message)


def test_no_folder_for_the_cache_costs_one_warning(
    fifth: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a writable folder, Numba would raise "no locator"."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    rules = fifth()
    with pytest.warns(RuntimeWarning, match=r"fifth.*NUMBA_CACHE_DIR") as caught:
        assert (rules.answer(), rules.apart()) == (40, 41)
    assert len(caught) == 1
    assert not (tmp_path / "fifth" / "__pycache__").exists()


@pytest.mark.slow  # quick: test_no_folder_for_the_cache_costs_one_warning
def test_the_package_where_nothing_can_be_written(package: Path) -> None:
    """Without `__pycache__` and HOME the package is imported and plays, with one warning."""
    for folder in (package / "linkzoo").rglob("__init__.py"):
        (folder.parent / "__pycache__").touch()  # a file, where a folder would be
    nowhere = "/dev/null/nowhere"
    code = (
        "import linkzoo; env = linkzoo.make('linkage'); env.reset(seed=1)\n"
        "print(env.infos[env.agent_selection]['action_mask'].sum())"
    )
    changed = {"PYTHONPATH": str(package), "HOME": nowhere, "NUMBA_CACHE_DIR": nowhere}
    environment = os.environ | changed | {"XDG_CACHE_HOME": nowhere}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=package,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    assert done.stderr.count("Warning: ") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    assert len(done.stderr.splitlines()) <= 4


def test_a_damaged_file_is_written_anew(fifth: Callable[..., ModuleType], tmp_path: Path) -> None:
    for kind in ("nbi", "nbc"):
        assert fifth().answer() == 40
        (file,) = tmp_path.glob(f"fifth/__pycache__/*answer*.{kind}")
        for damage in (b"", b"no pickle", file.read_bytes()[:-9]):
            file.write_bytes(damage)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert fifth().answer() == 40
        rules = fifth()
        assert rules.answer() == 40
        assert sum(rules.answer.stats.cache_hits.values()) == 1


def test_compile_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each game when all its uses are done; one that fails is named."""
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(ahead, "_run", lambda *task: asked.append(task))
    lines = list(ahead.compile_ahead(["linkage", "link_o"], ["a:b", "c:d"]))
    assert sorted(line.partition(":")[0] for line in lines) == ["LINK-O", "Linkage"]
    assert sorted(asked) == [(u, n) for u in ("a:b", "c:d") for n in ("link_o", "linkage")]
    with pytest.raises(ValueError, match="no game 'chess'"):
        list(ahead.compile_ahead(["chess"], ["a:b"]))
    monkeypatch.undo()
    with pytest.raises(ChildProcessError, match="linkage failed in json:missing"):
        list(ahead.compile_ahead(["linkage"], ["json:missing"]))
