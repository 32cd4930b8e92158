"""A Ray cluster of three machines, which are processes of this one."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import ray
from ray.cluster_utils import Cluster

MACHINE = {"num_cpus": 1, "object_store_memory": 80_000_000}


class Machines:
    """The cluster: the driver's machine, which stays, and two that may be lost."""

    def __init__(self) -> None:
        head = {**MACHINE, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        ray.init(address=self._cluster.address, log_to_driver=False)  # to the first machine
        self._others = [self._cluster.add_node(**MACHINE) for _ in range(2)]

    def lose(self, dice: Random) -> None:
        """Kills the raylet of a machine, and with it the workers there."""
        machine = self._others.pop(dice.randrange(len(self._others)))
        self._cluster.remove_node(machine, allow_graceful=False)

    def replace(self) -> None:
        """Adds machines until there are three."""
        while len(self._others) < 2:
            self._others.append(self._cluster.add_node(**MACHINE))

    def kill_worker(self, dice: Random) -> bool:
        """Kills one of the processes that play; returns whether there was one."""
        raylets = [
            machine.all_processes["raylet"][0].process.pid
            for machine in (self._cluster.head_node, *self._others)
        ]
        workers = sorted(pid for pid in map(int, _numbers()) if _plays(pid, raylets))
        if workers:
            os.kill(dice.choice(workers), signal.SIGKILL)
        return bool(workers)

    def shutdown(self) -> None:
        """Ends the cluster."""
        ray.shutdown()
        self._cluster.shutdown()


def _numbers() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def _plays(pid: int, raylets: list[int]) -> bool:
    """Returns whether a process is a worker of these raylets that plays games or matches."""
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return False
    return (
        parent in raylets
        and title.startswith(b"ray::")
        and (b"part" in title or b"against" in title)
    )


@pytest.fixture(scope="session")
def machines() -> Iterator[Machines]:
    os.environ.setdefault("RAY_worker_niceness", "0")  # or other work holds the tests up
    cluster = Machines()
    yield cluster
    cluster.shutdown()
