"""Random LINK-O has the statistics of section 8, which a reference model gave (4,000 rounds each).

Tolerances are 4 standard errors of this sample and the reference's together, plus the rounding of
the table.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.core.kernels import kernels
from tests.driving import first_quick
from tests.link_o.helpers import game_of

ROUNDS = 1200
REFERENCE = 4000


pytestmark = pytest.mark.slow  # quick: test_rules.py, beside the oracle


@dataclass
class Sample:
    """Arrays with a number for each round, and one for each decision."""

    ends: list[dict[str, Any]]
    plies: NDArray[np.int64]
    digs: NDArray[np.int64]
    choices: NDArray[np.int64]  # legal actions of each decision


@cache
def sample(players: int, count: int = ROUNDS, **options: Any) -> Sample:
    """Random matches in lock-step; of one round, if `target` is 0."""
    game = game_of(options.get("board", "ring4x16"))
    blank = game.blank(players, options)
    states = np.zeros(count, game.state)
    states[:] = blank
    run = kernels(game)
    masks = np.zeros((count, game.num_actions), np.int8)
    run.begin(states, np.arange(count, dtype=np.uint64), masks)
    rng = np.random.default_rng(players)
    choices = []
    while (states["seat"] >= 0).any():
        playing = states["seat"] >= 0
        rows, columns = np.nonzero(masks)
        counts = np.bincount(rows, minlength=count)
        choices.append(counts[playing])
        first = np.cumsum(counts) - counts
        picked = first + (rng.random(count) * counts).astype(np.int64)
        actions = np.where(playing, columns[np.minimum(picked, columns.size - 1)], -1)
        run.play(states, actions, masks)
    ends = [game.to_dict(state) for state in states]
    digs = np.array([68 - 8 * players - len(data["bag"]) for data in ends])
    plies = np.array([data["ply"] for data in ends])
    return Sample(ends, plies, digs, np.concatenate(choices))


def one_round(players: int, count: int = ROUNDS, **options: Any) -> Sample:
    """Rounds of their own."""
    return sample(players, count, target=0, **options)


def share(hits: NDArray[np.bool_], expected: float, digit: float, reference: int) -> None:
    """A share is as expected."""
    error = np.sqrt(expected * (1 - expected) * (1 / hits.size + 1 / reference))
    assert hits.mean() == pytest.approx(expected, abs=4 * error + digit)


def mean(values: NDArray[Any], expected: float, digit: float, reference: int) -> None:
    """A mean is as expected."""
    error = values.std() * np.sqrt(1 / values.size + 1 / reference)
    assert values.mean() == pytest.approx(expected, abs=4 * error + digit)


# Players; out, tie, placements, digs, branching, widest, forced, gain, wins from the starter on.
TABLE = [
    (2, 0.400, 0.009, 48.2, 41.2, 2.30, 37, 0.48, 28.4, (0.50, 0.50)),
    (3, 0.774, 0.010, 38.7, 22.8, 2.74, 33, 0.41, 31.7, (0.34, 0.34, 0.31)),
    (4, 0.905, 0.009, 37.5, 14.0, 3.36, 38, 0.32, 34.2, (0.29, 0.27, 0.23, 0.21)),
    (5, 0.936, 0.010, 41.3, 10.8, 3.85, 52, 0.27, 37.9, (0.29, 0.24, 0.19, 0.15, 0.13)),
    (6, 0.928, 0.012, 46.7, 9.7, 4.15, 40, 0.24, 43.9, (0.29, 0.22, 0.17, 0.14, 0.10, 0.08)),
]
rows = pytest.mark.parametrize(
    "row", first_quick([(row,) for row in TABLE], 0), ids=lambda row: f"{row[0]}p"
)


def won_by(found: Sample, players: int) -> NDArray[np.int64]:
    """Who won each round, counted from the starter; -1 for nobody."""
    return np.array(
        [
            -1 if winner is None else (winner - data["starter"]) % players
            for data in found.ends
            for winner in [data["last_round"]["winner"]]
        ]
    )


@rows
def test_how_rounds_end(row: Any) -> None:
    """R17-R19: going out, blocked, tied."""
    games = one_round(row[0])
    out = np.array([data["last_round"]["how"] == "out" for data in games.ends])
    share(out, row[1], 0.0005, REFERENCE)
    share(won_by(games, row[0]) < 0, row[2], 0.0005, REFERENCE)


@rows
def test_lengths(row: Any) -> None:
    """Placements and tiles dug in a round."""
    games = one_round(row[0])
    mean(games.plies, row[3], 0.05, REFERENCE)
    mean(games.digs, row[4], 0.05, REFERENCE)
    assert max(len(data["board"]) for data in games.ends) <= 64
    assert [len(data["board"]) for data in games.ends] == games.plies.tolist()


@rows
def test_choices(row: Any) -> None:
    """Legal actions and decisions with one: those of a round depend on each other (a tenth)."""
    games = one_round(row[0])
    values = games.choices
    error = values.std() * np.sqrt(10 / values.size + 10 / (REFERENCE * row[3]))
    assert values.mean() == pytest.approx(row[5], abs=4 * error + 0.005)
    forced = values == 1
    error = np.sqrt(0.25 * (10 / values.size + 10 / (REFERENCE * row[3])))
    assert forced.mean() == pytest.approx(row[7], abs=4 * error + 0.005)
    assert values.min() >= 1
    assert 20 <= values.max() <= 64


@rows
def test_gains(row: Any) -> None:
    """R17-R19: the score of a round's winner."""
    games = one_round(row[0])
    gains = np.array([data["last_round"]["points"] for data in games.ends])
    mean(gains, row[8], 0.05, REFERENCE)


