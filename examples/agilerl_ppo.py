"""Trains PPO of AgileRL from one seat, against a pool of frozen copies of itself.

    pip install ".[train]" agilerl peft  # in an environment of its own
    python examples/agilerl_ppo.py love_links --steps 100000

Takes any game by name. AgileRL reads `info["action_mask"]` when it acts and when it learns.
`illegal="raise"` stops the run at the first illegal move, so a finished run had none.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

import linkzoo
from linkzoo.integrations import FeatureSeatEnv, FunctionAgent, OpponentPool
from linkzoo_training import against_baselines


def plays(agent: Any, name: str) -> FunctionAgent:
    """Wraps an AgileRL agent, which samples its actions, as an agent of ours."""

    def choose(features: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
        return agent.get_action(features, action_mask=mask)[0]

    return FunctionAgent(name, choose)


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=100_000, help="decisions of the learner")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=128, help="decisions of each game")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def learner(envs: SyncVectorEnv, args: argparse.Namespace) -> PPO:
    """Builds AgileRL's PPO for these environments."""
    batch = args.envs * args.rollout
    return PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config={  # the default latent has only 32 numbers
            "latent_dim": 128,
            "encoder_config": {"hidden_size": [256]},
            "head_config": {"hidden_size": [256]},
        },
        share_encoders=False,
        batch_size=min(512, batch),
        lr=1e-3,
        learn_step=batch,
        gamma=1.0,
        # AgileRL's GAE shifts the end of a game by one move, so the result reaches only the last
        # decision. Plain returns don't have this problem.
        rollout_buffer_config={"use_gae": False},
        ent_coef=0.01,
        update_epochs=4,
        num_envs=args.envs,
    )


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # AgileRL shuffles with it

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
    # A finished game restarts in the same step, so every mask has a legal action.
    envs = SyncVectorEnv([make] * args.envs, autoreset_mode=AutoresetMode.SAME_STEP)
    batch = args.envs * args.rollout
    agent = learner(envs, args)

    def strength(when: str) -> None:
        line = against_baselines(args.game, plays(agent, "agilerl"), args.players, args.blocks)
        print(f"{when}:", line)

    strength("untrained")
    observation, info = envs.reset(seed=args.seed)
    done = np.zeros(args.envs)
    scores = np.zeros(args.envs)
    played = 0
    rollouts = 0
    while played < args.steps:
        returns, observation, done, scores, info = collect_rollouts(
            agent,
            envs,
            args.rollout,
            last_obs=observation,
            last_done=done,
            last_scores=scores,
            last_info=info,
        )
        agent.learn()
        played = played + batch
        rollouts = rollouts + 1
        mean = np.mean(returns) if returns else np.nan
        print(f"{played:>9,} decisions, mean return {mean:+.2f} of {len(returns)} games")
        if rollouts % 8 == 0:
            pool.add(plays(agent.clone(rollouts), f"agilerl-{played}"))
    strength(f"after {played} decisions")
    envs.close()


if __name__ == "__main__":
    main()
