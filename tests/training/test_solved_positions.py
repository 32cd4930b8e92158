"""Solved positions: their wins are right, and lost wins of agents are counted right."""

import json
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab import solved_positions as maker
from numpy.typing import NDArray

from linkzoo import Positions, RandomAgent
from linkzoo.games.linkage.solver import Solver
from linkzoo.position_file import read_position_file
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from linkzoo_training.evaluation import solved_positions as module
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.solved_positions import (
    BlunderRate,
    SolvedPositions,
    measure_blunders,
    read_solved_positions,
)
from linkzoo_training.evaluation.statistics import wilson
from linkzoo_training.search.solver import solver, successors, winning_actions
from tests.linkage.helpers import GAME
from tests.linkage.perfect import perfect_groups

pytestmark = pytest.mark.slow  # quick: test_solver.py
FILE = module.SOLVED_POSITIONS / "linkage.jsonl"


@cache
def solved() -> SolvedPositions:
    """The file that ships, read at its first use: that compiles, and collecting tests doesn't."""
    return read_solved_positions(GAME)


class Outcome:
    """Plays the first action with this outcome, 1 or 0; knows its positions by their bytes."""

    name = "solved"

    def __init__(self, wanted: int) -> None:
        positions = solved()
        actions = (positions.wins == wanted).argmax(1).tolist()
        self._known = dict(
            zip((state.tobytes() for state in positions.states), actions, strict=True)
        )

    def act(self, positions: Positions) -> NDArray[np.int64]:
        return np.array([self._known[state.tobytes()] for state in positions.states])


def test_the_file_of_linkage() -> None:
    """Issue: at least 2,000 positions, both outcomes at least 40 %; a win can be thrown away."""
    count = len(solved().states)
    assert count >= 2000
    assert 0.4 <= (solved().states["seat"] == 0).mean() <= 0.6  # the seat to act wins
    assert set(solved().states["ply"].tolist()) == {12, 13, 14, 15, 16, 17}
    assert ((solved().wins == 1).sum(1) >= 1).all()
    assert ((solved().wins == 0).sum(1) >= 1).all()
    positions = Positions(GAME, solved().states, solved().states["seed"])
    assert ((solved().wins >= 0) == positions.action_mask).all()
    assert len({state.tobytes() for state in solved().states}) == count
    file = read_position_file(FILE, GAME)
    assert len({line["opening"] for line in file.lines}) == count
    assert file.about["seed"] != read_ladder("linkage").seed
    few = [*range(0, count, 100)]
    replayed, _ = maker.positions_after(GAME, file.about, [file.lines[row] for row in few])
    assert (replayed == solved().states[few]).all()


def test_the_wins_are_those_of_plain_minimax() -> None:
    """In the positions with the fewest legal actions, by the rules alone."""
    fewest = (solved().wins >= 0).sum(1).argsort()[:30]
    for state, wins in zip(solved().states[fewest], solved().wins[fewest], strict=True):
        for action, after in successors(GAME, state).items():
            more_wins = perfect_groups(GAME.to_dict(after)) >= 12
            assert wins[action] == (more_wins == (state.seat == 0))


@pytest.mark.nightly  # slow: the wins are those of plain minimax
def test_the_wins_are_those_of_the_solver() -> None:
    exact = Solver()
    for row in range(0, len(solved().states), 70):
        assert (winning_actions(GAME, exact, solved().states[row]) == solved().wins[row]).all()


@cache
def blunders_of_random_play() -> list[BlunderRate]:
    return [measure_blunders("linkage", RandomAgent(), seed=seed, batch=512) for seed in range(2)]


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_random_play_throws_away_what_the_positions_say(seat: int | None) -> None:
    results = blunders_of_random_play()
    chosen = [i for i, s in enumerate(solved().states["seat"]) if seat in (None, s)]
    loss = (solved().wins[chosen] == 0).sum(1) / (solved().wins[chosen] >= 0).sum(1)
    assert results[0].rates(seat).random == pytest.approx(loss.mean())
    assert results[0].rates(seat).positions == len(chosen)
    mean = np.mean([result.rates(seat).share.mean for result in results])
    error = sqrt((loss * (1 - loss)).sum() / 2) / len(chosen)
    assert abs(mean - loss.mean()) < 4 * error
    assert (results[0].blunders != results[1].blunders).any()


