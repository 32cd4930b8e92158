"""The benchmark for hidden information: a run, its row, and what an interrupted one leaves."""

import json
import sys
from pathlib import Path

import pytest
from lab.hidden.__main__ import ALGORITHMS, main
from lab.hidden.columns import COLUMNS
from lab.hidden.report import report


@pytest.mark.slow  # quick: the tree, CFR+ and NashConv in tests/exact
def test_a_run_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """CFR+ in Leduc hold'em; its row has what another needs to repeat it."""
    file = tmp_path / "results.jsonl"
    command = f"hidden cfr_plus --columns leduc --seconds 1 --seeds 1 --results {file}"
    monkeypatch.setattr(sys, "argv", command.split())
    main()
    (line,) = file.read_text(encoding="utf-8").splitlines()
    row = json.loads(line)
    assert row["nash_conv"] < 0.01 < row["curve"][0][2]
    assert row["cpu_seconds"] >= 1
    assert {"versions", "digest", "processor", "steps_per_second", "megabytes"} <= set(row)
    main()
    assert file.read_text(encoding="utf-8").splitlines() == [line]
    capsys.readouterr()
    report([row, {**row, "seed": 2, "nash_conv": 0.5}], tmp_path / "curves.png")
    table = capsys.readouterr().out
    assert f"| `cfr_plus` | {(row['nash_conv'] + 0.5) / 2:.3f} (" in table
    assert (tmp_path / "curves.png").stat().st_size > 1000


def test_unknown_algorithms_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["hidden", "dqn"])
    with pytest.raises(SystemExit):
        main()
    assert f"no algorithm ['dqn']; there are {list(ALGORITHMS)}" in capsys.readouterr().err
    assert len(ALGORITHMS) >= 10
    assert {"leduc", "liars_dice"} < set(COLUMNS)
