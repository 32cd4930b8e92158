"""Row threads under fork, other Python threads, and copies."""

import sys
import threading
import time
from typing import Any

import numba
import numpy as np
import pytest

from linkzoo.engine import threads
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import (
    MAX_THREADS,
    RowKernel,
    get_num_threads,
    set_num_threads,
)
from tests.common.play import run_python
from tests.driving import first_quick

pytestmark = pytest.mark.last

JIT = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
SEVERAL = max(2, MAX_THREADS)  # a call may ask for more threads than there are cores


@compiled
def _count(first: Any, last: Any, numbers: Any, others: Any, factor: Any) -> None:
    for i in range(first, last):
        numbers[i] += others[0][i] * factor


@compiled
def _refuse(first: Any, last: Any, numbers: Any, bad: Any) -> None:
    for i in range(first, last):
        if i == bad:
            raise ZeroDivisionError("a bad row")
        numbers[i] = 1


COUNT, REFUSE = RowKernel(_count, 16), RowKernel(_refuse, 16)


@pytest.mark.parametrize("number", [0, 1, 31, 32, 33, 1000, 4097])
def test_every_row_once(number: int) -> None:
    """With any number of threads, of rows, and types of arrays: tuples, floats, strided ones."""
    for count in (1, 2, 3, 7):
        for others in (np.arange(number), np.arange(2 * number, dtype=np.float32)[::2]):
            numbers = np.zeros(number, np.int64)
            for _ in range(3):
                COUNT.on(count, numbers, (others,), 2)
            assert np.array_equal(numbers, 6 * others)


def test_helpers_help() -> None:
    """Rows that take long are done by more than one thread, unless one is asked for."""
    done_by: dict[int, int] = {}

    def note(first: int, last: int, numbers: Any) -> None:
        time.sleep(0.01)
        done_by.update(dict.fromkeys(range(first, last), threading.get_ident()))

    kernel = RowKernel(note, 1)
    for count in (1, 2):
        done_by.clear()
        kernel.on(count, np.zeros(20))
        assert sorted(done_by) == list(range(20))
        assert len(set(done_by.values())) == (min(count, MAX_THREADS) if JIT else 1)


@pytest.mark.parametrize("bad", [0, 700, 999])
def test_what_a_row_raises_reaches_the_caller(bad: int) -> None:
    numbers = np.zeros(1000)
    for count in (1, 3):
        for _ in range(10):
            with pytest.raises(ZeroDivisionError, match="a bad row"):
                REFUSE.on(count, numbers, bad)
            REFUSE.on(count, numbers, -1)  # it works on
            assert numbers.all()


def test_the_usual_number_of_threads() -> None:
    usual = get_num_threads()
    for wrong in (0, -1, MAX_THREADS + 1):
        with pytest.raises(ValueError, match=r"threads: not in 1\.\."):
            set_num_threads(wrong)
    assert get_num_threads() == usual
    set_num_threads(1)
    assert get_num_threads() == 1
    set_num_threads(usual)


@pytest.mark.slow
def test_numba_num_threads_is_respected() -> None:
    shown = "from linkzoo.engine.threads import *; print(MAX_THREADS, get_num_threads())"
    assert run_python("-c", shown, NUMBA_NUM_THREADS="3").split() == ["3", "3"]


def test_idle_helpers_sleep() -> None:
    """Busy cores: who waits takes no time from others."""
    numbers, others = np.zeros(2**12, np.int64), (np.ones(2**12, np.int64),)
    COUNT.on(SEVERAL, numbers, others, 1)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.05


def test_restart() -> None:
    """Helpers end, and others are started when they are needed."""
    numbers, others = np.zeros(2**12, np.int64), (np.ones(2**12, np.int64),)
    for times in range(1, 4):
        COUNT.on(SEVERAL, numbers, others, 1)
        helpers = [one for one in threading.enumerate() if one.name.startswith("linkzoo")]
        threads.restart()
        assert not any(helper.is_alive() for helper in helpers)
        assert (numbers == times).all()


# Scripts for separate processes, which have two threads on any machine.

PLAY = """
import hashlib, sys
import numpy as np
from linkzoo import make_vec
from linkzoo.core.kernels import kernels

def play(seed, games=300, steps=20):
    vec = make_vec("linkage", games, num_threads=2)
    now, actions, seeds = vec.reset(seed), np.empty(games, np.int64), np.arange(games).astype("u8")
    digest = hashlib.sha256()
    for step in range(steps):
        kernels(vec.game).random_actions(now.action_mask, seeds, np.array([step]), actions)
        now = vec.step(actions)
        for array in vars(now).values():
            digest.update(array.tobytes())
    return digest.hexdigest()
"""

FORK = (
    PLAY
    + """
if __name__ == "__main__":
    import multiprocessing as mp
    expected = [play(seed) for seed in range(4)]
    with mp.get_context("fork").Pool(2) as pool:
        assert pool.map_async(play, range(4)).get(60) == expected
    assert play(1) == expected[1]
    print("same")
"""
)

