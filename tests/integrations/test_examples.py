"""The examples are short and generic; those that need no framework learn a little here."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

import linkzoo
from linkzoo.testing import check_game
from tests.common.play import ROOT, run_python
from tests.driving import first_quick

# Tested elsewhere: test_callbacks.py, test_dataset.py; and a game, which recurrent_ppo.py plays.
OTHERS = ("behaviour_cloning", "callbacks", "recall")
EXAMPLES = sorted(p for p in (ROOT / "examples").glob("*.py") if p.stem not in OTHERS)
# A tiny model learns two boards that are measured exactly.
FOR_ANY_GAME = [path for path in EXAMPLES if path.stem != "llm_self_play"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 60, f"{node.name} is long"


@pytest.mark.parametrize("path", FOR_ANY_GAME, ids=lambda path: path.stem)
def test_for_any_game(path: Path) -> None:
    code = path.read_text(encoding="utf-8").split('"""', 2)[2]
    assert 'add_argument("--players", type=int, default=None)' in code
    assert ("--runners" in code) == ('add_argument("--runners", type=int, default=0, help=' in code)
    for game in linkzoo.game_names():
        assert game not in code


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_in_the_documentation(path: Path) -> None:
    pages = (ROOT / "docs" / name for name in ("frameworks.md", "language_models.md"))
    page = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert f"python examples/{path.name} " in page
    assert "    python examples/" + path.name in path.read_text(encoding="utf-8")


@pytest.mark.slow  # quick: test_docs.py::test_snippets_run
@pytest.mark.parametrize("game", first_quick(linkzoo.game_names(), slow=0))
def test_the_single_file_example_runs(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [game, "--steps", "512", "--envs", "8", "--rollout", "32", "--blocks", "2"]
    monkeypatch.setattr(sys, "argv", ["cleanrl_ppo.py", *arguments])
    runpy.run_path(str(ROOT / "examples" / "cleanrl_ppo.py"), run_name="__main__")
    assert re.search(r"after 512 decisions: wins against [0-9.]+%", capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", first_quick([[], ["--game", "linkage", "--forget"]], slow=0), ids=str
)
def test_the_recurrent_example_runs(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the game beside it, whose contract is checked, and in another."""
    recall = linkzoo.get_game(f"{ROOT / 'examples' / 'recall.py'}:GAME")
    check_game(recall)
    brief = ["--steps", "640", "--envs", "16", "--rollout", "20", *arguments]
    monkeypatch.setattr(sys, "argv", ["recurrent_ppo.py", *brief])
    runpy.run_path(str(ROOT / "examples" / "recurrent_ppo.py"), run_name="__main__")
    assert re.search(r"after \d+ s: 0\.\d{3} against random", capsys.readouterr().out)


@pytest.mark.slow
def test_the_package_of_integrations_imports_no_framework() -> None:
    show = "print(*sys.modules)"
    code = f"import sys, linkzoo; {show}; import linkzoo.integrations; {show}"
    plain, loaded = (line.split() for line in run_python("-c", code).splitlines())
    heavy = {"torch", "ray", "torchrl", "tianshou", "stable_baselines3", "pyspiel", "agilerl"}
    heavy |= {"openenv", "textarena", "verifiers", "trl", "transformers"}
    assert not heavy & set(loaded)
    assert "linkzoo.integrations.vector" in loaded
    assert not [name for name in plain if name.startswith("linkzoo.integrations")]
