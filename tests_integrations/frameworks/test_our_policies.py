"""Policies of linkzoo where a framework plays."""

from typing import Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

import linkzoo
from linkzoo.integrations.rllib import AgentModule, MaskedModule


def test_a_policy_of_ours_plays_in_rllib(ray: Any) -> None:
    """The shipped policy as the frozen opponent of a learner that knows nothing: it wins."""
    register_env("raw_linkage", lambda _: PettingZooEnv(linkzoo.make("linkage", illegal="raise")))
    one = linkzoo.make("linkage")
    spaces: Any = {
        "observation_space": one.observation_space("player_0"),
        "action_space": one.action_space("player_0"),
    }
    ours = RLModuleSpec(
        module_class=AgentModule,
        model_config={"policy": linkzoo.load_policy("linkage@1")},
        **spaces,
    )
    learner = RLModuleSpec(module_class=MaskedModule, **spaces)
    config = (
        PPOConfig()
        .environment("raw_linkage", disable_env_checking=True)
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(
            policies={"learner", "ours"},
            policy_mapping_fn=lambda agent, *_, **__: "learner" if agent == "player_0" else "ours",
            policies_to_train=["learner"],
        )
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={"learner": learner, "ours": ours})
        )
        .training(train_batch_size_per_learner=300, minibatch_size=100, num_epochs=1)
    )
    algorithm = config.build_algo()
    result = algorithm.train()["env_runners"]
    algorithm.stop()
    assert result["agent_episode_returns_mean"]["player_1"] > 0.5
