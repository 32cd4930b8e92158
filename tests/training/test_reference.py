"""Ratings against frozen references: fixed tables, Luce's choice, files, the page, the command."""

import json
from pathlib import Path

import numpy as np
import pytest

from linkzoo import RandomAgent, game_names
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation import rating_files, reference
from linkzoo_training.evaluation.rating_files import RatingResult, rate, read_folder, write_page
from linkzoo_training.evaluation.reference import (
    Reference,
    Tables,
    digest_of,
    lineups_of,
    plackett_luce,
    play_tables,
    rating,
    read_reference,
)
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import ProcessExecutor
from tests.driving import first_quick

BOARD = {"board_size": 4, "threshold": [5, 6]}


def small(**changes: object) -> Reference:
    """A reference of Linkage on 4x4; greedy and random play have the ratings of the test."""
    fields: dict[str, object] = {
        "game": "linkage",
        "version": 1,
        "seed": 5,
        "openings": "0-2",
        "options": BOARD,
        "blocks": {2: 20},
        "ratings": {2: {"random": 800.0, "greedy": 1000.0}},
        "digests": {"random": "", "greedy": ""},
        **changes,
    }
    made = Reference(**fields)  # type: ignore[arg-type]
    digests = {name: digest_of(made.rules, made.agent(name)) for name in made.digests}
    return Reference(**{**fields, "digests": digests})  # type: ignore[arg-type]


def drawn_tables(points: list[float], blocks: int, sides: int, seed: int) -> Tables:
    """Tables of Luce's model in which agent 0 has side 0."""
    generator = np.random.Generator(np.random.PCG64(seed))
    strengths = 10 ** (np.array(points) / 400)
    lineups = np.zeros((blocks, 1, sides), np.int64)
    lineups[..., 1:] = generator.integers(1, len(points), (blocks, 1, sides - 1))
    chances = strengths[lineups] / strengths[lineups].sum(2, keepdims=True)
    winners = (generator.random((blocks, 1, 1)) > chances.cumsum(2)).sum(2)
    shares = (winners[..., None] == np.arange(sides)).astype(np.float64)
    return Tables(lineups, shares)


@pytest.mark.parametrize("sides", first_quick([3, 2, 5], 0))
def test_a_rating_finds_the_strength(sides: int) -> None:
    """In most of 20 samples the interval holds the strength, and it is as wide as it should be."""
    points = [1130.0, 800, 1000, 1200]
    held = 0
    for seed in range(20):
        estimate = rating(drawn_tables(points, 600, sides, seed), points[1:])
        held += estimate.low <= points[0] <= estimate.high
        assert 20 < estimate.high - estimate.low < 100
    assert held >= 16


def test_all_wins_and_all_losses_are_finite() -> None:
    """A block that is won as often as by an equal agent keeps ratings finite."""
    lineups = np.tile([0, 1], (50, 1, 1)).astype(np.int64)
    won = np.tile([1.0, 0.0], (50, 1, 1))
    best = rating(Tables(lineups, won), [1000.0])
    worst = rating(Tables(lineups, won[..., ::-1]), [1000.0])
    odds = (50 + 0.5) / 0.5
    assert best.mean == pytest.approx(1000 + 400 * np.log10(odds), abs=0.01)
    assert worst.mean == pytest.approx(1000 - 400 * np.log10(odds), abs=0.01)


def test_plackett_luce_finds_strengths() -> None:
    points = [100.0, -150, 0, 50]
    generator = np.random.Generator(np.random.PCG64(3))
    lineups = generator.integers(0, 4, (40_000, 3))
    strengths = 10 ** (np.array(points) / 400)[lineups]
    cut = generator.random((40_000, 1)) * strengths.sum(1, keepdims=True)
    winners = (cut > strengths.cumsum(1)).sum(1)
    shares = (winners[:, None] == np.arange(3)).astype(np.float64)
    assert plackett_luce(lineups, shares, 4) == pytest.approx(points, abs=12)


def test_the_agent_has_each_side_once() -> None:
    """The opponents keep their order, and all of them are met."""
    tables = small()
    lineups = lineups_of(tables, 2, range(50))
    assert lineups.shape == (50, 2, 2)
    assert (lineups[:, [0, 1], [0, 1]] == 0).all()
    assert (lineups[:, 0, 1] == lineups[:, 1, 0]).all()
    assert set(lineups[:, 0, 1].tolist()) == {1, 2}


def test_random_play_has_the_rating_of_random_play() -> None:
    """Equal agents win half of the games; greedy wins more often."""
    made = small()
    agent = made.agent("random")
    tables = play_tables(made, 2, agent, 60)
    assert tables.shares.shape == (60, 4, 2)
    against = tables.lineups.max(2)
    won = tables.shares[tables.lineups == 0].reshape(against.shape)
    assert won[against == 2].mean() < won[against == 1].mean() - 0.1
    assert won[against == 1].mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.nightly  # quick: test_executors.py
