"""Games on the server: playing, taking back, saving, and hidden information."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import GameRecord, Positions, get_game
from linkzoo_training import load_agent
from linkzoo_training.agents.values import values_along
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints
from linkzoo_training.web import players, session_routes, views
from linkzoo_training.web.offers import MOST_SIMULATIONS
from linkzoo_training.web.session_store import UnknownError
from tests.driving import first_quick
from tests.web.server import Client, serving


class SlowAgent:
    """Waits until it is let go, then plays the first legal action."""

    name = "slow"
    go = threading.Event()

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.go.wait(60)
        return np.asarray(positions.action_mask.argmax(1))


class FailingAgent:
    name = "failing"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        raise KeyError(f"lost {len(positions)}")


ROOT = Path(__file__).parents[2]
SLOW, FAILING = "tests.web.test_sessions:SlowAgent", "tests.web.test_sessions:FailingAgent"


def test_a_game_is_played_to_its_end_and_saved(client: Client) -> None:
    small = {"board_size": 3, "threshold": 3}
    name = client.new_game("linkage", ["human", "random"], options=small)
    while not (view := client.settled(name))["over"]:
        assert view["looking"] == 0
        status, _ = client.ask(f"sessions/{name}/move", {"move": view["moves"][-1]["text"]})
        assert status == 200
    assert view["moves"] == []
    assert len(view["winners"]) == 1
    files = {client.ask(f"sessions/{name}/save", {})[1]["file"] for _ in range(2)}
    assert len(files) == 1  # saved again, it replaces the first
    record = GameRecord.load(client.server.records / files.pop())
    assert record.to_dict() == client.ask(f"sessions/{name}/record")[1]
    assert len(record.actions) == len(view["log"])


@pytest.mark.parametrize("seed", [2**53 + 1, 2**64 - 1])
def test_a_large_seed_stays(client: Client, seed: int) -> None:
    """In digits, as the page sends it, and in the record."""
    for wanted in (seed, str(seed), f"{seed:020}"):
        status, answer = client.ask(
            "sessions", {"game": "linkage", "seats": ["human", "random"], "seed": wanted}
        )
        assert status == 200
        assert client.server.viewer(answer["id"]).session.record.seed == seed
        assert client.ask(f"sessions/{answer['id']}/record")[1]["seed"] == seed


def test_the_same_seed_and_moves_give_the_same_game(client: Client) -> None:
    logs = []
    for _ in range(2):
        name = client.new_game("love_links", ["random", "human"])
        for _ in range(3):
            view = client.settled(name)
            client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
        logs.append(client.settled(name)["log"])
    assert logs[0] == logs[1]


def test_taking_back_gives_the_position_before_ones_own_move(client: Client) -> None:
    name = client.new_game("linkage", ["human", "random"])
    first = client.settled(name)
    assert not first["can_take_back"]
    assert client.ask(f"sessions/{name}/back", {})[0] == 409
    client.ask(f"sessions/{name}/move", {"move": first["moves"][5]["text"]})
    assert client.settled(name)["can_take_back"]
    status, back = client.ask(f"sessions/{name}/back", {})
    assert status == 200
    assert back["svg"] == first["svg"]
    assert back["moves"] == first["moves"]


def test_taking_back_while_an_agent_thinks_forgets_its_move(tmp_path: Path) -> None:
    with serving(tmp_path, custom_agents=[SLOW]) as client:
        SlowAgent.go.clear()
        name = client.new_game("linkage", ["human", SLOW])
        first = client.settled(name)
        client.ask(f"sessions/{name}/move", {"move": first["moves"][0]["text"]})
        assert client.ask(f"sessions/{name}")[1]["thinking"]
        client.ask(f"sessions/{name}/back", {})
        SlowAgent.go.set()
        time.sleep(0.3)
        assert client.ask(f"sessions/{name}")[1]["log"] == []


@pytest.mark.slow
def test_a_slow_agent_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    with serving(tmp_path, custom_agents=[SLOW]) as client:
        SlowAgent.go.clear()
        try:
            for _ in range(50):
                client.new_game("linkage", [SLOW, "human"])
            name = client.new_game("linkage", ["random", "human"])
            begun = time.monotonic()
            assert client.settled(name)["moves"]
            assert time.monotonic() - begun < 5
        finally:
            SlowAgent.go.set()


def test_the_answer_to_a_move_has_a_quick_agents_move(client: Client) -> None:
    name = client.new_game("linkage", ["human", "random"])
    client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
    client.settled(name)  # its first move reads the agent
    moves = client.ask(f"sessions/{name}")[1]["moves"]
    view = client.ask(f"sessions/{name}/move", {"move": moves[0]["text"]})[1]
    assert not view["thinking"]
    assert len(view["log"]) == 4


def test_a_page_hears_of_each_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In silence the server sends signs of life, and the stream ends with the game."""
    monkeypatch.setattr(session_routes, "BEAT_SECONDS", 0.05)
    with serving(tmp_path, custom_agents=[SLOW]) as client:
        SlowAgent.go.clear()
        name = client.new_game("linkage", ["human", SLOW])
        with client.events(name) as received:
            next(received)
            client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
            view = next(received)
            assert view["thinking"]
            assert view["preparing"]  # it never moved before
            threading.Timer(0.3, SlowAgent.go.set).start()
            assert len(next(received)["log"]) == 2
            client.ask(f"sessions/{name}", method="DELETE")
            assert list(received) == []
        assert client.ask(f"sessions/{name}/events")[0] == 404


