"""`linkzoo data selfplay`: games as records, NumPy files and Minari data sets."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from linkzoo import GameRecord, get_game, load_positions
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation import dataset
from linkzoo_training.evaluation.openings import Openings
from linkzoo_training.evaluation.played_games import GamesPlan, PlayedGames, play_part

ROOT = Path(__file__).parents[2]
PLAN = GamesPlan(
    "love_links", (AgentSpec("greedy"), AgentSpec("random")), 7, 3, "0-3", seed=4, batch=3
)


def arguments(form: str, out: Path, *more: str) -> list[str]:
    games = ["--games", "7", "--players", "3", "--openings", "0-3", "--seed", "4", "--batch", "3"]
    return [
        "data",
        "selfplay",
        *map(str, PLAN.agents),
        "--game",
        PLAN.game,
        *games,
        "--format",
        form,
        "--out",
        str(out),
        *more,
    ]


def test_positions_are_taken_from_a_data_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`linkzoo data positions` takes the folder that `linkzoo data selfplay` wrote."""
    games = tmp_path / "games"
    command = ["data", "positions", str(games), "--last", "3", "--out", str(tmp_path / "p.jsonl")]
    play = "data selfplay random --game linkage --games 2 --openings 0 --out".split()
    assert main([*play, str(games)]) == 0
    assert main(command) == 0
    assert "positions of 2 games" in capsys.readouterr().out
    assert 5 <= len(load_positions(tmp_path / "p.jsonl", get_game("linkage"))) <= 8
    (games / "dataset.json").write_text('{"files": "npz"}')
    command[-1] = str(tmp_path / "q.jsonl")
    assert main(command) == 2
    assert f"{games}: the data set holds npz: write --format records" in capsys.readouterr().err
    (games / "dataset.json").write_text("[]")
    assert main(command) == 2
    assert "dataset.json: [] is not a dict" in capsys.readouterr().err


def test_arrays_and_records_are_the_same_games(tmp_path: Path) -> None:
    assert main(arguments("npz", tmp_path / "a")) == 0
    assert main(arguments("records", tmp_path / "b")) == 0
    game, number = get_game(PLAN.game), 0
    records = sorted((tmp_path / "b" / "games").iterdir())
    assert len(records) == 7
    for part in sorted((tmp_path / "a").glob("*.npz")):
        with np.load(part) as file:
            arrays = dict(file)
        for agents, payoff, score in zip(
            *(arrays[n] for n in ("agents", "payoff", "score")), strict=True
        ):
            own = arrays["game"] == number
            assert agents.tolist() == [(number + seat) % 2 for seat in range(3)]
            record = GameRecord.load(records[number])
            *states, last = record.replay()
            assert record.actions == arrays["action"][own].tolist()
            assert arrays["seat"][own].tolist() == [state.seat for state in states]
            want = np.zeros((2, 3), np.float32)
            game.payoffs(last, want[0])
            game.score_margins(last, want[1])
            assert (payoff == want[0]).all()
            assert (score == want[1]).all()
            for state, seen, mask in zip(
                states, arrays["observation"][own], arrays["action_mask"][own], strict=True
            ):
                observed = np.zeros_like(seen).reshape(-1)
                game.rules.legal_actions(state, wanted := np.zeros_like(mask))
                game.observation.observe(state, state.seat, observed)
                assert (observed == seen.reshape(-1)).all()
                assert (wanted == mask).all()
            number += 1
    assert number == 7
    about = json.loads((tmp_path / "a" / "dataset.json").read_text())
    assert (about["format"], about["files"], about["games"]) == ("linkzoo-dataset/1", "npz", 7)
    assert about["observation"]["shape"] == list(game.observation.spec.shape)
    assert (
        sum(np.prod(part["shape"]) for part in about["observation"]["parts"])
        == game.observation.spec.size
    )


def test_a_stopped_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments("npz", tmp_path)) == 0
    parts = sorted(tmp_path.glob("*.npz"))
    whole = {part: part.read_bytes() for part in parts}
    parts[1].unlink()
    played: list[range] = []

    def spy(plan: GamesPlan, games: range, openings: Openings) -> PlayedGames:
        played.append(games)
        return play_part(plan, games, openings)

    monkeypatch.setattr(dataset, "play_part", spy)
    assert main(arguments("npz", tmp_path)) == 0
    assert played == [range(3, 6)]
    assert {part: part.read_bytes() for part in parts} == whole
    assert main(arguments("npz", tmp_path, "--seed", "5")) == 2
    assert "describes other games: choose another folder" in capsys.readouterr().err
    (tmp_path / "dataset.json").unlink()
    assert main(arguments("npz", tmp_path)) == 2
    assert "isn't empty, and has no dataset.json" in capsys.readouterr().err


