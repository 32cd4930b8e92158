"""A recorded game as a page, an animation and pictures; and records that commands write."""

import gzip
import json
import re
import sys
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from linkzoo import GameRecord, game_names, get_game, make
from linkzoo.svg.raster import rasterise
from linkzoo_training import load_agent
from linkzoo_training.agents.values import values_along
from linkzoo_training.commands.cli import main
from linkzoo_training.commands.replay import load_evaluator
from linkzoo_training.web import pictures, replay_page
from linkzoo_training.web.pictures import as_gif
from linkzoo_training.web.replay_page import MOST_BYTES, as_html
from linkzoo_training.web.replays import Replay
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


def _held(file: Path) -> dict[str, Any]:
    """The contents of a page."""
    data = re.search(r'id="data">(.*?)</script>', file.read_text(), re.DOTALL)
    assert data is not None
    data_in_page: dict[str, Any] = json.loads(gzip.decompress(b64decode(data[1])))
    return data_in_page


@pytest.mark.parametrize(
    ("game", "plies"), first_quick([("linkage", 6), *((game, 10_000) for game in game_names())])
)
def test_the_page_of_a_game_holds_all_views_and_moves_and_nothing_from_elsewhere(
    game: str, plies: int, tmp_path: Path
) -> None:
    record, file = _played(game, plies), tmp_path / "game.html"
    as_html(record, file)
    assert file.stat().st_size <= MOST_BYTES
    held, replay = _held(file), Replay(record)
    assert held["heads"] == json.loads(json.dumps(list(map(replay.head, replay.viewers))))
    for viewer, views in zip(replay.viewers, held["views"], strict=True):
        for ply, view in enumerate(views):
            svgs = ["".join(held["pieces"][piece] for piece in svg) for svg in view.pop("svgs")]
            assert svgs == [replay.picture(ply, viewer, tall=tall) for tall in (False, True)]
            assert view == json.loads(json.dumps(replay.words(ply, viewer)))
    addresses = set(re.findall(r"https?://[^\"'\\]*", file.read_text() + "".join(held["pieces"])))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_a_page_has_a_view_for_each_seat_only_where_something_is_hidden() -> None:
    assert Replay(_played("linkage", 2)).viewers == [None]
    replay = Replay(_played("link_o", 2))
    assert replay.viewers == [None, 0, 1]
    assert len({replay.picture(1, viewer) for viewer in replay.viewers}) == 3
    with pytest.raises(ValueError, match="seat: 2 is not one of"):
        replay.picture(1, 2)


@pytest.mark.slow  # quick: tests/web/test_tables.py
def test_the_page_holds_the_values_of_the_games_checkpoint(tmp_path: Path) -> None:
    file, page = tmp_path / "game.json", tmp_path / "game.html"
    record = _played("linkage", 6)
    record.save(file)
    assert main(["replay", str(file), "--html", str(page)]) == 0
    assert _held(page)["values"] == values_along(load_agent("linkage"), record).to_dict()
    page.unlink()
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
    monkeypatch.setattr(replay_page, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="longer than 1000"):
        as_html(_played("linkage", 3), tmp_path / "game.html")
    assert list(tmp_path.iterdir()) == []


def test_replay_writes_a_gif_and_pngs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.json"
    _played("linkage", 5).save(file)
    gif, folder = tmp_path / "game.gif", tmp_path / "pictures"
    command = ["replay", str(file), "--gif", str(gif), "--png", str(folder), "--width", "200"]
    assert main([*command, "--plies", "2-5"]) == 0
    with Image.open(gif) as animation:
        assert (animation.n_frames, animation.width) == (4, 200)  # type: ignore[attr-defined]
    assert sorted(path.name for path in folder.iterdir()) == [f"000{n}.png" for n in range(2, 6)]
    assert main(["replay", str(file)]) == 2
    assert "--html FILE" in capsys.readouterr().err
    other = str(tmp_path / "others")
    assert main(["replay", str(file), "--png", other, "--plies", "4-6"]) == 2
    assert "plies: 4-6 is not within 0-5" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["replay", str(file), "--png", other, "--plies", "5"])
    assert "'5' is not like 10-20" in capsys.readouterr().err