def test_drawing_keeps_no_other_game_waiting(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither another game's view, nor the agent's move in the game that is drawn."""
    names = [client.new_game("linkage", ["human", "random"]) for _ in range(2)]
    for name in names:
        client.settled(name)
    session = client.server.viewer(names[0]).session
    go = threading.Event()
    drawn = views.Scene.drawn

    def draw(scene: views.Scene, *, tall: bool = False) -> dict[str, Any]:
        if scene.facts["names"] == session.names:
            go.wait(60)
        return drawn(scene, tall=tall)

    session.names = ["Slow", ""]
    monkeypatch.setattr(views.Scene, "drawn", draw)
    moving = threading.Thread(
        target=client.ask, args=(f"sessions/{names[0]}/move", {"move": "W a1-b1"})
    )
    moving.start()
    try:
        end = time.monotonic() + 10
        while len(session.record.actions) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert len(session.record.actions) == 2  # the agent has answered
        assert client.ask(f"sessions/{names[1]}/move", {"move": "W a1-b1"})[0] == 200
        assert not go.is_set()
    finally:
        go.set()
        moving.join(60)


def test_an_agent_that_fails_is_named_and_the_game_stays(tmp_path: Path) -> None:
    with serving(tmp_path, custom_agents=[FAILING]) as client:
        name = client.new_game("linkage", ["human", FAILING])
        client.ask(f"sessions/{name}/move", {"move": client.settled(name)["moves"][0]["text"]})
        view = client.settled(name)
        assert "lost" in view["error"]
        assert client.ask(f"sessions/{name}/back", {})[1]["error"] == ""


def test_agents_alone_move_when_told_to(client: Client) -> None:
    name = client.new_game("linkage", ["random", "greedy"])
    assert client.settled(name)["watching"]
    for count in range(1, 4):
        assert client.ask(f"sessions/{name}/step", {})[0] == 200
        assert len(client.settled(name)["log"]) == count
    assert client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})[0] == 409


def _hidden_texts(session: Any, seat: int) -> set[bytes]:
    """The tiles that a seat alone sees, as the pictures name them."""
    hand = session.game.to_dict(session.state, seat)["hands"][seat]
    return {f'data-tile=\\"{tile}\\"'.encode() for tile in hand}


def test_what_one_person_holds_never_goes_to_another(client: Client) -> None:
    """LINK-O: between two looks no answer holds more than the looking seat's view gives."""
    name = client.new_game("link_o", ["human", "human"])
    session, game = client.server.viewer(name).session, get_game("link_o")
    for _ in range(12):
        view = client.ask(f"sessions/{name}")[1]
        seat = view["waiting"]
        if seat is not None:
            assert set(view).isdisjoint({"svg", "text", "moves", "log"})
            other = client.ask(f"sessions/{name}/look", {"seat": 1 - seat})
            assert other[0] == 409
            assert client.ask(f"sessions/{name}/move", {"move": "@5 red 1-3"})[0] == 409
            assert client.ask(f"sessions/{name}/back", {})[0] == 409
            view = client.ask(f"sessions/{name}/look", {"seat": seat})[1]
        looking = view["looking"]
        assert view["text"] == game.drawing.text(session.state, looking)
        assert game.draw_svg(session.state, 1 - looking) != game.draw_svg(session.state, looking)
        assert len(view["log"]) == len(session.history.seen(looking))
        client.sent.clear()
        client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
        if session.waiting is not None:
            sent = b"".join(client.sent)
            assert not any(text in sent for text in _hidden_texts(session, session.waiting))
    assert client.ask(f"sessions/{name}/record")[0] == 409


@pytest.mark.parametrize("game", first_quick(["link_o", "love_formula"]))
def test_a_person_against_agents_sees_the_same_in_worlds_he_cant_tell_apart(
    client: Client, game: str
) -> None:
    name = client.new_game(game, ["random", "human"])
    view = client.settled(name)
    session = client.server.viewer(name).session
    with session.lock:
        session.game.determinize(session.state, 1, np.uint64(99))
        session.rendered.clear()
    assert client.ask(f"sessions/{name}")[1] == view


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"game": "chess"}, "chess"),
        ({"game": "os:path"}, "os:path"),
        ({"seats": ["human"]}, "num_players"),
        ({"seats": ["human", "../secret"]}, "doesn't offer it"),
        ({"seats": ["human", "checkpoints/linkage_ppo"]}, "doesn't offer it"),
        ({"seats": ["human", "x.py:Agent"]}, "doesn't offer it"),
        ({"seats": ["human", f"uct-{MOST_SIMULATIONS + 1}"]}, "simulations"),
        ({"seats": ["human", f"mc-{MOST_SIMULATIONS + 1}"]}, "simulations"),
        ({"seats": ["human", "linkage:99999999"]}, "simulations"),
        ({"seats": ["human", "tests"]}, "checkpoints"),
        ({"seats": ["human", "love_links:4"]}, "plays love_links, not linkage"),
        ({"game": "link_o", "seats": ["human", "linkage"]}, "plays linkage, not link_o"),
        ({"seats": ["human", "linkage@9999"]}, "views: 9999 is not in"),
        ({"seats": ["human", "linkage~9999"]}, "temperature"),
        ({"seats": ["human", "linear"]}, "no scorer ships for linkage"),
        ({"options": {"size": 3}}, "size"),
        ({"game": "link_o", "options": {"board": "/etc/passwd"}}, "board"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": str(2**64)}, "seed"),
        ({"seed": "1e3"}, "seed"),
        ({"seed": ""}, "seed"),
    ],
)
def test_what_a_page_may_not_ask_for_is_named(
    client: Client, wanted: dict[str, Any], said: str
) -> None:
    body = {"game": "linkage", "seats": ["human", "random"], "options": {}, "seed": 0, **wanted}
    status, answer = client.ask("sessions", body)
    assert status == 400
    assert said in answer["error"]
    assert "\n" not in answer["error"]
    assert str(ROOT) not in answer["error"]


