"""`linkzoo exploitability` and `linkzoo experiment solve`."""

import json
from pathlib import Path

import pytest

from linkzoo_training.commands.cli import main

EDITION = ["--game", "link_o", "board=mini2x4a-h2"]


def test_an_equilibrium_is_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "equilibrium.npz"
    command = [
        "experiment",
        "solve",
        "link_o",
        "board=mini2x4a-h2",
        "--nash-conv",
        "0.001",
        "--out",
        str(path),
    ]
    assert main(command) == 0
    assert "value of seat 0: +0.621" in capsys.readouterr().out
    agent = f"tabular:{path}"
    out = tmp_path / "result.json"
    assert main(["exploitability", agent, *EDITION, "--json", str(out)]) == 0
    result = json.loads(out.read_text())
    assert result["nash_conv"] < 0.001
    assert result["nodes"] == 68_045
    assert list(result["digests"]) == [agent]
    assert main(["evaluate", agent, "random", *EDITION, "--games", "20"]) == 0


def test_mixtures_and_options_between_agents(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exploitability", "random", *EDITION, "random"]) == 0
    assert "NashConv 0.204428, exploitability 0.102214" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["exploitability", "random", "--game", "love_formula"], "love_formula"),
        (["exploitability", "random", *EDITION, "--max-nodes", "1000"], "more than 1,000 nodes"),
        (["exploitability", "tabular:none.npz", *EDITION], "there is no file none.npz"),
        (["experiment", "solve", "link_o", "board=mini"], "board"),
    ],
)
def test_what_is_wrong_is_said(
    command: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) != 0
    assert message in capsys.readouterr().err
