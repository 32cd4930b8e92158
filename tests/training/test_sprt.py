"""The sequential test accepts the right strength, and is wrong about as often as it says."""

from math import inf, log, nan

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import RandomAgent
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.match import Match
from linkzoo_training.evaluation.statistics import BOUND, Sprt, expected_score
from tests.driving import first_quick


def test_expected_scores() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-100) == pytest.approx(1 - expected_score(100))


def test_log_ratios_by_hand() -> None:
    """Where blocks are won or lost, the likeliest distribution of a mean is that mean: Wald's test.

    An outcome that hasn't been seen counts next to nothing.
    """
    won, lost, even = 12, 8, 5
    blocks = np.array([1.0] * won + [0.0] * lost)
    low, high = 0.5, expected_score(50)
    by_hand = won * log(high / low) + lost * log((1 - high) / (1 - low))
    assert Sprt(0, 50).log_ratios(blocks)[-1] == pytest.approx(by_hand, abs=0.01)
    # Even blocks alone: as many others, won or lost, as the mean needs, which is likeliest.
    low, high = expected_score(100), expected_score(200)
    by_hand = even * log((2 - 2 * high) / (2 - 2 * low))
    assert Sprt(100, 200).log_ratios(np.full(even, 0.5))[-1] == pytest.approx(by_hand, abs=0.02)
    # With all outcomes seen and strengths close to one another, the normal approximation is near.
    blocks = np.tile([0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1], 100)
    low, high = 0.5, expected_score(10)
    by_hand = len(blocks) * (high - low) * (2 * blocks.mean() - low - high) / (2 * blocks.var())
    assert Sprt(0, 10).log_ratios(blocks)[-1] == pytest.approx(by_hand, rel=0.05)


def test_every_prefix_is_judged_on_its_own() -> None:
    blocks = np.random.Generator(np.random.PCG64(1)).integers(0, 5, 60) / 4
    test = Sprt(-20, 30)
    ratios = test.log_ratios(blocks)
    alone = [test.log_ratios(blocks[: count + 1])[-1] for count in range(60)]
    assert ratios == pytest.approx(alone)
    assert test.log_ratios(blocks, since=40) == pytest.approx(alone[40:])
    mirrored = Sprt(-30, 20).log_ratios(1 - blocks)
    assert mirrored == pytest.approx(-ratios)


@pytest.mark.parametrize(
    ("score", "elo", "expected"),
    [
        (1, (0, 50), "high"),
        (0, (0, 50), "low"),
        (0.5, (0, 50), "low"),
        (0.5, (-50, 0), "high"),
        (1, (-5, 5), "high"),
        (0, (-5, 5), "low"),
        (1, (-300, -200), "high"),
    ],
)
def test_certain_results_decide(score: float, elo: tuple[float, float], expected: str) -> None:
    """Blocks that are all won, all lost or all even decide, although they have no variance."""
    test, blocks = Sprt(*elo), np.full(500, float(score))
    assert test.verdict(blocks) == expected
    end = test.end(blocks)
    assert end is not None
    assert test.verdict(blocks[: end - 1]) is None
    # Right between two strengths, even blocks are as likely for both.
    assert Sprt(-50, 50).verdict(np.full(500, 0.5)) is None


def drawn(count: int, score: float, draws: float, seed: int) -> NDArray[np.float64]:
    """Blocks of two games, of which this share of the possible draws are draws."""
    half = draws * min(score, 1 - score)
    chances = [1 - score - half, 2 * half, score - half]
    games = np.random.Generator(np.random.PCG64(seed)).choice(3, (count, 2), p=chances)
    return np.asarray(games.mean(1) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("draws", first_quick([0.5, 0.0, 0.95], slow=0))
@pytest.mark.parametrize(("elo", "expected"), first_quick([(0, "low"), (60, "high")], slow=0))
def test_errors_are_rare(elo: float, expected: str, draws: float) -> None:
    """5 % of 200 runs are 10; 22 or more have a chance below 0.001."""
    test, wrong, length = Sprt(0, 60), 0, []
    for seed in range(200):
        blocks = drawn(1000, expected_score(elo), draws, seed)
        end = test.end(blocks[:250]) or test.end(blocks)
        assert end is not None
        length.append(end)
        wrong += test.verdict(blocks[:end]) != expected
    assert wrong < 22
    assert np.mean(length) < 150


def test_a_match_ends_when_it_is_clear() -> None:
    """It ends with the block that decides it, whatever the batch size."""
    results = [
        Match("linkage", GreedyAgent(), RandomAgent(), 1000).play(batch=batch, sprt=Sprt(0, 50))
        for batch in (1, 16, 64)
    ]
    result = results[0]
    assert 10 <= result.blocks < 200
    for other in results[1:]:
        assert (other.share == result.share).all()
        assert (other.length == result.length).all()
        assert other.moves == result.moves
        assert not other.interrupted
    data = result.to_dict()
    assert data["sprt"]["accepted"] == "high"
    assert data["sprt"]["log_ratio"] >= data["sprt"]["bounds"][1] == BOUND
    assert result.sprt is not None
    assert result.sprt.verdict(result.block_shares[:-1]) is None
    same = Match("linkage", GreedyAgent(), GreedyAgent(), 60).play(batch=16, sprt=Sprt(0, 50))
    assert same.to_dict()["sprt"]["accepted"] == "low"  # every block is even
    assert same.blocks < 60
    open_ = Match("linkage", GreedyAgent(), GreedyAgent(), 10).play(sprt=Sprt(-50, 50))
    assert (open_.blocks, open_.to_dict()["sprt"]["accepted"]) == (10, None)
    assert not open_.interrupted


def test_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="sprt: 10 is not below 0"):
        Sprt(10, 0)
    for low, high in ((0, inf), (-inf, 0), (nan, 5), (0, nan)):
        with pytest.raises(ValueError, match="not both finite"):
            Sprt(low, high)
    with pytest.raises(ValueError, match="Elo is for two sides"):
        Match("love_links", RandomAgent(), RandomAgent(), 5, num_players=3).play(sprt=Sprt(0, 10))
    assert main(["evaluate", "greedy", "random", "--games", "400", "--sprt", "0", "50"]) == 0
    assert "accepted" in capsys.readouterr().out
