"""All chance comes from `linkzoo.engine.rng`, on streams of one registry: a search by syntax."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import linkzoo
from linkzoo.engine import rng
from tests.training.test_no_pickle import SOURCES, dotted, imports, named

ROOT = Path(str(linkzoo.__file__)).parent
GAMES = {ROOT / "games" / name for name in linkzoo.game_names()}
CHECKER = sorted((ROOT / "testing").glob("*.py"))  # tests as a part of the package
TESTS = [*sorted(Path(__file__).parents[1].rglob("*.py")), *CHECKER]
REGISTRY = {name: value for name, value in vars(rng).items() if name.startswith("STREAM_")}

# Modules, functions and methods whose numbers come from a generator, a process or the machine.
MODULES = (
    "random",
    "secrets",
    "uuid",
    "numpy.random",
    "torch.random",
    "os.urandom",
)
FUNCTIONS = {
    f"torch.{name}"
    for name in (
        "Generator bernoulli manual_seed multinomial normal poisson rand rand_like randint "
        "randint_like randn randn_like randperm seed"
    ).split()
}
METHODS = {
    *(
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ manual_seed multinomial normal_"
    ).split(),
    *("random_ uniform_ permutation default_rng").split(),
}
# Where it is another's convention, or only the first weights: file, what, and why.
EXCEPTIONS = {
    "linkzoo/envs/aec.py": "a seed for who gives none",
    "commands/play.py": "a seed for who gives none",
    "linkzoo_training/storage.py": "names of folders that nobody else has",
    "commands/serve.py": "a token that can't be guessed",
    "linkzoo/record.py": "names of files that nobody has",
    "linkzoo/core/user_files.py": "names of folders that nobody has",
    "web/session_routes.py": "a seed for who gives none",
    "web/safety.py": "comparing secrets",
    "web/session_store.py": "names that can't be guessed",
    "linkzoo/text/env.py": "a seed for who gives none",
    "selfplay/inference.py": "a key that can't be guessed",
    "llm/mcp_server.py": "keys that can't be guessed, and worlds that tell nothing of the game",
    "integrations/textarena.py": "a seed for who gives none",
    "integrations/agents.py": "callers draw as often as they like; the seed is theirs",
    "integrations/rllib_runner.py": "names of RLlib's episodes",
    "integrations/torchrl.py": "TorchRL asks for a generator, and seeds it",
    "integrations/open_spiel.py": "OpenSpiel's bots and games bring generators of their own",
    "algorithms/trainer.py": "torch's own first weights, once, before anything is played",
    "networks/settings.py": "restores the program's generators",
    "commands/tools/bench.py": "moves of a benchmark",
    "evaluation/ratings.py": "NumPy's bootstrap",
    "evaluation/reference.py": "NumPy's bootstrap",
    "checkpoints/checkpoint.py": "games of a fingerprint, which published cards hold",
}
# Functions of `rng` and `kernels` by the place of their stream.
STREAM_AT = {
    "random_u64": 1,
    "random_u64s": 1,
    "below": 2,
    "shuffle": 3,
    "permutation": 2,
    "random_legal": 2,
}


DRAWING = ("rng", "random_legal")  # words of each file that draws


def generators(source: str) -> list[tuple[int, str]]:
    """Lines at which a program uses chance without counters, and its name.

    `hash` counts too, but for that of a type (`__hash__`).
    """
    tree = ast.parse(source)
    known, lines = dict(imports(tree)), []
    own = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name == "__hash__"
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if id(node) in own or (
            isinstance(node, ast.Name) and node.id not in {*known, "hash"}  # a variable
        ):
            continue
        for name in named(node, known):
            last = name.rsplit(".", 1)[-1]
            if (
                name in FUNCTIONS
                or (isinstance(node, ast.Attribute) and last in METHODS)
                or any(name == module or name.startswith(f"{module}.") for module in MODULES)
                or name == "hash"
            ):
                lines.append((node.lineno, name))  # type: ignore[attr-defined]
    return lines


def draws(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that draw, and the stream argument of each."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        module, _, function = dotted(node.func, known).rpartition(".")
        if function not in STREAM_AT or module not in (
            "linkzoo.engine.rng",
            "linkzoo.core.kernels",
        ):
            continue
        position = STREAM_AT[function]
        given = [
            *node.args[position : position + 1],
            *(k.value for k in node.keywords if k.arg == "stream"),
        ]
        if given and not any(isinstance(argument, ast.Starred) for argument in node.args):
            yield node, given[0]  # `random_u64(*arguments)` tells nothing


def streams(source: str) -> list[tuple[int, object]]:
    """Lines at which a program draws, or names a stream, and the stream if it isn't registered.

    The stream is a number, or the value of a name of the program itself; `None` if it is neither,
    nor a name from the registry, nor a parameter called `stream`.
    """
    if not any(word in source for word in ("STREAM", *DRAWING)):
        return []
    tree = ast.parse(source)
    known, lines = dict(imports(tree)), list[tuple[int, object]]()
    numbers: dict[str, object] = {}
    for line in tree.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            for target in line.targets:
                if isinstance(target, ast.Name):
                    numbers[target.id] = line.value.value
                    if "STREAM" in target.id:
                        lines.append((line.lineno, line.value.value))
    for node, stream in draws(tree, known):
        if isinstance(stream, ast.Constant):
            lines.append((node.lineno, stream.value))
        elif isinstance(stream, ast.Name) and stream.id in numbers:
            lines.append((node.lineno, numbers[stream.id]))
        elif dotted(stream, known).removeprefix("linkzoo.engine.rng.") not in REGISTRY and not (
            isinstance(stream, ast.Name) and stream.id == "stream"
        ):
            lines.append((node.lineno, None))
    return lines


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import random",
        "import numpy as np\nrng = np.random.default_rng(0)",
        "from numpy.random import PCG64",
        "import numpy as np\nnp.random.Generator(np.random.PCG64(1)).permutation(3)",
        "import torch\ntorch.manual_seed(1)",
        "import torch as t\norder = t.randperm(5)",
        "from torch import randperm",
        "import torch\ntorch.empty(3).uniform_()",
        "seed = hash((seed, iteration))",
        "import os\nos.urandom(8)",
        "import uuid\nuuid.uuid4()",
    ],
)
def test_generators_are_found(source: str) -> None:
    assert generators(source)


@pytest.mark.parametrize(
    "source",
    [
        "from linkzoo.engine.rng import random_u64\nrandom_u64(seed, STREAM, 1)",
        "class Game:\n    def __hash__(self):\n        return hash(self.name)",
        "import hashlib\nhashlib.sha256(data)",
        "random = RandomAgent()",
        "import torch\ntorch.zeros(3)",
    ],
)
def test_no_more_are_found(source: str) -> None:
    assert generators(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from linkzoo.engine.rng import random_u64\nrandom_u64(seed, 2000, 1)", 2000),
        ("from linkzoo.engine.rng import below\n_X = 2007\nbelow(3, seed, _X, 1)", 2007),
        ("_STREAM = 2001", 2001),
        ("STREAM_NEW = 2001", 2001),
        (
            "from linkzoo.engine import rng\nrng.shuffle(a, 3, seed, rng.STREAM_NO, 0)",
            None,
        ),
        ("from linkzoo.core.kernels import random_legal\nrandom_legal(mask, seed, 1 + 1, 0)", None),
    ],
)
def test_streams_are_found(source: str, found: object) -> None:
    assert [stream for _, stream in streams(source)][-1] == found


def test_registered_streams_are_no_finding() -> None:
    source = "from linkzoo.engine.rng import STREAM_POLICY, below\nbelow(3, seed, STREAM_POLICY, 1)"
    assert streams(source) == []
    source = "from linkzoo.engine.rng import below\ndef f(stream):\n    below(3, 1, stream, 2)"
    assert streams(source) == []


def test_no_two_streams_are_equal() -> None:
    """No stream of the registry belongs to a game's rules or to the tests."""
    twice = {value for value, count in Counter(REGISTRY.values()).items() if count > 1}
    assert not twice
    assert all(1000 <= stream < 9000 for stream in REGISTRY.values())


