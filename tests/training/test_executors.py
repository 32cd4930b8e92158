"""Workers: every executor gives the same, also when some die, and the learner learns from them."""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from multiprocessing import active_children
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from linkzoo import RandomAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms import ppo
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import read_config
from linkzoo_training.config.fields import merged
from linkzoo_training.evaluation import tournament
from linkzoo_training.networks.flat import masked
from linkzoo_training.runtime import StopSignal
from linkzoo_training.selfplay import dispatch
from linkzoo_training.selfplay.dispatch import (
    MAX_DEATHS,
    NOTHING,
    Answer,
    Dispatcher,
    Fleet,
    Kept,
    PlayedWhenRead,
    Results,
    TaskWorker,
    WorkerDiedError,
)
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, ProcessExecutor
from linkzoo_training.selfplay.rollout import Batch
from linkzoo_training.train import learn, make_trainer
from tests.driving import first_quick
from tests.training import test_alphazero, test_ppo
from tests.training.doubles import Elsewhere, Silent
from tests.training.helpers import (
    against_perfect_play,
    alphazero_config,
    assert_close,
    ppo_config,
    weights,
)

pytestmark = pytest.mark.last

# With snapshots that give up their slots, and their games, soon.
PPO: dict[str, Any] = {
    **test_ppo.QUICK,
    "pool": {"snapshot_every": 2, "size": 2, "fixed_opponents": ["greedy"]},
}
AZ = {**test_alphazero.TINY, **test_alphazero.POOLED}


def run(fields: dict[str, Any], iterations: int, executor: Executor) -> Trainer:
    trainer = make_trainer(read_config(fields), executor)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


def test_results_come_in_the_order_of_the_tasks_and_are_closed_after_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[Results] = []

    def close(results: Results) -> None:
        closed.append(results)

    monkeypatch.setattr(PlayedWhenRead, "close", close)
    executor = Elsewhere()  # finishes the last task first
    executor.start(TaskWorker)
    tasks = [partial(str, number) for number in range(4)]
    with executor.play_in_order(tasks, "abcd") as results:
        assert list(results) == ["0", "1", "2", "3"]
    assert len(closed) == 1
    with pytest.raises(ZeroDivisionError), executor.play_in_order(tasks, "abcd") as results:
        int(next(results)) // 0
    assert len(closed) == 2


class Toy:
    """Says which process plays; fails or dies at tasks that say so."""

    def play(self, weights: int, task: str, kept: Mapping[str, Any]) -> tuple[int, int]:
        assert not kept
        if task == "fail":
            raise ValueError("no such task")
        if task == "die":
            os._exit(1)
        return os.getpid(), weights * int(task)


@pytest.mark.slow  # quick: test_resumed_run_is_the_uninterrupted_run
def test_workers_that_die_lose_nothing() -> None:
    """Runs with two workers: in this process, and in two of which one is killed while it plays."""
    expected = run(PPO, 4, LocalExecutor(2))
    with ProcessExecutor(2) as executor:
        trainer = make_trainer(read_config(PPO), executor)
        for iteration in range(4):
            metrics = trainer.iterate()
            assert 0 <= metrics["learner idle"] <= 1
            if iteration == 1:
                before = active_children()
                before[0].kill()
        assert len(active_children()) == 2
        assert set(active_children()) != set(before)
    assert not active_children()
    assert weights(trainer) == weights(expected)
    assert weights(trainer) != weights(run(PPO, 4, LocalExecutor(4)))


