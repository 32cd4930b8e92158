"""The history: games survive restarts, with results, replays, export and import."""

import threading
from pathlib import Path
from typing import Any

import pytest

from linkzoo import GameRecord, get_game
from linkzoo_training.web.session_store import UnknownError
from tests.web.server import Client, serving

SMALL = {"board_size": 3, "threshold": 4}


def _rows(client: Client, *links: str) -> list[dict[str, Any]]:
    status, answer = client.ask("history?" + "&".join(f"ids={link}" for link in links))
    assert status == 200, answer
    assert answer["error"] == ""
    rows: list[dict[str, Any]] = answer["games"]
    return rows


def test_a_game_goes_on_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        name = client.new_game("linkage", ["human", "random"], names=["Ada"], seed=2**64 - 1)
        client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
        before = client.settled(name)
        assert len(before["log"]) == 2
    with serving(tmp_path) as client:
        summary = client.ask(f"sessions?ids={name}")[1]["sessions"][0]
        assert [summary["names"], summary["over"]] == [["Ada", ""], False]
        after = client.settled(name)
        assert after | {"version": before["version"]} == before
        session = client.server.viewer(name).session
        assert session.record.seed == 2**64 - 1
        assert session.record.names == ["Ada", "random"]
        assert len(client.ask(f"sessions/{name}/back", {})[1]["log"]) == 0
        client.ask(f"sessions/{name}/resign", {})
        client.ask(f"sessions/{name}/rematch", {})
        client.settled(name)
    with serving(tmp_path) as client:
        rows = _rows(client, name)
        assert [row["current"] for row in rows] == [True, False]
        assert [row["over"] for row in rows] == [False, True]
        assert [rows[1]["winners"], rows[1]["resigned"], rows[1]["own_seat"]] == [[1], 0, 0]


def test_links_of_seats_stay(tmp_path: Path) -> None:
    body = {"game": "linkage", "seats": ["human", "human"], "seed": 1, "apart": True}
    with serving(tmp_path) as client:
        links = client.ask("sessions", body)[1]["seats"]
        client.ask(f"sessions/{links['0']}/move", {"move": "W a1-b1"})
    with serving(tmp_path) as client:
        assert client.ask(f"sessions/{links['0']}/move", {"move": "B c3-c4"})[0] == 409
        assert client.ask(f"sessions/{links['1']}/move", {"move": "B c3-c4"})[0] == 200
        assert [row["own_seat"] for row in _rows(client, *links.values())] in ([0, 1], [1, 0])
        for link in links.values():
            assert client.ask(f"sessions/{link}", method="DELETE")[0] == 200
        assert _rows(client, *links.values()) == []
        assert client.ask(f"sessions/{links['0']}")[0] == 404


def test_a_finished_game_is_replayed_exported_and_imported(client: Client, tmp_path: Path) -> None:
    name = client.new_game("linkage", ["human", "random"], names=["Ada"], options=SMALL)
    while not (view := client.settled(name))["over"]:
        client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
    (row,) = _rows(client, name)
    assert row["winners"] == view["winners"]
    assert row["moves"] == len(view["log"])
    address = f"history/{name}/{row['file']}"
    opened = client.ask(f"{address}/replay", {})[1]["id"]
    head = client.ask(f"replays/{opened}")[1]
    assert head["names"] == ["Ada", "random"]
    assert head["log"][0]["words"].startswith("Ada")
    record = client.ask(address)[1]
    assert record["names"] == ["Ada", "random"]
    with serving(tmp_path) as other:
        link = other.ask("history", record)[1]["id"]
        (row,) = _rows(other, link)
        assert [row["over"], row["names"]] == [True, ["Ada", "random"]]
        assert other.ask(f"history/{link}/{row['file']}")[1] == record
        assert other.ask(f"sessions/{link}")[1]["over"]
        wrongs: list[dict[str, Any]] = [{"game": "os:path"}, {"moves": ["W a1-a1"]}, {"start": 1}]
        for wrong in wrongs:
            assert other.ask("history", record | wrong)[0] == 400


def test_a_running_game_keeps_its_secrets(client: Client) -> None:
    """Neither its moves nor their number nor their times: who moved can be secret."""
    name = client.new_game("love_links", ["human", "random"])
    assert not get_game("love_links").hides
    hidden = client.new_game("link_o", ["human", "random"])
    for link in (name, hidden):
        view = client.settled(link)
        client.ask(f"sessions/{link}/move", {"move": view["moves"][0]["text"]})
        (row,) = _rows(client, link)
        assert [row["moves"], row["ended"], row["secret"]] == [None, None, link == hidden]
        status = client.ask(f"history/{link}/{row['file']}")[0]
        assert status == (409 if link == hidden else 200)
        assert client.ask(f"history/{link}/{row['file']}/replay", {})[0] == status
        assert client.ask(f"history/{link}/other.json")[0] == 404
    assert client.ask("history/nobody/other.json")[0] == 404


def test_a_game_that_is_closed_is_not_read_again(client: Client) -> None:
    """A stream of events asks for it meanwhile."""
    name = client.new_game("linkage", ["human", "random"])
    server = client.server
    answers: list[Exception] = []

    def ask() -> None:
        try:
            server.viewer(name)
        except UnknownError as error:
            answers.append(error)

    asking = threading.Thread(target=ask)
    remove = server.store.remove

    def slowly(link: str) -> None:
        asking.start()
        asking.join(0.5)
        remove(link)

    server.store.remove = slowly  # type: ignore[method-assign]
    try:
        server.close(name)
    finally:
        server.store.remove = remove  # type: ignore[method-assign]
    asking.join()
    assert len(answers) == 1
    assert server.sessions.peek(name) is None


def test_a_disk_that_fails_ends_no_game(client: Client) -> None:
    name = client.new_game("linkage", ["human", "random"])
    client.server.store._database.execute("PRAGMA query_only = ON")
    try:
        assert client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})[0] == 200
        assert "readonly" in client.ask(f"history?ids={name}")[1]["error"]
    finally:
        client.server.store._database.execute("PRAGMA query_only = OFF")
    client.ask(f"sessions/{name}/resign", {})
    assert _rows(client, name)[0]["over"]


def test_a_record_keeps_the_names_of_its_players() -> None:
    record = GameRecord("linkage", 0, 2, {}, 1)
    assert "names" not in record.to_dict()
    record.names = ["Ada", ""]
    assert GameRecord.from_dict(record.to_dict()).names == ["Ada", ""]
    for wrong in (["Ada"], ["Ada", 3], "Ada"):
        with pytest.raises(ValueError, match="names"):
            GameRecord.from_dict(record.to_dict() | {"names": wrong})
