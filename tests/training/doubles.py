"""Executors in this process that behave as workers elsewhere may."""

import pickle
import signal
from collections.abc import Sequence
from typing import Any

from linkzoo_training.selfplay.dispatch import NOTHING, Kept, PlayedWhenRead, Results
from linkzoo_training.selfplay.executors import LocalExecutor


class Elsewhere(LocalExecutor):
    """Finishes the last task first, and takes tasks and results through pickle, as workers do."""

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING, names: Sequence[str] = ()
    ) -> Results:
        copies = [pickle.loads(pickle.dumps(task)) for task in tasks]
        results = list(super().play(weights, copies, kept, names))
        return PlayedWhenRead(iter(pickle.loads(pickle.dumps(results[::-1]))))


class Silent(LocalExecutor):
    """Answers the first calls; TERM comes, once, while somebody waits for the next one."""

    def __init__(self, calls: int) -> None:
        super().__init__(2)
        self.calls = calls
        self.signalled = False

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING, names: Sequence[str] = ()
    ) -> Results:
        self.calls -= 1
        if self.calls >= 0:
            return super().play(weights, tasks, kept, names)
        return _Never(self)


class _Never(PlayedWhenRead):
    """Results that never come."""

    def __init__(self, executor: Silent) -> None:
        super().__init__(iter(()))
        self._executor = executor

    def wait(self, seconds: float) -> bool:  # noqa: ARG002 - see Results
        if not self._executor.signalled:
            self._executor.signalled = True
            signal.raise_signal(signal.SIGTERM)
        return False
