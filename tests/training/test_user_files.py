"""Files of the user's reach workers on machines that don't have them."""

import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from linkzoo import get_game, make_vec, save_positions
from linkzoo.core import user_files
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.imports import import_object
from linkzoo_training.networks.flat import make_network

LINKAGE = get_game("linkage")
AGENT = """
from beside import first

class First:
    name = "first"

    def act(self, positions):
        return first(positions.action_mask)
"""
BESIDE = "def first(mask): return mask.argmax(1)"
GAME = """
from dataclasses import replace
from linkzoo import get_game

OWN = replace(get_game("linkage"), name="shipped_linkage")
"""


def write_files() -> None:
    """Writes files of each kind into the working folder, and uses them as commands do."""
    Path("mine.py").write_text(AGENT)
    Path("beside.py").write_text(BESIDE)
    NamedAgent(AgentSpec.parse("mine.py:First"), "linkage")
    Path("games.py").write_text(GAME)
    get_game("games.py:OWN")
    package = Path("lib/shipped_package")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "agents.py").write_text("from . import rest\nfirst = rest.first")
    (package / "rest.py").write_text("first = 1")
    sys.path.append(str(Path("lib").absolute()))
    import_object("shipped_package.agents:first", "agent")
    network = make_network(LINKAGE, "flat", 4, 1)
    settings = {"kind": "flat", "width": 4, "blocks": 1}
    save_checkpoint(Path("runs/a/checkpoint"), network, LINKAGE, {"network": settings, "views": 1})
    load_agent("runs/a/checkpoint")
    vec = make_vec("linkage", 1)
    vec.reset(seed=1)
    save_positions("openings.jsonl", LINKAGE, vec.states)
    read_openings("openings.jsonl", LINKAGE)


USE = """
from linkzoo import get_game
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.openings import Book, read_openings
from linkzoo_training.imports import import_object

NamedAgent(AgentSpec("custom", "mine.py:First"), "linkage")
get_game("games.py:OWN")
import_object("shipped_package.agents:first", "agent")
load_agent("runs/a/checkpoint")
assert isinstance(read_openings("openings.jsonl", get_game("linkage")), Book)
"""


def on_windows(folder: str, whole: str) -> str:
    return str(user_files.below(PureWindowsPath(folder), PureWindowsPath(whole)))


def test_copies_of_a_windows_drive_lie_in_the_temporary_folder() -> None:
    """Joining a path with a drive would give that path itself, where the user's file is."""
    assert on_windows(r"C:\Temp\x", r"D:\games\mine.py") == r"C:\Temp\x\D\games\mine.py"
    assert on_windows(r"C:\Temp", r"\\server\share\mine.py") == r"C:\Temp\servershare\mine.py"
    assert on_windows(r"C:\Temp", r"D:\a") != on_windows(r"C:\Temp", r"E:\a")
    posix = user_files.below(PurePosixPath("/copies"), PurePosixPath("/games/mine.py"))
    assert str(posix) == "/copies/games/mine.py"


@pytest.mark.slow
def test_a_worker_elsewhere_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By relative paths, in another working folder, when the folder of the user is gone."""
    here = tmp_path / "here"
    elsewhere = tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(user_files, "_named", {})
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    write_files()
    files = {name: Path(name).read_bytes() for name in user_files.named_files()}
    assert all(Path(name).is_relative_to(here) for name in files)
    sender = user_files.this_process()
    receive = f"from linkzoo.core.user_files import *\nreceive({sender!r}, {files!r})"
    monkeypatch.chdir(elsewhere)
    here.rename(tmp_path / "gone")
    subprocess.run([sys.executable, "-c", receive + USE], check=True)
    assert not here.exists()
