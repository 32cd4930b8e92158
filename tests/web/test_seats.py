"""A link per seat, names, resignation, the next game, and lists of games and records."""

import json
import time
from typing import Any

import numpy as np
import pytest

from tests.driving import first_quick
from tests.web.server import Client


def _apart(client: Client, game: str, seats: list[str], **more: Any) -> dict[int, str]:
    """A game with a link per person, by seat."""
    body = {"game": game, "seats": seats, "seed": 1, "apart": True, **more}
    status, answer = client.ask("sessions", body)
    assert status == 200, answer
    links = {int(seat): str(name) for seat, name in answer["seats"].items()}
    assert answer["id"] == next(iter(links.values()))
    return links


@pytest.mark.slow
def test_each_link_shows_one_seat_and_plays_for_it(client: Client) -> None:
    links = _apart(client, "link_o", ["human", "random", "human"])
    assert list(links) == [0, 2]
    session = client.server.viewer(links[0]).session
    for _ in range(20):
        client.sent.clear()
        views = {seat: client.settled(name) for seat, name in links.items()}
        for seat, view in views.items():
            assert view["own_seat"] == view["looking"] == seat
            assert view["waiting"] is None
            assert view["text"] == session.game.drawing.text(session.state, seat)
        assert views[0]["svg"] != views[2]["svg"]
        acting = views[0]["acting"]
        assert [bool(views[seat]["moves"]) for seat in links] == [acting == seat for seat in links]
        move = {"move": views[acting]["moves"][0]["text"]}
        other = links[2 - acting]
        assert client.ask(f"sessions/{other}/move", move)[0] == 409
        assert client.ask(f"sessions/{links[acting]}/move", move)[0] == 200
    assert client.ask(f"sessions/{links[0]}/record")[0] == 409
    assert client.ask(f"sessions/{links[0]}/look", {"seat": 0})[0] == 409


def test_no_link_shows_what_only_the_other_seat_knows(client: Client) -> None:
    """Two games that differ in seat 1's hand alone look the same to seat 0."""
    seen = []
    for world in (0, 5):
        links = _apart(client, "link_o", ["human", "human"])
        session = client.server.viewer(links[0]).session
        with session.lock:
            if world:
                session.game.determinize(session.state, 0, np.uint64(world))
                session.touch()
        client.sent.clear()
        client.ask(f"sessions/{links[0]}")
        client.ask(f"sessions/{links[0]}?tall=true")
        seen.append([json.loads(body) | {"version": 0} for body in client.sent])
        hands = session.game.to_dict(session.state)["hands"]
        assert hands[0] != hands[1]
    assert seen[0] == seen[1]


def test_a_page_hears_of_the_others_move(client: Client) -> None:
    links = _apart(client, "linkage", ["human", "human"])
    with client.events(links[1]) as views:
        assert next(views)["log"] == []
        client.ask(f"sessions/{links[0]}/move", {"move": "W a1-b1"})
        begun = time.monotonic()
        view = next(views)
    assert len(view["log"]) == 1
    assert view["moves"]
    assert time.monotonic() - begun < 1


def test_two_tabs_of_one_game_agree(client: Client) -> None:
    name = client.new_game("linkage", ["human", "human"])
    with client.events(name) as views:
        next(views)
        after = client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})[1]
        assert next(views) == after
    assert client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})[0] == 409
    assert client.ask(f"sessions/{name}")[1] == after


def test_on_two_devices_a_move_is_taken_back_if_the_other_agrees(client: Client) -> None:
    links = _apart(client, "linkage", ["human", "human"])
    assert client.ask(f"sessions/{links[1]}/back", {})[0] == 409
    for seat, move in ((0, "W a1-b1"), (1, "B c3-c4")):
        view = client.ask(f"sessions/{links[seat]}/move", {"move": move})[1]
        assert view["can_take_back"]
        assert not client.settled(links[1 - seat])["can_take_back"]
    assert client.ask(f"sessions/{links[0]}/back", {})[0] == 409
    assert client.ask(f"sessions/{links[0]}/agree", {"agree": True})[0] == 409
    for agree, left in ((False, 2), (True, 1)):
        view = client.ask(f"sessions/{links[1]}/back", {})[1]
        assert [view["wish"], len(view["log"])] == [{"seat": 1, "agreed": []}, 2]
        assert client.ask(f"sessions/{links[1]}/agree", {"agree": True})[0] == 409
        assert client.ask(f"sessions/{links[0]}")[1]["wish"] == view["wish"]
        view = client.ask(f"sessions/{links[0]}/agree", {"agree": agree})[1]
        assert [view["wish"], len(view["log"])] == [None, left]


def test_a_wish_ends_with_the_next_move_and_with_the_game(client: Client) -> None:
    links = _apart(client, "linkage", ["human", "human"])
    client.ask(f"sessions/{links[0]}/move", {"move": "W a1-b1"})
    assert client.ask(f"sessions/{links[0]}/back", {})[1]["wish"] is not None
    assert client.ask(f"sessions/{links[1]}/move", {"move": "B c3-c4"})[1]["wish"] is None
    assert client.ask(f"sessions/{links[1]}/back", {})[1]["wish"] is not None
    assert client.ask(f"sessions/{links[0]}/resign", {})[1]["wish"] is None
    for link in links.values():
        assert not client.ask(f"sessions/{link}")[1]["can_take_back"]
        assert client.ask(f"sessions/{link}/back", {})[0] == 409


