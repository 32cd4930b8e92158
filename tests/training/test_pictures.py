"""A recorded game as a page, an animation and pictures; and records that commands write."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from linkzoo import GameRecord, game_names, get_game, make
from linkzoo_training import load_agent
from linkzoo_training.agents.values import values_along
from linkzoo_training.commands.cli import main
from linkzoo_training.commands.replay import load_evaluator
from linkzoo_training.web import pictures
from linkzoo_training.web.pictures import MOST_BYTES, as_html, frames
from tests.driving import first_quick


def _played(game: str, plies: int) -> GameRecord:
    """The start of a random game, or all of it."""
    env = make(game)
    env.reset(seed=2)
    dice = np.random.default_rng(0)
    while not all(env.terminations.values()) and plies:
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(dice.choice(np.flatnonzero(mask))))
        plies -= 1
    record: GameRecord = env.record()
    return record


def _pictures(page: str) -> list[str]:
    """What the page makes of its data."""
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    found: list[str] = []
    before: list[str] = []
    for _, edits in json.loads(data[1]):
        after: list[str] = []
        at = 0
        for start, end, fresh in edits:
            after += [*before[at:start], *fresh]
            at = end
        before = [*after, *before[at:]]
        found.append("".join(before))
    return found


@pytest.mark.parametrize("game", first_quick(game_names(), 1))
def test_the_page_of_a_whole_game_holds_every_picture_and_nothing_from_elsewhere(
    game: str, tmp_path: Path
) -> None:
    record = _played(game, 10_000)
    as_html(record, tmp_path / "game.html")
    page = (tmp_path / "game.html").read_text()
    assert len(page.encode()) <= MOST_BYTES
    assert _pictures(page) == [svg for svg, _ in frames(record)]
    assert set(re.findall(r"https?://[^\"'\\]*", page)) <= {"http://www.w3.org/2000/svg"}


def test_the_page_holds_the_values_of_the_games_checkpoint(tmp_path: Path) -> None:
    file, page = tmp_path / "game.json", tmp_path / "game.html"
    record = _played("linkage", 10_000)
    record.save(file)
    assert main(["replay", str(file), "--html", str(page)]) == 0
    held = re.search(r'id="along">(.*?)</script>', page.read_text(), re.DOTALL)
    assert held is not None
    assert json.loads(held[1]) == values_along(load_agent("linkage"), record).to_dict()
    assert main(["replay", str(file), "--html", str(page), "--agent", "random"]) == 2


def test_what_no_checkpoint_plays_has_no_values() -> None:
    other = GameRecord("link_o", get_game("link_o").version, 2, {"board": "ring4x12"}, 0)
    assert load_evaluator(None, other) is None
    assert (
        load_evaluator(None, GameRecord("examples.connect_four:CONNECT_FOUR", 1, 2, {}, 0)) is None
    )


def test_a_page_that_would_be_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="above 1000"):
        as_html(_played("linkage", 3), tmp_path / "game.html")
    assert list(tmp_path.iterdir()) == []


def test_replay_writes_a_gif_and_pngs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.json"
    _played("linkage", 3).save(file)
    gif, folder = tmp_path / "game.gif", tmp_path / "pictures"
    command = ["replay", str(file), "--gif", str(gif), "--png", str(folder), "--width", "200"]
    assert main(command) == 0
    with Image.open(gif) as animation:
        assert (animation.n_frames, animation.width) == (4, 200)  # type: ignore[attr-defined]
    assert sorted(path.name for path in folder.iterdir()) == [f"000{n}.png" for n in range(4)]
    assert main(["replay", str(file)]) == 2
    assert "--html FILE" in capsys.readouterr().err


def test_play_saves_into_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("W a1-b1\nquit\n"))
    assert main(["play", "linkage", "--opponent", "random", "--record", str(tmp_path)]) == 0
    (file,) = tmp_path.iterdir()
    assert GameRecord.load(file).actions[0] == 0
    assert f"Saved: {file}" in capsys.readouterr().out
