"""The `linkzoo` command, called as a function: results on stdout, errors as one line on stderr."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

import linkzoo
from linkzoo import GameRecord
from linkzoo_training import bench, cli
from linkzoo_training.cli import main


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("linkzoo: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    arguments = ["evaluate", "random", "greedy", "--games", "41", "--seed", "3", "threshold=9"]
    assert main([*arguments, "--openings", "2-4", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "random against greedy" in out
    assert "More (seat 0)" in out
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["games"], data["seed"], data["openings"]) == (42, 3, "2-4")
    assert data["options"]["threshold"] == 9


def test_a_checkpoint_searches_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    arguments = ["evaluate", "linkage", "random", "--games", "2", "--simulations", "4"]
    assert main([*arguments, "--json", str(path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8"))["agents"] == ["linkage:4", "random"]


def test_a_block_has_a_game_for_each_side(tmp_path: Path) -> None:
    """Four players of Love Links are two teams: 6 games are 3 blocks."""
    path = tmp_path / "match.json"
    arguments = ["evaluate", "random", "random", "--game", "love_links", "--players", "4"]
    assert main([*arguments, "--games", "6", "--json", str(path)]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["games"], data["blocks"]) == (6, 3)


def test_evaluate_on_labels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert main(["evaluate", "random", "--labels", "--seed", "7", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "Wins that random throws away: linkage" in out
    assert "random against" not in out
    alone = json.loads(path.read_text(encoding="utf-8"))
    arguments = ["evaluate", "random", "greedy", "--games", "2", "--labels", "--seed", "7"]
    assert main([*arguments, "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "random against greedy" in out
    assert "Wins that random throws away" in out
    both = json.loads(path.read_text(encoding="utf-8"))
    assert both["thrown_wins"] == alone["thrown_wins"]
    assert both["agents"] == ["random", "greedy"]


def test_thrown_wins_on_the_card(tmp_path: Path) -> None:
    """They take the place of the agent's own, and of no other's."""
    from linkzoo_training.checkpoint import load_card, save_checkpoint
    from linkzoo_training.networks import make_network

    game = linkzoo.get_game("linkage")
    other = {"agent": "mine:9", "note": "stays"}
    card = {"network": {"kind": "flat", "width": 8, "blocks": 1}, "views": 1, "strength": []}
    card["thrown_wins"] = [{"agent": "mine", "note": "goes"}, other]
    save_checkpoint(tmp_path / "mine", make_network(game, "flat", 8, 1), game, card)
    path = tmp_path / "result.json"
    found = ["--labels", "--card", "--json", str(path)]
    assert main(["evaluate", str(tmp_path / "mine"), *found]) == 0
    kept, new = load_card(tmp_path / "mine")["thrown_wins"]
    assert kept == other
    data = json.loads(path.read_text(encoding="utf-8"))["thrown_wins"]
    assert new["thrown_away"] == data["thrown_away"]
    assert new["command"] == "linkzoo evaluate mine --labels --seed 0"


def test_options_may_stand_anywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    behind = ["--games", "2", "--json", str(path), "free_hole=true", "threshold=10"]
    assert main(["evaluate", "random", "random", *behind]) == 0
    options = json.loads(path.read_text(encoding="utf-8"))["options"]
    assert (options["free_hole"], options["threshold"]) == (True, 10)
    assert "seat 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("evaluate random nobody", "random, greedy, uct-N"),
        ("evaluate random uct-0", "simulations=0"),
        ("evaluate random random colour=3", "no option 'colour'"),
        ("evaluate random random threshold=high", "threshold: 'high'"),
        ("evaluate random random threshold", "no option=value"),
        ("evaluate random random threshold=[", "no YAML value"),
        ("evaluate random random --games 0", "games: 0"),
        ("evaluate random", "name an opponent B, or --ladder or --labels"),
        ("evaluate random greedy --ladder", "--ladder: the opponents"),
        ("evaluate random --ladder --sprt 0 10", "--ladder: the opponents"),
        ("evaluate random --ladder --card", "--card: goes with"),
        ("evaluate linkage random --card", "--card: goes with"),
        ("evaluate linkage --ladder --players 3", "num_players: 3"),
        ("evaluate random --labels --game love_links", "no solved positions for love_links"),
        ("evaluate random random --labels threshold=9", "standard options"),
        ("evaluate random random --openings 4-2", "openings: '4-2'"),
        ("evaluate random random --players 3", "num_players: 3"),
        ("evaluate random random --json nowhere/match.json", "no folder nowhere"),
        ("play linkage --opponent random --seat 5", "seat=5"),
        ("train no_such_config", "no_such_config"),
    ],
)
def test_wrong_values(arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    assert complaint in error_line(capsys)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required"),
        ("fly", "invalid choice: 'fly'"),
        ("evaluate", "required: A"),
        ("evaluate random random --gmaes 5", "unrecognized arguments: --gmaes 5"),
        ("evaluate random random --games many", "invalid int value: 'many'"),
        ("play chess", "invalid choice: 'chess'"),
        ("bench threshold=3", "unrecognized arguments: threshold=3"),
    ],
)
def test_wrong_usage(arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments.split())
    assert stopped.value.code == 2
    assert complaint in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"linkzoo {linkzoo.__version__}\n"


@pytest.mark.parametrize("arguments", ["bench", "train linkage", "evaluate random random"])
def test_without_the_train_extra(
    arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "torch" else object())
    assert main(arguments.split()) == 2
    assert error_line(capsys) == "linkzoo: torch not installed: pip install 'linkzoo[train]'\n"


def test_the_module_needs_nothing_of_the_train_extra() -> None:
    code = (
        "import sys; import linkzoo_training.cli as c; "
        "print(set(sys.modules) & {*c._NEEDED} - {'yaml'})"  # numba imports it if it can
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_play(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("help\nW c4-d4\nW a1-b1\nquit\n"))
    path = tmp_path / "game.json"
    assert main(["play", "linkage", "--opponent", "greedy", "--record", str(path)]) == 0
    out = capsys.readouterr().out
    assert "W c4-d4 is not legal here" in out
    assert "Player 1 plays " in out
    assert f"Saved: {path}" in out
    assert GameRecord.load(path).actions[0] == 0


def test_bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_SECONDS", 0.05)
    assert main(["bench"]) == 0
    out = capsys.readouterr().out
    assert out.count("steps/s") == 2
    assert out.count("playouts/s") == 1


def test_an_interruption_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "measure", interrupt)
    assert main(["bench"]) == 130