WORKERS = """
from linkzoo_training.selfplay.executors import ProcessExecutor
from multiprocessing import active_children
from pathlib import Path
import time
with ProcessExecutor(3) as executor:
    executor.start(list)
    executor.play(None, [])
    while executor.live < 3:
        time.sleep(0.01)
    for child in active_children():
        status = Path(f"/proc/{child.pid}/status").read_text()
        print(int(status.partition("SigBlk:")[2].split()[0], 16) >> 1 & 1)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_no_worker_hears_an_interruption() -> None:
    """Not the first either, with which multiprocessing starts a process of its own."""
    command = [sys.executable, "-c", WORKERS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "1"]


class Keeper:
    """Returns the items that it was sent; dies at the task `die`."""

    def play(self, weights: str, task: str, kept: Mapping[str, bytes]) -> dict[str, bytes]:
        if task == "die" and not Path(weights).exists():
            Path(weights).touch()
            os._exit(1)
        return dict(kept)


@pytest.mark.nightly  # quick: snapshots travel once
def test_what_workers_keep_is_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gets it once; only the replacement of a dead worker gets it again."""
    size, sent = 100_000, list[int]()
    things = {name: name.encode() * size for name in "abc"}
    send = Connection.send

    def counted(connection: Connection, message: Any) -> None:
        sent.append(len(ForkingPickler.dumps(message)))
        send(connection, message)

    monkeypatch.setattr(Connection, "send", counted)

    def spent(names: str, *tasks: str) -> int:
        """How many things were sent for some tasks that have others."""
        before, kept = sum(sent), {name: things[name] for name in names}
        for _, received in executor.play(str(tmp_path / "died"), tasks, kept):
            assert received == kept
            assert list(received) == list(kept)
        return (sum(sent) - before) // size

    with ProcessExecutor(1) as executor:
        executor.start(Keeper)
        assert spent("ab", "1", "2") == 2
        assert spent("ab", "1", "2") == 0
        assert spent("bca", "1") == 1
        assert spent("c", "1", "2") == 0
        assert spent("ca", "die", "2") == 1 + 2  # its successor had to be sent everything


@pytest.mark.slow
def test_snapshots_travel_once() -> None:
    """Workers keep the pool's weights by name, and later messages don't contain them."""
    sent: list[tuple[int, list[str]]] = []

    class Noted(LocalExecutor):
        def play(
            self,
            weights: Any,
            tasks: Sequence[Any],
            kept: Mapping[str, Any] = NOTHING,
            names: Sequence[str] = (),
        ) -> Results:
            sent.append((len(weights), list(kept)))
            return super().play(weights, tasks, kept, names)

    trainer = ppo.PPOTrainer(ppo_config(merged(PPO, {"pool": {"size": 4}})), Noted(2))
    for _ in range(6):
        trainer.iterate()
    sizes, names = zip(*sent, strict=True)
    assert sizes[1] == sizes[-1]  # however large the pool is
    assert [len(kept) for kept in names] == [0, 1, 1, 2, 2, 3, 3]
    for before, after in pairwise(names):
        assert after[: len(before)] == before


@pytest.mark.slow  # quick: workers that die, below
def test_errors_and_deaths_of_workers_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MAX_DEATHS", 2)
    with ProcessExecutor(1) as executor:
        executor.start(Toy)
        results = executor.play(3, ["1", "2", "fail"])
        (_, (process, first)), (_, (_, second)) = next(results), next(results)
        assert (first, second) == (3, 6)
        assert process != os.getpid()
        with pytest.raises(ValueError, match="no such task"):
            next(results)
        message = "task 2 of 2: 2 workers died at this task: the process ended with exit code 1"
        with pytest.raises(RuntimeError, match=message):
            list(executor.play(3, ["1", "die"]))
    with pytest.raises(ValueError, match="workers: 0 is not 1 or more"):
        ProcessExecutor(0)


