"""AlphaZero without a barrier: any parts are an iteration, and none of them is too old."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pytest

from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.checkpoints.checkpoint import unpack
from linkzoo_training.config.config import read_config
from linkzoo_training.runtime import StopSignal
from linkzoo_training.selfplay.asynchronous import AsynchronousWorkers, PlayedInSteps
from linkzoo_training.selfplay.dispatch import NOTHING, PlayedWhenRead, Results
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, ProcessExecutor
from linkzoo_training.selfplay.workers import SelfPlayWorker
from linkzoo_training.train import learn, make_trainer
from tests.driving import first_quick
from tests.training import test_alphazero
from tests.training.doubles import Silent
from tests.training.helpers import against_perfect_play, alphazero_config

pytestmark = pytest.mark.last

TINY: dict[str, Any] = {
    **test_alphazero.SMALL,
    "width": 8,
    "asynchronous": True,
    "parts": 4,
    "num_envs": 8,
    "simulations": [2],
    "total_steps": 6 * 8 * 8,
    "pool": {"share": 0.5, "size": 2, "snapshot_every": 2},
    "eval": {"opponents": []},
}


class Unequal(LocalExecutor):
    """Plays in this process; the learner has to look for a result as often as a part says."""

    def __init__(self, looks: Sequence[int]) -> None:
        super().__init__(2)
        self.looks = looks  # by part
        self.sent: list[tuple[int, Any]] = []  # the parts in order, and their tasks

    def play(
        self,
        weights: Any,
        tasks: Sequence[Any],
        kept: Mapping[str, Any] = NOTHING,
        names: Sequence[str] = (),
    ) -> Results:
        ((part, *_),) = tasks
        self.sent.append((part, unpack(weights)["task"]))
        return Late(super().play(weights, tasks, kept, names), self.looks[part])


class Late(PlayedWhenRead):
    """Results that are there after so many looks."""

    def __init__(self, results: Iterator[tuple[int, Any]], looks: int) -> None:
        super().__init__(results)
        self.looks = looks

    def wait(self, seconds: float) -> bool:  # noqa: ARG002 - see Results
        self.looks -= 1
        return self.looks < 0


def trainer_of(executor: Executor, **fields: Any) -> AlphaZeroTrainer:
    trainer = make_trainer(read_config({**TINY, **fields}), executor)
    assert isinstance(trainer, AlphaZeroTrainer)
    return trainer


def workers_of(trainer: AlphaZeroTrainer) -> AsynchronousWorkers[Any]:
    assert isinstance(trainer.play, AsynchronousWorkers)
    return trainer.play


@pytest.mark.slow
def test_parts_do_not_wait_for_each_other() -> None:
    """Three play on while the fourth plays; an iteration has as many plies as ever."""
    executor = Unequal([0, 0, 0, 40])
    executor.workers = 4
    trainer = trainer_of(executor, max_staleness=100)
    for _ in range(5):
        metrics = trainer.iterate()
        assert metrics["steps"] == trainer.iteration * 8 * 8
        assert metrics["samples"] == len(trainer.window[-1])
    counts = np.bincount([part for part, _ in executor.sent], minlength=4)
    assert counts[3] >= 1
    assert counts[:3].min() > 2 * counts[3]
    assert np.ptp(counts[:3]) <= 1


@pytest.mark.slow
def test_workers_pause_while_the_learner_is_slower() -> None:
    """The data of one iteration waits for the learner, as fresh as in the exact mode."""
    executor = Unequal([0] * 4)
    trainer = trainer_of(executor)
    play = workers_of(trainer)
    for _ in range(4):
        trainer.iterate()
        for _ in range(10):
            play.refresh()
        assert len(play._finished) == 4
    assert play.staleness == [1] * 4
    assert trainer.iterate()["learner plays"] == 0


@pytest.mark.slow
def test_parts_that_finish_in_order_give_the_weights_of_the_exact_mode() -> None:
    """Without opponents, whose results are counted sooner here."""
    trainers = [
        trainer_of(LocalExecutor(2), asynchronous=asynchronous, pool={"share": 0.0})
        for asynchronous in (False, True)
    ]
    for _ in range(2):
        exact, asynchronous = (trainer.iterate() for trainer in trainers)
        assert asynchronous["loss/policy"] == exact["loss/policy"]
    assert exact["samples"] > 0
    weights = [trainer.network.state_dict() for trainer in trainers]
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])


@pytest.mark.slow
def test_what_the_learner_plays_is_what_a_worker_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it learns between two plies."""
    trainer = trainer_of(Unequal([5] * 4))
    play = workers_of(trainer)
    tasks: list[tuple[tuple[Any, ...], PlayedInSteps]] = []
    play_part = play._play_part

    def recorded_part(part: int) -> None:
        task = (play._weights_for(part), (part, 4, play._states[part]), play._pool.snapshots())
        play_part(part)
        assert play._here is not None
        tasks.append((task, play._here))

    monkeypatch.setattr(play, "_play_part", recorded_part)
    for _ in range(5):
        trainer.iterate()
    worker = SelfPlayWorker(play._config)
    finished = [(task, here) for task, here in tasks if here.wait(0)]
    assert len(finished) > 1
    for task, here in finished:
        _, packed = next(here)
        assert packed == worker.play(*task)