@pytest.mark.parametrize(("wanted", "share"), [(1, 0.0), (0, 1.0)])
def test_perfect_and_hopeless_agents(wanted: int, share: float) -> None:
    result = measure_blunders("linkage", Outcome(wanted))
    assert result.rates().share == wilson(share, len(solved().states))
    for seat in (0, 1):
        assert result.rates(seat).share == wilson(share, result.rates(seat).positions)


def test_stronger_agents_throw_less_away() -> None:
    agents = RandomAgent(), GreedyAgent(), UctAgent(20), UctAgent(200)
    shares = [measure_blunders("linkage", agent).rates().share for agent in agents]
    for weaker, stronger in ((0, 1), (0, 2), (2, 3)):
        assert shares[stronger].high < shares[weaker].low


def test_does_not_depend_on_the_batch() -> None:
    seen: list[tuple[int, int]] = []
    one = measure_blunders(
        "linkage", RandomAgent(), seed=4, batch=1000, progress=lambda *x: seen.append(x)
    )
    assert seen == [(1000, 2100), (2000, 2100), (2100, 2100)]
    other = measure_blunders("linkage", RandomAgent(), seed=4, batch=37)
    assert (one.blunders == other.blunders).all()


def test_the_numbers_as_json() -> None:
    result = measure_blunders("linkage", GreedyAgent(), seed=2)
    data = json.loads(json.dumps(result.to_dict()))
    assert [seat["label"] for seat in data["seats"]] == ["More (seat 0)", "Fewer (seat 1)"]
    assert data["share"]["mean"] == pytest.approx(np.mean(data["blunders"]))
    assert sum(seat["positions"] for seat in data["seats"]) == data["positions"]
    assert (data["agent"], data["seed"], data["game"]) == ("greedy", 2, "linkage")


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"no solved positions for love_links; .*\['linkage'\]"):
        measure_blunders("love_links", RandomAgent())

    class Cheat(RandomAgent):
        def act(self, positions: Positions) -> NDArray[np.int64]:
            return np.asarray(positions.action_mask.argmin(1))

    with pytest.raises(ValueError, match="random played the illegal action"):
        measure_blunders("linkage", Cheat())
    first, second = FILE.read_text(encoding="utf-8").splitlines()[:2]
    line = json.loads(second)
    line["values"] = line["values"][1:]
    (tmp_path / "linkage.jsonl").write_text(f"{first}\n{json.dumps(line)}")
    monkeypatch.setattr(module, "SOLVED_POSITIONS", tmp_path)
    with pytest.raises(ValueError, match=r"line 2: values: .* finite numbers are needed"):
        read_solved_positions(GAME)


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One position of each ply; stopped near its end, it goes on to the same file."""
    monkeypatch.setattr(maker, "_BATCH", 12)
    calls, stop_at = [0], [0]

    def counted(*arguments: Any) -> NDArray[np.int8]:
        calls[0] += 1
        if calls[0] == stop_at[0]:
            raise KeyboardInterrupt
        return winning_actions(*arguments)

    def make(count: int = 1) -> dict[str, Any]:
        calls[0] = 0
        return maker.make_solved_positions(GAME, count, work, ["greedy", "random"])

    monkeypatch.setattr(maker, "winning_actions", counted)
    work = tmp_path / "work.json"
    whole = make()
    work.unlink()
    stop_at[0] = calls[0]
    with pytest.raises(KeyboardInterrupt):
        make()
    assert 0 < json.loads(work.read_text())["games"] < whole["games"]
    with pytest.raises(ValueError, match="other settings"):
        make(2)
    stop_at[0] = 0
    assert make() == whole
    assert sorted(entry["ply"] for entry in whole["positions"]) == [12, 13, 14, 15, 16, 17]
    maker.save_solved_positions(tmp_path / "linkage.jsonl", GAME, whole)
    monkeypatch.setattr(module, "SOLVED_POSITIONS", tmp_path)
    positions = read_solved_positions(GAME)
    for state, own in zip(positions.states, positions.wins, strict=True):
        assert (winning_actions(GAME, solver(GAME), state) == own).all()
        assert {0, 1} <= set(own.tolist())
