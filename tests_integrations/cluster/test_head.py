"""The end of a run whose Ray head or driver is lost, and how it goes on."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from subprocess import Popen

import pytest
from ray.cluster_utils import Cluster
from tests_integrations.cluster.conftest import MACHINE

from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.config.config import load_config
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import train

ITERATIONS = 60
RUN = {
    "name": "tiny",
    "game": "linkage",
    "total_steps": ITERATIONS * 16 * 24,
    "num_envs": 16,
    "horizon": 24,
    "parts": 4,
    "width": 16,
    "blocks": 1,
    "num_threads": 1,
    "precision": "fp32",
    "device": "cpu",
    "save_every": 5,
    "eval": {"every": 10**6, "final_opponents": []},
}
WEIGHTS = Path("checkpoint", "model.safetensors")
IMPATIENT = """
from linkzoo_training.__main__ import run
from linkzoo_training.selfplay import ray_actors
ray_actors._HEAD_PATIENCE = 1  # in 30 seconds the run may be finished
run()
"""

MESSAGES = {"machine": "linkzoo: Ray on this machine", "server": "linkzoo: Ray's head"}
nightly = pytest.mark.nightly
LOST = ["machine", pytest.param("server", marks=nightly), pytest.param("driver", marks=nightly)]


@pytest.mark.parametrize("lost", LOST)
def test_a_run_that_lost_its_head_or_driver_goes_on(lost: str, tmp_path: Path) -> None:
    """With the weights of a run that lost nothing."""
    (tmp_path / "run.yaml").write_text(json.dumps(RUN))
    command = [sys.executable, "-c", IMPATIENT, "train", "run.yaml"]
    command += ["--executor", "ray", "--workers", "2"]
    folder = tmp_path / "runs" / "tiny"
    first = head()
    with (tmp_path / "output.txt").open("wb") as output:
        address = {"RAY_ADDRESS": first.address}
        learner = Popen(
            command, cwd=tmp_path, env=os.environ | address, stdout=output, stderr=output
        )
    while not (folder / "training.safetensors").exists() or len(read_metrics(folder)) < 12:
        assert learner.poll() is None, (tmp_path / "output.txt").read_text()
        time.sleep(0.1)
    if lost == "driver":
        learner.kill()
        learner.wait()
    else:
        lose(first, lost)
        exit_code = learner.wait(120)
        text = (tmp_path / "output.txt").read_text()
        assert exit_code == 2, text
        assert MESSAGES[lost] in text
        assert "--resume goes on from the last save" in text
        first.shutdown()
    assert len(read_metrics(folder)) < ITERATIONS
    second = first
    if lost != "driver":
        second = head()
    address = {"RAY_ADDRESS": second.address}
    subprocess.run([*command, "--resume"], cwd=tmp_path, env=os.environ | address, check=True)
    second.shutdown()
    whole = train(
        load_config(tmp_path / "run.yaml"), folder=tmp_path / "whole", executor=LocalExecutor()
    )
    assert (folder / WEIGHTS).read_bytes() == (whole / WEIGHTS).read_bytes()


def lose(cluster: Cluster, lost: str) -> None:
    """Kills the machine of the head, or its server alone."""
    if lost == "machine":
        cluster.remove_node(cluster.head_node, allow_graceful=False)
    else:
        cluster.head_node.kill_gcs_server()


def head() -> Cluster:
    """A cluster of one machine with two workers."""
    return Cluster(
        initialize_head=True,
        head_node_args={**MACHINE, "num_cpus": 2, "include_dashboard": False},
    )