@pytest.mark.slow
def test_analysis_gives_shares_values_visits_and_the_exact_verdict(client: Client) -> None:
    options = {"board_size": 4, "threshold": 4}
    name = client.new_game("linkage", ["human", "random"], options=options)
    for agent, searched in (("checkpoint", False), ("checkpoint:8", True)):
        status, analysis = client.ask(f"sessions/{name}/analysis", {"agent": agent})
        assert status == 200, analysis
        assert sum(move["share"] for move in analysis["moves"]) == pytest.approx(1, abs=0.01)
        assert [len(analysis["values"]), analysis["seat"]] == [2, 0]
        assert sum(analysis["values"]) == pytest.approx(0, abs=0.05)
        assert all((move["visits"] is not None) == searched for move in analysis["moves"])
        assert analysis["exact"]["reached"]
        assert bool(analysis["exact"]["winning"]) == (analysis["exact"]["winner"] == 0)
    assert client.ask(f"sessions/{name}/analysis", {"agent": "random"})[0] == 400


@pytest.mark.slow
@pytest.mark.parametrize("threshold", first_quick([11, 13], slow=0))
def test_agents_outside_of_their_training_are_named(client: Client, threshold: int) -> None:
    """In a game with such an agent, and where an agent is asked."""
    notes = []
    if threshold == 11:
        notes = ["linkage_az was trained for threshold=12..16, not 11"]
    options = {"threshold": threshold}
    other = client.new_game("linkage", ["human", "greedy"], options=options)
    assert client.settled(other)["notes"] == []
    name = client.new_game("linkage", ["linkage_az", "human"], options=options)
    assert client.settled(name)["notes"] == notes
    for agent in ("linkage_az", "linkage_az:2"):
        assert client.ask(f"sessions/{name}/analysis", {"agent": agent})[1]["notes"] == notes


