"""Central inference: one network evaluates the leaves of all workers' searches.

The design is that of SEED RL (Espeholt et al., ICLR 2020). Workers keep games and trees, and send
arrays of leaves. A thread of the learner's process takes the requests of all workers that wait,
evaluates the leaves of equal weights in one batch on the learner's device, and answers. While it
computes, other workers' requests gather for the next batch. Messages are tensors as safetensors,
over connections that need a key.
"""

import os
import threading
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener, wait

import torch
from torch import Tensor, nn

from linkzoo_training.checkpoints.checkpoint import pack, unpack
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.networks.transfers import to_device

_POLL = 0.05  # seconds until new connections are noticed


@dataclass(frozen=True)
class Address:
    """The address of a server, and its key."""

    host: str
    port: int
    key: bytes


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
        key = os.urandom(32)
        self._listener = Listener((host, 0), authkey=key)
        self.address = Address(host, self._listener.address[1], key)
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
        self._thread.join()

    def _accept(self) -> None:
        """The loop of the thread that takes connections."""
        while not self._stopping:
            try:
                self._connections.append(self._listener.accept())
            except Exception:  # noqa: BLE001, S112 - closed, or a stranger without the key
                continue

    def _serve(self) -> None:
        """The loop of the thread that evaluates."""
        torch.set_flush_denormal(True)  # of this thread
        try:
            while not self._stopping:
                self._answer_all()
        finally:
            for connection in self._connections:
                connection.close()

    def _answer_all(self) -> None:
        """Answers the workers that wait."""
        waiting: dict[int, list[tuple[Connection, Tensor]]] = {}
        for connection in wait(list(self._connections), _POLL):
            assert isinstance(connection, Connection)
            try:
                request = unpack(connection.recv_bytes())
            except (EOFError, OSError):  # the worker has ended
                self._connections.remove(connection)
                connection.close()
                continue
            version = int(request["version"])
            waiting.setdefault(version, []).append((connection, request["features"]))
        for version, requests in waiting.items():
            self.requests += len(requests)
            self.batches += 1
            self._answer(self._networks[version], requests)

    def _answer(self, network: nn.Module, requests: list[tuple[Connection, Tensor]]) -> None:
        """Evaluates requests with the same weights in one batch."""
        features = torch.cat([features for _, features in requests])
        outputs = sharded_forward(network, to_device(features, self._device))
        logits, values = (output.float().cpu() for output in outputs)
        sizes = [len(features) for _, features in requests]
        answers = zip(requests, logits.split(sizes), values.split(sizes), strict=True)
        for (connection, _), own_logits, own_values in answers:
            try:
                connection.send_bytes(pack({"logits": own_logits, "values": own_values}))
            except OSError:  # the worker has ended
                continue


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
        request = {"version": torch.tensor(self.version), "features": features}
        try:
            self._connection.send_bytes(pack(request))
            answer = unpack(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise ConnectionError("the server of central_inference has ended") from error
        return answer["logits"], answer["values"]
