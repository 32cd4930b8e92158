"""`linkzoo tools bench --cores`: a table of steps/s by threads."""

import re
from typing import Any

import pytest

from linkzoo_training.commands.cli import main
from linkzoo_training.commands.tools import bench


@pytest.mark.parametrize(
    ("cores", "threads"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]
)
def test_the_table_of_cores(
    cores: int,
    threads: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def vector_steps(name: str, players: int | None, games: int, **settings: Any) -> Any:
        assert (name, players, games) == ("linkage", None, 2**14)
        return lambda: 1000 * settings["num_threads"]

    monkeypatch.setattr(bench, "vector_steps", vector_steps)
    monkeypatch.setattr(bench, "get_num_threads", lambda: cores)
    monkeypatch.setattr(bench, "rate", lambda work: work())
    assert main(["tools", "bench", "--cores"]) == 0
    printed = capsys.readouterr().out
    rows = re.findall(r"^\| (\d+) \| ([\d,]+) \| ([\d.]+) \|$", printed, re.MULTILINE)
    assert rows == [(str(n), f"{1000 * n:,}", f"{n:.2f}") for n in threads]
    assert printed.startswith("Linkage, 2 players, 16,384 games in lock-step, random play\n")


def test_the_table_is_of_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "bench", "--cores", "--device", "cuda"]) == 2
    assert "--cores measures the CPU" in capsys.readouterr().err