def test_a_record_is_replayed_ply_by_ply(client: Client) -> None:
    name = client.new_game("linkage", ["random", "random"])
    for _ in range(4):
        client.ask(f"sessions/{name}/step", {})
        client.settled(name)
    record = client.ask(f"sessions/{name}/record")[1]
    status, opened = client.ask("replays", record)
    assert status == 200
    pictures = [client.ask(f"replays/{opened['id']}/{ply}")[1]["svg"] for ply in range(5)]
    assert len(set(pictures)) == 5
    assert client.ask(f"replays/{opened['id']}/5")[0] == 400
    status, answer = client.ask("replays", {**record, "moves": ["W a1-g7"]})
    assert status == 400
    assert "moves[0]" in answer["error"]


@pytest.mark.slow
def test_a_replay_has_the_values_along_it(client: Client) -> None:
    record = client.ask(f"sessions/{client.new_game('linkage', ['random', 'random'])}/record")[1]
    name = client.ask("replays", {**record, "moves": ["W a1-b1", "B c3-c4"]})[1]["id"]
    status, values = client.ask(f"replays/{name}/values", {"agent": "checkpoint"})
    assert status == 200, values
    held = client.server.replays.get(name)[0].record
    assert values == values_along(load_agent("linkage"), held).to_dict()
    for agent, message in (
        ("random", "no values"),
        ("love_links", "not linkage"),
        ("x", "there are"),
    ):
        status, answer = client.ask(f"replays/{name}/values", {"agent": agent})
        assert status == 400
        assert message in answer["error"]
    assert client.ask(f"replays/{name}/1/analysis", {"agent": "love_links"})[0] == 400
    assert client.ask(f"replays/{name}/1/analysis", {"agent": "love_links:4"})[0] == 400


def test_strength_is_what_the_cards_say(client: Client) -> None:
    cards = {card["name"]: card for card in client.ask("strength")[1]["cards"]}
    assert tuple(sorted(cards)) == shipped_checkpoints()
    card = load_card(find_checkpoint("linkage_az"))
    match, entry = cards["linkage_az"]["matches"][0], card["strength"][0]
    assert (match["openings"], entry["openings"]) == ("after 2-4 random plies", "2-4")
    assert [match["agent"], match["opponent"]] == entry["agents"]
    assert match["share"] == entry["win_share"]
    assert [part["role"] for part in match["roles"]] == ["More", "Fewer"]
    assert [part["share"] for part in match["roles"]] == [
        side["win_share"] for side in entry["sides"]
    ]
    assert match["options"] == "threshold=[13,14]"
    assert cards["linkage_az"]["blunders"][0]["share"] == card["blunder_rate"][0]["share"]
    assert all(match["roles"] == [] for match in cards["link_o_ppo"]["matches"])


