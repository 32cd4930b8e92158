"""The snippets of the README and of the documentation that need a framework run."""

from pathlib import Path
from typing import Any

import pytest
from tests.test_docs import ROOT, blocks

PAGES = [ROOT / "README.md", ROOT / "docs" / "frameworks.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_snippets_run(page: Path) -> None:
    """Each by itself, with the names that its text mentions."""
    found = blocks(page.read_text(encoding="utf-8"), "py")
    assert found
    for number, block in enumerate(found):
        names = mentioned()
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)


def mentioned() -> dict[str, Any]:
    """What the snippets take as given."""
    import pyspiel
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy
    from ray.rllib.core.rl_module import RLModuleSpec
    from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
    from sb3_contrib import MaskablePPO
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from torchrl.envs import PettingZooWrapper

    from linkzoo import integrations
    from tests_integrations.running import load_example

    torchrl = load_example("torchrl_ppo")
    one = integrations.FeatureEnv("linkage")
    inputs, actions = len(one.features), one.game.num_actions
    model = Net(state_shape=(inputs,), action_shape=(actions,), hidden_sizes=(16,))
    policy = DiscreteQLearningPolicy(model=model, action_space=one.action_space("player_0"))
    return {
        "integrations": integrations,
        "pyspiel": pyspiel,
        "exploitability": exploitability,
        "UniformRandomPolicy": UniformRandomPolicy,
        "RLModuleSpec": RLModuleSpec,
        "PettingZooEnv": PettingZooEnv,
        "MaskablePPO": MaskablePPO,
        "Collector": Collector,
        "DummyVectorEnv": DummyVectorEnv,
        "PettingZooWrapper": PettingZooWrapper,
        "dqn": DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3)),
        "actor": torchrl.actor(
            torchrl.network(inputs, actions), ("seats", "observation", "observation"), "seats"
        ),
    }
