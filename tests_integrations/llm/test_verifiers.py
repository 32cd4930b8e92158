"""verifiers: its own commands validate the games, and play them against a model's endpoint."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo.text import TextEnv

KIND: dict[str, Any] = {"max_illegal": 2, "illegal_cost": 0.5}
SMALL: dict[str, Any] = {"board_size": 3, "threshold": 4}
PACKAGE = Path(__file__).parents[2] / "examples" / "verifiers_env"


class Model(BaseHTTPRequestHandler):
    """Answers nonsense to a first message, and then `Move: 1`."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turns = sum(message["role"] == "user" for message in asked["messages"])
        assert asked["messages"][0]["role"] == "system"
        message = {"role": "assistant", "content": "Hm." if turns == 1 else "Move: 1"}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        said = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        body = json.dumps({**said, "choices": choices, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def run(
    program: str, out: Path, *arguments: str, name: str = "linkzoo-game"
) -> list[dict[str, Any]]:
    """Runs a command of verifiers to its end; the rows that it wrote."""
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), name, "-o", str(out), *arguments],
        env={**os.environ, "PYTHONPATH": path, "MODEL_KEY": "none"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    (file,) = out.rglob("*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("game", ["linkage", "love_links"])
def test_its_validator_accepts_the_games(game: str, tmp_path: Path) -> None:
    rows = run(
        "vf-validate",
        tmp_path,
        *("--only-gold", "--runtime.type", "subprocess", "--rich", "false", "-n", "3"),
        *("--taskset.game", game, "--taskset.opponent", "greedy"),
    )
    assert [row["reason"] for row in rows] == ["valid"] * 3


def test_pays_what_the_environment_pays(endpoint: str, tmp_path: Path) -> None:
    rows = run(
        "vf-eval",
        tmp_path,
        *("-n", "3", "--no-rich", "--model", "m"),
        *("--client.base-url", endpoint, "--client.api-key-var", "MODEL_KEY"),
        *("--env.taskset.options", json.dumps(SMALL)),
        *("--env.taskset.max-illegal", "2", "--env.taskset.illegal-cost", "0.5"),
    )
    wanted = {}
    for seed in range(3):
        env = TextEnv("linkage", **KIND, **SMALL)
        env.reset(seed)
        steps = [env.step("Hm.")]
        while not steps[-1].done:
            steps.append(env.step("Move: 1"))
        legal = sum(step.legal for step in steps) / len(steps)
        wanted[f"linkage#{seed}"] = sum(step.reward for step in steps), legal
    found = {}
    for row in rows:
        (trace,) = row.get("traces", [row])
        assert trace["ok"], trace["errors"]
        reward = trace["rewards"]["game"]
        score = reward["score"] if isinstance(reward, dict) else reward
        found[trace["task"]["data"]["name"]] = score, trace["metrics"]["legal"]
    assert found == wanted


def test_self_play_is_a_trace_of_each_seat(endpoint: str, tmp_path: Path) -> None:
    """Each has its own messages, an agent of its own name, and its own reward."""
    rows = run(
        "vf-eval",
        tmp_path,
        *("-n", "2", "--no-rich", "--model", "m"),
        *("--client.base-url", endpoint, "--client.api-key-var", "MODEL_KEY"),
        *("--env.taskset.game", "love_links", "--env.taskset.num-players", "3"),
        *("--env.taskset.illegal-cost", "0.5"),
        name="linkzoo-self-play",
    )
    assert len(rows) == 2
    for row in rows:
        traces = {trace["agent"]["name"]: trace for trace in row["traces"]}
        assert sorted(traces) == ["seat_0", "seat_1", "seat_2"]
        env = TextEnv("love_links", 3, seat="all", rules="none", illegal_cost=0.5)
        message = env.reset(row["traces"][0]["task"]["data"]["seed"])
        rewards = np.zeros(3)
        legal = np.zeros(3)
        talks: dict[int, list[str]] = {0: [], 1: [], 2: []}
        done = False
        while not done:
            talk = talks[env.seat]
            talk.append(message)
            seat = env.seat
            step = env.step("Hm." if len(talk) == 1 else "Move: 1")
            legal[seat] += step.legal
            rewards += step.rewards
            message = step.message
            done = step.done
        for seat, talk in talks.items():
            trace = traces[f"seat_{seat}"]
            assert trace["ok"], trace["errors"]
            reward = trace["rewards"]["game"]
            score = reward["score"] if isinstance(reward, dict) else reward
            assert score == rewards[seat]
            assert trace["metrics"]["legal"] == legal[seat] / len(talk)
            shown = json.dumps(trace["nodes"])
            assert all(json.dumps(part)[1:-1] in shown for part in talk)
            assert not any(f"You are player {other} " in shown for other in talks if other != seat)