@pytest.mark.slow
def test_every_stream_of_the_package_is_registered() -> None:
    """Games number their streams below 1000; all other code uses names of the registry."""
    used = 0
    for path in SOURCES:
        if path in (ROOT / "engine" / "rng.py", *CHECKER):
            continue
        game = bool(GAMES & set(path.parents))
        for line, stream in streams(path.read_text(encoding="utf-8")):
            used += 1
            allowed = game and (stream is None or (isinstance(stream, int) and stream < 1000))
            assert allowed, f"{path}:{line}: {stream}"
    assert used > 5


@cache
def own_streams(folder: Path) -> dict[str, object]:
    """The names by which the rules of a game call their streams, and the numbers."""
    numbers, used = dict[str, object](), set[str]()
    for path in folder.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        for line in tree.body:
            if isinstance(line, ast.Assign):
                names, values = (
                    part.elts if isinstance(part, ast.Tuple) else [part]
                    for part in (line.targets[0], line.value)
                )
                numbers |= {
                    name.id: number.value
                    for name, number in zip(names, values, strict=False)
                    if isinstance(name, ast.Name) and isinstance(number, ast.Constant)
                }
        if any(word in source for word in DRAWING):
            streams_of = draws(tree, dict(imports(tree)))
            used |= {stream.id for _, stream in streams_of if isinstance(stream, ast.Name)}
    return {name: number for name, number in numbers.items() if name in used}


@pytest.mark.parametrize("folder", sorted(GAMES), ids=lambda folder: str(folder.name))
def test_no_two_streams_of_a_game_are_equal(folder: Path) -> None:
    """Two kinds of chance in a game are independent."""
    numbers = own_streams(folder)
    assert len(set(numbers.values())) == len(numbers), numbers


def test_streams_of_games_are_found() -> None:
    """The test above isn't vacuous: Love Links' one stream is a number for each metal."""
    counts = {folder.name: len(own_streams(folder)) for folder in GAMES}
    assert counts == {"linkage": 0, "love_links": 0, "link_o": 3, "love_formula": 5}


@pytest.mark.slow
def test_tests_draw_from_streams_of_nobody_else() -> None:
    """Their streams are below 1000, as those of games, or at least 9000."""
    for path in TESTS:
        if path == Path(__file__):
            continue
        for line, stream in streams(path.read_text(encoding="utf-8")):
            free = stream is None or (isinstance(stream, int) and not 1000 <= stream < 9000)
            assert free, f"{path}:{line}: {stream} is the package's"


@pytest.mark.slow
def test_one_kind_of_chance() -> None:
    """Files use counter-based chance alone; the list above names each exception with its reason."""
    lines = {
        path: what for path in SOURCES if (what := generators(path.read_text(encoding="utf-8")))
    }
    reasons = {
        path: [reason for end, reason in EXCEPTIONS.items() if str(path).endswith(end)]
        for path in lines
    }
    assert {str(path): lines[path] for path, why in reasons.items() if not why} == {}
