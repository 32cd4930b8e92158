"""The program that test_distributed.py starts with torchrun: `distributed_run.py CONFIG FOLDER`.

Notes of every process an update, a run that was resumed and one that wasn't; trains to the end.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.checkpoints.checkpoint import add_prefix, save_tensors
from linkzoo_training.config.config import PPOConfig, load_config
from linkzoo_training.selfplay.rollout import RolloutGames
from linkzoo_training.train import train


def update(config: PPOConfig) -> dict[str, Tensor]:
    """A batch, and the weights before and after the single step that learns from it."""
    trainer = PPOTrainer(replace(config, epochs=1, minibatches=1))
    frozen = trainer.pool.add(trainer.behaviour_policy)
    assert isinstance(trainer.play, RolloutGames)
    trainer.play.begin([frozen])  # has plies that aren't learned from
    batch = trainer.play.collect(
        trainer.behaviour_policy, trainer.pool, 0.0, 0, trainer.behaviour_critic
    )
    before = {name: value.clone() for name, value in trainer.network.state_dict().items()}
    trainer.learn(batch)
    after = trainer.network.state_dict()
    return (
        add_prefix("batch.", vars(batch))
        | add_prefix("before.", before)
        | add_prefix("after.", after)
    )


def resumed(config: PPOConfig, folder: Path) -> dict[str, Tensor]:
    """The weights of a run, and of the same run stopped and resumed."""
    whole = PPOTrainer(config)
    for _ in range(3):
        whole.iterate()
    whole.save(folder)
    other = PPOTrainer(config)
    other.load(folder)
    for trainer in (whole, other):
        for _ in range(2):
            trainer.iterate()
    return add_prefix("whole.", whole.network.state_dict()) | add_prefix(
        "resumed.", other.network.state_dict()
    )


def main() -> None:
    config, folder = load_config(sys.argv[1]), Path(sys.argv[2])
    assert isinstance(config, PPOConfig)
    with distributed.joined():
        weights = torch.full((2, 3), 1.0 + distributed.rank())
        distributed.broadcast_weights([weights])
        rank = distributed.rank()
        noted = {
            "rank": torch.tensor(rank),
            "parts": torch.tensor(distributed.gather(rank), dtype=torch.int64),
            "own": torch.tensor(distributed.scatter(lambda: [0, 1])),
        }
        noted |= {"begun": weights, **update(config), **resumed(config, folder)}
        train(config, folder=folder / "run")
        save_tensors(folder / f"rank{distributed.rank()}.safetensors", noted, {})


if __name__ == "__main__":
    main()
