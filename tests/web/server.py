"""A server in this process, and questions to it as a browser asks them."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.serve import listen
from linkzoo_training.web.connections import HttpServer
from linkzoo_training.web.safety import Address
from linkzoo_training.web.server import Server

Answer = tuple[int, Any]


@dataclass
class Client:
    """Asks a server on this machine; `sent` are the bodies of all answers."""

    port: int
    server: Server
    sent: list[bytes] = field(default_factory=list)

    def raw(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """A request as it is: status, headers and body of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            data = answer.read()
            self.sent.append(data)
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, data
        finally:
            connection.close()

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Answer:
        """A request of the page; returns status and JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        status, _, answer = self.raw(
            method, f"/api/{path}", data, {"Content-Type": "application/json"}
        )
        return status, json.loads(answer)

    @contextmanager
    def events(self, name: str, seconds: float = 60) -> Iterator[Iterator[dict[str, Any]]]:
        """The views that the server sends about a game; a silence of `seconds` ends them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request("GET", f"/api/sessions/{name}/events")
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            yield _views(answer)
        finally:
            connection.close()

    def new_game(self, game: str, seats: list[str], **more: Any) -> str:
        """The id of a new game."""
        status, answer = self.ask("sessions", {"game": game, "seats": seats, "seed": 1, **more})
        assert status == 200, answer
        return str(answer["id"])

    def settled(self, name: str) -> dict[str, Any]:
        """The view of a game when no agent is thinking any more."""
        for _ in range(600):
            view: dict[str, Any] = self.ask(f"sessions/{name}")[1]
            if view["waiting"] is not None or not view["thinking"]:
                return view
            time.sleep(0.02)
        raise TimeoutError("an agent thinks for long")


def _views(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


@contextmanager
def serving(
    records: Path,
    token: str | None = None,
    custom_agents: Sequence[str] = (),
    origin: str | None = None,
    **more: Any,
) -> Iterator[Client]:
    """A server while the block runs."""
    listening = listen("127.0.0.1", 0)
    address = Address("127.0.0.1", listening.getsockname()[1], token, origin)
    agents = {name: AgentSpec.parse(name) for name in custom_agents}
    server = Server(records, custom_agents=agents, **more)
    running = HttpServer(server, address)
    thread = threading.Thread(target=running.run, args=([listening],))
    thread.start()
    try:
        yield Client(address.port, server)
    finally:
        players = list(server.players._players.values())
        server.stop()
        running.should_exit = True
        thread.join(20)
        for player in players:
            player.thread.join(60)  # native code at Python's end would abort it
        listening.close()
