"""Files of positions: written, read, and played from in training and in matches."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo import GameRecord, RandomAgent, get_game, load_positions, save_positions
from linkzoo.position_file import read_position_file
from linkzoo.registry import NAMES
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.match import Match, play_match
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.dispatch import (
    TaskWorker,
)
from linkzoo_training.selfplay.rollout import RolloutGames
from linkzoo_training.train import train
from tests.training.doubles import Elsewhere
from tests.training.helpers import midgame, ppo_config

LINKAGE = get_game("linkage")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Twelve different positions of Linkage, five plies in."""
    save_positions(tmp_path / "book.jsonl", LINKAGE, midgame(LINKAGE, 12, 5).states)
    return tmp_path / "book.jsonl"


@pytest.mark.parametrize("name", NAMES)
def test_positions_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    game = get_game(name)
    states = np.concatenate([midgame(game, 3, 9, players=n).states for n in {*game.players}])
    save_positions(tmp_path / "p", game, states, [{"mine": i} for i in range(len(states))])
    assert (load_positions(tmp_path / "p", game) == states).all()
    lines = [json.loads(line) for line in (tmp_path / "p").read_text().splitlines()]
    assert [line["mine"] for line in lines] == list(range(len(states)))
    states["seed"] += 1  # later chance; the position stays a valid one
    for state in states:
        assert game.from_bytes(state.tobytes()) == state


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no positions"),
        ("[]", r"line 1: \[\] has no field `position`"),
        ('{"position": 5}', "line 1: position: 5 is not a dict"),
        ("{", "line 1: not valid JSON"),
        ('{"position": {}, "position": {}}', "'position' is set twice"),
        ("OVER", "line 1: the game is over: no seat is to act"),
        ('{"about": {"title": "x"}}', "no positions"),
        ('{"about": 5}', "line 1: about: 5 is not a dict"),
        ('\n{"about": {}}', r"line 2: \{'about': \{\}\} has no field `position`"),
    ],
)
def test_a_wrong_line_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    if text == "OVER":
        record = GameRecord.of(LINKAGE, midgame(LINKAGE, 1, 0).states[0])
        play = midgame(LINKAGE, 1, 30).states  # one action from the end
        state = play[0].copy()
        mask = np.zeros(LINKAGE.num_actions, np.int8)
        while state.seat >= 0:
            LINKAGE.rules.legal_actions(state, mask)
            LINKAGE.rules.apply(state, int(mask.argmax()))
        assert record.start is None
        save_positions(tmp_path / "p", LINKAGE, np.array([state], LINKAGE.state))
    else:
        (tmp_path / "p").write_text(text)
    with pytest.raises(ValueError, match=complaint):
        load_positions(tmp_path / "p", LINKAGE)


def test_a_file_describes_itself_and_may_have_empty_lines(tmp_path: Path) -> None:
    """A line ends at a newline alone: U+2028 is a character of a string."""
    path = tmp_path / "p.jsonl"
    states = midgame(LINKAGE, 3, 5).states
    save_positions(path, LINKAGE, states, [{"mine": "a\u2028b"}] * 3, {"title": "few"})
    text = path.read_text(encoding="utf-8").replace("\\u2028", "\u2028")
    path.write_bytes(f"\ufeff{text}\n\r\n".encode())
    for game in (LINKAGE, None):
        file = read_position_file(path, game)
        assert (file.states == states).all()
        assert (file.game, file.about) == (LINKAGE, {"title": "few"})
        assert [line["mine"] for line in file.lines] == ["a\u2028b"] * 3
        assert file.numbers == [2, 3, 4]


