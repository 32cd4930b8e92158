"""Custom files: digests of all their code, and modules of equal names."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from linkzoo.core.imports import import_home, source_digest

FILES = {
    "agent.py": "import json\nimport numpy\nimport direct\nfrom package import inner as i\n",
    "direct.py": "def later():\n    import indirect\n    from indirect import nothing\n",
    "indirect.py": "import direct\n",
    "package/__init__.py": "from .sibling import VALUE\nfrom . import deep\n",
    "package/inner.py": "",
    "package/sibling.py": "VALUE = 1\n",
    "package/deep/__init__.py": "from .. import cousin\nfrom .leaf import *\n",
    "package/deep/leaf.py": "",
    "package/cousin.py": "",
    "package/unused.py": "",
    "unused.py": "",
    "json.py": "raise ValueError",  # the standard library's comes first
    "numpy/__init__.py": "raise ValueError",  # as do installed packages
}
COUNTED = [name for name in FILES if not name.startswith(("unused", "package/unused", "j", "n"))]


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder with FILES; afterwards its modules are forgotten."""
    write(tmp_path, FILES)
    before = set(sys.modules)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        yield tmp_path
        for name in set(sys.modules) - before:
            if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
                del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def edit(file: Path) -> None:
    file.write_text(f"{file.read_text()}# edited\n")


def changed(folder: Path, digest: Callable[[], str | None]) -> list[str]:
    """Returns the files of FILES that change a digest."""
    names = []
    for name in FILES:
        before = digest()
        edit(folder / name)
        if digest() != before:
            names.append(name)
    return names


def test_the_digest_of_a_file_covers_what_it_imports_from_its_folder(folder: Path) -> None:
    assert changed(folder, lambda: source_digest(str(folder / "agent.py"))) == COUNTED
    digest = source_digest(str(folder / "agent.py"))
    moved = folder.rename(folder.with_name("moved"))
    assert source_digest(str(moved / "agent.py")) == digest


def test_the_digest_of_a_module_covers_what_it_imports_from_its_package(folder: Path) -> None:
    sys.path.insert(0, str(folder))  # before the folders of other tests
    packaged = [name for name in COUNTED if name.startswith("package")]
    used = [name for name in packaged if name != "package/inner.py"]
    assert changed(folder, lambda: source_digest("package")) == used
    assert changed(folder, lambda: source_digest("package.inner")) == packaged
    assert "agent.py" in changed(folder, lambda: source_digest("agent"))
    installed = folder / "site-packages"
    write(installed, {"pack/__init__.py": "import pack.part, beside", "pack/part.py": ""})
    write(installed, {"beside.py": ""})
    sys.path.append(str(installed))
    digests = [source_digest("pack")]
    for name in ("beside.py", "pack/part.py"):
        edit(installed / name)
        digests.append(source_digest("pack"))
    assert digests[0] == digests[1] != digests[2]


def test_files_without_code_have_a_digest_or_none(folder: Path) -> None:
    write(folder, {"wrong.py": "import direct\ndef", "zero.py": "\0"})
    assert source_digest(str(folder / "wrong.py")) != source_digest(str(folder / "zero.py"))
    assert source_digest(str(folder / "nothing.py")) is None
    assert source_digest("no_such_package.module") is None
    assert source_digest("package.nothing") is None
    assert source_digest("sys") is None


@pytest.mark.parametrize("loaded", [True, False])
def test_modules_of_two_folders_by_one_name_are_not_mixed(folder: Path, loaded: bool) -> None:
    """Whether or not the first file imports its own."""
    first = "import shared_name\nVALUE = shared_name.VALUE\n"
    second = first
    if not loaded:
        first = ""
    write(folder / "a", {"agent.py": first, "shared_name.py": "VALUE = 1\n"})
    write(folder / "b", {"agent.py": second, "shared_name.py": "VALUE = 2\n"})
    import_home(str(folder / "a" / "agent.py"))
    with pytest.raises(ImportError, match=r"imports shared_name from its folder, and .*/a/shared"):
        import_home(str(folder / "b" / "agent.py"))