def test_a_seat_sees_an_episode() -> None:
    """Minari's episodes: one more observation than actions, masks, and the payoff at the end."""
    plan = GamesPlan("love_links", (AgentSpec("greedy"), AgentSpec("random")), 4, 2, "0")
    played = play_part(plan, range(4), plan.read_openings())
    form = dataset.Minari.__new__(dataset.Minari)  # without the package
    with np.load(BytesIO(form.encode(plan, played))) as arrays:
        episodes = dataset.episodes_of(plan, range(4), arrays)
    assert len(episodes) == 8
    for episode in episodes:
        game, seat, agent = episode["options"].values()
        own = (played.game == game) & (played.seat == seat)
        assert agent == str(plan.agents[(game + seat) % 2])
        assert (episode["actions"] == played.action[own]).all()
        assert (episode["observations"][:-1] == played.observation[own]).all()
        assert len(episode["observations"]) == len(episode["infos"]["action_mask"]) == own.sum() + 1
        assert episode["rewards"].sum() == episode["rewards"][-1] == played.payoff[game, seat]
        assert episode["terminations"].tolist() == [False] * (own.sum() - 1) + [True]
        assert not episode["infos"]["action_mask"][-1].any()


@pytest.mark.parametrize(("form", "package"), [("minari", "minari"), ("parquet", "pyarrow")])
def test_a_missing_package(
    form: str, package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec(package) is not None:
        pytest.skip(f"{package} is installed")
    assert main(arguments(form, tmp_path)) == 2
    assert f"in a clone of linkzoo, pip install '.[{form}]'" in capsys.readouterr().err


def test_the_environment_of_the_episodes() -> None:
    """Another process makes it from JSON, as Minari's `recover_environment` does."""
    plan = GamesPlan("love_links", (AgentSpec("greedy"),), 4, 3, "0", options={"short": True})
    text = dataset.seat_env_spec(plan).to_json()
    env: Any = gymnasium.make(EnvSpec.from_json(text))
    seen, info = env.reset(seed=1)
    assert env.observation_space == plan.rules.observation.spec.space()
    assert env.observation_space.contains(seen)
    record = env.unwrapped.env.record()
    assert (record.num_players, record.options["short"]) == (3, True)
    assert info["action_mask"].any()
    seats = set()
    for _ in range(20):
        env.reset()
        seats.add(env.unwrapped.agent)
    assert len(seats) == 3


@pytest.mark.skipif(find_spec("minari") is None, reason="needs the extra minari")
def test_a_minari_data_set_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is stopped between two parts, and while the data set is made."""
    import minari

    command = ["data", "selfplay", "greedy", "random", "--game", "linkage", "--format", "minari"]
    command += [
        "--games",
        "6",
        "--batch",
        "2",
        "board_size=3",
        "threshold=4",
        "--openings",
        "0",
        "--out",
    ]
    whole, halted = tmp_path / "whole", tmp_path / "halted"
    assert main([*command, str(whole)]) == 0
    played: list[range] = []
    stops: list[range] = []

    def stopped(plan: GamesPlan, games: range, openings: Openings) -> PlayedGames:
        if games.start == 4 and not stops:
            stops.append(games)
            raise KeyboardInterrupt
        played.append(games)
        return play_part(plan, games, openings)

    monkeypatch.setattr(dataset, "play_part", stopped)
    assert main([*command, str(halted)]) == 130
    write = dataset.Minari._write_dataset

    def killed(self: dataset.Minari, parts: Path) -> None:
        write(self, parts)
        raise KeyboardInterrupt

    monkeypatch.setattr(dataset.Minari, "_write_dataset", killed)
    assert main([*command, str(halted)]) == 130
    assert not (halted / "linkzoo").exists()
    monkeypatch.setattr(dataset.Minari, "_write_dataset", write)
    assert main([*command, str(halted)]) == 0
    assert main([*command, str(halted)]) == 0  # complete
    assert played == [range(2), range(2, 4), range(4, 6)]
    assert sorted(path.name for path in halted.iterdir()) == ["dataset.json", "linkzoo"]
    loaded = []
    for folder in (whole, halted):
        monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
        loaded.append(minari.load_dataset("linkzoo/linkage/selfplay-v0"))
    assert loaded[0].total_episodes == loaded[1].total_episodes == 12
    for one, other in zip(*loaded, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.actions, other.actions)
    env: Any = loaded[1].recover_environment()
    seen, _ = env.reset(seed=3)
    assert loaded[1].observation_space.contains(seen)
    assert env.unwrapped.env.record().options["threshold"] == 4
    assert main([*command, str(halted), "--seed", "1"]) == 2
    assert "describes other games" in capsys.readouterr().err


@pytest.mark.slow  # quick: test_a_seat_sees_an_episode
@pytest.mark.skipif(find_spec("minari") is None, reason="needs the extra minari")
def test_a_clone_learns_from_minari(tmp_path: Path) -> None:
    import minari

    command = ["data", "selfplay", "greedy", "--game", "love_links", "--format", "minari"]
    assert main([*command, "--games", "300", "--batch", "200", "--out", str(tmp_path)]) == 0
    os.environ["MINARI_DATASETS_PATH"] = str(tmp_path)
    dataset = minari.load_dataset("linkzoo/love_links/selfplay-v0")
    assert dataset.total_episodes == 600
    assert dataset.action_space.n == get_game("love_links").num_actions
    example = [str(ROOT / "examples" / "behaviour_cloning.py"), "love_links", str(tmp_path)]
    run = subprocess.run([sys.executable, *example], capture_output=True, text=True, check=True)
    share = float(run.stdout.split("share in %: ")[1].split()[0])
    assert share > 60, run.stdout
