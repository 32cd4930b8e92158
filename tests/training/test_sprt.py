"""The sequential test accepts the right strength, and is wrong about as often as it says."""

import numpy as np
import pytest

from linkzoo_training.agents import GreedyAgent, RandomAgent
from linkzoo_training.arena import play_match
from linkzoo_training.cli import main
from linkzoo_training.sprt import BOUND, Sprt, expected_score


def test_expected_scores() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-100) == pytest.approx(1 - expected_score(100))


def test_log_ratio_by_hand() -> None:
    """N (s1 - s0) (2 m - s0 - s1) / (2 v), with the blocks' mean m and variance v."""
    blocks = np.array([0.5, 1, 0.5, 0.5, 1, 0.5, 0, 0.5, 0.5, 1])
    low, high = 0.5, expected_score(50)
    by_hand = 10 * (high - low) * (2 * 0.6 - low - high) / (2 * blocks.var())
    assert blocks.mean() == pytest.approx(0.6)
    assert Sprt(0, 50).log_ratio(blocks) == pytest.approx(by_hand)
    assert Sprt(0, 50).log_ratio(blocks[:7]) == 0  # too few to say


@pytest.mark.parametrize(("elo", "expected"), [(0, "low"), (60, "high")])
def test_errors_are_rare(elo: float, expected: str) -> None:
    """5 % of 200 runs are 10; 22 or more have a chance below 0.001."""
    rng = np.random.Generator(np.random.PCG64(3))
    test, wrong, length = Sprt(0, 60), 0, []
    for _ in range(200):
        blocks = (rng.random((4000, 2)) < expected_score(elo)).mean(1)
        checks = range(16, 4000, 16)
        count = next(count for count in checks if test.verdict(blocks[:count]) is not None)
        length.append(count)
        wrong += test.verdict(blocks[:count]) != expected
    assert wrong < 22
    assert np.mean(length) < 400


def test_a_match_ends_when_it_is_clear() -> None:
    result = play_match("linkage", GreedyAgent(), RandomAgent(), 1000, batch=16, sprt=Sprt(0, 50))
    assert 16 <= result.blocks < 200
    data = result.to_dict()
    assert data["sprt"]["accepted"] == "high"
    assert data["sprt"]["log_ratio"] >= data["sprt"]["bounds"][1] == BOUND
    same = play_match("linkage", GreedyAgent(), GreedyAgent(), 40, batch=16, sprt=Sprt(0, 50))
    assert same.blocks == 40  # every block is even: no variance, no verdict
    assert same.to_dict()["sprt"]["accepted"] is None


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="sprt: 10 is not below 0"):
        Sprt(10, 0)
    with pytest.raises(ValueError, match="Elo is for two sides"):
        play_match("love_links", RandomAgent(), RandomAgent(), 5, num_players=3, sprt=Sprt(0, 10))
    assert main(["evaluate", "greedy", "random", "--games", "400", "--sprt", "0", "50"]) == 0
    assert "accepted" in capsys.readouterr().out