def test_the_learner_plays_instead_of_waiting() -> None:
    """The part that is left for it, while two workers play the others without end."""
    executor = Unequal([10**9] * 4)
    trainer = trainer_of(executor)
    for _ in range(3):
        metrics = trainer.iterate()
        assert metrics["learner plays"] > 0
        assert metrics["learner idle"] < 0.05
    assert [part for part, _ in executor.sent] == [0, 1, 2]
    assert trainer.window[-1].states.size > 0
    assert {name.partition(".")[0] for name in trainer.tensors()} >= {"part3"}


def test_workers_have_all_parts_if_there_are_few() -> None:
    executor = Unequal([0] * 4)
    executor.workers = 4
    metrics = trainer_of(executor).iterate()
    assert metrics["learner plays"] == 0
    assert sorted({part for part, _ in executor.sent}) == [0, 1, 2, 3]


@pytest.mark.parametrize("bound", first_quick([1, 3], slow=0))
def test_staleness_is_bounded(bound: int) -> None:
    """Of all that is learned from; the log has it, and how much was dropped."""
    trainer = trainer_of(Unequal([0, 1, 2, 40]), max_staleness=bound)
    dropped = 0.0
    for _ in range(5 * bound):
        metrics = trainer.iterate()
        staleness = workers_of(trainer).staleness
        assert len(staleness) == 4
        assert max(staleness) <= bound
        assert metrics["staleness p95"] == np.percentile(staleness, 95)
        dropped += metrics["parts dropped"]
    assert dropped > 0
    assert trainer.window[-1].states.size > 0


def recorded(play: Any, events: list[int]) -> Callable[[int, float], None]:
    """Its `drop_opponent`, which writes down the slots."""
    drop = play.drop_opponent

    def record(slot: int, progress: float) -> None:
        events.append(slot)
        drop(slot, progress)

    return record


@pytest.mark.slow
def test_every_part_hears_of_every_reused_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the task after it; the games that didn't know yet don't count."""
    executor = Unequal([0, 0, 0, 9])
    executor.workers = 4
    trainer = trainer_of(executor)
    events: list[int] = []
    monkeypatch.setattr(trainer.play, "drop_opponent", recorded(trainer.play, events))
    for _ in range(6):
        trainer.iterate()
    assert len(events) == 3
    for part in range(4):
        reused = [slot for number, task in executor.sent if number == part for slot in task[2:]]
        assert len(reused) >= 1
        assert reused == events[: len(reused)]
    trainer.pool.wins[:] = trainer.pool.games[:] = 0
    play = workers_of(trainer)
    for slot in range(2):
        play.drop_opponent(slot, 0.0)
    while not play.ready(0):
        pass
    assert trainer.pool.games[:2].sum() == 0


def test_a_resumed_run_keeps_what_was_finished(tmp_path: Path) -> None:
    """Games and data that weren't learned from; an exact run goes on with the games, too."""
    trainer = trainer_of(Unequal([0, 0, 0, 40]))
    for _ in range(3):
        trainer.iterate()
    saved = trainer.tensors()
    names = {name.partition(".")[0] for name in saved}
    assert {"part0", "finished0", "reused3"} <= names
    trainer.save(tmp_path)
    resumed = trainer_of(LocalExecutor(3))
    resumed.load(tmp_path)
    assert resumed.iteration == 3
    again = resumed.tensors()
    assert again.keys() == saved.keys()
    assert all((again[name] == saved[name]).all() for name in saved)
    resumed.iterate()
    exact = trainer_of(LocalExecutor(3), asynchronous=False)
    changes = exact.load(tmp_path)
    assert changes == {"asynchronous": (True, False)}
    exact.iterate()
    exact.save(tmp_path)
    back = trainer_of(LocalExecutor(3))
    back.load(tmp_path)
    back.iterate()
    assert back.iteration == 5


def test_it_needs_workers() -> None:
    with pytest.raises(ValueError, match="asynchronous: needs workers: --executor processes"):
        make_trainer(read_config(TINY))


@pytest.mark.slow  # quick: that of the exact mode, in test_executors
def test_a_stop_is_heard_while_workers_are_silent(tmp_path: Path) -> None:
    stop = StopSignal()
    started = time.monotonic()
    config = read_config(TINY)
    assert learn(config, tmp_path, resume=False, executor=Silent(6), stop=stop) is None
    assert stop.exit_code == 143
    assert time.monotonic() - started < 60
    resumed = learn(config, tmp_path, resume=True, executor=LocalExecutor(1))
    assert resumed is not None
    assert resumed.finished


@pytest.mark.nightly  # quick: the tests above, in this process
def test_it_learns_what_is_right_on_processes(tmp_path: Path) -> None:
    """As the exact mode does; TERM ends it in between, and it goes on."""
    config = alphazero_config({**test_alphazero.SMALL, "asynchronous": True, "parts": 4})
    stop = StopSignal()
    timer = Timer(12, signal.raise_signal, [signal.SIGTERM])
    timer.start()
    with ProcessExecutor(2) as executor:
        learn(config, tmp_path, resume=False, executor=executor, stop=stop)
    timer.cancel()
    with ProcessExecutor(2) as executor:
        trainer = learn(config, tmp_path, resume=True, executor=executor)
    assert trainer is not None
    _, kept, error = against_perfect_play(trainer, **config.options)
    assert kept > 0.9
    assert error < 0.5
    rows = read_metrics(tmp_path)
    assert max(row["staleness p95"] for row in rows) <= config.max_staleness
