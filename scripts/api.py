"""Makes docs/reference/api.md from the docstrings; `python -m scripts.reference` writes it.

A page without directives can be read in a clone, too. Signatures are those of the source.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pydoc import locate
from types import ModuleType
from typing import Any, NamedTuple

_INTRODUCTION = """\
Made from the docstrings by `python -m scripts.reference`. `load_agent`, `load_policy`,
`make_agent`, `play_match`, `against_baselines` and `solve` are also names of `linkzoo_training`
itself."""
_GAMES = """\
Two tutorials write games with these names: [Connect Four](../tutorials/your_game.md), and Leduc
hold'em, which has [chance and hidden information](../tutorials/hidden_game.md). `linkzoo.Record` is
`numpy.record`, the type of a state, and `linkzoo.Mask` a mask of legal actions, int8[A]."""
_WIDTH = 88  # of a signature on one line
_HEADING = re.compile(r"(Args|Attributes|Returns|Yields|Raises|Examples?):")
_ITEM = re.compile(r"([\w*, ]+?)(?: \([^)]*\))?: (.*)", re.DOTALL)

Definition = ast.FunctionDef | ast.ClassDef


class Section(NamedTuple):
    """A section of the page: objects by their import paths."""

    title: str
    names: str
    introduction: str = ""


SECTIONS = (
    Section(
        "Environments",
        """linkzoo.make linkzoo.make_vec linkzoo.GameEnv linkzoo.VecEnv linkzoo.VecStep
        linkzoo.SeatEnv linkzoo.History linkzoo.Event""",
    ),
    Section(
        "Games and records",
        """linkzoo.game_names linkzoo.get_game linkzoo.register linkzoo.GameRecord
        linkzoo.load_positions linkzoo.save_positions""",
    ),
    Section(
        "A game of your own",
        """linkzoo.Game linkzoo.Rules linkzoo.Observation linkzoo.Notation linkzoo.Drawing
        linkzoo.Facts linkzoo.Chance linkzoo.Guide linkzoo.ScoreRow linkzoo.FeatureReason
        linkzoo.FixedOptions
        linkzoo.Options linkzoo.Field linkzoo.ObservationPart linkzoo.ObservationSpec linkzoo.Graph
        linkzoo.compiled linkzoo.engine.compiled.rebind linkzoo.rng linkzoo.core.protocols
        linkzoo.testing.check_game""",
        _GAMES,
    ),
    Section(
        "Games as text",
        """linkzoo.text.TextGame linkzoo.text.TextEnv linkzoo.text.TextStep
        linkzoo.text.TextTurn linkzoo.text.PromptSettings
        linkzoo.text.MoveError linkzoo.text.ask linkzoo.text.describe linkzoo.text.list_moves
        linkzoo.text.read_move linkzoo.text.rules_text""",
    ),
    Section(
        "Adapters for frameworks",
        """linkzoo.integrations.FeatureEnv linkzoo.integrations.FeatureSeatEnv
        linkzoo.integrations.FeatureSeatVectorEnv linkzoo.integrations.SeatVectorEnv
        linkzoo.integrations.FunctionAgent linkzoo.integrations.OpponentPool
        linkzoo.integrations.FeatureMap linkzoo.integrations.seat_advantages""",
    ),
    Section(
        "Agents",
        """linkzoo.Agent linkzoo.Positions linkzoo.RandomAgent linkzoo.load_policy
        linkzoo.policy.Policy linkzoo_training.agents.policy.load_agent
        linkzoo_training.agents.policy.PolicyAgent linkzoo_training.agents.policy.PolicySearch
        linkzoo_training.agents.policy.SearchAgent
        linkzoo_training.agents.make.make_agent linkzoo_training.llm.settings.LlmSettings
        linkzoo_training.llm.usage.LlmUsage""",
    ),
    Section(
        "Evaluation",
        """linkzoo_training.evaluation.match.play_match linkzoo_training.evaluation.match.Match
        linkzoo_training.evaluation.result.MatchResult
        linkzoo_training.evaluation.match.against_baselines
        linkzoo_training.evaluation.played_games.GamesPlan
        linkzoo_training.evaluation.dataset.write_dataset linkzoo_training.search.solver.solve""",
    ),
    Section(
        "Small games exactly",
        """linkzoo.exact.tree linkzoo.exact.GameTree linkzoo.exact.exploitability
        linkzoo.exact.Exploitability linkzoo.exact.solve linkzoo.exact.Solution
        linkzoo.exact.policy_of linkzoo.exact.mixture linkzoo.exact.tabular_agent
        linkzoo.exact.TabularAgent linkzoo.exact.StochasticAgent
        linkzoo.exact.TreeTooLargeError""",
    ),
    Section(
        "Training",
        """linkzoo_training.train.train linkzoo_training.config.config.load_config
        linkzoo_training.networks.own.OwnNet linkzoo_training.sweep.sweep_runs
        linkzoo_training.sweep.SweepRun linkzoo_training.sweep.run_sweep
        linkzoo_training.algorithms.curves.learning_curves linkzoo_training.algorithms.curves.Curve
        linkzoo_training.algorithms.curves.plot_curves""",
    ),
    Section(
        "Callbacks",
        """linkzoo_training.callbacks.Callback linkzoo_training.callbacks.Run
        linkzoo_training.best_response.train_best_response""",
    ),
)


def api() -> str:
    """Returns the page: every public object with its signature and docstring."""
    parts = ["# Python API", _INTRODUCTION]
    for section in SECTIONS:
        parts.append(f"## {section.title}")
        if section.introduction:
            parts.append(section.introduction)
        for name in section.names.split():
            parts += _entry(name)
    return "\n\n".join(parts) + "\n"


def located(name: str) -> Any:
    """Returns a module, or an attribute of one; an attribute goes before a module of its name.

    From Python 3.12, `pydoc.locate` returns the module `linkzoo.exact.tree`, not the function.
    """
    home, _, last = name.rpartition(".")
    return getattr(locate(home), last, None) or locate(name)


def _entry(name: str) -> Iterator[str]:
    """Yields the Markdown of an object, or of a module and everything public in it."""
    target = located(name)
    if target is None:
        raise ValueError(f"there is no {name}")
    yield f"### {name}"
    if isinstance(target, ModuleType):
        yield from _documented(inspect.getdoc(target))
        for node in ast.parse(inspect.getsource(target)).body:
            yield from _member(node, target.__name__.rpartition(".")[2])
    elif isinstance(definition := _definition(target), ast.ClassDef):
        yield from _class(definition)
    else:
        yield from _function(definition)


def _definition(target: Any) -> Definition:
    """Returns the syntax tree of a class or function."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(target)))
    node = ast.parse(source).body[0]
    assert isinstance(node, Definition), target
    return node


