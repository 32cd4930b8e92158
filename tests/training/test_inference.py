"""Central inference: workers get the outputs of the network itself, in batches of several."""

import os
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Client
from threading import Event
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.config.config import read_config
from linkzoo_training.networks.flat import frozen, make_network
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, ProcessExecutor
from linkzoo_training.selfplay.inference import InferenceServer, RemoteNetwork, _socket_of
from linkzoo_training.train import make_trainer
from tests.training.helpers import assert_close
from tests.training.test_asynchronous import TINY, workers_of

pytestmark = pytest.mark.last

CPU = torch.device("cpu")
HOST = "127.0.0.1"
WIDTH = 3  # of features in `Doubled`


class Doubled(nn.Module):
    """A network whose first batch waits."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = Event()
        self.released = Event()
        self.rows: list[Tensor] = []

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        self.rows.append(features)
        self.begun.set()
        self.released.wait()
        return 2 * features, features[:, :1]


def test_one_batch_has_the_leaves_of_several_workers() -> None:
    """Of all that ask while another batch is computed; each gets its own outputs."""
    network = Doubled()
    server = InferenceServer(CPU, HOST)
    server.add(0, network)
    features = [torch.full((16 * number, WIDTH), float(number)) for number in (1, 2, 3)]
    with ThreadPoolExecutor(3) as workers:
        answers = [workers.submit(RemoteNetwork(server.address), features[0])]
        network.begun.wait()
        answers += [workers.submit(RemoteNetwork(server.address), rows) for rows in features[1:]]
        while server._waiting.qsize() < 2:
            time.sleep(0.001)
        network.released.set()
        outputs = [answer.result() for answer in answers]
    assert (server.requests, server.batches) == (3, 2)
    assert [len(rows) for rows in network.rows] == [16, 16 * 5]
    for rows, (logits, values) in zip(features, outputs, strict=True):
        assert torch.equal(logits, 2 * rows)
        assert torch.equal(values, rows[:, :1])
    server.stop()


def test_peers_that_hang_hold_up_no_other() -> None:
    """A stranger who says nothing, and a worker in the middle of a request."""
    network = Doubled()
    network.released.set()
    server = InferenceServer(CPU, HOST)
    server.add(0, network)
    address = server.address
    features = torch.ones(16, WIDTH)
    with socket.create_connection((address.host, address.port)):
        hanging = Client((address.host, address.port), authkey=address.key)
        os.write(hanging.fileno(), struct.pack("!i", 100))
        logits, _ = RemoteNetwork(address)(features)
        assert torch.equal(logits, 2 * features)
        server.stop()
        with pytest.raises(EOFError):
            hanging.recv_bytes()


def test_no_message_waits_for_the_other_side() -> None:
    """Long messages are written in two parts: by Nagle's algorithm each would take 40 ms."""
    network = frozen(make_network(get_game("linkage"), "flat", 8, 1), bf16=False)
    server = InferenceServer(CPU, HOST)
    server.add(0, network)
    worker = RemoteNetwork(server.address)
    worker(torch.rand(48, network.map.scale.size))
    assert worker._connection is not None
    (own,) = server._connections
    for connection in (own, worker._connection):
        with _socket_of(connection) as end:
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    server.stop()


def test_outputs_are_those_of_the_network_of_the_version() -> None:
    game = get_game("linkage")
    networks = [frozen(make_network(game, "flat", 8, 1), bf16=False) for _ in range(2)]
    server = InferenceServer(CPU, HOST)
    worker = RemoteNetwork(server.address)
    features = torch.rand(48, networks[0].map.scale.size)
    for version, network in enumerate(networks):
        server.add(version, network)
        worker.version = version
        for output, expected in zip(worker(features), network(features), strict=True):
            assert_close(output, expected)
    server.drop_before(1)
    worker.version = 1
    assert torch.isfinite(worker(features)[0]).all()
    server.stop()
    with pytest.raises(ConnectionError, match="server of central_inference has ended"):
        worker(features)


def trainer_of(executor: Executor, **fields: Any) -> AlphaZeroTrainer:
    trainer = make_trainer(read_config({**TINY, **fields}), executor)
    assert isinstance(trainer, AlphaZeroTrainer)
    return trainer


@pytest.mark.slow
def test_a_worker_alone_plays_as_with_its_own_network() -> None:
    """Its batches are the same, so the games are, to the bit."""
    trainers = [
        trainer_of(LocalExecutor(4), central_inference=central) for central in (True, False)
    ]
    for trainer in trainers:
        for _ in range(2):
            trainer.iterate()
    central, own = (trainer.window for trainer in trainers)
    assert sum(map(len, own)) > 0
    for one, other in zip(central, own, strict=True):
        assert (one.states == other.states).all()
        assert (one.policy == other.policy).all()
    server = workers_of(trainers[0])._inference
    assert server is not None
    assert server.requests > 0
    assert workers_of(trainers[1])._inference is None


def test_it_needs_asynchronous_games() -> None:
    with pytest.raises(ValueError, match="central_inference: needs asynchronous"):
        read_config({**TINY, "asynchronous": False, "central_inference": True})


@pytest.mark.nightly  # quick: the tests above, in this process
def test_processes_play_with_it() -> None:
    with ProcessExecutor(2) as executor:
        trainer = trainer_of(executor, central_inference=True)
        while executor.live < 2 or trainer.iteration < 3:
            trainer.iterate()
        server = workers_of(trainer)._inference
        assert server is not None
        assert 0 < server.batches <= server.requests
