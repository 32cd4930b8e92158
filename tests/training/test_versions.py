"""Cards, scorers and data sets of other versions of a game."""

import json
import shutil
from pathlib import Path

import pytest

from linkzoo import get_game
from linkzoo_training.agents.linear import load_scorer, shipped_file
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.resources import shipped

SELFPLAY = "data selfplay random --game linkage --openings 0 --games 2 --out"


@pytest.mark.parametrize("version", [0, 1, 2])
def test_cards(version: int, tmp_path: Path) -> None:
    folder = tmp_path / "linkage"
    shutil.copytree(shipped("checkpoints") / "linkage_ppo", folder)
    card = json.loads((folder / "card.json").read_bytes())
    (folder / "card.json").write_text(json.dumps({**card, "version": version}))
    if version == 2:
        with pytest.raises(ValueError, match=r"card\.json: version: .* of version 0 or 1, not of"):
            load_agent(folder)
    else:
        assert load_agent(folder).game is get_game("linkage")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_scorers(version: int, tmp_path: Path) -> None:
    game = get_game("link_o")
    data = json.loads(shipped_file(game).read_bytes())
    path = tmp_path / "scorer.json"
    path.write_text(json.dumps({**data, "version": version}))
    if version == 2:
        with pytest.raises(ValueError, match=r"scorer\.json: version: .* of version 0 or 1, not"):
            load_scorer(game, str(path))
    else:
        assert (load_scorer(game, str(path)).weights == load_scorer(game).weights).all()


@pytest.mark.parametrize("version", [0, 1, 2])
def test_data_sets_go_on(version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "games"
    command = [*SELFPLAY.split(), str(folder)]
    assert main(command) == 0
    about = folder / "dataset.json"
    about.write_text(json.dumps({**json.loads(about.read_bytes()), "version": version}))
    assert main(command) == (2 if version == 2 else 0)
    assert ("(version differ)" in capsys.readouterr().err) == (version == 2)
