"""Tutorials from their first line: each command, word for word, where the page starts.

A reader begins in a clone, with the packages that the page installs and no others, and writes the
files of the page. The Python blocks share one session, and so do the lines of a block of commands.
"""

import json
import os
import re
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from subprocess import run

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.driving import first_quick
from tests.snippets import ROOT

pytestmark = pytest.mark.slow  # quick: test_commands_are_right

_FENCED = r"^```(python|sh|yaml)\n(.*?)^```$"
_INDENTED = r"((?:^    \S[^\n]*\n)+)"
BLOCKS = re.compile(f"{_FENCED}|{_INDENTED}", re.DOTALL | re.MULTILINE)
COMMANDS = ("linkzoo", "python", "export", "pip")

# Words behind commands that take minutes or more.
SHORTER = {
    "train my_links.yaml": "total_steps=4096 num_envs=32 horizon=64 eval.final_blocks=1",
    "evaluate runs/my_links/checkpoint --ladder": "--games 1 --players 2",
    "train examples/leduc/leduc_ppo.yaml": "total_steps=40_960 num_envs=64 eval.final_blocks=2",
    "experiment best-response runs/leduc/checkpoint": "--steps 8192 --games 4 num_envs=64",
    "evaluate uct-200 greedy --game connect_four:GAME": "--games 2",
    "train connect_four:GAME max_seconds=480": "max_seconds=2 eval.final_blocks=1",
    "train examples/connect_four/connect_four_az.yaml": "max_seconds=2 eval.final_blocks=1",
    "evaluate runs/connect_four_az/checkpoint uct-1000": "--games 2",
}
LEFT_OUT = 'pip install "'  # needs a package index
# An installation in a folder instead of the environment, without an index.
_PIP = f"env -u PYTHONPATH {sys.executable} -m pip install --quiet --no-index"
INSTALL = f"{_PIP} --no-build-isolation --no-deps --target installed"
# All columns in turn, until the game is over: a full one is refused, and asked for again.
PLAY = "for turn in $(seq 100); do seq 1 7; done"

HIDE = """
import sys

HIDDEN = {hidden!r}


class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Hide())
"""
SESSION = """
import json, subprocess, sys

sys.path.insert(0, "")
names = {"__name__": "__main__"}
for language, block in json.load(open(sys.argv[1])):
    if language == "python":
        exec(compile(block, block.splitlines()[0], "exec"), names)
    else:
        subprocess.run(["bash", "-ec", block], check=True)
"""


def installed_with(extra: str) -> set[str]:
    """The distributions that `pip install ".[extra]"` installs, by their canonical names."""
    found: set[str] = set()
    waiting = [Requirement(f"linkzoo[{extra}]")]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        extras = wanted.extras or {""}
        known = {name, *(f"{name}[{each}]" for each in extras if each)}
        if known <= found:
            continue
        found |= known
        try:
            needed = [Requirement(text) for text in requires(wanted.name) or ()]
        except PackageNotFoundError:
            continue
        waiting += [
            each
            for each in needed
            if each.marker is None or any(each.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found


def hidden_modules(extra: str) -> list[str]:
    """The modules that are installed here, but not by the extra."""
    kept = installed_with(extra)
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if not kept & {canonicalize_name(owner) for owner in owners}
        and module not in ("linkzoo", "linkzoo_training", "pkg_resources", "setuptools")
    )


def shortened(line: str) -> str:
    """A command of the page; with words behind it if it takes long, with input if it asks."""
    if line.startswith("pip install "):
        return f"{line.replace('pip install', INSTALL)}\nexport PYTHONPATH=installed"
    if line.startswith("linkzoo play "):
        return f"({PLAY}) | {line}"
    for start, words in SHORTER.items():
        if line.startswith(f"linkzoo {start}"):
            command, mark, comment = line.partition(" # ")
            return f"{command.rstrip()} {words}{mark}{comment}"
    return line


def steps(page: Path, folder: Path) -> list[tuple[str, str]]:
    """Writes the files of a page and returns its blocks of Python and of commands, in order."""
    found = []
    for language, block, indented in BLOCKS.findall(page.read_text(encoding="utf-8")):
        if title := re.match(r"# ([\w/]+\.\w+)\n", block):
            file = folder / title[1]
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as there:
                there.write(block)
        elif language == "python":
            found.append(("python", block))
        if language == "sh" or indented:
            lines = (block or indented).replace("\\\n", " ").splitlines()
            lines = [line.strip() for line in lines if not line.strip().startswith(LEFT_OUT)]
            if lines and all(line.startswith(COMMANDS) for line in lines):
                found.append(("sh", "\n".join(map(shortened, lines))))
    return found


@pytest.mark.parametrize("name", first_quick(["your_game", "first_agent", "hidden_game"], slow=0))
def test_a_tutorial_from_its_first_line(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorials" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    start = re.search(r'^    pip install "\.\[(\w+)\]"', text, re.MULTILINE)
    assert start, "the page begins with what it needs"
    clone, tools = tmp_path / "clone", tmp_path / "tools"
    clone.mkdir()
    tools.mkdir()
    for entry in ("examples", "configs", "checkpoints", "docs", "pyproject.toml"):
        (clone / entry).symlink_to(ROOT / entry)
    (tools / "sitecustomize.py").write_text(HIDE.format(hidden=hidden_modules(start[1])))
    sources = os.pathsep.join([str(tools), str(ROOT / "envs"), str(ROOT / "training")])
    for program, words in (("linkzoo", "-m linkzoo_training"), ("python", "")):
        (tools / program).write_text(
            f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{sources}" exec {sys.executable} {words} "$@"\n'
        )
        (tools / program).chmod(0o755)
    blocks = steps(page, clone)
    assert sum(language == "sh" for language, _ in blocks) >= 2
    (tools / "steps.json").write_text(json.dumps(blocks))
    (tools / "session.py").write_text(SESSION)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": ""}
    command = [str(tools / "python"), str(tools / "session.py"), str(tools / "steps.json")]
    done = run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
