"""torchrun: two processes on gloo learn one policy, as one process would from both their games."""

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.checkpoints.checkpoint import load_tensors, strip_prefix
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.selfplay.rollout import Batch
from tests.training import distributed_run, test_ppo
from tests.training.helpers import assert_close, ppo_config, weights

pytestmark = pytest.mark.last

DATA = {
    **test_ppo.QUICK,
    "total_steps": 4 * 2 * 16 * 24,
    "learning_rate": [1e-2, 0],
    "pool": {"snapshot_every": 1},
    "eval": {**test_ppo.QUICK["eval"], "every": 2},
}


@pytest.fixture(scope="module", name="folder")
def fixture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("torchrun")
    path = folder / "config.yaml"
    path.write_text(json.dumps(DATA), encoding="utf-8")  # JSON is YAML
    script = [str(Path(distributed_run.__file__)), str(path), str(folder)]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", *script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="module", name="ranks")
def fixture_ranks(folder: Path) -> list[dict[str, Tensor]]:
    return [load_tensors(folder / f"rank{rank}.safetensors")[0] for rank in range(2)]


@pytest.mark.parametrize("others", [None, 3, 0])
@pytest.mark.parametrize("rows", [0, 1, 2, 5, 6, 7, 100])
def test_minibatches_are_the_same_for_one_process_and_several(
    rows: int, others: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rank has the same number of parts, none empty, with sizes that differ by at most 1."""
    if others is not None:
        monkeypatch.setattr(distributed, "all_gather", lambda count: [count, others])
    order = torch.arange(rows)
    parts = distributed.minibatches(order, 4)
    assert len(parts) == min(4, rows, rows if others is None else others)
    if parts:
        assert (torch.cat(parts) == order).all()
        sizes = [len(part) for part in parts]
        assert min(sizes) >= 1
        assert max(sizes) - min(sizes) <= 1


def test_a_batch_without_plies_of_the_learner_changes_nothing() -> None:
    """The mean over no rows would be NaN, and so would the weights."""
    trainer = PPOTrainer(ppo_config(DATA))
    batch = trainer.play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 0)
    batch.learner[:] = False
    before = weights(trainer)
    assert trainer.learn(batch)["loss/policy"] == 0
    assert weights(trainer) == before


def batch_of(ranks: list[dict[str, Tensor]]) -> Batch:
    parts = [strip_prefix("batch.", tensors) for tensors in ranks]
    return Batch(**{f.name: torch.cat([part[f.name] for part in parts]) for f in fields(Batch)})


@pytest.mark.slow  # quick: minibatches above
def test_an_update_is_that_of_one_process_with_all_games(ranks: list[dict[str, Tensor]]) -> None:
    first, second = ranks
    assert (first["begun"] == second["begun"]).all()
    assert (first["batch.action"] != second["batch.action"]).any()  # games of their own
    assert first["batch.learner"].sum() != second["batch.learner"].sum()
    config = replace(ppo_config(DATA), epochs=1, minibatches=1)
    rate = config.learning_rate.first
    for name, value in strip_prefix("after.", first).items():
        assert (value == second[f"after.{name}"]).all()

    def learned(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        trainer = PPOTrainer(config)
        trainer.network.load_state_dict(strip_prefix("before.", first))
        trainer.learn(batch_of(parts))
        return trainer.network.state_dict()

    both, alone = learned(ranks), learned([first])
    for name, value in strip_prefix("after.", first).items():
        assert_close(value, both[name], atol=1e-2 * rate, rtol=1e-4)
    assert any((both[name] - alone[name]).abs().max() > 0.1 * rate for name in both)


@pytest.mark.slow  # quick: test_executors.py, with workers
def test_a_run_is_one_run_and_resumes(folder: Path, ranks: list[dict[str, Tensor]]) -> None:
    one, other = (strip_prefix("whole.", tensors) for tensors in ranks)
    assert one.keys() == other.keys()
    assert all((value == other[name]).all() for name, value in one.items())
    for tensors in ranks:
        for name, value in strip_prefix("whole.", tensors).items():
            assert (value == tensors[f"resumed.{name}"]).all()
    rows = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == [1, 2, 3, 4]
    assert rows[-1]["steps"] == DATA["total_steps"]
    agent = load_agent(folder / "run" / "checkpoint")
    assert agent.card["trained"]["processes"] == 2
    saved, meta = load_tensors(folder / "run" / STATE_FILE)
    assert meta["iteration"] == 4
    assert strip_prefix("rank1.play.", saved).keys() == strip_prefix("play.", saved).keys()
    for tensors in ranks:  # The first rank saves all games, and each rank gets its own back.
        first = int(tensors["rank"]) == 0
        assert tensors["parts"].tolist() == ([0, 1] if first else [])
        assert int(tensors["own"]) == int(tensors["rank"])
    with pytest.raises(ValueError, match=r"can't have processes=1 \(was 2\)"):
        PPOTrainer(ppo_config(DATA)).load(folder / "run")
