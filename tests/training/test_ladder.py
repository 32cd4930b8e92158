"""Ladders: every game has one, and a checkpoint's card is made and made again by one command."""

import json
from pathlib import Path

import numpy as np
import pytest
from lab import strength
from numpy.typing import NDArray

from linkzoo import Positions, RandomAgent, game_names, get_game
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation import ladder as ladders
from linkzoo_training.evaluation.ladder import Ladder, read_ladder, run_ladder
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.networks.flat import make_network
from linkzoo_training.search import uct


@pytest.mark.parametrize("name", game_names())
def test_every_game_has_a_ladder(name: str) -> None:
    """Its opponents are agents: random and greedy first, then searches by their simulations.

    Where something is hidden, a cheat is the last.
    """
    ladder, game = read_ladder(name), get_game(name)
    agents = [make_agent(opponent, name) for opponent in ladder.opponents]
    assert [agent.name for agent in agents] == list(map(str, ladder.opponents))
    assert list(ladder.opponents)[:2] == [AgentSpec("random"), AgentSpec("greedy")]
    searches = [agent for agent in agents if isinstance(agent, UctAgent)]
    fair = [agent.simulations for agent in searches if agent.sees == "own"]
    assert fair == sorted(fair)
    assert len(fair) >= 2
    hides = game.observation.privileged_spec is not None
    assert [agent.sees for agent in searches].count("all") == hides
    assert (searches[-1].sees == "all") == (game.observation.privileged_spec is not None)
    assert ladder.version >= uct.VERSION  # whatever changes UCT's moves changes every ladder
    assert min(ladder.opponents.values()) >= 100
    read_openings(ladder.openings, game)
    for options in ladder.options:
        for variant in variants_of(options):
            game.blank(game.max_players, variant)


def test_linkage_is_measured_where_both_roles_can_win() -> None:
    """Thresholds 13 and 14, and the printed game beside it: the fair ladder."""
    fair, printed = read_ladder("linkage").options
    assert variants_of(fair) == [{"threshold": 13}, {"threshold": 14}]
    assert printed == {}


def test_what_an_older_ladder_measured_is_shown_as_such() -> None:
    """Until it is measured again, which `test_the_card_is_what_the_command_finds` does."""
    path = strength.CHECKPOINTS / "love_links_ppo" / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    present = read_ladder("love_links").version
    for version, words in (
        (present, None),
        (present - 1, f"Measured on version {present - 1} of the game's ladder; it is now at"),
    ):
        measured = [{**match, "ladder": version} for match in card["strength"]]
        section = strength.section({**card, "strength": measured})
        assert ("Measured on version" in section) == (words is not None)
        assert (words or "") in section


def test_a_game_without_a_ladder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladders, "LADDERS", tmp_path)
    with pytest.raises(ValueError, match="ladder: none for linkage"):
        read_ladder("linkage")


