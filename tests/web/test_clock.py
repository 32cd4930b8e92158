"""Clocks: what they count, what happens at zero, restarts, and what they tell."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkzoo import game_names
from linkzoo_training.web.game_session import GameSession
from tests.web.server import Client, serving

CONTROL = {"minutes": 3, "increment": 2}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of all clocks, in seconds."""
    times = [1000.0]
    frozen = SimpleNamespace(monotonic=lambda: times[0])
    monkeypatch.setattr("linkzoo_training.web.clock.time", frozen)
    return times


def _apart(client: Client, game: str, players: int = 2, **more: Any) -> tuple[GameSession, Any]:
    """A game with a clock, and the link of each person."""
    body = {"game": game, "seats": ["human"] * players, "seed": 1, "apart": True}
    status, answer = client.ask("sessions", {**body, "clock": CONTROL, **more})
    assert status == 200, answer
    return client.server.viewer(answer["id"]).session, list(answer["seats"].values())


def _move(client: Client, session: GameSession, links: list[str]) -> dict[str, Any]:
    """Plays a move of the seat to act; returns its view."""
    link = links[int(session.state.seat)]
    move = client.ask(f"sessions/{link}")[1]["moves"][0]["text"]
    status, view = client.ask(f"sessions/{link}/move", {"move": move})
    assert status == 200, view
    return dict(view)


def test_the_seat_to_move_uses_its_time_from_its_second_move_on(client: Client) -> None:
    session, links = _apart(client, "linkage")
    assert session.clock is not None
    for _ in range(2):
        view = client.ask(f"sessions/{links[0]}")[1]
        assert view["clock"] == {**CONTROL, "left": {"0": 180, "1": 180}, "running": None}
        _move(client, session, links)
    for seat in (0, 1, 0):
        view = client.ask(f"sessions/{links[1]}")[1]
        assert view["clock"]["running"] == seat
        session.clock._since -= 10  # ten seconds pass
        after = client.ask(f"sessions/{links[0]}")[1]
        assert after["version"] == client.ask(f"sessions/{links[0]}")[1]["version"]
        used = view["clock"]["left"][f"{seat}"] - after["clock"]["left"][f"{seat}"]
        assert used == pytest.approx(10, abs=1)
        before = after["clock"]["left"][f"{seat}"]
        after = _move(client, session, links)["clock"]["left"][f"{seat}"]
        assert after == pytest.approx(before + 2, abs=1)  # the increment


def test_a_move_in_place_of_another_adds_no_time(client: Client, now: list[float]) -> None:
    session, links = _apart(client, "linkage")
    assert session.clock is not None
    for _ in range(3):
        _move(client, session, links)
    assert [session.clock.left(seat) for seat in (0, 1)] == [182, 180]
    client.ask(f"sessions/{links[0]}/back", {})
    client.ask(f"sessions/{links[1]}/agree", {"agree": True})
    assert [len(session.record.actions), session.clock.running] == [2, 0]
    now[0] += 5
    _move(client, session, links)
    assert [session.clock.left(seat) for seat in (0, 1)] == [177, 180]


@pytest.mark.parametrize(
    ("game", "players"),
    [("linkage", 2), pytest.param("love_links", 3, marks=pytest.mark.slow)],
)
def test_without_time_a_person_loses(client: Client, game: str, players: int) -> None:
    """Also with several people: all other sides win, as if the person had resigned."""
    session, links = _apart(client, game, players)
    assert session.clock is not None
    while session.clock.running is None:
        _move(client, session, links)
    seat = session.clock.running
    with client.events(links[seat]) as views:
        assert not next(views)["over"]
        with session.lock:
            session.clock._left[seat] = 0.05
            session.clock.run(seat)
        view = next(views)
    assert [view["over"], view["resigned"], view["timed_out"]] == [True, seat, True]
    assert view["winners"] == [other for other in range(players) if other != seat]
    assert view["clock"]["left"][f"{seat}"] == 0
    (row,) = client.ask(f"history?ids={links[seat]}")[1]["games"]
    assert [row["resigned"], row["timed_out"]] == [seat, True]
    assert client.ask(f"sessions/{links[seat]}/move", {"move": "W a1-b1"})[0] == 409
    view = client.ask(f"sessions/{links[seat]}/rematch", {})[1]
    assert set(view["clock"]["left"].values()) == {180}
    assert [view["over"], view["timed_out"]] == [False, False]