@pytest.mark.slow  # quick: a replay writes a GIF
def test_an_animation_has_the_positions_and_fewer_of_them_if_it_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, file, progress = _played("linkage", 6), tmp_path / "game.gif", list[tuple[int, int]]()
    tell = lambda _, done, total: progress.append((done, total))  # noqa: E731
    assert as_gif(record, file, width=160, progress=tell) == 1
    assert progress == [(done, 7) for done in range(1, 8)]
    states, game = list(record.replay()), get_game("linkage")
    with Image.open(file) as animation:
        for ply in (0, 3, 6):
            animation.seek(ply)
            shown = np.asarray(animation.convert("RGB"), np.int16)
            drawn = rasterise(game.draw_svg(states[ply]), 160).astype(np.int16)
            assert np.abs(shown - drawn).max() <= 60  # one palette for all
            assert np.abs(shown - drawn).mean() < 3
    size = file.stat().st_size
    monkeypatch.setattr(pictures, "MOST_GIF_BYTES", 2 * size // 3)
    assert as_gif(record, file, width=160) > 1
    assert file.stat().st_size <= 2 * size // 3
    monkeypatch.setattr(pictures, "MOST_FRAMES", 2)
    assert as_gif(record, file, width=160) >= 4


@pytest.mark.slow
def test_of_many_pictures_the_second_half_is_drawn_only_if_it_can_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _played("linkage", 6)
    file = tmp_path / "game.gif"
    as_gif(record, file, width=160)
    whole = file.read_bytes()
    monkeypatch.setattr(pictures, "FEW", 3)

    def threads(number: int, _context: object) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(number)  # quicker than processes

    monkeypatch.setattr(pictures, "ProcessPoolExecutor", threads)
    progress: list[int] = []

    def tell(_label: str, done: int, _total: int) -> None:
        progress.append(done)

    assert as_gif(record, file, width=160, progress=tell) == 1
    assert file.read_bytes() == whole
    assert progress == [1, 2, 3, 4, 5, 6, 7]
    progress.clear()
    monkeypatch.setattr(pictures, "MOST_GIF_BYTES", len(whole) // 2)
    assert as_gif(record, file, width=160, progress=tell) % 2 == 0
    assert file.stat().st_size <= len(whole) // 2
    assert progress == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("game", game_names())
def test_any_whole_game_fits_a_page_and_an_animation(
    game: str, players: int, tmp_path: Path
) -> None:
    env = make(game, min(players, get_game(game).max_players))
    env.reset(seed=2)
    dice = np.random.default_rng(0)
    while not all(env.terminations.values()):
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(dice.choice(np.flatnonzero(mask))))
    as_gif(env.record(), tmp_path / "game.gif")  # in several processes
    assert (tmp_path / "game.gif").stat().st_size <= pictures.MOST_GIF_BYTES
    as_html(env.record(), tmp_path / "game.html")


def test_play_saves_into_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("W a1-b1\nquit\n"))
    assert main(["play", "linkage", "--opponent", "random", "--record", str(tmp_path)]) == 0
    (file,) = tmp_path.iterdir()
    assert GameRecord.load(file).actions[0] == 0
    assert f"Saved: {file}" in capsys.readouterr().out


def test_a_replay_needs_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page and pictures are made without the packages of the extra `web`."""
    for name in [name for name in sys.modules if name.startswith("linkzoo_training.web.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("fastapi", "starlette", "uvicorn"):
        for inner in [inner for inner in sys.modules if inner.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, inner)
        monkeypatch.setitem(sys.modules, name, None)
    env = make("linkage", board_size=3, threshold=3)
    env.reset(seed=1)
    env.record().save(tmp_path / "game.json")
    page = tmp_path / "game.html"
    pictures = ["--gif", str(tmp_path / "game.gif"), "--png", str(tmp_path / "pictures")]
    assert main(["replay", str(tmp_path / "game.json"), "--html", str(page), *pictures]) == 0
    assert page.stat().st_size > 10_000
    assert (tmp_path / "game.gif").is_file()
    assert (tmp_path / "pictures" / "0000.png").is_file()