@pytest.mark.parametrize("wrong", [None, [], [1], ["x"], float("nan"), [[1, 2]], 10**400])
def test_values_are_one_number_per_legal_action(wrong: Any, tmp_path: Path) -> None:
    states = midgame(LINKAGE, 2, 5).states
    mask = np.zeros(LINKAGE.num_actions, np.int8)
    fields = []
    for state in states:
        LINKAGE.rules.legal_actions(state, mask)
        fields.append({"values": [*range(int(mask.sum()))]})
    save_positions(tmp_path / "p", LINKAGE, states, fields)
    values = read_position_file(tmp_path / "p", LINKAGE).values()
    assert (np.isfinite(values[1]) == mask).all()
    assert values[1][mask == 1].tolist() == fields[1]["values"]
    fields[1] = {"values": wrong}
    save_positions(tmp_path / "p", LINKAGE, states, fields, {"title": "wrong"})
    with pytest.raises(ValueError, match=rf"line 3: values: {mask.sum()} finite numbers are need"):
        read_position_file(tmp_path / "p", LINKAGE).values()


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_training_games_begin_at_the_positions(share: float, tmp_path: Path) -> None:
    game, counts = get_game("love_links"), (2, 3)
    states = np.concatenate([midgame(game, 4, 9, players=n).states for n in (3, 2)])
    save_positions(tmp_path / "p", game, states)
    starts = {"file": str(tmp_path / "p"), "file_share": share, "midgame": 0.0}
    config = ppo_config(
        {
            "name": "x",
            "game": "love_links",
            "num_players": list(counts),
            "num_envs": 400,
            "initial_states": starts,
        }
    )
    games = RolloutGames(config, HostBackend(torch.device("cpu")))
    games.begin()
    begun = games.states
    there = begun["ply"] == 9
    assert there.mean() == pytest.approx(share, abs=0.1)
    assert not games.from_initial_state.numpy()[there].any()
    assert games.from_initial_state.numpy()[~there].all()
    assert (begun["num_players"] == np.tile(counts, 200)).all()
    assert len(set(begun["seed"].tolist())) == 400  # later chance differs
    plain = begun[there].copy()
    plain["seed"], states["seed"] = 0, 0
    assert {one.tobytes() for one in plain} == {one.tobytes() for one in states}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"initial_states": {"file": "no.jsonl"}}, r"initial_states\.file: there is no file .*no"),
        ({"eval": {"openings": "BOOK"}}, "12 positions for 2 players.* not 500"),
        (
            {"game": "love_links", "initial_states": {"file": "BOOK"}},
            "line 1: a position of 'linkage', not of",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused_before_training(
    changes: dict[str, Any], complaint: str, book: Path, tmp_path: Path
) -> None:
    data = json.loads(
        json.dumps({"name": "x", "game": "linkage", "num_envs": 4, **changes}).replace(
            "BOOK", str(book)
        )
    )
    with pytest.raises(ValueError, match=complaint):
        train(ppo_config(data), folder=tmp_path / "run")


def test_each_position_opens_one_block(book: Path) -> None:
    random, kept = RandomAgent(), dict[str, GameRecord]()
    match = Match("linkage", random, random, 12, seed=3, openings=str(book))
    result = match.play(keep=kept.__setitem__)
    assert result.share.sum() == 12
    starts = [{**(record.start or {}), "seed": 0} for record in kept.values()]
    assert starts[::2] == starts[1::2]  # once with either agent on either side
    written = [json.loads(line)["position"] | {"seed": 0} for line in book.read_text().splitlines()]
    assert sorted(map(str, starts[::2])) == sorted(map(str, written))
    assert str(starts[::2]) != str(written)  # the seed draws the order
    for record in kept.values():
        *_, last = record.replay()
        assert last.seat == -1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"blocks": 13}, "12 positions for 2 players; each begins one block.* not 13"),
        ({"options": {"threshold": 13}}, "a position with threshold=12, but the match .* with 13"),
        ({"openings": "nothing"}, "no number of plies such as '0' or '2-4', and no file"),
    ],
)
def test_a_match_refuses_other_positions(settings: Any, complaint: str, book: Path) -> None:
    settings = {"blocks": 2, "openings": str(book), **settings}
    with pytest.raises(ValueError, match=complaint):
        play_match("linkage", RandomAgent(), RandomAgent(), **settings)


@pytest.mark.slow
@pytest.mark.parametrize("sprt", [None, Sprt(0, 300)])
def test_workers_play_the_same_match(sprt: Sprt | None, book: Path) -> None:
    greedy = NamedAgent(AgentSpec("greedy"), "linkage")
    random = NamedAgent(AgentSpec("random"), "linkage")
    for openings, blocks in ((None, 40), (str(book), 12)):
        match = Match("linkage", greedy, random, blocks, 3, openings)
        here, kept, there = dict[str, GameRecord](), dict[str, GameRecord](), Elsewhere(2)
        there.start(TaskWorker)
        one = match.play(batch=8, sprt=sprt, keep=here.__setitem__)
        other = match.play(batch=8, sprt=sprt, keep=kept.__setitem__, executor=there)
        assert (one.share == other.share).all()
        assert (one.length == other.length).all()
        assert (one.moves, one.blocks) == (other.moves, other.blocks)
        counted = [name for name in here if int(name.partition("-")[0]) < one.blocks]
        assert len(counted) == 2 * one.blocks
        assert [kept[name] for name in counted] == [here[name] for name in counted]


@pytest.mark.slow
def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    match = ["evaluate", "checkpoint~0", "greedy", "--game", "linkage", "--games"]
    assert main([*match, "4", "--record", "games"]) == 0
    assert "linkage~0 against greedy" in capsys.readouterr().out
    plies = ["--first", "17", "--last", "18"]
    assert main(["data", "positions", "games", *plies, "--count", "3", "--out", "p.jsonl"]) == 0
    assert "3 different positions of 4 games" in capsys.readouterr().out
    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert {line["position"]["ply"] for line in lines} <= {17, 18}
    assert lines[0]["record"].startswith("games/")
    assert main(["data", "solve", "p.jsonl", "--out", "s.jsonl"]) == 0
    solved = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    assert [line["position"] for line in solved] == [line["position"] for line in lines]
    states = load_positions("s.jsonl", LINKAGE)
    for line, state in zip(solved, states, strict=True):
        own = line["solution"]["winner"] == state.seat
        assert bool(line["solution"]["winning"]) == own
    Path("s.jsonl").write_text(json.dumps({**solved[0], "solution": {"kept": 1}}) + "\n")
    assert main(["data", "solve", "p.jsonl", "--out", "s.jsonl"]) == 0  # continues
    assert '{"kept":1}' in Path("s.jsonl").read_text()
    assert len(Path("s.jsonl").read_text().splitlines()) == 3
    kept = Path("s.jsonl").read_bytes()
    other = ["--first", "15", "--last", "16", "--count", "1", "--out", "q.jsonl"]
    assert main(["data", "positions", "games", *other]) == 0
    assert main(["data", "solve", "q.jsonl", "--out", "s.jsonl"]) == 2
    assert "s.jsonl has 3 solutions of positions that aren't in q.jsonl" in capsys.readouterr().err
    assert Path("s.jsonl").read_bytes() == kept
    assert main([*match, "6", "--openings", "s.jsonl"]) == 0
    assert main([*match, "8", "--openings", "s.jsonl"]) == 2
    assert main(["data", "positions", "games", "--first", "99", "--out", "q"]) == 2
    assert "no positions at plies 99.." in capsys.readouterr().err