VECTOR = (
    PLAY
    + """
if __name__ == "__main__":
    import gymnasium
    play(0)
    def run(kind):
        env = gymnasium.make_vec("linkzoo/Linkage-v0", num_envs=2, vectorization_mode=kind)
        seen, info = env.reset(seed=3)
        found = [seen]
        for _ in range(5):
            seen, *_, info = env.step(info["action_mask"].argmax(1))
            found.append(seen)
        env.close()
        return np.array(found)
    assert (run("async") == run("sync")).all()
    print("same")
"""
)

CROWD = (
    PLAY
    + """
from concurrent.futures import ThreadPoolExecutor
expected = [play(seed) for seed in range(4)]
with ThreadPoolExecutor(4) as pool:
    for _ in range(5):
        assert list(pool.map(play, range(4))) == expected
print("same")
"""
)

pytestmark_fork = pytest.mark.skipif(
    sys.platform == "win32" or sys.version_info >= (3, 12),
    reason="no fork on Windows; later Pythons warn of a fork beside threads, an error here",
)


@pytest.mark.slow
@pytest.mark.parametrize("layer", first_quick(["default", "workqueue"], slow=0))
@pytest.mark.parametrize(
    "script", [pytest.param(FORK, marks=pytestmark_fork), CROWD], ids=["fork", "crowd"]
)
def test_in_other_processes_and_threads(script: str, layer: str) -> None:
    """Forked workers, and Python threads that step games at once, play the same games."""
    output = run_python("-c", script, NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER=layer)
    assert output.split() == ["same"]


@pytest.mark.slow
@pytestmark_fork
def test_asynchronous_gymnasium() -> None:
    """In gymnasium's default context, after the parent process has stepped vectors."""
    assert run_python("-c", VECTOR, NUMBA_NUM_THREADS="2").split() == ["same"]


def test_python_threads_at_once() -> None:
    """They share the helper threads."""
    results = [np.zeros(5000, np.int64) for _ in range(4)]
    others = (np.ones(5000, np.int64),)

    def add(numbers: Any) -> None:
        for _ in range(200):
            COUNT.on(SEVERAL, numbers, others, 1)

    crowd = [threading.Thread(target=add, args=(numbers,)) for numbers in results]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert all((numbers == 200).all() for numbers in results)


def test_ctrl_c_waits_for_helpers() -> None:
    """Nothing writes into the arrays of an interrupted call after its end."""
    begun = threading.Event()
    done: list[int] = []

    def work(first: int, last: int, numbers: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        time.sleep(0.1)
        done.append(first)

    if JIT and MAX_THREADS > 1:
        with pytest.raises(KeyboardInterrupt):
            RowKernel(work, 1).on(2, np.zeros(2))
        assert len(done) == 1


INTERRUPTED = """
import signal, time
import numpy as np
from linkzoo.engine import threads
from linkzoo.engine.compiled import compiled

@compiled
def count(first, last, numbers):
    for i in range(first, last):
        numbers[i] += 1

def press(*_):
    raise KeyboardInterrupt

numbers = np.zeros(256, np.int64)
call = threads.RowKernel(count, 16).bind(numbers)
call(3)
signal.signal(signal.SIGALRM, press)
for number in range(2000):
    naps = number % 2  # in which helpers fall asleep
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-4 + number % 50 * 1e-5)
        while True:
            call(3)
            time.sleep(naps * 1e-4)
    except KeyboardInterrupt:
        pass
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.alarm(30)  # ends the process if it hangs
numbers[:] = 0
call(3)
print(set(numbers.tolist()))
threads.restart()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no timers that interrupt on Windows")
def test_ctrl_c_at_any_moment() -> None:
    """The helper threads serve later calls, and end with the process."""
    assert run_python("-c", INTERRUPTED, NUMBA_NUM_THREADS="3").split() == ["{1}"]


def test_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system allows no thread, the caller does all rows."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads.restart()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    numbers = np.zeros(1000, np.int64)
    COUNT.on(3, numbers, (np.ones(1000, np.int64),), 1)
    assert (numbers == 1).all()


WHILE_COMPILING = """
import os, threading, time
import linkzoo
from numba.core.compiler_lock import global_compiler_lock as lock
def compile_long():
    with lock:
        held.set()
        time.sleep(0.3)
held = threading.Event()
threading.Thread(target=compile_long).start()
held.wait()
if os.fork() == 0:
    other = threading.Thread(target=lock.acquire, daemon=True)
    other.start()
    other.join(5)
    os._exit(other.is_alive())
print(os.wait()[1])
"""


@pytest.mark.slow
@pytestmark_fork
def test_fork_while_another_thread_compiles() -> None:
    """The child process can compile."""
    assert run_python("-c", WHILE_COMPILING).split() == ["0"]
