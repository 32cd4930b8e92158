"""`linkzoo tools compile`."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import pytest

import linkzoo
from linkzoo.compile import compile_ahead
from linkzoo_training.commands import cli
from linkzoo_training.commands.tools import compile as compile_command
from linkzoo_training.commands.tools.compile import USES


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
        for arguments in (["tools", "compile"], ["tools", "compile", "linkage", "link_o"]):
            assert cli.main(arguments) == 0
    assert asked == [linkzoo.game_names(), ("linkage", "link_o")]
    assert capsys.readouterr().out.splitlines() == ["ready"] * (len(linkzoo.game_names()) + 2)
    assert cli.main(["tools", "compile", "chess"]) == 2
    assert "chess" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_as_a_module() -> None:
    command = [sys.executable, "-m", "linkzoo_training", "tools", "compile", "chess"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("linkzoo: ")


def interrupted(_name: str) -> None:
    """Imitates Ctrl-C in a process that compiles."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)


@pytest.mark.slow
def test_an_interrupted_process_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored
    try:
        with pytest.raises(ChildProcessError, match="exit code -2"):
            list(compile_ahead(["linkage"], [f"{__name__}:interrupted"]))
    finally:
        signal.signal(signal.SIGINT, before)
    assert "Traceback" not in capfd.readouterr().err
