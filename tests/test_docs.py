"""The documentation agrees with the code: its tables, positions and snippets are checked."""

import ast
import dataclasses
import json
import re
import shlex
import tomllib
from importlib.metadata import version
from math import prod
from pathlib import Path

import numpy as np
import pytest
from lab import strength
from lab.hidden.__main__ import PAGE
from lab.hidden.report import filled
from scripts import game_pages, reference
from scripts.api import SECTIONS, located
from scripts.public import public_names

import linkzoo
from linkzoo.core.observation import ObservationSpec
from linkzoo.registry import NAMES
from linkzoo_training.commands.cli import main, parse_arguments
from linkzoo_training.config.config import load_config
from linkzoo_training.storage import outputs_sent
from linkzoo_training.web import replay_page
from tests.common.play import run_python
from tests.snippets import ROOT, blocks

pytestmark = pytest.mark.last

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "lab").rglob("*.md")),
]
# Pages that train or play for seconds; quick: test_cli.py and the README, test_executors.py,
# test_own_network.py, test_callbacks.py, test_sweep.py, test_values.py, test_match.py,
# test_dataset.py, test_text_env.py and outside/test_connect_four.py
TRAINING = "first_agent your_game evaluation index language_models".split()
LONG_TRAINING = "workers your_network league hidden_game exact experiments your_loop search".split()
LONG_TRAINING += "positions linear your_agent data".split()


def marks_of(page: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of a page's snippets: are they slow?"""
    if page in LONG_TRAINING:
        return [pytest.mark.nightly]
    if page in TRAINING:
        return [pytest.mark.slow]
    return []


def rules_page(name: str) -> str:
    return (Path(linkzoo.__file__).parent / "games" / name / "RULES.md").read_text(encoding="utf-8")


def parts_table(spec: ObservationSpec) -> str:
    """The parts of a spec as a Markdown table; the index runs along the leading axis."""
    rows = ["| index | part | shape | range | meaning |", "|---|---|---|---|---|"]
    first = 0
    for part in spec.parts:
        last = first + prod(part.shape) // prod(spec.shape[1:]) - 1
        index = str(first) if first == last else f"{first}-{last}"
        shape = "×".join(map(str, part.shape)) + (", broadcast" if part.broadcast else "")
        bounds = f"{part.low}..{part.high}"
        rows.append(f"| {index} | `{part.name}` | {shape} | {bounds} | {part.meaning} |")
        first = last + 1
    return "\n".join(rows)


@pytest.mark.parametrize("name", linkzoo.game_names())
@pytest.mark.parametrize("what", ["observation", "action features"])
def test_rules_page_has_what_networks_read(name: str, what: str) -> None:
    observation = linkzoo.get_game(name).observation
    spec = observation.spec if what == "observation" else observation.action_spec
    table = [] if spec is None else [parts_table(spec)]
    marked = re.findall(rf"<!-- {what} -->\n(.*)\n<!-- /{what} -->", rules_page(name), re.DOTALL)
    assert marked == table, f"the table in RULES.md should be\n{table}"


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_rules_page_has_a_position(name: str) -> None:
    game = linkzoo.get_game(name)
    positions = [json.loads(block) for block in blocks(rules_page(name), "json")]
    assert positions, "RULES.md shows no position as JSON"
    for position in positions:
        assert game.to_dict(game.from_dict(position)) == position


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_rules_page_has_every_option(name: str) -> None:
    options = linkzoo.get_game(name).options
    table = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", rules_page(name), re.MULTILINE))
    for option in dataclasses.fields(options):
        shown = json.dumps(option.default) if isinstance(option.default, str) else option.default
        assert table[option.name] == str(shown)


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_rules_page_has_the_spaces(name: str) -> None:
    game = linkzoo.get_game(name)
    shape = ", ".join(map(str, game.observation.spec.shape))
    assert f"`Discrete({game.num_actions})`" in rules_page(name)
    assert f"`{np.dtype(game.observation.spec.dtype)}[{shape}]`" in rules_page(name)


@pytest.mark.parametrize("name", [*linkzoo.game_names(), "index"])
def test_game_page_is_what_the_code_says(name: str) -> None:
    page = (game_pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert game_pages.filled(name) == page, "run python -m scripts.game_pages"


def test_strength_is_what_the_cards_say() -> None:
    pages = [page.read_text(encoding="utf-8") for page in strength.PAGES]
    assert [strength.filled(page) for page in pages] == pages, "run python -m lab.strength"
    named = re.findall(r"<!-- card (\w+) -->", "".join(pages))
    shipped = {path.parent.name for path in strength.CHECKPOINTS.glob("*/card.json")}
    assert sorted(named) == sorted(shipped)
    readme = strength.README.read_text(encoding="utf-8")
    assert strength.filled_readme(readme) == readme, "run python -m lab.strength"
    assert len(strength.ROW.findall(readme)) >= len(NAMES)
    changed = re.sub(r"\d+\.\d % \[.*\] of [\d,]+ \|$", "? |", readme, flags=re.MULTILINE)
    assert changed != readme
    assert strength.filled_readme(changed) == readme


def test_the_benchmark_is_what_its_rows_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    lines = (ROOT / "lab" / "hidden" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    command = "python -m lab.hidden --page --results lab/hidden/results.jsonl"
    assert filled(page, [json.loads(line) for line in lines]) == page, f"run {command}"


@pytest.mark.slow
@pytest.mark.parametrize("name", reference.PAGES)
def test_reference_is_what_the_code_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(reference.WIDTH))
    words = (reference.FOLDER / name).read_text(encoding="utf-8").split()
    # Words alone: argparse of Python 3.13 indents otherwise.
    assert reference.PAGES[name]().split() == words, "run python -m scripts.reference"


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_the_game_to_look_at_is_a_whole_one(name: str) -> None:
    folder = ROOT / "docs" / "games" / "played"
    *_, last = linkzoo.GameRecord.load(folder / f"{name}.json").replay()
    assert last.seat == -1
    assert (folder / f"{name}.html").stat().st_size <= replay_page.MOST_BYTES
    assert (game_pages.IMAGES / f"{name}.gif").stat().st_size <= 1_000_000
    assert f"played/{name}.html" in (ROOT / "docs" / "games" / f"{name}.md").read_text()


def test_the_site_names_the_packages_version() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"site_name: linkzoo {version('linkzoo')} " in settings


@pytest.mark.parametrize(
    ("tutorial", "name"), [("your_game", "connect_four"), ("hidden_game", "leduc")]
)
def test_the_tutorial_writes_the_example(tutorial: str, name: str) -> None:
    """Its blocks that begin with a file's name are the files, word for word."""
    page = (ROOT / "docs" / "tutorials" / f"{tutorial}.md").read_text(encoding="utf-8")
    written: dict[str, list[str]] = {}
    for block in [*blocks(page, "python"), *blocks(page, "yaml")]:
        title = re.match(rf"# ({name}/\w+\.py|\w+\.yaml)\n", block)
        if title:
            written.setdefault(title[1], []).append(block[title.end() :].strip("\n"))
    folder = ROOT / "examples" / name
    paths = [*folder.glob(f"{name}/*.py"), *folder.glob("*.yaml")]
    files = {str(path.relative_to(folder)): path for path in paths}
    assert written.keys() == files.keys()
    for file, path in files.items():
        assert "\n\n\n".join(written[file]) + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("CITATION.cff", "version: {}"),
        ("README.md", "version = {{{}}}"),
    ],
)
def test_the_version_is_the_same_everywhere(name: str, line: str) -> None:
    assert line.format(linkzoo.__version__) in (ROOT / name).read_text(encoding="utf-8")


