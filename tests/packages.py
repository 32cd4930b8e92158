"""The two packages: their modules, their layers and their wings."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def statements(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yields these statements and those inside them, without a look at their expressions."""
    for node in nodes:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, ()))


@cache
def imports(source: str) -> list[str]:
    """Returns the imports anywhere in a program, as `module` or `module.name`."""
    found = list[str]()
    for node in statements(ast.parse(source).body):
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
        "exact policy text",
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
        "tuning",
        "best_response export linear llm nash_conv sweep tabular web",
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
        "arrays imports resources runtime schema storage",
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


def inside(module: str, folder: str) -> bool:
    """Returns whether a module is a folder's own, or lies below it."""
    return f"{module}.".startswith(f"{folder}.")