@pytest.mark.parametrize(("game", "apart"), first_quick([("linkage", True), ("love_links", False)]))
def test_nothing_is_taken_back_after_the_end(client: Client, game: str, apart: bool) -> None:
    options = {"linkage": {"board_size": 3, "threshold": 3}, "love_links": {"short": True}}[game]
    seats = ["human", "human"] if apart else ["human", "random"]
    body = {"game": game, "seats": seats, "seed": 1, "apart": apart, "options": options}
    answer = client.ask("sessions", body)[1]
    links = {int(seat): name for seat, name in answer["seats"].items()} or {0: answer["id"]}
    session = client.server.viewer(answer["id"]).session
    while not session.over:
        view = client.settled(links[int(session.state.seat)] if apart else answer["id"])
        if view["moves"]:
            move = {"move": view["moves"][0]["text"]}
            client.ask(f"sessions/{links[view['acting']]}/move", move)
    for link in links.values():
        assert not client.ask(f"sessions/{link}")[1]["can_take_back"]
        assert client.ask(f"sessions/{link}/back", {})[0] == 409
    assert session.over


def test_one_of_two_can_leave_and_the_other_goes_on(client: Client) -> None:
    links = _apart(client, "linkage", ["human", "human"])
    client.ask(f"sessions/{links[0]}", method="DELETE")
    assert client.ask(f"sessions/{links[0]}")[0] == 404
    assert client.ask(f"sessions/{links[1]}")[0] == 200
    client.ask(f"sessions/{links[1]}", method="DELETE")
    assert client.ask(f"sessions/{links[1]}")[0] == 404


def test_who_resigns_loses_and_the_next_game_keeps_the_seats(client: Client) -> None:
    links = _apart(client, "linkage", ["human", "human"], names=["Ada", " Bo\nb "])
    assert client.ask(f"sessions/{links[0]}/rematch", {})[0] == 409
    client.ask(f"sessions/{links[0]}/move", {"move": "W a1-b1"})
    first = client.ask(f"sessions/{links[0]}/save", {})[1]["file"]
    view = client.ask(f"sessions/{links[0]}/resign", {})[1]
    assert [view["over"], view["resigned"], view["winners"]] == [True, 0, [1]]
    assert view["names"] == ["Ada", "Bo b"]
    assert view["moves"] == []
    assert client.ask(f"sessions/{links[1]}/resign", {})[0] == 409
    assert client.ask(f"sessions/{links[1]}/move", {"move": "B c3-c4"})[0] == 409
    view = client.ask(f"sessions/{links[1]}/rematch", {})[1]
    assert [view["over"], view["resigned"], view["log"]] == [False, None, []]
    assert client.settled(links[0])["moves"]
    assert client.ask(f"sessions/{links[0]}/save", {})[1]["file"] != first


def test_resigning_shows_what_was_hidden(client: Client) -> None:
    name = client.new_game("link_o", ["human", "random"])
    session = client.server.viewer(name).session
    assert client.settled(name)["text"] == session.game.drawing.text(session.state, 0)
    view = client.ask(f"sessions/{name}/resign", {})[1]
    assert view["text"] == session.game.drawing.text(session.state)
    assert client.ask(f"sessions/{name}/record")[0] == 200


def test_nobody_resigns_for_agents(client: Client) -> None:
    name = client.new_game("linkage", ["random", "greedy"])
    assert client.ask(f"sessions/{name}/resign", {})[0] == 409


def test_a_list_of_ones_games(client: Client) -> None:
    names = [client.new_game("linkage", ["human", "random"], names=["Ada"]) for _ in range(2)]
    client.ask(f"sessions/{names[1]}/resign", {})
    asked = "&".join(f"ids={name}" for name in [*names, "unknown"])
    sessions = client.ask(f"sessions?{asked}")[1]["sessions"]
    assert [game["id"] for game in sessions] == names
    assert [game["over"] for game in sessions] == [False, True]
    assert [game["yours"] for game in sessions] == [True, False]
    assert sessions[0]["names"] == ["Ada", ""]
    assert sessions[0]["seats"] == ["human", "random"]


def test_saved_games_are_listed_opened_and_deleted(client: Client) -> None:
    name = client.new_game("linkage", ["human", "random"])
    client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
    client.settled(name)
    file = client.ask(f"sessions/{name}/save", {})[1]["file"]
    (client.server.records / "broken.json").write_text("{")
    listed = {record["file"]: record for record in client.ask("records")[1]["records"]}
    assert "broken.json" not in listed
    assert [listed[file][what] for what in ("title", "players", "moves")] == ["Linkage", 2, 2]
    assert client.ask(f"records/{file}")[1] == client.ask(f"sessions/{name}/record")[1]
    assert client.ask(f"records/{file}", method="DELETE")[0] == 200
    assert client.ask(f"records/{file}")[0] == 400
    assert not (client.server.records / file).exists()


@pytest.mark.parametrize("file", ["..%2Fsecret.json", ".hidden.json", "x.txt", "%2Fetc%2Fpasswd"])
def test_a_page_cant_name_a_file_elsewhere(client: Client, file: str) -> None:
    (client.server.records.parent / "secret.json").write_text("{}")
    for method in ("GET", "DELETE"):
        assert client.ask(f"records/{file}", method=method)[0] in (400, 404, 405)
    assert (client.server.records.parent / "secret.json").exists()


def test_a_saved_game_doesnt_show_what_is_still_hidden(client: Client) -> None:
    links = _apart(client, "link_o", ["human", "human"])
    file = client.ask(f"sessions/{links[0]}/save", {})[1]["file"]
    assert client.ask(f"records/{file}")[0] == 409
    client.ask(f"sessions/{links[0]}/resign", {})
    assert client.ask(f"records/{file}")[0] == 200
