"""Both packages are one-way streets: folders in layers, no circle of files."""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@cache
def imports(source: str) -> list[str]:
    """Returns the imports anywhere in a program, as `module` or `module.name`."""
    found = list[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@dataclass(frozen=True)
class Package:
    """A package and its layers.

    Attributes:
        name: What is imported.
        source: The source root.
        layers: From top to bottom: what stands in a line is imported by the lines above it and by
            its own alone.
    """

    name: str
    source: Path
    layers: tuple[str, ...]
    modules: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in sorted((self.source / self.name).rglob("*.py")):
            parts = path.relative_to(self.source).with_suffix("").parts
            self.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path

    def level(self, module: str) -> int:
        """The layer of a module, counted from the top."""
        parts = module.split(".")
        top = parts[1] if len(parts) > 1 else "__init__"
        return next(level for level, names in enumerate(self.layers) if top in names.split())

    def imported(self, source: str) -> Iterator[str]:
        """The modules of the package that a program imports, wherever in it."""
        for name in imports(source):
            if name.split(".")[0] == self.name:
                yield name if name in self.modules else name.rpartition(".")[0]

    def upward(self, module: str, source: str) -> list[str]:
        """What a module imports from the layers above its own."""
        own = self.level(module)
        return [name for name in self.imported(source) if self.level(name) < own]


ENVS = Package(
    "linkzoo",
    ROOT / "envs",
    (
        "__init__ compile",
        "testing cuda integrations",
        "policy text",
        "linkage_v0 love_links_v0 link_o_v0 love_formula_v0",
        "envs",
        "record position_file",
        "registry",
        "games",
        "core",
        "engine svg",
    ),
)
TRAINING = Package(
    "linkzoo_training",
    ROOT / "training",
    (
        "__main__",
        "commands",
        "best_response export linear llm sweep web",
        "train",
        "callbacks",
        "algorithms",
        "evaluation",
        "selfplay",
        "config",
        "agents",
        "search",
        "checkpoints",
        "networks",
        "arrays imports resources runtime schema",
        "__init__",  # imports what it offers by name, when it is asked for
    ),
)
PACKAGES = (ENVS, TRAINING)
# Folders that commands and the folders' own tests alone import.
WINGS = (
    "linkzoo.integrations",
    "linkzoo_training.linear",
    "linkzoo_training.llm",
    "linkzoo_training.web",
)
COMMANDS = "linkzoo_training.commands"
# `device="cuda"` of make_vec, of compilation and of training loads CUDA; nothing else does.
CUDA_DOORS = {
    "linkzoo",
    "linkzoo.compile",
    "linkzoo_training.algorithms.ppo",
    "linkzoo_training.selfplay.cuda_backend",
}
every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)


def test_the_search_finds_an_arrow_upwards() -> None:
    source = "def f():\n    from linkzoo.envs import aec\n    from linkzoo.core.game import Game\n"
    assert ENVS.upward("linkzoo.core.state", source) == ["linkzoo.envs.aec"]
    assert ENVS.upward("linkzoo.core.state", "import linkzoo.registry") == ["linkzoo.registry"]
    assert ENVS.upward("linkzoo.testing", source) == []


@every_package
def test_arrows_only_downwards(package: Package) -> None:
    found = {
        module: upward
        for module, path in package.modules.items()
        if (upward := package.upward(module, path.read_text(encoding="utf-8")))
    }
    assert found == {}


def inside(module: str, folder: str) -> bool:
    return f"{module}.".startswith(f"{folder}.")


def importers(folder: str) -> set[str]:
    """The modules outside a folder that import it, inside functions included."""
    modules = {**ENVS.modules, **TRAINING.modules}
    assert any(inside(module, folder) for module in modules)
    return {
        module
        for module, path in modules.items()
        if not inside(module, folder)
        and any(inside(name, folder) for name in imports(path.read_text(encoding="utf-8")))
    }


@pytest.mark.parametrize("wing", WINGS)
def test_only_commands_import_a_wing(wing: str) -> None:
    assert {module for module in importers(wing) if not inside(module, COMMANDS)} == set()


def test_only_the_choice_of_a_device_imports_cuda() -> None:
    assert importers("linkzoo.cuda") == CUDA_DOORS


def test_the_environments_import_no_training() -> None:
    """`linkzoo.load_policy` finds its loader through an entry point."""
    assert {module for module in importers(TRAINING.name) if inside(module, ENVS.name)} == set()


@every_package
def test_no_circle_of_files(package: Package) -> None:
    arrows = {
        module: set(package.imported(path.read_text(encoding="utf-8"))) - {module}
        for module, path in package.modules.items()
    }
    assert any(arrows.values())
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_parameters_have_types_that_say_something() -> None:
    """At most a tenth of the annotated parameters of `envs` are `Any`."""
    anything, annotated = 0, 0
    for path in ENVS.modules.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg) and node.annotation is not None:
                annotated += 1
                anything += ast.unparse(node.annotation) == "Any"
    assert annotated > 1000
    assert anything <= annotated / 10, f"{anything} of {annotated}"


def test_every_name_is_defined() -> None:
    """No file may use a name that isn't defined."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    rules = tomllib.loads(text)["tool"]["ruff"]["lint"]
    exempt = [rule for rules in rules["per-file-ignores"].values() for rule in rules]
    assert not [rule for rule in (*rules["ignore"], *exempt) if re.match(rule, "F821")]
