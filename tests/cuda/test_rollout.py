"""Rollouts on the device are those of the host: all but the launch, without a GPU."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import linkzoo
from linkzoo_training.algorithms.ppo import make_games
from linkzoo_training.networks.flat import Critic, make_network
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.cuda_backend import CudaBackend
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.rollout import RolloutGames
from tests.cuda.without_gpu import without_gpu
from tests.driving import first_quick
from tests.training.helpers import ppo_config

pytestmark = pytest.mark.slow  # quick: test_vector.py::test_games_are_those_of_the_cpu

CPU = torch.device("cpu")
SMALL = {
    "name": "small",
    "num_envs": 16,
    "horizon": 20,
    "width": 16,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "pool": {"share": 0.6},
    "seed": 2**64 - 1,  # needs every bit
}
KINDS: dict[str, dict[str, Any]] = {
    "linkage": {
        "symmetric": True,
        "kl_coef": 0.1,
        "pool": {"share": 0.6, "fixed_opponents": ["random", "greedy"]},
        "teacher": {"agent": "greedy", "share": 0.1},
        "initial_states": {"midgame": [0.2, 0.8], "vary": {"threshold": [9, 14]}},
    },
    "love_links": {"pool": {"share": 0.0}, "num_envs": 18, "horizon": 60},
    "link_o": {
        "symmetric": True,
        "critic": "full",
        "teacher": {"agent": "mc-2", "share": 0.1},
        "options": {"target": 0},
        "horizon": 60,
    },
    "love_formula": {"num_envs": 18, "horizon": 60, "score_margin_weight": 0.3},
}


@pytest.fixture(autouse=True)
def _no_gpu() -> Iterator[None]:
    """Networks run on one thread of torch, as in the trainer (`shards.use`).

    With several, MKL 2024's first `log` of a process may use a kernel of low accuracy in one of
    them: a race in its choice of kernels (https://github.com/pytorch/pytorch/issues/188792).
    """
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with without_gpu():
        yield
    torch.set_num_threads(num_threads)


class Run:
    """Games on the host or on "the device", and who plays them."""

    def __init__(self, kind: type[HostBackend], game: str) -> None:
        config = ppo_config({**SMALL, "game": game, **KINDS[game]})
        torch.manual_seed(0)
        self.games = RolloutGames(config, kind(CPU))
        self.network = make_network(self.games.game, "flat", 16, 1)
        self.critic = Critic(self.games.game, 16, 1) if config.critic == "full" else None
        self.pool = OpponentPool(config.pool.size, config.seed)
        if config.pool.share:
            self.pool.add(self.network)
            self.pool.add(make_network(self.games.game, "flat", 16, 1))
        self.games.begin()

    def collect(self, iteration: int) -> dict[str, Tensor]:
        progress = iteration / 10
        batch = self.games.collect(self.network, self.pool, progress, iteration, self.critic)
        tensors = {name: tensor.clone() for name, tensor in vars(batch).items()}
        tensors["teacher_targets"][~(tensors["learner"] & tensors["has_targets"])] = (
            0  # nothing is said of the others
        )
        return tensors


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        assert found[name].equal(tensor), name


@pytest.mark.parametrize(
    "game", first_quick(sorted(linkzoo.game_names(), key="linkage".__ne__), 1, 0)
)
def test_batches_and_games_are_those_of_the_host(game: str) -> None:
    """To the byte: views, varied options, random positions, all opponents, a full critic."""
    host, device = Run(HostBackend, game), Run(CudaBackend, game)
    for iteration in range(3):
        assert_same(device.collect(iteration), host.collect(iteration))
        if iteration == 1:
            for run in (host, device):
                run.games.drop_opponent(0, 0.5)
        assert_same(device.games.tensors(), host.games.tensors())
        np.testing.assert_allclose(device.games.wins, host.games.wins)
        np.testing.assert_allclose(device.pool.wins, host.pool.wins)
        assert (device.pool.games == host.pool.games).all()
    assert host.games.wins.sum() + host.pool.games.sum() > 0


def test_a_run_goes_on_where_its_games_are_played_next() -> None:
    """From the host to the device, and back."""
    host, device = Run(HostBackend, "linkage"), Run(CudaBackend, "linkage")
    host.collect(0)
    device.games.load(host.games.tensors())
    assert_same(device.collect(1), host.collect(1))
    other = Run(HostBackend, "linkage")
    other.games.load(device.games.tensors())
    assert_same(other.collect(2), device.collect(2))


def test_nothing_waits_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever brings a number from a tensor would; it is asked for once, when all is played."""
    run = Run(CudaBackend, "love_links")
    run.collect(0)

    def refuse(*_: Any) -> Any:
        raise AssertionError("asked")

    monkeypatch.setattr(run.games._backend, "check_finite", monkeypatch.undo)
    for name in ("item", "__int__", "__bool__", "__index__", "tolist", "cpu", "nonzero"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    with without_gpu():
        run.collect(1)


def test_a_policy_that_is_not_finite_is_an_error() -> None:
    run = Run(CudaBackend, "linkage")
    with torch.no_grad():
        next(run.network.parameters()).fill_(torch.nan)
    with pytest.raises(ValueError, match="the policy that plays isn't finite"):
        run.collect(0)


def test_what_cannot_be_played_there_is_refused() -> None:
    config = {**SMALL, "game": "linkage", "env_device": "cuda"}
    with pytest.raises(ValueError, match="env_device: cuda, but the networks are on cpu"):
        make_games(ppo_config(config), CPU)
    with pytest.raises(ValueError, match="env_device: cuda, but device: cpu"):
        ppo_config({**config, "device": "cpu"})