def test_an_interrupted_run_keeps_its_matches() -> None:
    class Interrupted(RandomAgent):
        decisions = 0

        def act(self, positions: Positions) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            self.decisions += 1
            if self.decisions > 150:
                raise KeyboardInterrupt
            return super().act(positions)

    ladder = Ladder("love_links", 1, 5, "0", {AgentSpec("random"): 4, AgentSpec("greedy"): 4})
    matches = list(run_ladder(ladder, Interrupted(), [2, 3, 4]))
    played = [(match.agents[1], match.num_players) for match in matches]
    assert 0 < len(played) < 6
    assert (
        played
        == [(str(opponent), n) for opponent in ladder.opponents for n in (2, 3, 4)][: len(played)]
    )
    assert all(match.blocks == match.requested for match in matches)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An untrained checkpoint of Love Links in the working folder, and a short ladder."""
    opponents = {"random": 6, "greedy": 12}
    data = {"format": ladders.FORMAT, "game": "love_links", "version": 2, "seed": 5}
    data |= {"openings": "0", "opponents": opponents}
    (tmp_path / "ladders").mkdir()
    (tmp_path / "ladders" / "love_links.json").write_text(json.dumps(data))
    monkeypatch.setattr(ladders, "LADDERS", tmp_path / "ladders")
    monkeypatch.chdir(tmp_path)
    game = get_game("love_links")
    network = {"kind": "flat", "width": 8, "blocks": 1}
    old = [
        {"agents": ["mine", "random"], "num_players": 2, "note": "from training"},
        {"agents": ["mine:4", "random"], "num_players": 2, "ladder": 1, "note": "an old ladder"},
        {"agents": ["mine:4", "random"], "num_players": 2, "ladder": 2, "note": "this ladder"},
        {"agents": ["mine", "random"], "num_players": 2, "ladder": 2, "note": "made again"},
    ]
    standard = {"game": "love_links", "options": {"short": False, "skip_forced": False}}
    strength = [entry | standard for entry in old]
    card = {"network": network, "views": 1, "trained": {}, "strength": strength}
    save_checkpoint(tmp_path / "mine", make_network(game, "flat", 8, 1), game, card)
    return tmp_path / "mine"


@pytest.mark.slow
def test_the_card_is_what_the_command_finds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "mine", "--ladder", "--card", "--json", "found.json"]) == 0
    assert "mine on the ladder of love_links, version 2" in capsys.readouterr().out
    card = json.loads((folder / "card.json").read_text())
    kept, *entries = card["strength"]
    assert kept["note"] == "this ladder"
    assert [(entry["agents"][1], entry["num_players"]) for entry in entries] == [
        (opponent, players) for opponent in ("random", "greedy") for players in (2, 3, 4)
    ]
    assert [entry["games"] for entry in entries] == [6, 6, 6, 12, 12, 12]
    assert {(entry["ladder"], entry["seed"], entry["openings"]) for entry in entries} == {
        (2, 5, "0")
    }
    ladder = json.loads(Path("found.json").read_text())["ladder"]
    for entry, match in zip(entries, ladder, strict=True):
        assert entry["win_share"] == match["win_share"]
        command = entry["command"].split()
        assert command[0] == "linkzoo"
        assert main([*command[1:], "--json", "again.json"]) == 0
        assert json.loads(Path("again.json").read_text())["win_share"] == match["win_share"]
        Path("again.json").unlink()
    assert main(["evaluate", "mine", "--ladder", "--card", "--players", "3", "--games", "3"]) == 0
    again = json.loads((folder / "card.json").read_text())["strength"]
    assert len(again) == len(card["strength"])
    assert [entry["games"] for entry in again if entry["num_players"] == 3] == [3, 3]


@pytest.mark.slow
def test_cards_are_checked_by_new_matches(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Games from another seed agree with a true card, and not with one that was made up."""
    assert main(["evaluate", "mine", "--ladder", "--card", "--players", "2"]) == 0
    entries = json.loads((folder / "card.json").read_text())["strength"][-2:]
    assert strength.check(entries, 100, 1)
    entries[1]["win_share"] = {"mean": 0.95, "low": 0.9, "high": 0.99}
    capsys.readouterr()
    assert not strength.check(entries, 100, 1)
    first, second = capsys.readouterr().out.splitlines()
    assert "DISAGREES" not in first
    assert second.startswith("mine against greedy, 2 players: 95.0 % [90.0, 99.0], again ")
    assert second.endswith(": DISAGREES")


def test_the_readme_names_matches_of_cards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of its table is the first match of the card with these agents."""
    assert main(["evaluate", "mine", "--ladder", "--card", "--players", "2"]) == 0
    entries = json.loads((folder / "card.json").read_text())["strength"]
    monkeypatch.setattr(strength, "CHECKPOINTS", folder.parent)
    (row,) = strength.ROW.finditer("| `mine`, 2 players | an hour | `greedy` | ? |")
    assert strength.entry_of(row) == next(e for e in entries if e["agents"][1] == "greedy")
    assert strength.filled_readme(row[0]).endswith(f"| {strength.cell(strength.entry_of(row))} |")


def test_commands_of_cards_hold_the_options(folder: Path) -> None:
    arguments = ["evaluate", "mine", "--ladder", "--card", "--players", "2", "--games", "2"]
    assert main([*arguments, "skip_forced=true"]) == 0
    card = json.loads((folder / "card.json").read_text())
    assert card["strength"][-1]["command"].endswith("--players 2 skip_forced=true")


@pytest.mark.slow
def test_a_tournament_with_the_ladder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tournament", "--ladder", "mine", "--game", "love_links", "--games", "2"]
    assert main([*arguments, "--output", "ratings"]) == 0
    data = json.loads(Path("ratings/ratings.json").read_text())
    assert data["agents"] == ["random", "greedy", "mine"]
    assert data["openings"] == "0"


@pytest.mark.slow
def test_an_interrupted_command_shows_and_saves_what_is_finished(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the exit status of an interruption, of a match as of a ladder."""
    act, calls_left = GreedyAgent.act, [20]

    def interrupted(agent: GreedyAgent, positions: Positions) -> NDArray[np.int64]:
        calls_left[0] -= 1
        if calls_left[0] < 0:
            raise KeyboardInterrupt
        return act(agent, positions)

    monkeypatch.setattr(GreedyAgent, "act", interrupted)
    assert main(["evaluate", "mine", "--ladder", "--card", "--json", "found.json"]) == 130
    assert "interrupted: only the finished games" in capsys.readouterr().out
    ladder = json.loads(Path("found.json").read_text())["ladder"]
    assert 3 <= len(ladder) < 6
    card = json.loads((folder / "card.json").read_text())
    assert len(card["strength"]) == 1 + len(ladder)
    calls_left[0] = 100
    Path("found.json").unlink()
    match = ["evaluate", "greedy", "random", "--game", "linkage", "--batch", "1"]
    assert main([*match, "--solved-positions", "--json", "found.json"]) == 130
    assert "interrupted: " in capsys.readouterr().out
    data = json.loads(Path("found.json").read_text())
    assert 0 < data["blocks"] < data["blocks_requested"]
    assert "blunder_rate" not in data