def test_strength_is_of_the_games_that_are_offered(tmp_path: Path) -> None:
    with serving(tmp_path, games=["linkage"]) as client:
        cards = client.ask("strength")[1]["cards"]
        assert {card["title"] for card in cards} == {"Linkage"}


def test_games_are_limited_and_unused_ones_make_room(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        sessions = client.server.sessions
        sessions.most = 2
        names = [client.new_game("linkage", ["human", "random"]) for _ in range(2)]
        body = {"game": "linkage", "seats": ["human", "random"]}
        assert client.ask("sessions", body)[0] == 429
        client.ask(f"sessions/{names[0]}", method="DELETE")
        assert client.ask(f"sessions/{names[0]}")[0] == 404
        names.append(client.new_game("linkage", ["human", "random"]))
        assert client.ask(f"sessions/{names[1]}")[0] == 200
        sessions.spare = 0  # as if they hadn't been used for long: the new one crowds one out
        names.append(client.new_game("linkage", ["human", "random"]))
        assert [sessions.peek(name) is None for name in names[1:]] == [False, True, False]
        assert client.ask(f"sessions/{names[2]}")[0] == 200  # it comes back from the disk
        sessions.idle = 0
        with pytest.raises(UnknownError):
            sessions.get(names[2])


def test_an_agent_forgets_a_closed_game(tmp_path: Path) -> None:
    with serving(tmp_path, custom_agents=[SLOW]) as client:
        SlowAgent.go.clear()
        names = [client.new_game("linkage", [SLOW, "human"]) for _ in range(3)]
        player = next(iter(client.server.players._players.values()))
        for name in names:
            client.ask(f"sessions/{name}", method="DELETE")
        assert player.waiting == 1  # what it thinks about now
        SlowAgent.go.set()


def test_a_new_replay_takes_the_place_of_the_longest_unused(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        client.server.replays.most = 2
        session = client.new_game("linkage", ["random", "random"])
        record = client.ask(f"sessions/{session}/record")[1]
        names = [client.ask("replays", record)[1]["id"] for _ in range(2)]
        assert client.ask(f"replays/{names[0]}/0")[0] == 200
        names.append(client.ask("replays", record)[1]["id"])
        assert [client.ask(f"replays/{name}/0")[0] for name in names] == [200, 404, 200]


def test_a_busy_agent_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as client:
        name = client.new_game("linkage", ["human", "random"])
        monkeypatch.setattr(players, "MOST_WAITING", 0)
        view = client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})[1]
        assert "too much to do" in view["busy"]
        assert view["thinking"]
        assert view["error"] == ""
        assert client.ask(f"sessions/{name}/analysis", {"agent": "checkpoint"})[0] == 409
        client.ask(f"sessions/{name}/back", {})
        assert client.ask(f"sessions/{name}/analysis", {"agent": "checkpoint"})[0] == 429
        client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
        monkeypatch.undo()
        with client.events(name) as received:
            view = next(view for view in received if not view["thinking"])
        assert view["busy"] == ""
        assert len(view["log"]) == 2


@pytest.mark.nightly  # quick: test_history.py
def test_a_killed_server_loses_no_saved_game(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "linkzoo_training", "serve", "--port", "0"]
    with subprocess.Popen(
        [*command, "--record", str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.split("127.0.0.1:")[1].split("/")[0])
        client = Client(port, None)  # type: ignore[arg-type]
        name = client.new_game("linkage", ["human", "random"])
        client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
        file = client.ask(f"sessions/{name}/save", {})[1]["file"]
        os.kill(process.pid, signal.SIGKILL)
    record = GameRecord.load(tmp_path / file)
    assert json.loads((tmp_path / file).read_text())["moves"][0] == "W a1-b1"
    assert len(list(record.replay())) == len(record.actions) + 1
