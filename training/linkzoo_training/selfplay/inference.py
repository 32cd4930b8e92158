"""Central inference: one network evaluates the leaves of all workers' searches.

The design is that of SEED RL (Espeholt et al., ICLR 2020). Workers keep games and trees, and send
arrays of leaves. A thread of the learner's process takes the requests of all workers that wait,
and evaluates the leaves of equal weights in one batch on the learner's device. While it computes,
other workers' requests gather for the next batch. Each connection has a thread of its own, so a
worker that hangs, or whose machine was lost, holds up no other. Messages are tensors as
safetensors, over connections that need a key.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from queue import Empty, SimpleQueue

import torch
from torch import Tensor, nn

from linkzoo_training.checkpoints.checkpoint import pack, unpack
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.networks.transfers import to_device


@dataclass(frozen=True)
class Address:
    """The address of a server, and its key."""

    host: str
    port: int
    key: bytes


@dataclass(frozen=True)
class Request:
    """Leaves that a worker waits for.

    Attributes:
        version: The version of the network.
        features: The leaves, [B, F].
        answer: Takes the packed outputs.
    """

    version: int
    features: Tensor
    answer: SimpleQueue[bytes] = field(default_factory=SimpleQueue)


class InferenceServer:
    """Evaluates leaves with the networks that it has been given, by version.

    Args:
        device: The device of the networks.
        host: The address of this machine, as workers reach it.

    Attributes:
        address: The address for `RemoteNetwork`.
        requests: The number of requests so far.
        batches: The number of batches that they were evaluated in.
    """

    def __init__(self, device: torch.device, host: str) -> None:
        self.requests = 0
        self.batches = 0
        self._device = device
        self._networks: dict[int, nn.Module] = {}
        self._connections: list[Connection] = []
        self._waiting: SimpleQueue[Request | None] = SimpleQueue()  # None: the end
        self._key = os.urandom(32)
        self._listener = Listener((host, 0))
        self.address = Address(host, self._listener.address[1], self._key)
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, name="inference", daemon=True)
        self._thread.start()
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    def add(self, version: int, network: nn.Module) -> None:
        """Adds a network, which must not change from then on."""
        self._networks[version] = network

    def drop_before(self, version: int) -> None:
        """Drops the networks of older versions."""
        for older in [known for known in self._networks if known < version]:
            del self._networks[older]

    def stop(self) -> None:
        """Closes the connections; workers that wait raise an error."""
        self._stopping = True
        self._listener.close()
        self._waiting.put(None)
        self._thread.join()

    def _accept(self) -> None:
        """The loop of the thread that takes connections."""
        while not self._stopping:
            try:
                connection = self._listener.accept()
            except OSError:  # closed
                continue
            threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection: Connection) -> None:
        """The loop of the thread of a connection."""
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            self._connections.append(connection)
            _send_at_once(connection)
            while not self._stopping:
                message = unpack(connection.recv_bytes())
                request = Request(int(message["version"]), message["features"])
                self._waiting.put(request)
                connection.send_bytes(request.answer.get())
        except (AuthenticationError, EOFError, OSError):  # a stranger, or the worker has ended
            pass
        finally:
            if connection in self._connections:
                self._connections.remove(connection)
            connection.close()

    def _serve(self) -> None:
        """The loop of the thread that evaluates."""
        torch.set_flush_denormal(True)  # of this thread
        try:
            while (first := self._waiting.get()) is not None:
                self._answer_all([first, *self._others()])
        finally:
            self._stopping = True
            for connection in list(self._connections):
                _shut_down(connection)
            for request in self._others():
                request.answer.put(b"")  # its thread ends

    def _others(self) -> list[Request]:
        """Returns the other requests that wait."""
        requests: list[Request] = []
        try:
            while (request := self._waiting.get_nowait()) is not None:
                requests.append(request)
        except Empty:
            return requests
        self._waiting.put(None)
        return requests

    def _answer_all(self, waiting: list[Request]) -> None:
        """Answers the requests, those for each version in one batch."""
        by_version: dict[int, list[Request]] = {}
        for request in waiting:
            by_version.setdefault(request.version, []).append(request)
        for version, requests in by_version.items():
            self.requests += len(requests)
            self.batches += 1
            self._answer(self._networks[version], requests)

    def _answer(self, network: nn.Module, requests: list[Request]) -> None:
        """Evaluates requests with the same weights in one batch."""
        features = torch.cat([request.features for request in requests])
        outputs = sharded_forward(network, to_device(features, self._device))
        logits, values = (output.float().cpu() for output in outputs)
        sizes = [len(request.features) for request in requests]
        answers = zip(requests, logits.split(sizes), values.split(sizes), strict=True)
        for request, own_logits, own_values in answers:
            request.answer.put(pack({"logits": own_logits, "values": own_values}))


@contextmanager
def _socket_of(connection: Connection) -> Iterator[socket.socket]:
    """Lends the socket of a connection, which stays open."""
    end = socket.socket(fileno=connection.fileno())
    try:
        yield end
    finally:
        end.detach()


def _send_at_once(connection: Connection) -> None:
    """Sends the last bytes of a message without waiting for the other side (Nagle's algorithm).

    A connection writes long messages in two parts, and the second one would wait for 40 ms.
    """
    with _socket_of(connection) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _shut_down(connection: Connection) -> None:
    """Ends both directions of a connection, also while a thread reads from it."""
    with suppress(OSError), _socket_of(connection) as end:  # its thread or the worker has ended
        end.shutdown(socket.SHUT_RDWR)


class RemoteNetwork(nn.Module):
    """Stands for the server's network of a version in a worker; connects at its first use.

    Attributes:
        version: The version that evaluates.
    """

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.version = 0
        self._address = address
        self._connection: Connection | None = None

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the outputs for features [B, F]: logits [B, A] and values [B, P], float32.

        Raises:
            ConnectionError: The server has ended.
        """
        if self._connection is None:
            address = self._address
            self._connection = Client((address.host, address.port), authkey=address.key)
            _send_at_once(self._connection)
        request = {"version": torch.tensor(self.version), "features": features}
        try:
            self._connection.send_bytes(pack(request))
            answer = unpack(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise ConnectionError("the server of central_inference has ended") from error
        return answer["logits"], answer["values"]
