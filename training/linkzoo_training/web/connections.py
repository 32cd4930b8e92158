"""The HTTP server around the application: its connections and its end."""

import asyncio
import os
import socket
from functools import partial
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from linkzoo_training.web.app import create_app
from linkzoo_training.web.safety import Address
from linkzoo_training.web.server import Server

MOST_CONNECTIONS = 512
MOST_HALF_OPEN = 64  # connections with an incomplete request; the oldest are closed
HALF_OPEN_SECONDS = 10.0  # to receive a complete request
IDLE_SECONDS = 30  # of a connection between two requests
ENDING_SECONDS: int | None = 1  # from a signal until requests are aborted; None: never

HalfOpen = dict["Connection", asyncio.TimerHandle]


class Connection(H11Protocol):
    """A connection that is closed if its request isn't complete within HALF_OPEN_SECONDS.

    Args:
        half_open: The server's connections with an incomplete request, the oldest first.
        more: Arguments of the base class.
    """

    def __init__(self, half_open: HalfOpen, **more: Any) -> None:
        super().__init__(**more)
        self._half_open = half_open

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first request."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._settle()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receives a part of a request."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect()
        else:
            self._settle()

    def on_response_complete(self) -> None:
        """Ends a request; until the next one begins, the keep-alive time counts."""
        self._settle()
        super().on_response_complete()

    def _expect(self) -> None:
        if self in self._half_open:
            return
        if self.transport.is_closing():
            return
        if len(self._half_open) >= MOST_HALF_OPEN:
            oldest = next(iter(self._half_open))
            oldest._settle()  # `connection_lost` comes too late in a burst
            oldest.transport.abort()
        self._half_open[self] = self.loop.call_later(HALF_OPEN_SECONDS, self.transport.abort)

    def _settle(self) -> None:
        if (timer := self._half_open.pop(self, None)) is not None:
            timer.cancel()


class HttpServer(uvicorn.Server):
    """The HTTP server of the page; SIGINT and SIGTERM end it within a second.

    Args:
        server: The state of the routes.
        address: The address to listen at.
    """

    def __init__(self, server: Server, address: Address) -> None:
        self._half_open: HalfOpen = {}
        config = uvicorn.Config(
            create_app(server, address),
            http=partial(Connection, self._half_open),  # type: ignore[arg-type]
            log_level="warning",
            ws="none",
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=ENDING_SECONDS,
        )
        super().__init__(config)
        self._shared = server

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ends the requests that wait, and then the server."""
        self._shared.stop()
        for connection in [*self._half_open]:
            connection.transport.abort()
        super().handle_exit(sig, frame)

    def serve_until_stopped(self, listening: socket.socket) -> None:
        """Serves until a signal, and ends the process."""
        try:
            self.run([listening])
        except KeyboardInterrupt:
            os._exit(130)  # Python would take seconds to free the compiled code