def test_the_changelog_begins_with_the_version() -> None:
    """Unreleased, or with its date."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (.+)$", text, re.MULTILINE)
    assert first
    version = re.escape(linkzoo.__version__)
    assert re.fullmatch(rf"\[Unreleased\] {version}|\[{version}\] \d{{4}}-\d\d-\d\d", first[1])


@pytest.mark.slow
def test_every_public_name_is_documented() -> None:
    """Names of `__all__` are on the page of the Python API, and that page has no others."""
    alias_of_type = {"linkzoo.Mask", "linkzoo.Record"}  # in the introduction of a section
    names = {f"{module}.{name}" for module, listed in public_names().items() for name in listed}
    documented = {name for section in SECTIONS for name in section.names.split()}
    shown = {id(located(name)) for name in documented}
    missing = {name for name in names if id(located(name)) not in shown}
    versioned = {
        f"linkzoo.{name}_v{linkzoo.get_game(name).version}" for name in linkzoo.game_names()
    }
    protocols = {
        f"linkzoo.core.protocols.{name}" for name in public_names()["linkzoo.core.protocols"]
    }
    # `linkzoo_training.load_policy` is the loader behind `linkzoo.load_policy`.
    assert missing == alias_of_type | versioned | protocols | {"linkzoo_training.load_policy"}
    assert documented - names == {"linkzoo.core.protocols"}


def test_operating_systems_are_the_same_everywhere() -> None:
    """The README and the first page name the systems of pyproject.toml, and no page names others.

    `docs/platforms.md` says what is known of others.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [
        text.rpartition(" :: ")[2]
        for text in project["classifiers"]
        if text.startswith("Operating System :: ")
    ]
    systems = " or ".join(names)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (readme, first):
        assert f"On {systems}, from a clone, with Python" in page
    assert f"| operating system | {systems}; [what ran where](docs/platforms.md) |" in readme
    others = {"Linux", "macOS", "Microsoft Windows", "OS Independent"} - set(names)
    platforms = ROOT / "docs" / "platforms.md"
    for path in {*PAGES, ROOT / "CONTRIBUTING.md"} - {platforms}:
        text = path.read_text(encoding="utf-8")
        assert not [name for name in others if name in text], path
    assert f"name {systems} and Python" in platforms.read_text(encoding="utf-8")


