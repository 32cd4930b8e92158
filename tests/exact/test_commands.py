"""`linkzoo experiment exploitability` and `linkzoo experiment solve`."""

import json
from pathlib import Path

import pytest

from linkzoo_training.commands.cli import main

KUHN = "tests.exact.games:KUHN"
MEASURE = ["experiment", "exploitability"]
GAME = ["--game", KUHN]


@pytest.mark.slow
def test_an_equilibrium_is_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "equilibrium.npz"
    command = ["experiment", "solve", KUHN, "--nash-conv", "0.001", "--out", str(path)]
    assert main(command) == 0
    assert "value of seat 0: -0.02" in capsys.readouterr().out  # -1/36
    agent = f"tabular:{path}"
    out = tmp_path / "result.json"
    assert main([*MEASURE, agent, *GAME, "--json", str(out)]) == 0
    result = json.loads(out.read_text())
    assert result["nash_conv"] < 0.001
    assert result["nodes"] == 54
    assert set(result["digests"]) == {agent, KUHN}
    assert main(["evaluate", agent, "random", *GAME, "--games", "20"]) == 0


@pytest.mark.slow
def test_mixtures_and_options_between_agents(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEASURE, "random", *GAME, "random"]) == 0
    assert "NashConv 0.458333, exploitability 0.229167" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["experiment", "exploitability", "random", "--game", "tests.exact.games:PUTS_BACK"],
            "puts_back",
        ),
        (
            ["experiment", "exploitability", "random", *GAME, "--max-nodes", "50"],
            "more than 50 nodes",
        ),
        (["experiment", "exploitability", "tabular:none.npz", *GAME], "there is no file none.npz"),
        (["experiment", "solve", "link_o", "board=mini"], "board"),
    ],
)
def test_what_is_wrong_is_said(
    command: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) != 0
    assert message in capsys.readouterr().err
