"""Trains MaskablePPO (sb3-contrib) from one seat, against a pool of frozen copies of itself.

    pip install ".[sb3]"
    python examples/sb3.py linkage --steps 200000

Takes any game by name. Many games run in lock-step. The learner gets a random seat in each game;
random play and copies of the learner take the others. `illegal="raise"` stops the run at the first
illegal move, so a finished run had none.
"""

import argparse
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv, FunctionAgent, OpponentPool
from linkzoo.integrations.sb3 import SB3VecEnv
from linkzoo_training import against_baselines


def frozen(model: MaskablePPO) -> FunctionAgent:
    """Returns a frozen copy of the policy as an agent that samples its actions."""
    policy = model.policy_class(
        model.observation_space, model.action_space, model.lr_schedule, **model.policy_kwargs
    )
    policy.load_state_dict(model.policy.state_dict())  # deepcopy fails after an action

    def choose(features: Any, mask: Any) -> Any:
        return policy.predict(features, action_masks=mask, deterministic=False)[0]

    return FunctionAgent(f"sb3-{model.num_timesteps}", choose)


class SelfPlay(BaseCallback):
    """Prints progress, and adds a copy of the learner to the pool after every `every` rollouts."""

    def __init__(self, pool: OpponentPool, every: int) -> None:
        super().__init__()
        self.pool = pool
        self.every = every
        self.rollouts = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        returns = [episode["r"] for episode in self.model.ep_info_buffer or []]
        mean = np.mean(returns) if returns else np.nan
        print(f"{self.num_timesteps:>9,} decisions, mean return of the last games {mean:+.2f}")
        if self.rollouts % self.every == 0:
            self.pool.add(frozen(self.model))


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=200_000, help="decisions of the learner")
    parser.add_argument("--envs", type=int, default=64, help="games in lock-step")
    parser.add_argument("--rollout", type=int, default=64, help="decisions of each game")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    pool = OpponentPool([linkzoo.RandomAgent()])
    games = FeatureSeatVectorEnv(
        args.game,
        args.envs,
        args.players,
        seat=None,
        opponent=pool,
        illegal="raise",
        skip_forced=True,
    )
    model = MaskablePPO(
        "MlpPolicy",
        VecMonitor(SB3VecEnv(games)),
        n_steps=args.rollout,
        batch_size=min(512, args.envs * args.rollout),
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
        print(f"{when}:", against_baselines(args.game, agent, args.players, args.blocks))

    strength("untrained")
    model.learn(args.steps, callback=SelfPlay(pool, every=4))
    strength(f"after {model.num_timesteps} decisions")


if __name__ == "__main__":
    main()
