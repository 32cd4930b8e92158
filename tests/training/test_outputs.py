"""Outputs of commands: an existing file is continued or refused, and never replaced."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkzoo
from linkzoo.position_file import save_positions
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common, play
from linkzoo_training.commands.cli import main, make_parser, subcommands
from linkzoo_training.evaluation.report import check_ratings, write_ratings
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.train import train
from tests.training import test_ppo
from tests.training.helpers import ppo_config

NEW = {common.new_file, common.new_folder}
CONTINUED = {common.continued_file, common.continued_folder}
LINKAGE = "board_size=3 threshold=4"

# Commands whose outputs go on: the arguments before the output, which holds something else.
FOREIGN = {
    "data selfplay --out": f"random --game linkage --games 2 {LINKAGE}",
    "data solve --out": "POSITIONS",
    "linear improve --out": "love_links short=true --steps 1",
    "linear labels --out": "linkage --positions 1 --playouts 1",
    "llm benchmark --json": "random --game linkage --positions 2 --games 0",
    "tournament --output": f"random greedy --games 2 {LINKAGE}",
    "train --folder": "linkage_ppo_quick",
}
# And commands that only add files with names of their own.
ADDED = {
    *("play --record", "serve --record", "experiment sweep --folder", "experiment rate --folder"),
}


def commands(
    parser: argparse.ArgumentParser, name: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command and its parser."""
    for word, inner in subcommands(parser).items():
        yield from commands(inner, f"{name} {word}".strip())
    if not subcommands(parser):
        yield name, parser


def outputs() -> dict[str, argparse.Action]:
    """Every option with the name of a file or folder, as `data solve --out`."""
    return {
        f"{name} {action.option_strings[0]}": action
        for name, parser in commands(make_parser())
        for action in parser._actions
        if action.option_strings and action.metavar in ("FILE", "FOLDER", "PATH")
    }


def test_every_output_is_new_or_continued() -> None:
    kinds = {name: action.type for name, action in outputs().items()}
    new = {name for name, kind in kinds.items() if kind in NEW}
    assert set(kinds) - new == set(FOREIGN) | ADDED
    assert {kinds[name] for name in set(FOREIGN) | ADDED} == CONTINUED | {play._record_path}
    assert len(new) >= 9


@pytest.mark.parametrize(
    "name", [name for name, action in outputs().items() if action.type not in CONTINUED]
)
def test_a_new_output_takes_no_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command is refused before it begins, and the file stays as it was."""
    action = outputs()[name]
    folder = action.type is common.new_folder
    command, option = name.rsplit(" ", 1)
    path = tmp_path / ("old" if folder else "old.json")
    file = path / "0000.png" if folder else path
    file.parent.mkdir(exist_ok=True)
    file.write_text("results of a night")
    with pytest.raises(SystemExit, match="2"):
        main([*command.split(), option, str(path)])
    reason = "isn't empty: name another folder" if folder else "exists: name another file"
    assert f"argument {option}: {path} {reason}" in capsys.readouterr().err
    assert file.read_text() == "results of a night"


@pytest.mark.parametrize("name", FOREIGN)
def test_a_continued_output_takes_no_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a file that is none of the command's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl").write_text("")
    command, option = name.rsplit(" ", 1)
    arguments = FOREIGN[name].replace("POSITIONS", positions(tmp_path)).split()
    old = {"linear improve": "old.json", "linear labels": "old.npz"}.get(command, "old.jsonl")
    output = tmp_path / old
    kept = output
    if outputs()[name].type is common.continued_folder:
        names = {"tournament": "ratings.json", "train": "checkpoint/card.json"}
        kept = output / names.get(command, "notes.txt")
        kept.parent.mkdir(parents=True)
    kept.write_text("results of a night")
    assert main([*command.split(), *arguments, option, str(output)]) == 2
    assert "old" in capsys.readouterr().err
    assert kept.read_text() == "results of a night"
    assert [path for path in output.rglob("*") if path.is_file()] in ([], [kept])


def positions(folder: Path) -> str:
    """A file of positions of a small board of Linkage."""
    env = linkzoo.make("linkage", board_size=3, threshold=4)
    env.reset(seed=1)
    path = folder / "positions.jsonl"
    first = np.array([next(env.record().replay())], env.game.state)
    save_positions(path, env.game, first)
    return str(path)


def test_ratings_grow_by_agents_only(tmp_path: Path) -> None:
    agents = tuple(map(AgentSpec.parse, ("random", "greedy")))
    options = {"board_size": 3, "threshold": 4}
    two = Tournament("linkage", agents, 1, 7, 2, "0", options)
    write_ratings(two, run_tournament(two, tmp_path), tmp_path)
    check_ratings(two, tmp_path)
    check_ratings(replace(two, agents=(*agents, AgentSpec.parse("uct-2"))), tmp_path)
    before = (tmp_path / "ratings.json").read_bytes()
    others = {
        "agents, without greedy": replace(two, agents=(agents[0], AgentSpec.parse("uct-2"))),
        "seed": replace(two, seed=8),
        "openings": replace(two, openings="1"),
        "blocks": replace(two, blocks=2),
        "game": replace(two, game="love_links", options={}),
    }
    for name, other in others.items():
        with pytest.raises(ValueError, match=f"another tournament.*{name}"):
            check_ratings(other, tmp_path)
    assert (tmp_path / "ratings.json").read_bytes() == before
    assert json.loads(before)["options"] == options


def test_a_run_takes_no_place_of_a_checkpoint_without_a_state(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    config = ppo_config({**test_ppo.QUICK, "total_steps": 384})
    for resume in (False, True):
        with pytest.raises(ValueError, match="exists, without the state of its run"):
            train(config, folder=tmp_path, resume=resume)
    assert not any((tmp_path / "checkpoint").iterdir())
