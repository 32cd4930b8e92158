"""Trains MaskablePPO (sb3-contrib) from one seat, against a pool of frozen copies of itself.

    pip install "linkzoo[sb3]"
    python examples/sb3.py linkage --steps 60000

Any game by name. The learner takes another seat each game; random play and copies of the learner
take the others. `illegal="raise"` stops the run at the first illegal move, so a finished one had
none; the match at the end checks every move too.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

import linkzoo
from linkzoo.integrations import FeatureSeatEnv, FunctionAgent, OpponentPool
from linkzoo_training import against_random


def frozen(model: MaskablePPO) -> FunctionAgent:
    """The learner's policy as it is now, as an agent that draws its actions."""
    policy = model.policy_class(
        model.observation_space, model.action_space, model.lr_schedule, **model.policy_kwargs
    )
    policy.load_state_dict(model.policy.state_dict())  # deepcopy fails on its last distribution

    def choose(features: Any, mask: Any) -> Any:
        return policy.predict(features, action_masks=mask, deterministic=False)[0]

    return FunctionAgent(f"sb3-{model.num_timesteps}", choose)


class SelfPlay(BaseCallback):
    """Adds a copy of the learner to its opponents every so many rollouts."""

    def __init__(self, pool: OpponentPool, every: int) -> None:
        super().__init__()
        self.pool, self.every, self.rollouts = pool, every, 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        if self.rollouts % self.every == 0:
            self.pool.add(frozen(self.model))


def main() -> None:
    """Trains, and plays random before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.games} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=60_000, help="decisions of the learner")
    parser.add_argument("--rollout", type=int, default=256, help="decisions of each of 8 games")
    parser.add_argument("--blocks", type=int, default=50, help="of the matches with random")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)

    pool = OpponentPool([linkzoo.RandomAgent()])
    make = partial(
        FeatureSeatEnv,
        args.game,
        args.players,
        seat=None,
        opponent=pool,
        illegal="raise",
        skip_forced=True,
    )
    model = MaskablePPO(
        "MlpPolicy",
        make_vec_env(make, n_envs=8, seed=args.seed),  # its Monitor forwards action_masks()
        n_steps=args.rollout,
        batch_size=min(512, 8 * args.rollout),
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.95,
        ent_coef=0.01,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [256, 256]},
        seed=args.seed,
        device="cpu",
    )

    def strength(when: str) -> None:
        agent = frozen(model)
        print(f"{when}:", against_random(args.game, agent, args.players, args.blocks))

    strength("untrained")
    model.learn(args.steps, callback=SelfPlay(pool, every=8))
    strength(f"after {model.num_timesteps} decisions")
    returns = np.array([episode["r"] for episode in model.ep_info_buffer or []])
    print(f"mean return of the last {len(returns)} games {returns.mean():+.2f}; no illegal move")


if __name__ == "__main__":
    main()