class FakeFleet(Fleet):
    """Workers in this process: each call of `wait` is a moment, of which a script says the events.

    A worker is a number. `script` yields, for each moment, the workers that die then; of the others
    the one that has waited longest answers. The task `x` kills its worker. A worker of `late` is
    never ready.
    """

    def __init__(self, script: Iterable[set[int]], late: Collection[int] = ()) -> None:
        self.script = iter(script)
        self.late = late
        self.lost: set[int] = set()  # workers that are dead from now on, idle or not
        self.sent: list[tuple[int, str]] = []  # (worker, task)
        self.killed: list[int] = []
        self._tasks: dict[int, str | None] = {}
        self._count = 0

    def start_worker(self) -> int:
        self._count += 1
        self._tasks[self._count] = None
        return self._count

    def share(self, weights: Any, kept: Kept) -> Any:
        return weights, kept

    def send(self, worker: Any, shared: Any, task: str, name: str) -> None:  # noqa: ARG002 - see Fleet
        self.sent.append((worker, task))
        self._tasks[worker] = task

    def ping(self, worker: Any) -> None:
        self._tasks[worker] = None

    def wait(self, workers: Collection[Any], seconds: float) -> Collection[Any]:  # noqa: ARG002 - see Fleet
        self.dead = (next(self.script, set()) | self.lost) & set(workers)
        answering = [w for w in self._tasks if w in workers and w not in {*self.late, *self.dead}]
        if not answering and not self.dead:
            time.sleep(0.01)
        return [*self.dead, *answering[:1]]

    def receive(self, worker: Any) -> Answer:
        task = self._tasks[worker]
        if worker in self.dead or task == "x":
            raise WorkerDiedError("its machine was lost")
        del self._tasks[worker]  # it waits behind the others from now on
        self._tasks[worker] = None
        if task == "wrong":
            return Answer(error=ValueError("a wrong task"))
        return Answer(task)

    def kill(self, worker: Any) -> None:
        self.killed.append(worker)
        del self._tasks[worker]


def played(fleet: FakeFleet, tasks: str, workers: int = 2) -> list[tuple[int, str]]:
    dispatcher = Dispatcher(fleet, workers)
    try:
        return list(dispatcher.play(None, list(tasks), NOTHING, [f"task {t}" for t in tasks]))
    finally:
        dispatcher.stop()


def test_any_live_worker_takes_any_task() -> None:
    """One that never starts holds nothing up, and the task of one that dies is played again."""
    waiting = FakeFleet([], late=[1])
    assert sorted(played(waiting, "abc")) == [(0, "a"), (1, "b"), (2, "c")]
    assert {worker for worker, _ in waiting.sent} == {2}
    dying = FakeFleet([set(), set(), {1}, {2}])
    assert sorted(played(dying, "abcd")) == list(enumerate("abcd"))
    assert len(dying.sent) > 4
    assert {1, 2} <= set(dying.killed)
    assert sorted(dying.killed) == list(range(1, max(dying.killed) + 1))  # all, at the end