def test_contributing_names_what_there_is() -> None:
    """Names beside their files, such as `RowKernel` in `envs/linkzoo/engine/threads.py`."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:\w+\.)?(\w+)`[ \n]in[ \n]`([\w/]+\.py)`", page)
    assert len(named) > 5
    for name, file in named:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"(def |class |^){name}\b", text, re.MULTILINE), f"no {name} in {file}"


def included(page: Path) -> str:
    """A page with the files that it includes."""
    text = page.read_text(encoding="utf-8")
    return re.sub(
        r'^--8<-- "(.+?)(?::\d+)?"$',
        lambda found: (ROOT / found[1]).read_text(encoding="utf-8"),
        text,
        flags=re.MULTILINE,
    )


def anchors(page: Path) -> set[str]:
    """The names of a page's headings in addresses, as Python-Markdown makes them."""
    prose = re.sub(r"^```.*?^```", "", included(page), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", word) for word in words}


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("C*.md"))], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    """Links to files and headings; those to other hosts aren't followed."""
    links = re.findall(r"\]\(([^)\s]+)\)", included(page))
    for link in links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def commands(page: Path) -> list[list[str]]:
    """The arguments of every `linkzoo` command in an indented block."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^    linkzoo +(.+)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda p: p.stem)
def test_commands_are_right(page: Path) -> None:
    """They parse, and those that train by a shipped preset set fields that there are."""
    for words in commands(page):
        arguments = [word.replace("s3://", "memory://") for word in words]
        with outputs_sent():
            parsed = parse_arguments(arguments)
        settings = getattr(parsed, "settings", [])
        assert all(re.match(r"[\w.]+=", setting) for setting in settings), arguments
        if arguments[0] == "train" and not arguments[1].endswith(".yaml"):
            load_config(
                parsed.config, [text for text in settings if not re.search(r"runs/|\.py", text)]
            )


@pytest.fixture(scope="module")
def public() -> set[str]:
    """The public modules, and the names in them."""
    names = public_names()
    return {*names} | {f"{module}.{name}" for module in names for name in names[module]}


@pytest.mark.slow  # quick: test_snippets_run
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_snippets_import_public_names(page: Path, public: set[str]) -> None:
    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        for node in ast.walk(ast.parse(block)):
            imported: list[str] = []
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [f"{node.module}.{alias.name}" for alias in node.names]
            ours = {name for name in imported if re.match(r"linkzoo(_training)?\b", name)}
            assert ours <= public, page


@pytest.mark.slow  # quick: test_snippets_run
def test_snippets_of_gymnasium_run_alone(tmp_path: Path) -> None:
    """R17: in a file of its own, and with the id that names the package."""
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    snippets = [block for block in blocks(page, "python") if "gymnasium.make" in block]
    assert snippets
    named = """
import gymnasium
assert gymnasium.make("linkzoo:linkzoo/Linkage-v0", seat=1).reset(seed=1)
"""
    for number, block in enumerate([*snippets, named]):
        file = tmp_path / f"{number}.py"
        file.write_text(block, encoding="utf-8")
        run_python(str(file))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=marks_of(page.stem)) for page in PAGES],
)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page and the commands in its sh blocks run one after the other.

    The Python shares one namespace. A block that begins with a file's name is in that file, too.
    """
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(python|sh|yaml)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for number, (language, block) in enumerate(fences):
        if title := re.match(r"# ([\w/]+\.\w+)\n", block):
            file = tmp_path / title[1]
            file.parent.mkdir(exist_ok=True)
            with file.open("a", encoding="utf-8") as there:
                there.write(block)
        if language == "python":
            exec(compile(block, f"{page.name}, block {number}", "exec"), names)
        elif language == "sh":
            for command in block.replace("\\\n", " ").splitlines():
                program, *arguments = shlex.split(command, comments=True)
                if program == "python":
                    run_python(str(tmp_path / arguments[0]))
                else:
                    assert (program, main(arguments)) == ("linkzoo", 0), command