def _class(node: ast.ClassDef) -> Iterator[str]:
    yield _code(_class_signature(node))
    yield from _documented(ast.get_docstring(node))
    for member in node.body:
        yield from _member(member, node.name)


def _member(node: ast.stmt, owner: str) -> Iterator[str]:
    """Yields the Markdown of a public, documented function or class; nothing for the rest."""
    if not isinstance(node, Definition) or node.name.startswith("_"):
        return
    documentation = ast.get_docstring(node)
    if documentation is None:
        return
    yield f"#### {owner}.{node.name}"
    if isinstance(node, ast.ClassDef):
        yield _code(_class_signature(node))
        yield from _documented(documentation)
    else:
        yield from _function(node)


def _function(node: ast.FunctionDef) -> Iterator[str]:
    yield _code(_signature(node.name, node))
    yield from _documented(ast.get_docstring(node))


def _class_signature(node: ast.ClassDef) -> str:
    """Returns how to make an object; of a protocol for functions, how to call one."""
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    if "__init__" in methods:
        return _signature(node.name, methods["__init__"], returns=False)
    if "__call__" in methods:
        return _signature(node.name, methods["__call__"])
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    public = [each for each in fields if not ast.unparse(each.target).startswith("_")]
    bases = {ast.unparse(base) for base in node.bases}
    if public and (node.decorator_list or "NamedTuple" in bases):
        return _call(node.name, [ast.unparse(each) for each in public])
    return f"class {node.name}"


def _signature(name: str, node: ast.FunctionDef, *, returns: bool = True) -> str:
    decorators = {ast.unparse(each) for each in node.decorator_list}
    result = _type(node.returns) if returns and node.returns else None
    if decorators & {"property", "cached_property"}:
        return name if result is None else f"{name}: {result}"
    call = _call(name, list(_parameters(node.args)))
    return call if result is None else f"{call} -> {result}"


def _type(annotation: ast.expr) -> str:
    """Returns an annotation without the quotes of names that are defined later."""
    return ast.unparse(annotation).replace("'", "")


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yields the parameters as in the source, without self and cls."""
    positional = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for parameter, default in zip(positional, defaults, strict=True):
        if parameter.arg not in ("self", "cls"):
            yield _parameter(parameter, default)
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(parameter, default)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg)}"


def _parameter(parameter: ast.arg, default: ast.expr | None = None) -> str:
    text = parameter.arg
    if parameter.annotation is not None:
        text += f": {_type(parameter.annotation)}"
    if default is not None:
        text += f" = {ast.unparse(default)}".replace("'", '"')
    return text


def _call(name: str, parameters: list[str]) -> str:
    """Returns a call on one line, or with one parameter a line."""
    line = f"{name}({', '.join(parameters)})"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), ")"])


def _code(text: str) -> str:
    return f"```py\n{text}\n```"


def _documented(documentation: str | None) -> Iterator[str]:
    """Yields a docstring as Markdown: text, and tables of arguments, attributes and errors."""
    heading = ""
    lines = []
    for line in [*(documentation or "").splitlines(), "Returns:"]:
        section = _HEADING.fullmatch(line)
        if section is None:
            lines.append(line)
            continue
        text = textwrap.dedent("\n".join(lines)).strip("\n")
        if text:
            yield _section(heading, text)
        heading = section[1]
        lines = []


def _section(heading: str, text: str) -> str:
    if heading in ("Args", "Attributes", "Raises"):
        first = {"Args": "argument", "Attributes": "attribute", "Raises": "raises"}[heading]
        rows = (f"| {name} | {meaning} |" for name, meaning in _items(text))
        return "\n".join([f"| {first} | |", "|---|---|", *rows])
    return f"**{heading}:** {text}" if heading else text


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Yields the name and the meaning of each entry of a list of arguments."""
    for entry in re.split(r"\n(?=\S)", text):
        item = _ITEM.fullmatch(entry)
        assert item, entry
        names = ", ".join(f"`{name.strip()}`" for name in item[1].split(","))
        yield names, " ".join(item[2].split()).replace("|", r"\|")
