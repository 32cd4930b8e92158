"""`linkzoo compile`."""

import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

import linkzoo
from linkzoo_training.commands import cli
from linkzoo_training.commands import compile as compile_command
from linkzoo_training.commands.compile import USES


def test_linkzoo_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes names of games, by default all; a wrong one is named."""
    asked: list[tuple[str, ...]] = []

    def ahead(names: Sequence[str], uses: Sequence[str]) -> Iterator[str]:
        assert uses == USES
        asked.append(tuple(names))
        yield from ("ready" for _ in names)

    with monkeypatch.context() as patch:
        patch.setattr(compile_command, "compile_ahead", ahead)
        for arguments in (["compile"], ["compile", "linkage", "link_o"]):
            assert cli.main(arguments) == 0
    assert asked == [linkzoo.games, ("linkage", "link_o")]
    assert capsys.readouterr().out.splitlines() == ["ready"] * (len(linkzoo.games) + 2)
    assert cli.main(["compile", "chess"]) == 2
    assert "chess" in capsys.readouterr().err


def test_the_command_as_a_module() -> None:
    command = [sys.executable, "-m", "linkzoo_training", "compile", "chess"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("linkzoo: ")
