"""Draws and shared wins: every count, share and solution that deals with them.

In the toy HIGH all who named the highest number win.
"""

import json
import re
import sys
from typing import Any

import numpy as np
import pytest
import torch
from lab import random_play
from numpy.typing import NDArray

from linkzoo import Game, Positions, RandomAgent
from linkzoo.core.solver import DRAW
from linkzoo_training.agents import baselines
from linkzoo_training.agents.baselines import ExactAgent
from linkzoo_training.config.config import PoolConfig
from linkzoo_training.evaluation import match as match_module
from linkzoo_training.evaluation import result as result_module
from linkzoo_training.evaluation.match import Match
from linkzoo_training.evaluation.report import match_table
from linkzoo_training.evaluation.result import MatchResult, win_shares
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.search.solver import winning_actions
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.opponents import Opponents
from tests.driving import first_quick
from tests.training.helpers import begin, value
from tests.training.test_match import shown
from tests.training.toys import HIGH


class Always:
    """Names the same number every time."""

    def __init__(self, number: int) -> None:
        self.number, self.name = number, f"always {number}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        return np.full(len(positions), self.number, np.int64)


@pytest.fixture(autouse=True)
def _the_game_is_high(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (match_module, result_module):
        monkeypatch.setattr(module, "get_game", lambda *_: HIGH)


def match(a: Any, b: Any, blocks: int, players: int = 2, sprt: Sprt | None = None) -> MatchResult:
    settings = Match("high", a, b, blocks, num_players=players, openings="0")
    return settings.play(sprt=sprt)


def test_win_shares() -> None:
    winners = np.array([0b001, 0b100, 0b011, 0b111], np.uint32)
    expected = [[1, 0, 0], [0, 0, 1], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert win_shares(winners, range(3)) == pytest.approx(np.array(expected))
    assert win_shares(winners.reshape(2, 2), range(3)).shape == (2, 2, 3)
    # Two teams of two: a seat of each tells.
    assert win_shares(np.array([0b0101, 0b1111], np.uint32), (0, 1)).tolist() == [[1, 0], [0.5] * 2]


@pytest.mark.slow
@pytest.mark.parametrize("players", first_quick([3, 2], slow=0))
def test_a_match_of_draws(players: int) -> None:
    result = match(Always(1), Always(1), 20, players)
    assert result.counts() == (0, 20 * players, 0)
    assert result.counts(0) == (0, 20, 0)
    data = json.loads(json.dumps(result.for_card()))
    assert (data["wins"], data["draws"], data["losses"]) == (0, 20 * players, 0)
    assert [side["draws"] for side in data["sides"]] == [20] * players
    for share in (result.win_share(), result.win_share(0), result.mean_payoff()):
        assert share.low < share.mean < share.high
        assert share.high - share.low < 0.35
    assert result.win_share().mean == pytest.approx(1 / players)
    assert f"0 / {20 * players} / 0" in shown(result)
    assert match_table(result).row_count == players + 1


@pytest.mark.slow
@pytest.mark.parametrize("players", first_quick([3, 2], slow=0))
def test_wins_draws_and_losses_of_random_games(players: int) -> None:
    """A share of the win is 1/k for k who won; the payoffs say the same in their own way."""
    result = match(RandomAgent(), RandomAgent(), 300, players)
    counts = result.counts()
    assert sum(counts) == result.games == 300 * players
    assert min(counts) > 0
    assert (result.payoff > 0.99).sum() == counts.wins
    by_payoff = (result.payoff * (players - 1) + 1) / players
    assert result.share == pytest.approx(by_payoff, abs=1e-6)
    drawn = set(np.round(result.share[(result.share > 0) & (result.share < 1)], 6).tolist())
    assert drawn == {round(1 / k, 6) for k in range(2, players + 1)}
    assert np.add(result.counts(0), result.counts(1)).sum() == 600
    lost = match(Always(0), Always(2), 5, players)
    assert (lost.counts(), lost.win_share().mean) == ((0, 0, 5 * players), 0)


@pytest.mark.usefixtures("uncompiled")
def test_a_sequential_test_of_draws() -> None:
    """A match of draws ends: A isn't stronger by the tested margin."""
    result = match(Always(1), Always(1), 500, sprt=Sprt(0, 60))
    assert result.blocks < 30
    assert result.for_card()["sprt"]["accepted"] == "low"


@pytest.mark.slow
def test_shares_of_random_play_sum_to_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(random_play, "get_game", lambda *_: HIGH)
    monkeypatch.setattr(sys, "argv", ["x", "linkage", "--games", "900", "--players", "3"])
    random_play.main()
    printed = capsys.readouterr().out
    wins = [float(share) for share in re.findall(r"seat \d wins ([\d.]+)%", printed)]
    assert len(wins) == 3
    assert sum(wins) == pytest.approx(100, abs=0.02)
    shared = re.search(r"shared wins ([\d.]+)%, draws ([\d.]+)%", printed)
    assert shared is not None
    assert float(shared[1]) > float(shared[2]) > 0


def test_self_play_counts_shares_of_the_win() -> None:
    """The counts of a match: of three seats' games, two with two players."""
    players = np.array([3, 3, 3, 2, 2, 3], np.int8)
    states = np.zeros(6, HIGH.state)
    states["winners"] = [0b001, 0b011, 0b111, 0b010, 0b011, 0b100]
    states["num_players"] = players
    payoffs = np.zeros((6, 3), np.float32)
    for state, out in zip(states, payoffs, strict=True):
        HIGH.payoffs(state, out[: state["num_players"]])
    backend, pool = HostBackend(torch.device("cpu")), OpponentPool(PoolConfig().size, 0)
    opponents = Opponents(PoolConfig(), HIGH, torch.from_numpy(players), backend)
    counts = torch.tensor([True, True, True, True, True, False])
    given = slice(None), torch.from_numpy(payoffs), torch.ones_like(counts), counts
    expected = [1 + 1 / 2 + 1 / 3 + 1 / 2, 1 / 2 + 1 / 3 + 1 + 1 / 2, 1 / 3]
    opponents.count(*given)
    assert opponents.report(pool)[:3] == pytest.approx(expected)
    opponents.slot[:] = 0
    opponents.count(*given)
    assert not opponents.report(pool).any()
    assert pool.games[0] == 6


class ByTrying:
    """A solver that tries everything."""

    def winner(self, state: np.record, limit: int = 0) -> int:  # noqa: ARG002 - the protocol's
        return {1: 0, 0: DRAW, -1: 1}[round(value(HIGH, state, 0))]

    def score(self, state: np.record, limit: int = 0) -> None:
        """Nothing but winning is played for."""

    def forget(self) -> None:
        """Remembers nothing."""


def test_exact_play_keeps_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seat 0 draws by naming 2, as seat 1 does then; a number below the other's loses."""

    def solver(_: Game) -> ByTrying:
        return ByTrying()

    monkeypatch.setattr(baselines, "solver", solver)
    positions = begin(HIGH, 30)
    assert ByTrying().winner(positions.states[0]) == DRAW
    assert ExactAgent().act(positions).tolist() == [2] * 30
    assert winning_actions(HIGH, ByTrying(), positions.states[0]).tolist() == [0, 0, 0]  # none wins
    for number, winning in ((0, [0, 1, 1]), (1, [0, 0, 1]), (2, [0, 0, 0])):
        after = begin(HIGH, 30)
        for state in after.states:
            HIGH.rules.apply(state, number)
        replies = ExactAgent().act(after)
        assert winning_actions(HIGH, ByTrying(), after.states[0]).tolist() == winning
        assert set(replies.tolist()) == ({2} if number else {1, 2})