def test_who_resigns_has_time_left(client: Client) -> None:
    _, links = _apart(client, "linkage")
    view = client.ask(f"sessions/{links[0]}/resign", {})[1]
    assert [view["resigned"], view["timed_out"]] == [0, False]


@pytest.mark.slow  # quick: the others
def test_an_agents_time_is_nobodys(client: Client) -> None:
    name = client.new_game("linkage", ["random", "human"], clock=CONTROL)
    session = client.server.viewer(name).session
    assert session.clock is not None
    view = client.settled(name)
    assert list(view["clock"]["left"]) == ["1"]
    for _ in range(2):
        client.ask(f"sessions/{name}/move", {"move": client.settled(name)["moves"][0]["text"]})
    assert client.settled(name)["clock"]["running"] == 1


@pytest.mark.slow  # quick: the others
def test_a_covered_screen_shows_and_runs_no_clock(client: Client) -> None:
    name = client.new_game("link_o", ["human", "human"], clock=CONTROL)
    session = client.server.viewer(name).session
    assert session.clock is not None
    for _ in range(4):
        waiting = session.waiting
        if waiting is not None:
            assert session.clock.running is None
            assert client.ask(f"sessions/{name}")[1]["clock"] is None
            view = client.ask(f"sessions/{name}/look", {"seat": waiting})[1]
        client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
        view = client.ask(f"sessions/{name}")[1]
    while (waiting := session.waiting) is not None:
        client.ask(f"sessions/{name}/look", {"seat": waiting})
    assert session.clock.running == int(session.state.seat)


def test_the_time_stands_still_while_the_server_is_down(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        session, links = _apart(client, "linkage")
        for _ in range(3):
            _move(client, session, links)
        assert session.clock is not None
        session.clock._since -= 60
        before = client.ask(f"sessions/{links[0]}")[1]["clock"]
    time.sleep(0.2)
    with serving(tmp_path) as client:
        after = client.ask(f"sessions/{links[0]}")[1]["clock"]
        assert [after["running"], after["increment"]] == [1, 2]
        assert after["left"]["0"] == before["left"]["0"]
        assert after["left"]["1"] == pytest.approx(120, abs=1)


def test_a_clock_shows_nothing_secret(client: Client, now: list[float]) -> None:
    """Views with a clock are equal in all worlds of a seat."""
    session, links = _apart(client, "link_o", 3)
    for _ in range(6):
        now[0] += 3
        _move(client, session, links)
    acting = int(session.state.seat)
    other = (acting + 1) % 3
    before = client.ask(f"sessions/{links[other]}")[1]
    assert before["clock"]["running"] == before["acting"] == acting
    with session.lock:
        session.game.determinize(session.state, other, np.uint64(5))
        session.touch()
    assert client.ask(f"sessions/{links[other]}")[1] == before


def test_games_with_a_secret_turn_have_no_clock(client: Client) -> None:
    offered = {game["name"]: game["clock"] for game in client.ask("catalogue")[1]["games"]}
    assert offered == {name: name != "love_formula" for name in game_names()}
    body = {"game": "love_formula", "seats": ["human", "human"], "clock": CONTROL}
    status, answer = client.ask("sessions", body)
    assert status == 400
    assert "keeps secret" in answer["error"]
    status, answer = client.ask("sessions", {**body, "game": "linkage", "seats": ["random"] * 2})
    assert status == 400
    assert "only people" in answer["error"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"minutes": 0, "increment": 0},
        {"minutes": 1e9, "increment": 0},
        {"minutes": 1, "increment": -1},
        {"minutes": "1", "increment": 1},
        {"minutes": True, "increment": 1},
        {"minutes": 1},
        5,
    ],
)
def test_a_damaged_clock_is_refused(client: Client, wrong: Any) -> None:
    body = {"game": "linkage", "seats": ["human", "human"], "clock": wrong}
    status, answer = client.ask("sessions", body)
    assert status == 422
    assert answer["error"].startswith("clock")
