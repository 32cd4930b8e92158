"""A game from outside the package works in every environment, player and command."""

import json
import warnings
from pathlib import Path
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four.rules import COLUMNS

import linkzoo
from linkzoo import GameRecord, RandomAgent
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.match import play_match
from tests.common.play import choose, plies, run_python
from tests.common.test_pettingzoo import KNOWN_WARNINGS, zoo
from tests.driving import first_quick

NAME, GAME = "connect_four:GAME", connect_four.GAME
TINY: dict[str, Any] = {
    "game": NAME,
    "num_envs": 16,
    "width": 8,
    "blocks": 1,
    "num_threads": 1,
    "device": "cpu",
    "symmetric": True,
    "eval": {
        "every": 1,
        "opponents": ["random"],
        "blocks": 2,
        "final_opponents": ["greedy"],
        "final_blocks": 2,
    },
}
RUNS: dict[str, dict[str, Any]] = {
    "ppo": {"network": "flat", "horizon": 16, "minibatches": 2, "total_steps": 512},
    "alphazero": {
        "network": "flat",
        "horizon": 8,
        "simulations": [4],
        "window": 2,
        "reuse": 2,
        "batch_size": 32,
        "total_steps": 256,
    },
}


def test_pettingzoo() -> None:
    with warnings.catch_warnings():
        for message in (*KNOWN_WARNINGS, "Observation numpy array is all zeros"):  # an empty grid
            warnings.filterwarnings("ignore", message)
        zoo.api_test(linkzoo.make(NAME), num_cycles=100)
    env = linkzoo.make(NAME, render_mode="rgb_array")
    env.reset(seed=1)
    for move in "dcdcdcd":
        env.step(env.text_to_action(move))
    assert env.rewards == {"player_0": 1, "player_1": -1}
    assert env.game.drawing.text(env.game.from_bytes(env.get_state())).endswith(
        "Player 0 (X) wins\n"
    )
    picture: Any = env.render()
    assert picture.shape[2] == 3
    assert picture.min() == 0
    assert GameRecord.from_dict(env.record().to_dict()) == env.record()


def test_vector_games_are_the_single_ones() -> None:
    vec, env = linkzoo.make_vec(NAME, 8), linkzoo.make(NAME)
    now = vec.reset(seed=3)
    played: list[list[int]] = [[] for _ in range(8)]
    while not now.done.any():
        actions = [choose(mask, 3, i + len(played[i])) for i, mask in enumerate(now.action_mask)]
        for i, action in enumerate(actions):
            played[i].append(action)
        now = vec.step(actions)
    for i in np.flatnonzero(now.done).tolist():
        env.reset(seed=vec.seed_of(i, 0))
        for action in played[i]:
            env.step(action)
        assert list(env.rewards.values()) == now.reward[i].tolist()
        assert env.record().actions == played[i]
        assert now.episode_length[i] == len(played[i])


def test_one_seat() -> None:
    env = linkzoo.SeatEnv(NAME, opponent=GreedyAgent())
    seen, info = env.reset(seed=1)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        seen, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert reward in (-1, 0, 1)


@pytest.mark.slow
def test_agents_and_matches() -> None:
    """A search beats random play, and greedy play takes a win."""
    search = play_match(NAME, UctAgent(100), RandomAgent(), 10, openings="0")
    assert search.win_share().mean > 0.9
    assert play_match(NAME, GreedyAgent(), RandomAgent(), 50).win_share().mean > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", first_quick(list(RUNS), slow=0))
def test_training(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration names the game, and so does the card: the checkpoint plays."""
    monkeypatch.chdir(tmp_path)
    config = {"name": "tiny", "algorithm": algorithm, **TINY, **RUNS[algorithm]}
    Path("tiny.yaml").write_text(json.dumps(config), encoding="utf-8")
    assert main(["train", "tiny.yaml"]) == 0
    assert json.loads(Path("runs/tiny/checkpoint/card.json").read_text())["game"] == NAME
    agent = load_agent("runs/tiny/checkpoint", views=2)
    assert play_match(NAME, agent, RandomAgent(), 2).games == 4
    evaluate = "evaluate runs/tiny/checkpoint random --games 4 --json result.json"
    assert main(evaluate.split()) == 0
    assert json.loads(Path("result.json").read_text())["game"] == NAME


@pytest.mark.last
@pytest.mark.slow  # quick: test_another_process_finds_the_game in test_registry.py
def test_commands_in_a_process_of_their_own(tmp_path: Path) -> None:
    """Nothing but `--game` says where the game is; so do a record and a worker's configuration."""
    run = ("-m", "linkzoo_training", "evaluate", "greedy", "random", "--game", NAME)
    assert "greedy" in run_python(*run, "--games", "4")
    env = linkzoo.make(NAME)
    env.reset(seed=1)
    for _ in plies(env, 1):
        pass
    env.record().save(tmp_path / "game.json")
    code = "import linkzoo, sys; print(len(linkzoo.GameRecord.load(sys.argv[1]).actions))"
    output = run_python("-c", code, str(tmp_path / "game.json"))
    assert int(output) == len(env.record().actions) >= COLUMNS


@pytest.mark.slow  # quick: commands in a process of their own
@pytest.mark.last
def test_workers_find_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"name": "tiny", **TINY, **RUNS["ppo"], "total_steps": 256}
    Path("tiny.yaml").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(Path(connect_four.__file__).parents[1]))
    assert main(["train", "tiny.yaml", "--executor", "processes", "--workers", "2"]) == 0
