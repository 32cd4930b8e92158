"""Abandoned analyses, half-open connections and the server itself end in time."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from linkzoo_training.web import connections
from linkzoo_training.web.offers import MOST_SIMULATIONS
from tests.driving import first_quick
from tests.web.server import Client, serving

SLOW = f"linkage:{MOST_SIMULATIONS}"  # many seconds a move


def _post(port: int, path: str, body: object) -> socket.socket:
    """Sends a request, without waiting for the answer."""
    data = json.dumps(body).encode()
    sent = socket.create_connection(("127.0.0.1", port))
    sent.sendall(
        f"POST /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n".encode()
        + data
    )
    return sent


def _until(done: Callable[[], bool], seconds: float) -> float:
    """Waits until something is done; returns how long that took."""
    begun = time.monotonic()
    while not done():
        assert time.monotonic() - begun < seconds
        time.sleep(0.01)
    return time.monotonic() - begun


@pytest.mark.slow  # quick: the others of this file
def test_an_analysis_ends_when_its_page_goes(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        name = client.new_game("linkage", ["human", "random"])
        client.ask(f"sessions/{name}/analysis", {"agent": "linkage:2"})  # compiles the search
        asked = [_post(client.port, f"sessions/{name}/analysis", {"agent": SLOW}) for _ in range(3)]
        players = client.server.players
        _until(lambda: any(player.waiting == 3 for player in players._players.values()), 30)
        player = next(player for player in players._players.values() if player.waiting)
        _until(lambda: player.running, 30)
        for connection in asked:
            connection.close()
        assert _until(lambda: not player.waiting, 10) < 1


def test_half_open_connections_make_room_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HALF_OPEN_SECONDS", 0.5)
    with serving(tmp_path) as client:
        begun = f"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\n".encode()
        opened = []
        for part in (b"", begun, begun + b"Content-Length: 9\r\n\r\n{"):
            for _ in range(connections.MOST_HALF_OPEN):
                opened.append(socket.create_connection(("127.0.0.1", client.port)))
                opened[-1].sendall(part)
        assert client.ask("records")[0] == 200
        for connection in opened:
            connection.settimeout(5)
            with connection, suppress(ConnectionResetError):
                assert connection.recv(9) == b""


@pytest.mark.slow
@pytest.mark.parametrize("part", [b"", b"GET /api/rec"])
def test_a_burst_of_half_open_connections_is_capped(tmp_path: Path, part: bytes) -> None:
    with serving(tmp_path) as client:
        opened = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(300)]
        for connection in opened:
            with suppress(OSError):  # closed already
                connection.sendall(part)
        assert client.ask("records")[0] == 200
        time.sleep(0.1)
        going = 0
        for connection in opened:
            connection.setblocking(False)
            with connection, suppress(ConnectionError):
                try:
                    connection.recv(9)
                except BlockingIOError:
                    going += 1
        assert 0 < going <= connections.MOST_HALF_OPEN


def test_a_slow_but_steady_client_isnt_half_open(tmp_path: Path) -> None:
    with serving(tmp_path) as client, socket.create_connection(("127.0.0.1", client.port)) as slow:
        slow.settimeout(10)
        for part in (
            b"GET /api/records HTTP/1.1\r\nHo",
            f"st: 127.0.0.1:{client.port}\r\n\r\n".encode(),
        ):
            slow.sendall(part)
            time.sleep(0.1)
        assert slow.recv(99).startswith(b"HTTP/1.1 200")


SERVE = """
import runpy
from linkzoo_training.web import connections
connections.ENDING_SECONDS = None
runpy.run_module("linkzoo_training", run_name="__main__")
"""


@pytest.mark.slow  # test_an_analysis_ends_when_its_page_goes
@pytest.mark.parametrize("number", first_quick([signal.SIGTERM, signal.SIGINT], 1, 0))
def test_a_signal_ends_the_server_without_a_wait(tmp_path: Path, number: int) -> None:
    """The signal ends every request: none is broken off later, and none takes its own time."""
    command = [sys.executable, "-c", SERVE, "serve", "--port=0", f"--record={tmp_path}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
        client = Client(port, None)  # type: ignore[arg-type]
        name = client.new_game("linkage", ["human", "human"], apart=True)
        client.ask(f"sessions/{name}/analysis", {"agent": "linkage:2"})
        opened = [_post(port, f"sessions/{name}/analysis", {"agent": SLOW}) for _ in range(3)]
        host = f" HTTP/1.1\r\nHost: 127.0.0.1:{port}"
        half = f"POST /api/sessions{host}\r\nContent-Type: application/json\r\nContent-Length: 9"
        waiting = f"GET /api/sessions/{name}/events{host}"  # for a change
        for request in (half, waiting):
            opened.append(socket.create_connection(("127.0.0.1", port)))
            opened[-1].sendall(f"{request}\r\n\r\n".encode())
        time.sleep(1)
        os.kill(process.pid, number)
        try:
            process.wait(connections.HALF_OPEN_SECONDS / 2)
        finally:
            process.kill()
            for connection in opened:
                connection.close()
