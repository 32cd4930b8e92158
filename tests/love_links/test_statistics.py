"""Love Links has the statistics of a reference model that was written before the package.

Tolerances are at least four standard errors of the sample, plus the rounding of the table.
"""

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import Agent, Positions, RandomAgent
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.evaluation.match import play_match
from tests.driving import first_quick
from tests.love_links.helpers import GAME, start
from tests.love_links.oracle import Json, Setup

GAMES = 600
WATCHED = 80  # of them ply by ply


pytestmark = pytest.mark.slow  # quick: test_rules.py, beside the oracle


@dataclass
class Sample:
    """Numbers per game, and the counts of legal actions of all decisions."""

    decisions: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    completed: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    winning: list[int] = field(default_factory=list)
    first_wins: list[float] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    skips: list[int] = field(default_factory=list)
    widest: int = 0
    narrowest: int = 99
    legal: list[int] = field(default_factory=list)


def watch(sample: Sample, game: list[Json], masks: list[NDArray[np.int8]]) -> None:
    """Adds the statistics that need all positions of a game."""
    turns = [d for d in game[:-1] if d["move"] == 1 and not d["must_start"]]
    sample.turns.append(len(turns))
    sample.skips.append(
        sum(
            (two["seat"] - one["seat"] - 1) % one["num_players"]
            for one, two in pairwise(turns)
            if one["round"] == two["round"]
        )
    )
    forced = 0
    for (before, after), mask in zip(pairwise(game), masks, strict=True):
        forced += bool(mask[360:].any()) and not before["must_start"]
        if after["completed"] > before["completed"]:
            lost = {b["slot"]: len(b["links"]) for b in before["bracelets"]}
            kept = {b["slot"]: len(b["links"]) for b in after["bracelets"]}
            (gone,) = (n for slot, n in lost.items() if kept.get(slot, 0) < n)
            sample.lengths.append(gone + 1)
        sample.widest = max(sample.widest, len(after["bracelets"]))
        sample.narrowest = min(sample.narrowest, len(after["bracelets"]))
    sample.forced.append(forced)


def finish(sample: Sample, end: Json) -> None:
    """Adds the statistics of a game's last position."""
    sides = len(end["scores"])
    sample.decisions.append(end["ply"])
    sample.completed.append(end["completed"])
    sample.scores.append(float(np.mean(end["scores"])))
    sample.winning.append(max(end["scores"]))
    sample.first_wins.append((0 in end["winners"]) / len({s % sides for s in end["winners"]}))


@cache
def sample(players: int, short: bool = False, *, greedy: bool = False) -> Sample:
    """Games in lock-step, every seat playing alike."""
    agent: Agent = GreedyAgent() if greedy else RandomAgent()
    states = np.zeros(GAMES, GAME.state)
    for row in range(GAMES):
        states[row] = start(Setup(players, short), row)
    masks = np.zeros((GAMES, GAME.num_actions), np.int8)
    kernels(GAME).fill_masks(states, masks)
    games: list[list[Json]] = [[GAME.to_dict(state)] for state in states[:WATCHED]]
    seen: list[list[NDArray[np.int8]]] = [[] for _ in games]
    statistics = Sample()
    rng = np.random.default_rng(players)
    while (playing := np.flatnonzero(states["seat"] >= 0)).size:
        seeds = rng.integers(0, 2**63, playing.size).astype(np.uint64)
        actions = np.full(GAMES, -1)
        actions[playing] = agent.act(Positions(GAME, states[playing], seeds))
        statistics.legal += masks[playing].sum(1, dtype=np.int64).tolist()
        for row in playing[playing < WATCHED]:
            seen[row].append(masks[row].copy())
        kernels(GAME).play(states, actions, masks)
        for row in playing[playing < WATCHED]:
            games[row].append(GAME.to_dict(states[row]))
    for game, mask in zip(games, seen, strict=True):
        watch(statistics, game, mask)
    for state in states:
        finish(statistics, GAME.to_dict(state))
    return statistics


