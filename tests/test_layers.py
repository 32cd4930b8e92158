"""Both packages are one-way streets: folders in layers, no circle of files."""

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.packages import ENVS, PACKAGES, ROOT, TRAINING, WINGS, Package, imports, inside

COMMANDS = "linkzoo_training.commands"
# `device="cuda"` of make_vec, of compilation and of training loads CUDA; nothing else does.
CUDA_DOORS = {
    "linkzoo",
    "linkzoo.compile",
    "linkzoo_training.algorithms.ppo",
    "linkzoo_training.selfplay.cuda_backend",
}
# `--executor ray` starts workers, `sweep --executor ray` trials; RLlib is a framework.
RAY_DOORS = {
    "linkzoo.integrations.rllib",
    "linkzoo.integrations.rllib_runner",
    "linkzoo_training.selfplay.executors",
    "linkzoo_training.selfplay.ray_actors",
    "linkzoo_training.tuning",
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


def importers(folder: str) -> set[str]:
    """The modules outside a folder or package that import it, inside functions included."""
    modules = {**ENVS.modules, **TRAINING.modules}
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


def test_only_executors_and_frameworks_import_ray() -> None:
    assert importers("ray") == RAY_DOORS


def test_wings_are_folders() -> None:
    modules = {**ENVS.modules, **TRAINING.modules}
    for wing in (*WINGS, "linkzoo.cuda"):
        assert any(inside(module, wing) for module in modules), wing


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


@pytest.mark.slow
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
