"""Our trainers in the race: `alphazero board`, `ppo flat`, settings after them."""

from typing import Any

import numpy as np
import torch
from lab.race.games import Boards
from lab.race.judge import Runner
from numpy.typing import NDArray

from linkzoo_training.config.config import load_config
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.train import make_trainer

_ALGORITHMS = {"alphazero": "az", "ppo": "ppo"}
_FLAT = ("network=flat", "width=256", "blocks=2")


def main() -> None:
    runner = Runner()
    game = runner.game
    algorithm, network, *settings = runner.variant.split()
    config = load_config(
        f"examples/{game.name}/{game.name}_{_ALGORITHMS[algorithm]}.yaml",
        [
            f"seed={runner.seed}",
            f"num_threads={runner.cores}",
            f"max_seconds={runner.seconds}",
            "total_steps=1e12",
            *(_FLAT if network == "flat" else ()),
            *settings,
        ],
    )
    trainer = make_trainer(config)

    def policy(boards: Boards) -> NDArray[Any]:
        masks = np.ones((len(boards), game.num_actions), np.int8)
        features = trainer.network.encoding.encode(None, masks, game.observe(boards))
        logits, _ = sharded_forward(trainer.behaviour_policy, torch.from_numpy(features))
        return logits.float().numpy()

    going = True
    while going:
        trainer.iterate()
        going = runner.goes_on(policy, trainer.steps)
        trainer.seconds = runner.spent  # CPU seconds: schedules follow them
    runner.finish(policy, trainer.steps)


if __name__ == "__main__":
    main()
