"""Nothing is read or written as pickle, which runs the code that it holds: a search by syntax."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkzoo
import linkzoo_training
from linkzoo_training.resources import shipped

# Modules that pickle, or do what it does, and the classes and methods by which others offer it.
MODULES = {
    "_pickle",
    "cPickle",
    "cloudpickle",
    "dill",
    "hickle",
    "joblib",
    "jsonpickle",
    "klepto",
    "marshal",
    "pickle",
    "pickle5",
    "shelve",
}
NAMES = {
    "EzPickle",
    "ForkingPickler",
    "Pickler",
    "Unpickler",
    "read_pickle",
    "to_pickle",
}
# Functions that pickle, and those that do unless they are told not to.
FUNCTIONS = {
    "torch.hub.load",
    "torch.hub.load_state_dict_from_url",
    "torch.jit.load",
    "torch.jit.save",
    "torch.load",
    "torch.package.PackageExporter",
    "torch.package.PackageImporter",
    "torch.save",
    "torch.serialization.load",
    "torch.serialization.save",
}
HARMLESS = {"copyreg.pickle"}  # says how users' programs pickle an object; reads and writes nothing
UNLESS_TOLD = {"numpy.save", "numpy.savez", "numpy.savez_compressed"}
# What a checkpoint consists of.
CHECKPOINT = {"card.json", "model.safetensors"}

SOURCES = [
    path
    for package in (linkzoo, linkzoo_training)
    for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
]


def pickling(source: str) -> list[tuple[int, str]]:
    """Lines at which a program imports or names something that pickles, with its name.

    Names are followed through `import … as …` and `from … import …`; a string that is such a
    module's name counts too, whatever is done with it.
    """
    tree = ast.parse(source)
    known = dict(imports(tree))
    lines = []
    for node in ast.walk(tree):
        for name in named(node, known):
            parts = set(name.split("."))
            if name not in HARMLESS and (parts & (MODULES | NAMES) or name in FUNCTIONS):
                lines.append((node.lineno, name))  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            allow_pickle = {key.arg: key.value for key in node.keywords}.get("allow_pickle")
            refused = isinstance(allow_pickle, ast.Constant) and allow_pickle.value is False
            name = dotted(node.func, known)
            if not refused and (allow_pickle is not None or name in UNLESS_TOLD):
                lines.append((node.lineno, f"{name}: allow_pickle"))
    return lines


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that imports bind, and their full names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                yield alias.asname or whole, whole
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}".strip(".")


def named(node: ast.AST, known: dict[str, str]) -> list[str]:
    """The full names that a node imports or refers to."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module or ''}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Attribute | ast.Name):
        return [dotted(node, known)]
    if isinstance(node, ast.Constant) and node.value in MODULES:
        return [str(node.value)]
    if isinstance(node, ast.Call) and dotted(node.func, known) == "getattr" and len(node.args) > 1:
        attribute = node.args[1]
        if isinstance(attribute, ast.Constant):
            return [f"{dotted(node.args[0], known)}.{attribute.value!s}"]
    return []


def dotted(node: ast.expr, known: dict[str, str]) -> str:
    """The full name of an expression like `np.random.rand`; of other parts of it, "?"."""
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value, known)}.{node.attr}"
    return "?"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import json, pickle",
        "import pickle as p",
        "from pickle import dumps",
        "from _pickle import Pickler",
        "import cPickle",
        "import dill",
        "import cloudpickle",
        "from joblib import dump",
        "import shelve",
        "import marshal",
        "def f():\n    import pickle",
        "try:\n    import pickle5\nexcept ImportError:\n    pass",
        "from sklearn.externals import joblib",
        "import ray\nray.cloudpickle.dumps(1)",
        "from importlib import import_module\nimport_module('pickle')",
        "__import__('marshal')",
        "import sys\nsys.modules['pickle'].loads(b'')",
        "import torch\ntorch.save(model, path)",
        "import torch\ntorch.load(path, weights_only=True)",
        "import torch as t\nread = t.load",
        "from torch import load",
        "from torch import load as read\nread(path)",
        "import torch.jit\ntorch.jit.load(path)",
        "from torch.serialization import save",
        "import torch\ngetattr(torch, 'load')(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path, allow_pickle=flag)",
        "import numpy as np\nnp.save(path, array)",
        "import numpy as np\nnp.save(path, array, allow_pickle=True)",
        "from numpy import savez\nsavez(path, array)",
        "import pandas as pd\npd.read_pickle(path)",
        "frame.to_pickle(path)",
        "from pettingzoo.utils import EzPickle",
        "from gymnasium.utils import EzPickle as Base",
        "import multiprocessing.reduction as r\nr.ForkingPickler.dumps(1)",
    ],
)
def test_the_search_finds(source: str) -> None:
    assert pickling(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""No pickle anywhere."""',
        "import json\njson.dump(1, file)\njson.load(file)",
        "import yaml\nyaml.safe_load(text)",
        "from safetensors.torch import load, save\nsave({})\nload(data)",
        "import numpy as np\nnp.load(path)\nnp.load(path, allow_pickle=False)",
        "import numpy as np\nnp.savez(path, a=a, allow_pickle=False)",
        "import torch\ntorch.from_numpy(array)\nmodel.load_state_dict(state)\ntrainer.save(folder)",
        "class Game:\n    def __reduce__(self):\n        return get_game, (self.name,)",
    ],
)
def test_the_search_finds_no_more(source: str) -> None:
    assert pickling(source) == []


@pytest.mark.slow
def test_no_pickle_anywhere() -> None:
    """In no file of the package."""
    assert len(SOURCES) > 50
    lines = {path: pickling(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {str(path): what for path, what in lines.items() if what} == {}


@pytest.mark.slow
def test_what_the_search_finds_in_a_file_of_the_package() -> None:
    """The search isn't blind to the package's own files: one line more, and it is found."""
    for path in SOURCES[::10]:
        source = path.read_text(encoding="utf-8")
        line = source.count("\n") + 1
        assert pickling(f"{source}import pickle\n") == [(line, "pickle")]


def test_shipped_checkpoints_are_safetensors_and_json() -> None:
    folders = [folder for folder in shipped("checkpoints").iterdir() if folder.is_dir()]
    assert folders
    for folder in folders:
        assert {path.name for path in folder.rglob("*")} == CHECKPOINT
