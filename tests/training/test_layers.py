"""The folders of the training package are a one-way street, and its files are short."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkzoo_training

ROOT = Path(linkzoo_training.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# From top to bottom: what stands in a line is imported by the lines above it and by its own alone.
LAYERS = (
    "__main__",
    "commands",
    "best_response export web",
    "pictures records",
    "train",
    "algorithms",
    "evaluation",
    "selfplay",
    "config",
    "renamed",
    "agents",
    "search",
    "checkpoint",
    "networks",
    "cell_networks",
    (
        "fingerprints gpu_meter muon outcomes policy_value resources runtime schedule schema"
        " shards sparse symmetries transfers"
    ),
    "__init__",  # imports what it offers by name, when it is asked for
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
MOST_LINES = 400


def layer(module: str) -> str:
    """The layer of a module `linkzoo_training.…`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported(source: str) -> Iterator[str]:
    """The modules of the package that a program imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "linkzoo_training")


def upward(own: str, source: str) -> list[str]:
    """What a program in a layer imports from the layers above."""
    return [name for name in imported(source) if LEVEL[layer(name)] < LEVEL[own]]


def test_the_search_finds_an_arrow_upwards() -> None:
    source = "def f():\n    from linkzoo_training import train, networks\n"
    assert upward("agents", source) == ["linkzoo_training.train"]
    assert upward("search", "import linkzoo_training.agents.specs") != []
    assert upward("commands", source) == []


def test_every_file_has_its_layer() -> None:
    assert {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES} == set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_arrows_only_downwards(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert upward(own, path.read_text(encoding="utf-8")) == []


def test_files_are_short() -> None:
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
