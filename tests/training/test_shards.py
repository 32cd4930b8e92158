"""Shards of rows: threads give the result of one batch, every time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from linkzoo.engine.threads import MAX_THREADS, get_num_threads, set_num_threads
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.commands.cli import main
from linkzoo_training.networks import shards
from linkzoo_training.selfplay.rollout import RolloutGames
from tests.driving import first_quick
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import alphazero_config, assert_close, ppo_config, weights

BOARD = {"network": "board", "width": 8, "symmetric": True, "precision": "bf16"}
FULL_CRITIC = {
    "game": "link_o",
    "critic": "full",
    "initial_states": {"vary": {"target": [0, 0]}},
    "teacher": {"agent": "greedy", "weight": 0.5, "share": 0.1},
    "kl_coef": 0.1,
}
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two threads share small batches; afterwards the defaults are restored."""
    monkeypatch.setattr(shards, "MIN_ROWS", 16)
    before = torch.get_num_threads(), get_num_threads()
    shards.use(2)
    yield
    shards.use(1)
    torch.set_num_threads(before[0])
    set_num_threads(before[1])


def ppo(changes: dict[str, Any]) -> PPOTrainer:
    return PPOTrainer(ppo_config({**test_ppo.QUICK, "num_envs": 40, **changes}))


def alphazero(changes: dict[str, Any]) -> AlphaZeroTrainer:
    fields = {**test_alphazero.TINY, **test_alphazero.POOLED, "num_envs": 40, "batch_size": 100}
    return AlphaZeroTrainer(alphazero_config({**fields, **changes}))


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 60, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 12, 16])
def test_shards_are_all_rows_in_order(rows: int, threads: int) -> None:
    """Few rows are together, many in as many shards as there are threads, or in twice as many."""
    shards.use(threads)
    parts = shards.split(rows, CPU)
    assert [row for shard in parts for row in range(rows)[shard]] == list(range(rows))
    assert len(parts) == max(1, min(threads, rows // 16)) * (1 + (rows > 768 * threads))
    sizes = [shard.stop - shard.start for shard in parts]
    assert max(sizes) - min(sizes) < 2 * 16
    assert shards.split(rows, torch.device("meta")) == [slice(0, rows)]


@pytest.mark.nightly  # quick: test_gradients_are_those_of_the_whole
@pytest.mark.parametrize(
    ("make", "changes"),
    [
        pytest.param(ppo, BOARD, id="linkage, ppo"),
        pytest.param(
            alphazero, {"precision": "bf16"}, id="linkage, alphazero", marks=pytest.mark.nightly
        ),
        pytest.param(ppo, FULL_CRITIC, id="link_o, full critic", marks=pytest.mark.nightly),
    ],
)
def test_the_same_seed_gives_the_same_weights(make: Any, changes: dict[str, Any]) -> None:
    """Bit by bit, whichever thread is quicker."""
    trained = []
    for _ in range(2):
        trainer: Trainer = make({**changes, "num_threads": MAX_THREADS})
        for _ in range(4):
            trainer.iterate()
        trained.append(weights(trainer))
    assert trained[0] == trained[1]


def gradients(trainer: PPOTrainer | AlphaZeroTrainer) -> list[Tensor]:
    """The shapes of a trainer's batches."""
    return [one.grad for one in trainer.parameters if one.grad is not None]


@pytest.mark.slow  # quick: the same seed gives the same weights
@pytest.mark.parametrize(
    "changes",
    first_quick([{**BOARD, "precision": "fp32"}, FULL_CRITIC], slow=0),
    ids=["linkage", "link_o"],
)
def test_gradients_are_those_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """And they lie in memory as the parameters do, as a fused optimiser expects."""
    trainer = ppo(changes)
    assert isinstance(trainer.play, RolloutGames)
    critic, progress = trainer.behaviour_critic, 0.5
    batch = trainer.play.collect(trainer.behaviour_policy, trainer.pool, progress, 0, critic)
    part, results = torch.arange(len(batch.action))[::3], []
    for threads, most, count in ((1, 10**6, 1), (2, 10**6, 2), (1, 64, -(-len(part) // 64))):
        monkeypatch.setattr(shards, "MAX_ROWS", most)
        shards.use(threads)
        assert len(shards.split(len(part), CPU)) == count
        terms = shards.backward(
            lambda shard: trainer._loss(batch, part, batch.advantage[part], True, shard),
            len(part),
            trainer.parameters,
        )
        results.append([terms, *gradients(trainer)])
    whole, *parts = results
    for one in parts:
        assert_close(one, whole, rtol=1e-4, atol=1e-6)
    assert all(one.grad is None or one.grad.stride() == one.stride() for one in trainer.parameters)


@pytest.mark.slow  # as above
def test_gradients_of_alphazero_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = alphazero({})
    shards.use(2)
    while not trainer.window or len(trainer.window[-1]) < 64:
        trainer.iterate()
    samples, results = trainer.window[-1], []
    batch = trainer._batch(samples, 0)
    for least in (16, 10**6):
        monkeypatch.setattr(shards, "MIN_ROWS", least)
        terms = shards.backward(
            lambda shard: trainer._loss(batch, shard), len(samples), trainer.parameters
        )
        results.append([terms, *gradients(trainer)])
    assert_close(*results, rtol=1e-4, atol=1e-6)


def test_sizes_are_few_and_hardly_larger() -> None:
    """Code is kept for every new number of rows."""
    assert [shards.padded_size(rows) for rows in (0, 1, 16, 17, 512, 513, 3000, 4096)] == [
        *(0, 16, 16, 32, 512, 544, 3072, 4096)
    ]
    sizes = {rows: shards.padded_size(rows) for rows in range(1, 2**14 + 1)}
    assert all(rows <= size < rows + max(16, rows / 16) for rows, size in sizes.items())
    assert len(set(sizes.values())) == 32 + 5 * 16


def test_padding_changes_neither_outputs_nor_gradients() -> None:
    """The network sees padded sizes alone."""
    seen: list[int] = []
    layer = nn.Linear(4, 3)

    def network(rows: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        seen.append(len(rows))
        return layer(rows), rows.sum(1) + other[:, 0]

    rows, other = torch.randn(37, 4), torch.arange(37.0)[:, None]
    out, total = shards.padded_forward(network, rows, other)
    assert seen == [48]
    assert_close(out, layer(rows))
    assert_close(total, rows.sum(1) + other[:, 0])
    gradients = torch.autograd.grad(out.square().sum(), layer.weight)
    assert_close(gradients, torch.autograd.grad(layer(rows).square().sum(), layer.weight))
    shards.sharded_forward(network, rows[:0], other[:0])
    assert seen == [48, 0]


@pytest.mark.parametrize("make", first_quick([ppo, alphazero]))
def test_networks_see_few_sizes(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In play, of opponents too, and in learning; slow: the memory of a whole run."""
    trainer, sizes = make({"pool": {"share": 0.5, "snapshot_every": 1}}), set()
    forward = type(trainer.network).forward

    def noting(network: Any, features: Tensor) -> Any:
        sizes.add(len(features))
        return forward(network, features)

    monkeypatch.setattr(type(trainer.network), "forward", noting)
    for _ in range(3):
        trainer.iterate()
    assert len(sizes) > 1
    assert all(size == shards.padded_size(size) for size in sizes)


MEMORY = """
import sys
from linkzoo_training.config.config import load_config
from linkzoo_training.train import make_trainer
settings = ["max_seconds=", "epochs=1", "pool.snapshot_every=5", *sys.argv[3:]]
trainer = make_trainer(load_config(sys.argv[1], settings))
last = int(sys.argv[2])
for iteration in range(last + 1):
    trainer.iterate()
    if iteration in (20, last):
        lines = open("/proc/self/status").read().splitlines()
        print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


@pytest.mark.slow  # quick: test_networks_see_few_sizes
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.nightly
@pytest.mark.parametrize("last", ["70", "199"])
def test_a_run_needs_constant_memory(last: str) -> None:
    """It grew from 439 to 895 MB in 28 iterations."""
    config = "examples/connect_four/connect_four_ppo.yaml"
    settings = ["network=flat", "width=256", "blocks=2"]
    command = [sys.executable, "-c", MEMORY, config, last, *settings]
    environment = {**os.environ, "PYTHONPATH": "examples/connect_four"}
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    early, late = (int(kilobytes) / 1024 for kilobytes in done.stdout.split())
    assert late < 600
    assert late - early < 50


def test_what_nothing_depends_on_has_no_gradient() -> None:
    """As without shards: an optimiser leaves it alone."""
    used, unused = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    rows = torch.arange(300.0).reshape(100, 3)

    def loss(shard: slice) -> tuple[Tensor, Tensor]:
        mean = (rows[shard] @ used).mean()
        return mean, mean.detach()[None]

    terms = shards.backward(loss, len(rows), [used, unused])
    assert unused.grad is None
    assert_close(used.grad, rows.mean(0))
    assert_close(terms, rows.mean(0).sum()[None])


def test_what_a_shard_raises_reaches_the_caller() -> None:
    def network(rows: Tensor) -> tuple[Tensor]:
        if rows.max() == 99:
            raise ZeroDivisionError("a bad row")
        return (2 * rows,)

    rows = torch.arange(100)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="a bad row"):
            shards.sharded_forward(network, rows)
        assert (shards.sharded_forward(network, rows[:99])[0] == 2 * rows[:99]).all()  # it works on


FORK = """
import os, sys, torch
from linkzoo_training.networks.shards import sharded_forward, use
use(2)
rows = torch.arange(1000)
ask = lambda: sharded_forward(lambda rows: (rows + 1,), rows)[0].sum().item()
assert ask() == 500500
child = os.fork()
assert ask() == 500500
if child and os.waitpid(child, 0)[1]:
    sys.exit("the child failed")
"""


# Of gymnasium, whose workers are forked where that is Python's default.
ASYNC = """
import gymnasium, torch
from linkzoo_training import load_agent
torch.set_num_threads(2)
torch.rand(500, 500) @ torch.rand(500, 500)
envs = gymnasium.make_vec(
    "linkzoo/Linkage-v0", 2, vectorization_mode="async", vector_kwargs={"context": "fork"},
    opponent=load_agent("linkage"), board_size=3, threshold=3,
)
_, infos = envs.reset(seed=1)
for _ in range(3):
    *_, infos = envs.step(infos["action_mask"].argmax(1))
assert torch.get_num_threads() == 2
envs.close()
"""


@pytest.mark.nightly  # quick: common/test_threads.py
@pytest.mark.skipif(
    sys.platform == "win32" or sys.version_info >= (3, 12),
    reason="no fork on Windows; later Pythons warn of a fork beside threads",
)
@pytest.mark.parametrize("script", first_quick([FORK, ASYNC], slow=0), ids=["shards", "gymnasium"])
def test_threads_after_a_fork(script: str) -> None:
    """R18: a forked process has threads of its own, and none keeps a process from ending."""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_commands_that_ask_networks_share_rows(command: str, tmp_path: Path) -> None:
    """Two evaluations side by side took 7 times as long as one while torch shared operations."""
    shards.use(1)
    torch.set_num_threads(2)
    set_num_threads(min(2, MAX_THREADS))
    output = ["--output", str(tmp_path)] if command == "tournament" else []
    assert main([command, "random", "greedy", "--games", "2", *output]) == 0
    assert torch.get_num_threads() == 1
    assert len(shards.split(1000, CPU)) == get_num_threads()