def test_games_depend_on_neither_batch_nor_process(monkeypatch: pytest.MonkeyPatch) -> None:
    made = small()
    whole = play_tables(made, 2, made.agent("greedy"), 12)
    with ProcessExecutor(2) as executor:
        executor.start(TaskWorker)
        apart = play_tables(made, 2, made.agent("greedy"), 12, executor=executor)
    assert apart.digest() == whole.digest()
    monkeypatch.setattr(reference, "_BATCH", 5)
    parts = play_tables(made, 2, made.agent("greedy"), 12)
    assert (parts.shares == whole.shares).all()


def test_an_opponent_that_changed_is_named() -> None:
    made = small()
    assert made.changed_opponents() == []
    other = Reference(**{**made.__dict__, "digests": {**made.digests, "greedy": "another"}})
    assert other.changed_opponents() == ["greedy"]


@pytest.fixture(name="shipped")
def fixture_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for ratings, where the reference of Linkage is the small one."""
    folder = tmp_path / "references"
    folder.mkdir()
    (folder / "linkage.json").write_text(json.dumps(small().to_dict()))
    monkeypatch.setattr(reference, "REFERENCES", folder)
    return tmp_path / "ratings"


def test_the_command_rates_and_shows_a_page(
    shipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["experiment", "rate", "greedy", "random", "--game", "linkage"]
    assert main([*command, "--folder", str(shipped)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("greedy in linkage, 2 players: ")
    assert lines[-1] == str(shipped / "index.html")
    first, second = read_folder(shipped)
    assert (first.agent, second.agent) == ("greedy", "random")
    assert first.games == 80
    assert first.rating.low <= first.rating.mean <= first.rating.high
    page = (shipped / "index.html").read_text()
    assert "<h2>Linkage, 2 players</h2>" in page
    assert page.count('<tr class="reference">') == page.count('<tr class="agent">') == 2
    before = (shipped / "linkage-2p-greedy.json").stat().st_mtime_ns
    assert main([*command, "--folder", str(shipped)]) == 0
    assert (shipped / "linkage-2p-greedy.json").stat().st_mtime_ns == before
    assert main([*command, "--folder", str(shipped), "--games", "8"]) == 2
    assert "is of another agent or other games" in capsys.readouterr().err


def test_a_rating_is_repeated(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same games, or other ones whose rating is compared."""
    result = rate(read_reference("linkage"), 2, "greedy", blocks=10)
    result.write(shipped)
    path = shipped / "linkage-2p-greedy.json"
    assert RatingResult.read(path) == result
    assert main(["experiment", "rate", "--repeat", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "the same games"
    data = json.loads(path.read_text())
    data["results"] = "others"
    data["rating"] = {"mean": 5000.0, "low": 4900.0, "high": 5100.0}
    path.write_text(json.dumps(data))
    assert main(["experiment", "rate", "--repeat", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "the intervals don't overlap"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name an agent"),
        (["random", "--game", "linkage", "--players", "3"], "has [2], not 3"),
        (["random", "--game", "love_links"], "reference: none for love_links"),
        (["--repeat", "none.json"], "none.json"),
        (["random", "--repeat", "none.json"], "the file names the agent"),
    ],
)
def test_wrong_questions_say_why(
    shipped: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    assert main(["experiment", "rate", *arguments, "--folder", str(shipped)]) == 2
    assert reason in capsys.readouterr().err


def test_a_page_needs_no_agents(shipped: Path) -> None:
    shipped.mkdir()
    assert write_page([], shipped).read_text().startswith("<!doctype html>")
    (shipped / "broken.json").write_text("{}")
    with pytest.raises(ValueError, match=r"broken\.json is no result of linkzoo experiment rate"):
        rating_files.read_folder(shipped)


def test_a_page_of_others_stays(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped.mkdir()
    page = shipped / "index.html"
    page.write_text("<!doctype html>results of a night")
    command = ["experiment", "rate", "random", "--game", "linkage", "--folder", str(shipped)]
    assert main(command) == 2
    assert "is no page of ratings: name another folder" in capsys.readouterr().err
    assert list(shipped.iterdir()) == [page]
    page.unlink()
    (shipped / "night.json").write_text("{}")
    assert main(command) == 2
    assert "night.json is no result of linkzoo experiment rate" in capsys.readouterr().err
    assert [path.name for path in shipped.iterdir()] == ["night.json"]


@pytest.mark.slow
@pytest.mark.parametrize("game", first_quick(game_names(), slow=0))
def test_opponents_play_as_when_they_were_frozen(game: str) -> None:
    """And more points are a stronger agent: greedy has 1000, and random play less."""
    made = read_reference(game)
    assert made.changed_opponents() == []
    for points in made.ratings.values():
        assert points["random"] < points["greedy"] == 1000
        assert tuple(points) == made.opponents


def test_random_agents_need_no_name() -> None:
    """An agent that isn't named is played, too."""
    made = small()
    tables = play_tables(made, 2, RandomAgent(), 2)
    assert tables.shares.sum() == pytest.approx(8)
