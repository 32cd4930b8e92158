"""A host program's settings of torch: loading and training work under them, and keep them."""

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo import make
from linkzoo.engine import threads
from linkzoo_training import load_policy
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.best_response import best_response_config, train_best_response
from linkzoo_training.checkpoints.checkpoint import WEIGHTS
from linkzoo_training.config.config import read_config
from linkzoo_training.networks import shards
from linkzoo_training.train import make_trainer, train
from tests.common.play import run_python
from tests.driving import first_quick
from tests.training import test_alphazero, test_own_network, test_ppo

EVAL = {"blocks": 1, "final_blocks": 1, "every": 100, "final_opponents": ["random"]}
CONFIGS = {
    "ppo": {**test_ppo.QUICK, "total_steps": 2 * 16 * 24, "eval": EVAL},
    "alphazero": {**test_alphazero.TINY, "total_steps": 2 * 12 * 8, "eval": EVAL},
}


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


HOSTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "float64": lambda: default_dtype(torch.float64),
    "bfloat16": lambda: default_dtype(torch.bfloat16),
    "device": lambda: torch.device("meta"),
    "inference_mode": torch.inference_mode,
    "no_grad": torch.no_grad,
    "deterministic": deterministic,
    "errors": lambda: np.errstate(all="raise"),
}


@pytest.fixture
def host() -> Iterator[None]:
    """Threads, denormals and a generator that neither torch nor this package would choose."""
    before = threads.get_num_threads(), torch.get_num_threads(), shards.get_num_threads()
    denormals = sys.float_info.min / 2 > 0
    torch.set_flush_denormal(False)
    torch.manual_seed(987)
    threads.set_num_threads(threads.MAX_THREADS)
    shards.use(2)
    torch.set_num_threads(3)
    yield
    torch.set_flush_denormal(not denormals)
    threads.set_num_threads(before[0])
    shards.use(before[2])
    torch.set_num_threads(before[1])


def settings() -> list[Any]:
    """All that a host program may have set."""
    return [
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_rng_state().tolist(),
        torch.get_num_threads(),
        threads.get_num_threads(),
        shards.get_num_threads(),
        sys.float_info.min / 2,
        random.getstate(),
        np.random.get_state(),  # noqa: NPY002 - the global one
        np.geterr(),
    ]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An untrained checkpoint of a user's network."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "net.py").write_text(test_own_network.SOURCE)
    fields = {**CONFIGS["ppo"], "network": f"{folder / 'net.py'}:Tiny"}
    make_trainer(read_config(fields)).publish(folder / "own", [])
    return str(folder / "own")


@pytest.mark.parametrize("agent", first_quick(["linkage", "linkage@3~1:3", "love_links", "own"]))
@pytest.mark.parametrize("setting", first_quick(list(HOSTS), 2, 5))
@pytest.mark.usefixtures("host")
def test_load_policy_works_and_changes_nothing(setting: str, agent: str, own: str) -> None:
    name = own if agent == "own" else agent
    env = make("love_links" if agent == "love_links" else "linkage")
    env.reset(seed=11)
    usual = load_policy(name)
    expected = usual.predict(env), usual.probabilities(env), usual.values(env)
    with HOSTS[setting]():
        before = settings()
        policy = load_policy(name)
        assert str(settings()) == str(before)
        results = policy.predict(env), policy.probabilities(env), policy.values(env)
        assert str(settings()) == str(before)
    for found, wanted in zip(results, expected, strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.slow
def test_importing_sets_no_environment_variable() -> None:
    program = (
        "import os; os.environ.pop('GOMP_SPINCOUNT', None); before = dict(os.environ);"
        "import linkzoo_training.agents.make;"
        "print(dict(os.environ) == before)"
    )
    assert run_python("-c", program).strip() == "True"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", first_quick(list(CONFIGS), slow=0))
@pytest.mark.parametrize("setting", first_quick(list(HOSTS), slow=0))
@pytest.mark.usefixtures("host")
def test_train_works_and_restores(tmp_path: Path, setting: str, algorithm: str) -> None:
    config = read_config(CONFIGS[algorithm])
    alone = settings()
    usual = train(config, folder=tmp_path / "usual")
    assert str(settings()) == str(alone)
    with HOSTS[setting]():
        before = settings()
        folder = train(config, folder=tmp_path / "run")
        assert str(settings()) == str(before)
    weights = [(path / "checkpoint" / WEIGHTS).read_bytes() for path in (usual, folder)]
    assert weights[0] == weights[1]


@pytest.mark.usefixtures("host")
def test_a_failed_run_restores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("out of luck")

    config = read_config(CONFIGS["ppo"])
    monkeypatch.setattr("linkzoo_training.algorithms.ppo.PPOTrainer.iterate", fails)
    before = settings()
    with pytest.raises(RuntimeError, match="out of luck"):
        train(config, folder=tmp_path / "run")
    assert str(settings()) == str(before)


@pytest.mark.nightly
@pytest.mark.usefixtures("host")
def test_a_best_response_restores(tmp_path: Path) -> None:
    fields = "num_envs=8 horizon=8 total_steps=64 width=8 blocks=1 network=flat num_threads=1"
    others = "symmetric=false minibatches=1 eval.every=100"
    config = best_response_config(
        AgentSpec.parse("greedy"), "linkage", settings=[*fields.split(), *others.split()]
    )
    before = settings()
    with default_dtype(torch.float64):
        train_best_response(config, 2, folder=tmp_path / "run")
    assert str(settings()) == str(before)
