"""Workers on a cluster that loses workers and machines: the same results as in this process."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from tests_integrations.cluster.conftest import Machines

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.best_response import best_response_config, train_best_response
from linkzoo_training.config.config import read_config
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.selfplay.asynchronous import AsynchronousWorkers
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, RayExecutor
from linkzoo_training.train import make_trainer

AGENTS = (AgentSpec("random"), AgentSpec("greedy"))
AGENT = """
from beside import first

class First:
    name = "first"

    def act(self, positions):
        return first(positions.action_mask)
"""
COMMON = {
    "name": "tiny",
    "game": "linkage",
    "width": 16,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
    "parts": 4,
}
PPO = {**COMMON, "num_envs": 16, "horizon": 24, "pool": {"snapshot_every": 2, "size": 2}}
ALPHAZERO = {**COMMON, "algorithm": "alphazero", "num_envs": 8, "horizon": 8, "simulations": [4]}


def trained(fields: dict[str, Any], executor: Executor, kills: "Chaos | None" = None) -> bytes:
    """The weights after some iterations; faults come in the middle, while the workers play."""
    trainer: Trainer = make_trainer(read_config(fields), executor)
    for iteration in range(12):
        metrics = trainer.iterate()
        assert 0 <= metrics["learner idle"] <= 1
        if kills is not None:
            kills.strike(iteration)
    return b"".join(t.numpy().tobytes() for t in trainer.network.state_dict().values())


class Chaos:
    """Seeded faults: two killed workers and a lost machine, which is replaced later, per run."""

    def __init__(self, machines: Machines, seed: int) -> None:
        self.machines = machines
        self.dice = Random(seed)
        lost = self.dice.randrange(1, 6)
        self.faults = {
            self.dice.randrange(0, 4): self.kill_worker,
            lost: self.lose_machine,
            self.dice.randrange(lost + 1, 8): self.kill_worker,
            8: machines.replace,
        }

    def strike(self, iteration: int) -> None:
        """Lets the faults of an iteration happen."""
        self.faults.get(iteration, lambda: None)()

    def kill_worker(self) -> None:
        self.machines.kill_worker(self.dice)

    def lose_machine(self) -> None:
        self.machines.lose(self.dice)


@pytest.mark.parametrize("fields", [PPO, ALPHAZERO], ids=["ppo", "alphazero"])
def test_a_run_ends_with_the_same_weights(machines: Machines, fields: dict[str, Any]) -> None:
    expected = trained(fields, LocalExecutor(1))
    with RayExecutor(3) as executor:
        assert trained(fields, executor, Chaos(machines, 1)) == expected


def goes_on(machines: Machines, seed: int, **fields: Any) -> None:
    """Trains without a barrier while workers and a machine are lost."""
    config = read_config({**ALPHAZERO, "asynchronous": True, **fields})
    kills = Chaos(machines, seed)
    with RayExecutor(3) as executor:
        trainer = make_trainer(config, executor)
        for iteration in range(12):
            metrics = trainer.iterate()
            assert metrics["steps"] == trainer.iteration * config.num_envs * config.horizon
            assert metrics["staleness p95"] <= 4
            kills.strike(iteration)
        assert trainer.iteration == 12


def test_an_asynchronous_run_goes_on(machines: Machines) -> None:
    """With other weights, as parts finish in another order; none of its data is too old."""
    goes_on(machines, 1)


CENTRAL = {"central_inference": True, "num_envs": 12, "parts": 3}  # all parts are of workers


def test_one_network_serves_all_machines(machines: Machines) -> None:
    """Workers of every machine ask it; those that were lost hold nobody up."""
    config = read_config({**ALPHAZERO, "asynchronous": True, **CENTRAL})
    with RayExecutor(3) as executor:
        trainer = make_trainer(config, executor)
        assert isinstance(trainer.play, AsynchronousWorkers)
        server = trainer.play._inference
        assert server is not None
        while len(server._connections) < 3:
            trainer.iterate()
        assert 0 < server.batches <= server.requests
    goes_on(machines, 2, **CENTRAL)


@pytest.mark.nightly
def test_so_it_does_with_other_faults(machines: Machines) -> None:
    """For twenty minutes, with other seeds and numbers of workers."""
    expected = {name: trained(fields, LocalExecutor(1)) for name, fields in RUNS.items()}
    end = time.monotonic() + 20 * 60
    seed = 1
    while time.monotonic() < end:
        seed += 1
        for name, fields in RUNS.items():
            with RayExecutor(Random(seed).randrange(1, 6)) as executor:
                assert trained(fields, executor, Chaos(machines, seed)) == expected[name], seed
            machines.replace()
        for more in ({}, CENTRAL):
            goes_on(machines, seed, **more)
            machines.replace()


RUNS = {"ppo": PPO, "alphazero": ALPHAZERO}


def test_the_tasks_of_a_lost_machine_are_played_elsewhere(machines: Machines) -> None:
    """By the workers that live, though no CPU is free for the workers that were lost."""
    with RayExecutor(3) as executor:
        executor.start(TaskWorker)
        results = executor.play(None, [partial(time.sleep, 1)] * 9)
        next(results)
        machines.lose(Random(0))
        assert len(list(results)) == 8
        assert executor.live == 2
        machines.replace()
        while executor.live < 3:
            time.sleep(0.1)


def test_a_task_that_kills_its_workers_ends_the_run(machines: Machines) -> None:
    with RayExecutor(2) as executor:
        executor.start(TaskWorker)
        tasks = [partial(time.sleep, 0.1), partial(os._exit, 1)]
        with pytest.raises(RuntimeError, match="the bad one: 3 workers died at this task: The act"):
            list(executor.play(None, tasks, names=["the good one", "the bad one"]))


def test_tournaments_are_those_of_this_process(machines: Machines, tmp_path: Path) -> None:
    """While workers are killed and a machine is lost."""
    agents = (*AGENTS, AgentSpec.parse("uct-5"), AgentSpec.parse("uct-6"))
    settings = Tournament("linkage", agents, 6, 1, 2, "0")
    dice = Random(1)

    def strike(_match: str, finished: int, _matches: int) -> None:
        if finished == 1:
            machines.lose(dice)
        elif finished < 4:
            machines.kill_worker(dice)

    with RayExecutor(2) as executor:
        found = run_tournament(settings, tmp_path / "ray", strike, executor)
    machines.replace()
    expected = run_tournament(settings, tmp_path / "here")
    assert len(found) == 6
    for one, other in zip(expected, found, strict=True):
        assert (one.share == other.share).all()


@contextmanager
def killing_workers(machines: Machines, run: Path, iterations: list[int]) -> Iterator[list[int]]:
    """Kills a worker after each of these iterations of a run; yields those it has killed after."""
    dice = Random(1)
    kills: list[int] = []
    ended = Event()

    def watch() -> None:
        while len(kills) < len(iterations) and not ended.wait(0.05):
            following = iterations[len(kills)]
            if played(run) >= following and machines.kill_worker(dice):
                kills.append(following)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield kills
    finally:
        ended.set()
        thread.join()


def played(run: Path) -> int:
    """The number of iterations of a run so far."""
    metrics = run / "metrics.jsonl"
    if not metrics.exists():
        return 0
    return metrics.read_text().count("\n")


def test_a_best_response_is_that_of_this_process(machines: Machines, tmp_path: Path) -> None:
    """While workers are killed in training and in the matches."""
    settings = "num_envs=16 horizon=24 width=16 blocks=1 network=flat precision=fp32".split()
    settings += "parts=4 num_threads=1 device=cpu eval.every=100".split()
    settings += ["options={board_size: 3, threshold: 4}"]
    config = best_response_config(AgentSpec("greedy"), "linkage", steps=3840, settings=settings)
    expected = train_best_response(config, 2000, folder=tmp_path / "here", executor=LocalExecutor())
    kills_after = [2, 6, 10]  # the last one in the matches
    with (
        RayExecutor(3) as executor,
        killing_workers(machines, tmp_path / "ray", kills_after) as kills,
    ):
        found = train_best_response(config, 2000, folder=tmp_path / "ray", executor=executor)
    assert kills == kills_after
    assert expected is not None
    assert found is not None
    assert weights_in(tmp_path / "ray") == weights_in(tmp_path / "here")
    for one, other in zip(expected["players"], found["players"], strict=True):
        assert other["gain"] == one["gain"]


def weights_in(folder: Path) -> bytes:
    return (folder / "checkpoint" / "model.safetensors").read_bytes()


def test_files_of_the_learner_reach_workers_elsewhere(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by paths relative to its working folder, which isn't that of `ray start`."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(AGENT)
    Path("beside.py").write_text("def first(mask): return mask.argmax(1)")
    agents = (AgentSpec("random"), AgentSpec.parse("mine.py:First"))
    settings = Tournament("linkage", agents, 6, 1, 2, "0")
    with RayExecutor(2) as executor:
        (found,) = run_tournament(settings, tmp_path / "ray", executor=executor)
    (expected,) = run_tournament(settings, tmp_path / "here")
    assert (found.share == expected.share).all()


def test_errors_of_actors_are_raised_here(machines: Machines, tmp_path: Path) -> None:
    settings = Tournament("linkage", AGENTS, 2, 1, 2, "nonsense")
    with RayExecutor(1) as executor, pytest.raises(ValueError, match="nonsense"):
        run_tournament(settings, tmp_path, executor=executor)