@pytest.mark.parametrize("seed", range(10))
def test_random_deaths_lose_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task gives one result, whenever workers die: as they start, idle or busy."""
    monkeypatch.setattr(dispatch, "MAX_DEATHS", 1000)
    dice = Random(seed)
    fleet = FakeFleet([set(dice.sample(range(1, 30), 4)) for _ in range(40)])
    assert sorted(played(fleet, "abcdefghij", 3)) == list(enumerate("abcdefghij"))
    assert len(fleet.killed) > 3


def test_idle_workers_that_were_lost_are_no_deaths_of_a_task() -> None:
    """A machine with six idle workers is lost: the next task meets one of them at most."""
    fleet = FakeFleet([])
    dispatcher = Dispatcher(fleet, 6)
    assert len(list(dispatcher.play(None, ["a"] * 50, NOTHING, ["a"] * 50))) == 50
    while dispatcher.live < 6:
        time.sleep(0.01)
    fleet.lost = set(range(1, 7))
    assert list(dispatcher.play(None, ["b"], NOTHING, ["b"])) == [(0, "b")]
    assert [task for _, task in fleet.sent].count("b") == 2
    assert fleet.lost == set(fleet.killed)
    dispatcher.stop()


def test_calls_share_the_workers() -> None:
    """Tasks of a second call are played beside those of the first, unless it was closed."""
    fleet = FakeFleet([])
    dispatcher = Dispatcher(fleet, 1)
    first = dispatcher.play(None, list("abc"), NOTHING, list("abc"))
    second = dispatcher.play(None, list("de"), NOTHING, list("de"))
    assert [*second] == [(0, "d"), (1, "e")]
    assert first.wait(0)
    assert [*first] == [(0, "a"), (1, "b"), (2, "c")]
    many = dispatcher.play(None, ["f"] * 10_000, NOTHING, ["f"] * 10_000)
    next(many)
    many.close()
    assert [*dispatcher.play(None, ["g"], NOTHING, ["g"])] == [(0, "g")]
    assert [task for _, task in fleet.sent].count("f") < 10_000
    dispatcher.stop()


def test_a_task_that_kills_its_workers_ends_the_run() -> None:
    fleet = FakeFleet([])
    with pytest.raises(RuntimeError, match="task x: 3 workers died at this task: its machine was"):
        played(fleet, "axb")
    assert [task for _, task in fleet.sent].count("x") == MAX_DEATHS
    with pytest.raises(RuntimeError, match="workers die as they start: its machine was lost"):
        played(FakeFleet([set(range(1000))] * 50), "a")
    dispatcher = Dispatcher(FakeFleet([]), 1)
    results = dispatcher.play(None, ["right", "wrong", "right"], NOTHING, ["", "", ""])
    assert next(results) == (0, "right")
    with pytest.raises(ValueError, match="a wrong task"):
        next(results)
    assert list(dispatcher.play(None, ["next"], NOTHING, [""])) == [(0, "next")]
    dispatcher.stop()
    with pytest.raises(RuntimeError, match="the workers were stopped"):
        list(dispatcher.play(None, ["next"], NOTHING, [""]))


@pytest.mark.slow
def test_nobody_is_imitated_who_was_not_asked() -> None:
    """Batches are one iteration old, from before a later teacher had a weight."""
    board = {"network": "board", "width": 8, "total_steps": 4 * 16 * 24}
    taught = {"teacher": {"agent": "greedy", "share": 0.0, "weight": [0.0, 5.0]}}
    trainers = [
        make_trainer(read_config({**PPO, **board, **fields}), LocalExecutor(2))
        for fields in ({}, taught)
    ]
    same = []
    for _ in range(3):
        for trainer in trainers:
            trainer.iterate()
        same.append(weights(trainers[0]) == weights(trainers[1]))
    assert same == [True, True, False]


@pytest.mark.slow  # quick: test_ppo.py
@pytest.mark.parametrize("fields", first_quick([PPO, AZ], slow=0), ids=["ppo", "alphazero"])
def test_resumed_run_is_the_uninterrupted_run(tmp_path: Path, fields: dict[str, Any]) -> None:
    """Saved with games and tasks in flight, and resumed with another number of workers."""
    whole = run(fields, 6, LocalExecutor(2))
    for stop in (1, 4):
        part = run(fields, stop, LocalExecutor(2))
        part.save(tmp_path)
        resumed = make_trainer(read_config(fields), LocalExecutor(4))
        resumed.load(tmp_path)
        for _ in range(6 - stop):
            resumed.iterate()
        assert weights(resumed) == weights(whole)
    with pytest.raises(ValueError, match=r"can't have parts=4 \(was 2\)"):
        make_trainer(read_config({**fields, "parts": 4}), LocalExecutor(2)).load(tmp_path)
    with pytest.raises(ValueError, match="can't be split into 5 equal parts"):
        make_trainer(read_config(fields), LocalExecutor(5))


@pytest.mark.slow
def test_batches_are_of_the_network_before() -> None:
    """Their probabilities are those of the network of one iteration ago, not of the latest."""
    trainer = ppo.PPOTrainer(ppo_config({**PPO, "learning_rate": [1e-2, 0]}), LocalExecutor(2))
    learn, before, seen = trainer.learn, trainer.behaviour_policy, list[int]()

    def said(network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        with torch.no_grad():
            logits, _ = network(batch.features[batch.learner])
        chances = torch.log_softmax(masked(logits, batch.mask[batch.learner]), -1)
        return chances.gather(1, batch.action[batch.learner, None]).squeeze(1)

    def checked(batch: Batch) -> dict[str, float]:
        assert len(batch.action) == 16 * 24
        played = batch.log_probability[batch.learner]
        assert_close(said(before, batch), played, atol=1e-5, rtol=1e-4)
        if trainer.iteration > 0:
            assert not torch.allclose(said(trainer.behaviour_policy, batch), played, atol=1e-3)
        seen.append(trainer.iteration)
        return learn(batch)

    trainer.learn = checked  # type: ignore[method-assign]
    for _ in range(4):
        latest = trainer.behaviour_policy
        trainer.iterate()
        before = latest
    assert seen == [0, 1, 2, 3]


@pytest.mark.nightly  # quick: workers' games are those of one process; slow: asynchronous ones
def test_it_learns_what_is_right() -> None:
    """As a trainer that plays itself does, from searches with the network of one iteration ago."""
    config = alphazero_config(test_alphazero.SMALL)
    trainer = make_trainer(config, LocalExecutor(2))
    _, kept, error = against_perfect_play(trainer, **config.options)
    assert kept < 0.8
    assert error > 0.9
    while not trainer.finished:
        trainer.iterate()
    _, kept, error = against_perfect_play(trainer, **config.options)
    assert kept > 0.9
    assert error < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("calls", first_quick([0, 3], slow=0))
def test_a_stop_is_heard_while_workers_are_silent(calls: int, tmp_path: Path) -> None:
    """In the first iteration, too; the state is saved with the games that they were to play."""
    fields = {**PPO, "total_steps": 5 * 16 * 24, "save_every": 100}
    config = read_config(merged(fields, {"eval": {"every": 100}}))
    stop = StopSignal()
    started = time.monotonic()
    assert learn(config, tmp_path, resume=False, executor=Silent(calls), stop=stop) is None
    assert stop.exit_code == 143
    assert time.monotonic() - started < 60
    resumed = learn(config, tmp_path, resume=True, executor=LocalExecutor(1))
    whole = make_trainer(config, LocalExecutor(2))
    while not whole.finished:
        whole.iterate()
    assert resumed is not None
    assert weights(resumed) == weights(whole)


def test_workers_play_the_matches_of_a_run(tmp_path: Path) -> None:
    """Short and final ones give the same as in the learner's process."""
    trainer = make_trainer(read_config(PPO), Elsewhere(2))
    alone = make_trainer(read_config(PPO))
    alone.network.load_state_dict(trainer.network.state_dict())
    shares = []
    for player in (trainer, alone):
        assert (player.match_executor(RandomAgent()) is None) == (player is alone)
        (result,) = player.evaluate(player.agent(), ["greedy"], 6, seed=3, openings="2")
        shares.append(result.share)
    assert (shares[0] == shares[1]).all()


@pytest.mark.nightly  # quick: resumed runs with workers are those without
def test_tournaments_are_the_same_on_every_engine(tmp_path: Path) -> None:
    agents = tuple(map(AgentSpec.parse, ("random", "greedy", "uct-5")))
    settings = tournament.Tournament("linkage", agents, 6, 1, 2, "0")
    expected = tournament.run_tournament(settings, tmp_path / "here")
    finished: list[tuple[str, int, int]] = []

    def progress(*match: Any) -> None:
        finished.append(match)

    with ProcessExecutor(2) as executor:
        result = tournament.run_tournament(settings, tmp_path / "there", progress, executor)
    for one, other in zip(expected, result, strict=True):
        assert (one.a, one.b) == (other.a, other.b)
        assert (one.share == other.share).all()
    assert [match[1:] for match in finished] == [(1, 3), (2, 3), (3, 3)]
    assert {match[0] for match in finished} == {
        "random against greedy",
        "random against uct-5",
        "greedy against uct-5",
    }