@rows
def test_wins_from_the_starters_seat_on(row: Any) -> None:
    """Starting is worth a lot with many players."""
    winners = won_by(one_round(row[0]), row[0])
    decided = winners[winners >= 0]
    for step, expected in enumerate(row[9]):
        share(decided == step, expected, 0.005, REFERENCE)


@pytest.mark.parametrize(
    ("players", "rounds"),
    first_quick([(2, 3.95), (3, 4.11), (4, 4.14), (5, 3.74), (6, 3.35)], 0),
)
def test_match_lengths(players: int, rounds: float) -> None:
    """Rounds to 64, 154-191 placements, few above 331; the reference's 1,300 matches each."""
    games = sample(players, 200)
    played = np.array([data["round"] for data in games.ends])
    mean(played, rounds, 0.005, 1300)
    assert played.max() <= 14
    spread = 4 * games.plies.std() / np.sqrt(200)
    assert 154 - spread <= games.plies.mean() <= 191 + spread
    assert np.quantile(games.plies, 0.9) < 331


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "outs"),
    [
        ({"board": "ring4x12"}, (0.26, 0.55, 0.65, 0.57, 0.18)),
        ({"board": "ring4x16x2"}, (0.25, 0.61, 0.73, 0.82, 0.79)),
        ({"dig": "one"}, (0.36, 0.74, 0.90, 0.94, 0.94)),
    ],
    ids=["ring12", "x2", "dig one"],
)
def test_going_out_elsewhere(options: dict[str, Any], outs: tuple[float, ...]) -> None:
    """Other boards, and drawing one tile only; the reference has 1,000 rounds each."""
    for players, expected in enumerate(outs, 2):
        games = one_round(players, 400, **options)
        out = np.array([data["last_round"]["how"] == "out" for data in games.ends])
        share(out, expected, 0.005, 1000)


@pytest.mark.nightly
def test_circles_get_completed() -> None:
    """R23: 26 % of two-player rounds, 3-11 % of larger ones (section 4)."""
    for players in range(2, 7):
        games = one_round(players)
        full = np.array(
            [
                any(all(str(16 * c + pos) in data["board"] for pos in range(16)) for c in range(4))
                for data in games.ends
            ]
        )
        low, high = (0.26, 0.26) if players == 2 else (0.03, 0.11)
        error = 4 * np.sqrt(high * (1 - high) * (1 / ROUNDS + 1 / REFERENCE)) + 0.005
        assert low - error <= full.mean() <= high + error


@pytest.mark.nightly
def test_adjacent_first_turns_cost_digs() -> None:
    """Section 8: with adjacency on first turns gains are 39-110 points a round."""
    means = []
    for players in range(2, 7):
        games = one_round(players, 250, open_connectors="adjacent_only")
        gains = np.array([data["last_round"]["points"] for data in games.ends])
        means.append(gains.mean())
        spread = 4 * gains.std() * np.sqrt(1 / gains.size + 1 / 1000)
        assert 39 - spread <= gains.mean() <= 110 + spread
        assert games.digs.mean() > one_round(players).digs.mean()
    assert max(means) > 90
    assert min(means) < 60
