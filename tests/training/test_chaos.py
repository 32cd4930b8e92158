"""Commands whose workers die at random, by a seed: the same results as without workers.

`tests_integrations/cluster` kills real workers and machines of a Ray cluster.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.checkpoints.checkpoint import load_tensors, strip_prefix
from linkzoo_training.config.config import read_config
from linkzoo_training.evaluation.labelled_positions import LabelSettings
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.linear import natural_gradient
from linkzoo_training.linear.labels import make_labels
from linkzoo_training.linear.natural_gradient import improve
from linkzoo_training.selfplay import dispatch
from linkzoo_training.selfplay.dispatch import Answer, Fleet, Kept, Worker, WorkerDiedError
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, ProcessExecutor
from linkzoo_training.train import make_trainer, train
from tests.training import test_ppo
from tests.training.helpers import weights
from tests.training.test_improve import SETTINGS

pytestmark = pytest.mark.last


class MortalFleet(Fleet):
    """Workers in this process; a third die as they get a task, a third of the others later."""

    def __init__(self, make: Callable[[], Worker], dice: Random) -> None:
        self.make = make
        self.dice = dice
        self.deaths = 0
        self._workers: dict[int, Worker] = {}
        self._tasks: dict[int, bytes] = {}
        self._count = 0

    def start_worker(self) -> int:
        self._count += 1
        self._workers[self._count] = self.make()
        return self._count

    def share(self, weights: Any, kept: Kept) -> Any:
        return weights, dict(kept)

    def send(self, worker: Any, shared: Any, task: Any, name: str) -> None:  # noqa: ARG002 - see Fleet
        self._die_sometimes()
        self._tasks[worker] = pickle.dumps((*shared, task))

    def ping(self, worker: Any) -> None:  # noqa: ARG002 - see Fleet
        self._die_sometimes()

    def wait(self, workers: Collection[Any], seconds: float) -> Collection[Any]:  # noqa: ARG002 - see Fleet
        return sorted(workers)[:1]

    def receive(self, worker: Any) -> Answer:
        if worker not in self._tasks:
            return Answer()
        weights, kept, task = pickle.loads(self._tasks.pop(worker))
        result = self._workers[worker].play(weights, task, kept)
        self._die_sometimes()
        return Answer(pickle.loads(pickle.dumps(result)))

    def kill(self, worker: Any) -> None:
        del self._workers[worker]
        self._tasks.pop(worker, None)

    def _die_sometimes(self) -> None:
        if self.dice.random() < 1 / 3:
            self.deaths += 1
            raise WorkerDiedError("a seeded death")


class Mortal(ProcessExecutor):
    """Workers that die by a seed."""

    def __init__(self, workers: int, seed: int) -> None:
        super().__init__(workers)
        self.dice = Random(seed)
        self.fleets: list[MortalFleet] = []

    def _fleet(self, make: Callable[[], Worker]) -> Fleet:
        self.fleets.append(MortalFleet(make, self.dice))
        return self.fleets[-1]


def rated(executor: Executor, folder: Path) -> Any:
    agents = tuple(map(AgentSpec, ("random", "greedy", "linear")))
    settings = Tournament("love_links", agents, 4, 1, 2, "0", {"short": True})
    return [match.share.tolist() for match in run_tournament(settings, folder, executor=executor)]


def labelled(executor: Executor, folder: Path) -> bytes:
    settings = LabelSettings(
        "love_links", {"short": True}, (2,), "greedy", 1, "random", 0.5, 1, 0.1
    )
    make_labels(settings, 500, folder / "labels.npz", lambda _: None, executor)
    return (folder / "labels.npz").read_bytes()


def improved(executor: Executor, folder: Path) -> bytes:
    settings = replace(SETTINGS, scorer="linear", decisions=1500)
    assert len(list(improve(settings, 1, folder / "mine.json", lambda _: None, executor))) == 1
    return (folder / "mine.json").read_bytes()


def trained(executor: Executor, folder: Path) -> bytes:
    trainer = make_trainer(read_config({**test_ppo.QUICK, "parts": 4}), executor)
    for _ in range(3):
        trainer.iterate()
    shares = [match.share.tolist() for match in trainer.evaluate(trainer.agent(), ["random"], 2)]
    return weights(trainer) + json.dumps(shares).encode()


@pytest.mark.parametrize(
    "command",
    [
        rated,
        pytest.param(labelled, marks=pytest.mark.nightly),
        pytest.param(improved, marks=pytest.mark.nightly),
        pytest.param(trained, marks=pytest.mark.nightly),
    ],
)
def test_commands_do_not_depend_on_deaths(
    command: Callable[[Executor, Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_DEATHS", 1000)
    monkeypatch.setattr(natural_gradient, "_PARTS", 4)
    monkeypatch.setattr(natural_gradient, "_GAMES", 8)
    (tmp_path / "there").mkdir()
    expected = command(LocalExecutor(1), tmp_path)
    with Mortal(3, 1) as executor:
        assert command(executor, tmp_path / "there") == expected
    assert sum(fleet.deaths for fleet in executor.fleets) > 0


RUN = {
    **test_ppo.QUICK,
    "total_steps": 8 * 16 * 24,
    "parts": 4,
    "eval": {**test_ppo.QUICK["eval"], "every": 100},
}


def killed_and_resumed(command: list[str], folder: Path, seed: int) -> bytes:
    """The weights of a run whose learner is killed twice, at random times, and resumed."""
    dice = Random(seed)
    state = folder / "run" / "training.safetensors"
    for _ in range(2):
        done = state.stat().st_mtime_ns if state.exists() else 0
        learner = subprocess.Popen(command, cwd=folder, start_new_session=True)
        while not state.exists() or state.stat().st_mtime_ns == done:
            assert learner.poll() is None
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.3))
        os.kill(learner.pid, signal.SIGKILL)
        learner.wait()
        deadline = time.monotonic() + 60
        while workers_of(learner.pid):  # its workers notice
            assert time.monotonic() < deadline
            time.sleep(0.05)
    subprocess.run(command, cwd=folder, check=True)
    return network_of(state)


def workers_of(session: int) -> list[Path]:
    """The processes of a session that are left."""
    left = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            left.append(path)
    return left


def network_of(state: Path) -> bytes:
    tensors = strip_prefix("network.", load_tensors(state)[0])
    return b"".join(tensors[name].numpy().tobytes() for name in sorted(tensors))


@pytest.mark.nightly  # quick: test_executors.py::test_resumed_run_is_the_uninterrupted_run
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_a_run_whose_learner_is_killed_goes_on(tmp_path: Path) -> None:
    """To the weights of a run without workers that nobody killed."""
    (tmp_path / "run.yaml").write_text(json.dumps({**RUN, "save_every": 1}))
    words = ["-m", "linkzoo_training", "train", "run.yaml", "--folder", "run", "--resume"]
    command = [sys.executable, *words, "--executor", "processes", "--workers", "2"]
    found = killed_and_resumed(command, tmp_path, 1)
    train(read_config(RUN), folder=tmp_path / "whole", executor=LocalExecutor(4))
    assert found == network_of(tmp_path / "whole" / "training.safetensors")


DIES = """
import os, sys
from linkzoo_training.__main__ import run
from linkzoo_training.algorithms.ppo import PPOTrainer
iterate = PPOTrainer.iterate
def dies(trainer):
    if os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == sys.argv[1]:
        if trainer.iteration == 3:
            os._exit(1)
    return iterate(trainer)
PPOTrainer.iterate = dies
sys.argv[1:2] = []
run()
"""


@pytest.mark.nightly  # quick: test_resume.py, of the state
def test_a_rank_that_dies_is_restarted(tmp_path: Path) -> None:
    """Torchrun starts all ranks again; another number of them is refused."""
    (tmp_path / "dies.py").write_text(DIES)
    (tmp_path / "run.yaml").write_text(json.dumps({**RUN, "parts": None, "save_every": 1}))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    torchrun += ["--nproc-per-node", "2", "--max-restarts", "1", "dies.py"]
    for dies_in, folder in (("0", "restarted"), ("never", "whole")):
        train_words = ["train", "run.yaml", "total_steps=4608", "--resume", "--folder", folder]
        subprocess.run([*torchrun, dies_in, *train_words], cwd=tmp_path, check=True)
    states = [tmp_path / folder / "training.safetensors" for folder in ("restarted", "whole")]
    assert network_of(states[0]) == network_of(states[1])
    config = read_config({**RUN, "parts": None, "total_steps": 6144})
    with pytest.raises(ValueError, match=r"can't have processes=1 \(was 2\)"):
        train(config, folder=tmp_path / "whole", resume=True)