# Players, short, greedy; then decisions, turns, completed, their length, mean score, winner's
# score, legal actions, decisions with one choice in percent, forced starts, skipped seats.
COLUMNS = [
    ((2, False, False), (88.96, 43.8, 4.3, 9.2, 115, 150, 9.0, 4.0, 1.1, 0.13)),
    ((3, False, False), (88.93, 44.3, 4.3, None, 78, 123, 8.9, 5.1, 1.3, 0.24)),
    ((4, False, False), (88.92, 45.1, 4.3, None, 113, 146, 8.7, 6.1, 1.5, 0.56)),
    ((2, False, True), (88.83, 38.9, 14.1, 5.6, 184, 216, 10.7, 2.8, 0.4, None)),
    ((2, True, True), (43.9, 19.8, 7.0, None, 79, 99, 13.1, 1.5, 0.07, None)),
]
NAMES = "decisions turns completed lengths scores winning legal single forced skips".split()


def name_of(column: tuple[int, bool, bool]) -> str:
    players, short, greedy = column
    return f"{players}p{'-short' if short else ''}-{'greedy' if greedy else 'uniform'}"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("column", "name", "expected"),
    [
        pytest.param(column, name, value, id=f"{name_of(column)}-{name}")
        for column, values in COLUMNS
        for name, value in zip(NAMES, values, strict=True)
        if value is not None
    ],
)
def test_means(column: tuple[int, bool, bool], name: str, expected: float) -> None:
    """Each mean, within 4.5 standard errors and the last digit of the table."""
    players, short, greedy = column
    games = sample(players, short, greedy=greedy)
    if name == "single":
        values = 100.0 * (np.array(games.legal) == 1)
    else:
        values = np.array(getattr(games, name), float)
    digit = {"decisions": 0.01, "scores": 0.5, "winning": 0.5}.get(name, 0.05)
    error = values.std() / np.sqrt(len(values))
    # Numbers of one game depend on each other: decisions count as a tenth, completions as a half.
    error *= {"legal": np.sqrt(10), "single": np.sqrt(3), "lengths": np.sqrt(2)}.get(name, 1.0)
    assert values.mean() == pytest.approx(expected, abs=digit + 4.5 * error)


@pytest.mark.nightly
def test_issue_tolerances() -> None:
    """Random two-player games: 87-89 decisions, 9.0 legal actions give or take 0.3."""
    games = sample(2)
    assert {87, 88, 89} >= set(games.decisions) >= {88, 89}
    assert np.mean(games.legal) == pytest.approx(9.0, abs=0.3)


@pytest.mark.nightly
@pytest.mark.parametrize("column", first_quick([(c,) for c, _ in COLUMNS], 0), ids=name_of)
def test_ranges(column: tuple[int, bool, bool]) -> None:
    """Bounds that are never exceeded, and values that occur."""
    players, short, greedy = column
    games = sample(players, short, greedy=greedy)
    if short:
        assert min(games.decisions) >= 15
        assert max(games.decisions) <= 89
    else:
        assert min(games.decisions) >= 86
        assert max(games.decisions) == 89
    assert 7 <= games.widest <= 12 if not short else 5 <= games.widest <= 10
    assert games.narrowest >= 1
    assert min(games.legal) == 1
    assert 28 <= max(games.legal) <= 60
    assert max(games.completed) <= 20


@pytest.mark.nightly
def test_first_seat() -> None:
    """The first seat wins 49.9 % (uniform), 50.4 % (greedy), 53.3 % (short, greedy)."""
    spread = 4 * 0.5 / np.sqrt(GAMES)
    assert np.mean(sample(2).first_wins) == pytest.approx(0.499, abs=spread)
    assert np.mean(sample(2, greedy=True).first_wins) == pytest.approx(0.504, abs=spread)
    assert np.mean(sample(2, True, greedy=True).first_wins) == pytest.approx(0.533, abs=spread)


@pytest.mark.nightly
def test_short_uniform_games_reach_the_target_in_most_cases() -> None:
    """90 %."""
    reached = np.mean([score >= 90 for score in sample(2, True).winning])
    assert reached == pytest.approx(0.90, abs=4.5 * np.sqrt(0.09 / GAMES))


@pytest.mark.parametrize(("players", "least"), first_quick([(2, 0.99), (3, 0.95), (4, 0.99)], 0))
def test_greedy_beats_random(players: int, least: float) -> None:
    """Greedy wins 99.8 % of the games of two, and nearly all with more players.

    With four players both seats of a team play alike.
    """
    blocks = 300 if players == 2 else 100
    result = play_match("love_links", GreedyAgent(), RandomAgent(), blocks, num_players=players)
    assert result.win_share().mean >= least
    assert all(share >= least - 0.03 for share in result.side_scores)
