"""Tournaments: matches resume, and stale or damaged ones are noticed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from linkzoo import get_game
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation import tournament
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.report import write_ratings
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.networks.flat import make_network
from linkzoo_training.search import uct

AGENTS = RANDOM, GREEDY, UCT = tuple(map(AgentSpec.parse, ("random", "greedy", "uct-5")))


@pytest.fixture(name="settings")
def fixture_settings() -> Tournament:
    return Tournament("linkage", AGENTS, 6, 1, 2, "0")


def test_an_interrupted_tournament_goes_on(
    tmp_path: Path, settings: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    play: Callable[..., MatchResult] = play_match
    played: list[object] = []

    def interrupted(*arguments: object, **named: object) -> MatchResult:
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(arguments)
        return play(*arguments, **named)

    monkeypatch.setattr(tournament, "play_match", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tournament(settings, tmp_path)
    assert len(list((tmp_path / "matches").iterdir())) == 2
    monkeypatch.setattr(tournament, "play_match", play)
    whole = run_tournament(settings, tmp_path / "other")
    for one, other in zip(run_tournament(settings, tmp_path), whole, strict=True):
        assert (one.a, one.b) == (other.a, other.b)
        assert (one.share == other.share).all()
    monkeypatch.setattr(tournament, "play_match", None)  # nothing is left to play
    run_tournament(settings, tmp_path)


def test_matches_of_another_search_are_not_taken_over(
    settings: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tournament._digest(settings, GREEDY, UCT)
    assert tournament._digest(settings, GREEDY, UCT) == before
    monkeypatch.setattr(uct, "VERSION", uct.VERSION + 1)
    assert tournament._digest(settings, GREEDY, UCT) != before


def test_matches_of_another_agent_are_not_taken_over(
    tmp_path: Path, settings: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same name there may be another checkpoint or file; measured strength is no part."""
    game, checkpoint = get_game("linkage"), tmp_path / "ck"
    (tmp_path / "my_agent.py").write_text("one = 1")
    monkeypatch.syspath_prepend(tmp_path)
    outside = (f"{tmp_path}/my_agent.py:made", "my_agent:made")

    def digests() -> list[str]:
        every = (str(checkpoint), f"{checkpoint}~0:5", *outside)
        return [tournament._digest(settings, RANDOM, AgentSpec.parse(name)) for name in every]

    def save(seed: int, **more: object) -> None:
        torch.manual_seed(seed)
        card = {"network": {"kind": "flat", "width": 4, "blocks": 0}, "views": 1, **more}
        save_checkpoint(checkpoint, make_network(game, "flat", 4, 0), game, card)

    save(1)
    first = digests()
    save(1, strength=[{"games": 5}], blunder_rate=[])
    assert digests() == first
    for seed, more in ((2, {}), (1, {"temperature": 0.5}), (1, {"views": 2})):
        save(seed, **more)
        assert not {*digests()[:2]} & {*first[:2]}
    (tmp_path / "my_agent.py").write_text("one = 2")
    assert not {*digests()[2:]} & {*first[2:]}


@pytest.mark.parametrize(
    "wild",
    [
        *("", "5", "{}", "[]", '[[["x"]]]', "\xff", "[" * 9999),
        *(f'{{"block_shares": {shares}}}' for shares in ("null", "[]", "[[0, 1]]", "9" * 500)),
        *(f'{{"block_shares": [[[{share}, 1]]]}}' for share in ("7", "-1", "NaN", "null", '"x"')),
    ],
)
def test_a_damaged_match_is_named_before_any_is_played(
    wild: str, tmp_path: Path, settings: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(settings, blocks=1)
    path = tmp_path / "matches" / f"{tournament._digest(settings, GREEDY, UCT)}.json"
    path.parent.mkdir()
    path.write_bytes(wild.encode("latin-1"))
    monkeypatch.setattr(tournament, "play_match", None)
    with pytest.raises(ValueError, match=rf"{path.name} is damaged"):
        run_tournament(settings, tmp_path)
    assert list(path.parent.iterdir()) == [path]


def test_files(tmp_path: Path, settings: Tournament) -> None:
    page = write_ratings(settings, run_tournament(settings, tmp_path), tmp_path)
    assert (tmp_path / "ratings.md").read_text() == page
    data = json.loads((tmp_path / "ratings.json").read_text())
    order = [row["agent"] for row in data["ratings"]]
    assert set(order) == {"random", "greedy", "uct-5"}
    assert order[0] == "greedy"
    assert page.startswith("# Linkage, 2 players: 36 games")
    assert "alone against the column (equal agents: 50.0%):" in page
    table = np.array(data["crosstable"], float)
    assert np.isnan(table.diagonal()).all()
    off = ~np.eye(3, dtype=bool)
    assert (table + table.T)[off].tolist() == pytest.approx([1.0] * 6)
    assert (tmp_path / "ratings.png").read_bytes().startswith(b"\x89PNG")


def test_more_than_two_sides_meet_both_ways(tmp_path: Path) -> None:
    """With three players one agent sits alone against two copies of the other, and they change."""
    settings = Tournament("love_links", (RANDOM, GREEDY), 2, 1, 3, None)
    assert settings.pairs() == [(0, 1), (1, 0)]
    pairings = run_tournament(settings, tmp_path)
    assert [pairing.share.shape for pairing in pairings] == [(2, 1, 3), (2, 1, 3)]
    assert Tournament("love_links", (RANDOM, GREEDY), 2, 1, 4, None).pairs() == [(0, 1)]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tournament", "random", "greedy", "--games", "4", "--output", str(tmp_path)]
    assert main(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Bradley-Terry" in out
    assert "Linkage, 2 players: 4 games after 2-4 random plies" in out
    assert json.loads((tmp_path / "ratings.json").read_text())["openings"] == "2-4"
    assert main(["tournament", "random", "--output", str(tmp_path)]) == 2
    assert "two or more different" in capsys.readouterr().err
    assert main(["tournament", "random", "nobody", "--output", str(tmp_path)]) == 2
