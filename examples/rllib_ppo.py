"""Trains PPO of RLlib: a learner against a frozen copy of itself, in any seats.

    pip install "linkzoo[rllib]"
    python examples/rllib_ppo.py love_links --iterations 10

Any game by name. RLlib's own PettingZooEnv wraps the environment and MaskedModule reads the mask.
Each game one side learns and all others are the frozen policy, which takes over the learner's
weights every few iterations. `illegal="raise"` stops the run at the first illegal move, so a
finished one had none; the match at the end checks every move too.
"""

import argparse
import logging
from typing import Any

import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

import linkzoo
from linkzoo.integrations import FeatureEnv, FunctionAgent
from linkzoo.integrations.rllib import MaskedModule
from linkzoo_training import against_random

LEARNER, FROZEN = "learner", "frozen"


def build(game: str, players: int, seed: int, steps: int) -> PPO:
    """The algorithm: two policies, of which one is trained."""
    sides = linkzoo.get_game(game).sides(players)

    def make(_config: Any) -> PettingZooEnv:
        return PettingZooEnv(FeatureEnv(game, players, illegal="raise", skip_forced=True))

    def policy_of(agent: str, episode: Any, **_: Any) -> str:
        """One side learns in a game, drawn by the name of the episode."""
        learns = sum(episode.id_.encode()) % (max(sides) + 1)
        return LEARNER if sides[int(agent.removeprefix("player_"))] == learns else FROZEN

    register_env(f"linkzoo_{game}", make)
    one = FeatureEnv(game, players)
    module = RLModuleSpec(
        module_class=MaskedModule,
        observation_space=one.observation_space("player_0"),
        action_space=one.action_space("player_0"),
        model_config={"hidden": [256, 256]},
    )
    config = (
        PPOConfig()
        # RLlib's check of the environment plays an action without the mask.
        .environment(f"linkzoo_{game}", disable_env_checking=True)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=1)
        .learners(num_learners=0)
        .multi_agent(
            policies={LEARNER, FROZEN}, policy_mapping_fn=policy_of, policies_to_train=[LEARNER]
        )
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={LEARNER: module, FROZEN: module})
        )
        .training(
            train_batch_size_per_learner=steps,
            minibatch_size=min(256, steps // 4),
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            entropy_coeff=0.01,
            vf_clip_param=10.0,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    return config.build_algo()


def freeze(algorithm: PPO) -> None:
    """Gives the frozen policy the learner's weights, where it learns and where it plays."""
    weights = algorithm.get_module(LEARNER).get_state()
    algorithm.set_state({"learner_group": {"learner": {"rl_module": {FROZEN: weights}}}})
    algorithm.get_module(FROZEN).set_state(weights)


def main() -> None:
    """Trains, and plays random before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.games} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--steps", type=int, default=4_000, help="decisions of an iteration")
    parser.add_argument("--blocks", type=int, default=50, help="of the matches with random")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000)
    players = args.players or linkzoo.get_game(args.game).min_players
    algorithm = build(args.game, players, args.seed, args.steps)

    def strength(when: str) -> None:
        agent = FunctionAgent("rllib", algorithm.get_module(LEARNER).act)
        print(f"{when}:", against_random(args.game, agent, players, args.blocks))

    strength("untrained")
    played = 0
    for iteration in range(args.iterations):
        result = algorithm.train()["env_runners"]
        played += result["num_env_steps_sampled"]
        # Long games end in few iterations: there are no returns before the first has.
        total = sum(result.get("agent_episode_returns_mean", {}).values())
        assert abs(total) < 1e-4, f"payoffs are zero-sum, and these add up to {total}"
        learned = result.get("module_episode_returns_mean", {}).get(LEARNER, float("nan"))
        print(f"{played:>9,.0f} decisions, mean return of the learner {learned:+.2f}")
        if iteration % 3 == 2:
            freeze(algorithm)
    strength(f"after {played:.0f} decisions")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
