"""OpenEnv: its validator accepts the server, and its client plays what the environment plays."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment

from linkzoo.integrations.openenv import TextAction, TextClient, make_app
from linkzoo.text import TextEnv

KIND: dict[str, Any] = {"board_size": 3, "threshold": 4, "max_illegal": 1, "illegal_cost": 0.5}
FOLDER = Path(__file__).parents[2] / "examples" / "openenv_env"


@pytest.fixture(scope="module", name="address")
def fixture_address() -> Iterator[str]:
    yield from serve(sessions=4)


def serve(**kwargs: Any) -> Iterator[str]:
    """Yields the address of a server in this process, and ends it."""
    config = uvicorn.Config(make_app("linkage", **kwargs, **KIND), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


served = contextmanager(serve)


def test_its_validator_accepts_the_server(address: str) -> None:
    report = validate_running_environment(address, timeout_s=60)
    assert report["passed"], report
    assert report["mode"] == "simulation"


def test_its_validator_wants_only_a_lock_of_the_folder() -> None:
    """The lock is of the user's index: `uv lock` makes it."""
    _, issues = validate_multi_mode_deployment(FOLDER)
    assert issues == ["Missing uv.lock - run 'uv lock' to generate it"]


def play(address: str, seed: int) -> list[Any]:
    """All that a client sees of a game with one wrong answer."""
    with TextClient(base_url=address).sync() as client:
        result = client.reset(seed=seed)
        seen: list[Any] = [result.observation.message]
        for answer in ["nonsense", *["1"] * 9]:
            if result.done:
                break
            result = client.step(TextAction(answer=answer))
            told = result.observation
            seen.append((told.message, result.reward, result.done, told.legal))
        state = client.state()
        assert (state.game, state.step_count) == ("linkage", len(seen) - 1)
    return seen


def test_its_client_plays_what_the_environment_plays(address: str) -> None:
    for seed in range(3):
        env = TextEnv("linkage", **KIND)
        wanted: list[Any] = [env.reset(seed)]
        for answer in ["nonsense", *["1"] * 9]:
            step = env.step(answer)
            wanted.append((step.message, step.reward, step.done, step.legal))
            if step.done:
                break
        assert play(address, seed) == wanted


def test_clients_have_games_of_their_own(address: str) -> None:
    alone = [play(address, seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: play(address, seed), range(4))) == alone


def test_one_client_plays_all_seats() -> None:
    """Each message is for the seat that answers next, and all seats are paid."""
    with served(seat=[0, 1]) as address, TextClient(base_url=address).sync() as client:
        result = client.reset(seed=1)
        seats = [result.observation.seat]
        while not result.done:
            result = client.step(TextAction(answer="Move: 1"))
            seats.append(result.observation.seat)
        assert {*seats} == {0, 1}
        assert sorted(result.observation.rewards) == [-1, 1]
        assert result.reward == result.observation.rewards[seats[-1]]


def test_wrong_arguments_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="seat"):
        make_app("linkage", seat=2)


def test_a_step_without_a_game_is_refused(address: str) -> None:
    """POST /step has an environment of its own, so there never is one."""
    answer = httpx.post(f"{address}/step", json={"action": {"answer": "1"}})
    assert answer.status_code == 409
    assert "step before reset" in answer.json()["detail"]
    assert "/ws" in answer.json()["detail"]
    with (
        TextClient(base_url=address).sync() as client,
        pytest.raises(RuntimeError, match="step before reset"),
    ):
        client.step(TextAction(answer="1"))


def test_a_full_server_says_so() -> None:
    with served(sessions=1) as address, TextClient(base_url=address).sync() as first:
        first.reset(seed=1)
        for _ in range(3):
            with (
                TextClient(base_url=address).sync() as second,
                pytest.raises(RuntimeError, match=r"capacity.*CAPACITY_REACHED"),
            ):
                second.reset(seed=1)
        assert first.reset(seed=2).observation.message


def test_idle_clients_lose_their_places() -> None:
    with (
        served(sessions=1, idle_seconds=0.2) as address,
        TextClient(base_url=address).sync() as idle,
    ):
        idle.reset(seed=1)
        end = time.monotonic() + 30
        while not takes_a_place(address):
            assert time.monotonic() < end, "the place stays taken"
            time.sleep(0.5)
        with pytest.raises(RuntimeError, match="idle for too long: connect again"):
            idle.step(TextAction(answer="1"))


def takes_a_place(address: str) -> bool:
    """Whether there is room for another client."""
    with TextClient(base_url=address).sync() as client:
        try:
            client.reset(seed=1)
        except RuntimeError:
            return False
    return True


@pytest.mark.parametrize("idle", [0, -1, float("nan"), float("inf")])
def test_wrong_times_are_refused(idle: float) -> None:
    with pytest.raises(ValueError, match="idle_seconds"):
        make_app("linkage", idle_seconds=idle)
