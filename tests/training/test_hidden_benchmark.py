"""The benchmark for hidden information: a run, its row, and what an interrupted one leaves."""

import argparse
import json
import sys
from pathlib import Path

import pytest
from lab.hidden.__main__ import ALGORITHMS, main, planned
from lab.hidden.columns import COLUMNS
from lab.hidden.report import draw, tables
from lab.hidden.trials import CHOSEN, COLUMN, SECONDS, TRIALS


@pytest.mark.nightly  # quick: the tree, CFR+ and NashConv in tests/exact
def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    rows = [row, {**row, "seed": 2, "nash_conv": 0.5}]
    assert f"| `cfr_plus` | {(row['nash_conv'] + 0.5) / 2:.3f} (" in tables(rows)
    draw(rows, tmp_path / "curves.png")
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


def test_every_algorithm_learns_what_it_can() -> None:
    """Whole games are for those that don't walk trees; the search is the same for all."""
    settings = {"algorithms": [], "columns": None, "seeds": [1], "seconds": 300, "quick": False}
    runs = planned(argparse.Namespace(**settings, search=False))
    for column, facts in COLUMNS.items():
        learners = {run.algorithm for run in runs if run.column == column}
        assert "nfsp" in learners
        assert ("cfr_plus" in learners) == facts.exact
    searched = planned(argparse.Namespace(**settings, search=True))
    assert {run.algorithm for run in searched} == set(CHOSEN)
    assert len(searched) == len(CHOSEN) * len(TRIALS)
    assert {run.column for run in searched} == {COLUMN}


@pytest.mark.slow
def test_tables_show_the_search_and_the_matches(tmp_path: Path) -> None:
    facts = {"algorithm": "ppo", "seconds": 100, "steps_per_second": 1000, "megabytes": 300}
    trials = [
        {
            **facts,
            "seconds": SECONDS,
            "column": COLUMN,
            "seed": 0,
            "trial": trial,
            "nash_conv": trial / 8,
        }
        for trial in range(len(TRIALS))
    ]
    share = {"mean": 0.25, "low": 0.2, "high": 0.3}
    whole = {"column": "link_o, 2 players", "seed": 1, "matches": {"linear": share}}
    curve = [[0.0, 10, 0.1], [100.0, 1000, 0.25]]
    rows = [*trials, {**facts, **whole, "wins_v_linear": 0.25, "curve": curve}]
    draw(rows, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
    table = tables(rows)
    cells = [f"{trial / 8:.3f}" for trial in range(len(TRIALS))]
    cells[CHOSEN["ppo"]] = f"**{cells[CHOSEN['ppo']]}**"
    assert f"| `ppo` | {' | '.join(cells)} |" in table
    assert "| `ppo` | 25.0 | 1,000 | 300 MB |" in table
