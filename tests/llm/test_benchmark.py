"""Benchmark positions: their choice, the results of agents, and the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import Positions, RandomAgent, exact
from linkzoo_training.agents.make import make_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.llm import benchmark_positions
from linkzoo_training.llm.benchmark import ask_positions, frozen_digests, moves_digest
from linkzoo_training.llm.benchmark_positions import (
    benchmark_games,
    read_benchmark_positions,
    read_edition_positions,
)
from linkzoo_training.llm.benchmark_results import BenchmarkResults
from tests.driving import first_quick

every_game = pytest.mark.parametrize("name", benchmark_games())


class Best:
    """Plays the action with the highest value, or the lowest."""

    def __init__(self, values: np.ndarray, sign: int) -> None:
        self.name, self._values, self._sign = "best", values, sign

    def act(self, positions: Positions) -> np.ndarray:
        values = [v for v in self._values if (np.isfinite(v) == 1).any()]
        rows = [self._row(mask) for mask in positions.action_mask]
        return np.array([int(np.nanargmax(self._sign * values[row])) for row in rows])

    def _row(self, mask: np.ndarray) -> int:
        return int(np.flatnonzero((np.isfinite(self._values) == mask).all(1))[0])


@every_game
def test_positions_have_a_blunder_and_something_better(name: str) -> None:
    known = read_benchmark_positions(name)
    assert len(known.states) > 20
    assert (known.states["seat"] >= 0).all()
    positions = Positions(known.game, known.states, np.zeros(len(known.states), np.uint64))
    assert (np.isfinite(known.values) == positions.action_mask).all()
    assert (np.nanmax(known.lost, 1) >= known.blunder).all()
    assert np.nanmin(known.lost) == 0
    assert len(np.unique(known.states["seed"])) == len(known.states)


@pytest.mark.nightly  # quick: the positions of whole games; editions compile
@pytest.mark.parametrize("name", first_quick(benchmark_games(), 1, 0))
def test_positions_of_editions_have_a_blunder_and_something_better(name: str) -> None:
    for known in read_edition_positions(name):
        positions = Positions(known.game, known.states, np.zeros(len(known.states), np.uint64))
        assert (np.isfinite(known.values) == positions.action_mask).all()
        assert (np.nanmax(known.lost, 1) >= known.blunder).all()
        seen = positions.observation.reshape(len(positions), -1)
        assert len(np.unique(seen, axis=0)) == len(known.states) > 20


@pytest.mark.nightly  # slow: test_the_exact_solver_never_blunders
def test_an_equilibrium_has_no_regret() -> None:
    (known,) = read_edition_positions("link_o")
    tree = exact.tree("link_o", options=known.options)
    agent = exact.tabular_agent(tree, exact.solve(tree, 0.001).policy)
    for seed in range(3):
        result = ask_positions(known, agent, seed)
        assert result.regret.mean < 0.005
        assert result.random_regret > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["link_o"])
def test_opponents_play_as_when_they_were_frozen(name: str) -> None:
    known = read_benchmark_positions(name)
    for opponent, digest in frozen_digests(name).items():
        assert moves_digest(known, make_agent(opponent, name)) == digest, opponent


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["linkage", "love_links", "love_formula"])
def test_searches_play_as_when_they_were_frozen(name: str) -> None:
    test_opponents_play_as_when_they_were_frozen(name)


@every_game
def test_who_knows_the_values_loses_nothing(name: str) -> None:
    known = read_benchmark_positions(name).first(20)
    result = ask_positions(known, Best(known.values, 1))
    assert (result.positions, result.blunders.mean, result.regret.mean) == (20, 0, 0)
    assert result.report is None
    result = ask_positions(known, Best(known.values, -1))
    assert result.blunders.mean == 1
    assert result.regret.mean == pytest.approx(np.nanmax(known.lost, 1).mean())


def test_random_play_is_what_it_says() -> None:
    known = read_benchmark_positions("linkage")
    many = [ask_positions(known, RandomAgent(), seed) for seed in range(40)]
    blunders = np.mean([result.blunders.mean for result in many])
    assert blunders == pytest.approx(many[0].random_blunders, abs=0.03)
    assert many[0].random_regret == pytest.approx(2 * many[0].random_blunders)


@pytest.mark.slow
def test_the_positions_are_what_their_titles_say() -> None:
    known = read_benchmark_positions("love_links")
    greedy = ask_positions(known, make_agent("greedy", "love_links"))
    assert greedy.blunders.mean > 0.9
    assert (read_benchmark_positions("link_o").states["bag_size"] <= 6).all()
    drafts = read_benchmark_positions("love_formula").states
    assert ((drafts["half"] == 1) & (drafts["turn"] < 0)).all()


@pytest.mark.slow
def test_the_exact_solver_never_blunders() -> None:
    known = read_benchmark_positions("linkage").first(8)
    assert ask_positions(known, make_agent("exact", "linkage")).blunders.mean == 0


@pytest.mark.slow
def test_the_command_prints_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.json"
    command = f"llm benchmark greedy --game linkage --positions 9 --games 1 --json {path}"
    assert main(command.split()) == 0
    output = capsys.readouterr().out
    parts = json.loads(path.read_text())["parts"]
    assert list(parts)[:2] == ["linkage: exact verdicts", "linkage: against random"]
    assert all(part["frozen"] for name, part in parts.items() if "against" in name)
    assert len(parts) == 4
    assert "(9)" in output
    assert "(4)" in output
    assert "matches of linkage: after 2-4 random plies" in output
    assert main("llm benchmark exact --game love_links --positions 2 --games 0".split()) == 2
    path.write_text("{}")
    assert main(command.split()) == 2
    assert "is no result of linkzoo llm benchmark" in capsys.readouterr().err


def results_of(
    agent: str, positions: int = 40, tests: str = "d1", games: tuple[str, ...] = ("linkage",)
) -> BenchmarkResults:
    """Results of an agent in one set of positions of each game and one match."""
    share = {"mean": 0.25, "low": 0.1, "high": 0.5}
    blunders = {"positions": positions, "blunders": share, "regret": {**share, "mean": 0.5}}
    match = {"games": 12, "win_share": share, "frozen": True}
    parts: dict[str, dict[str, Any]] = {f"{game}: exact": blunders for game in games}
    parts[f"{games[0]}: against greedy"] = match
    return BenchmarkResults(
        settings={"agent": agent, "seed": 0, "games": 12, "positions": positions},
        agents=dict.fromkeys(games, "any"),
        tests=dict.fromkeys(games, tests),
        parts=parts,
    )


def test_results_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell is empty where an agent wasn't measured; rows of a game stay together."""
    first = tmp_path / "first.json"
    second = tmp_path / "second.json"
    results_of("greedy").write(first)
    results_of("linear", games=("linkage", "link_o")).write(second)
    assert BenchmarkResults.read(first) == results_of("greedy")
    assert main(["llm", "table", str(first), str(second), "--markdown"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "| test | greedy | linear |",
        "| --- | ---: | ---: |",
        "| linkage: exact (40) | 25.0 [10.0, 50.0]; 0.500 | 25.0 [10.0, 50.0]; 0.500 |",
        "| linkage: against greedy (12) | 25.0 [10.0, 50.0] | 25.0 [10.0, 50.0] |",
        "| link_o: exact (40) |  | 25.0 [10.0, 50.0]; 0.500 |",
    ]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (results_of("greedy"), "are both of greedy"),
        (results_of("linear", tests="d2"), "positions or opponents of linkage have changed"),
        (results_of("linear", positions=9), "different numbers of positions or games: 40 in"),
    ],
)
def test_results_of_other_tests_are_refused(
    other: BenchmarkResults, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results_of("greedy").write(tmp_path / "first.json")
    other.write(tmp_path / "second.json")
    assert main(["llm", "table", *map(str, sorted(tmp_path.iterdir()))]) == 2
    assert reason in capsys.readouterr().err


def test_a_file_for_other_rules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (benchmark_positions.BENCHMARK_POSITIONS / "linkage.jsonl").read_text()
    (tmp_path / "linkage.jsonl").write_text(text.replace('"version":1', '"version":9'))
    monkeypatch.setattr(benchmark_positions, "BENCHMARK_POSITIONS", tmp_path)
    with pytest.raises(ValueError, match=r"linkage\.jsonl: line 2: version"):
        read_benchmark_positions("linkage")
    with pytest.raises(ValueError, match=r"no benchmark positions for link_o; .* \['linkage'\]"):
        read_benchmark_positions("link_o")
