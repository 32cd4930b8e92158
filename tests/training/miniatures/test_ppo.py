"""PPO's training data and results, against exact values."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.core.features import FeatureMap
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.flat import make_network
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.rollout import RolloutGames
from tests.driving import first_quick
from tests.training.helpers import ppo_config
from tests.training.miniatures.play import KUHN_POKER, LEDUC_POKER, MINIATURES, SETTINGS, Miniature
from tests.training.miniatures.trees import Policy, exploitability, value, values

pytestmark = pytest.mark.usefixtures("registered")


def config_for(mini: Miniature, **changes: Any) -> PPOConfig:
    return ppo_config(
        {
            **SETTINGS,
            "game": mini.game.name,
            "num_envs": 128,
            "horizon": 32,
            "score_margin_weight": 0.0,
            "pool": {"share": 0.0},
            "learning_rate": [1e-2, 0],
            "clip": 0.1,
            "entropy": [0.3, 0.1],
            "kl_coef": 0.5,
            "total_steps": 40 * 128 * 32,
            **changes,
        }
    )


def keys(mini: Miniature, history: str) -> list[bytes]:
    """The observation and the hidden part after a history, in every deal of the tree."""
    assert mini.game.observation.privileged_spec is not None
    positions = mini.positions(history)
    features = FeatureMap(mini.game.observation.spec)(positions.observation)
    hidden = FeatureMap(mini.game.observation.privileged_spec)(mini.hidden(positions))
    return [row.tobytes() for row in np.concatenate([features, hidden], 1)]


class ExactCritic(nn.Module):
    """A critic with the exact values of every position for both seats under a policy."""

    def __init__(self, mini: Miniature, policy: Policy) -> None:
        super().__init__()
        self.values: dict[bytes, float] = {}
        for history in mini.tree.histories():
            own = (1 - 2 * mini.tree.mover(history)) * values(mini.tree, policy, history)
            self.values |= dict(zip(keys(mini, history), own / mini.most, strict=True))

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        own = [self.values[row.tobytes()] for row in torch.cat([features, hidden], 1).numpy()]
        return torch.tensor([[value, -value] for value in own])


def reach(mini: Miniature, policy: Policy, history: str, seat: int) -> NDArray[np.float64]:
    """How likely a seat makes its moves of a history, in every deal."""
    tree, likely = mini.tree, np.ones(len(mini.tree.deals))
    for end, move in enumerate(history):
        before = history[:end]
        if tree.mover(before) == seat:
            likely *= policy[before][:, tree.moves(before).index(move)]
    return likely


@pytest.mark.parametrize("mini", first_quick([*MINIATURES.values()], 0), ids=MINIATURES)
def test_advantages_are_exact_on_average(mini: Miniature) -> None:
    """Of every move in every information set, with values that are right and plies cut off.

    Also the values to learn. Their means over many games are compared with the tree's in standard
    errors.
    """
    config = config_for(mini, critic="full", num_envs=512, horizon=7)
    network = make_network(mini.game, "flat", 32, 1)
    with torch.no_grad():
        for parameter in network.policy.parameters():  # type: ignore[union-attr]
            parameter.mul_(100)  # some policy that is far from uniform
    policy = mini.policy(PolicyAgent("some", mini.game, network, {}))
    assert all(chances.min() > 0.01 for chances in policy.values())
    critic, play = ExactCritic(mini, policy), RolloutGames(config, HostBackend(torch.device("cpu")))
    play.begin([])
    advantages, targets = defaultdict(list), defaultdict(list)
    for iteration in range(20):
        batch = play.collect(network, OpponentPool(1, 0), 0.0, iteration, critic)
        for row, action, advantage, target in zip(
            batch.features.numpy(),
            batch.action.tolist(),
            batch.advantage.tolist(),
            batch.targets[:, 0].tolist(),
            strict=True,
        ):
            advantages[row.tobytes(), action].append(advantage)
            targets[row.tobytes()].append(target)
    distances = []
    for history in mini.tree.histories():
        seat = mini.tree.mover(history)
        sign = (1 - 2 * seat) / mini.most
        after = [sign * values(mini.tree, policy, history + m) for m in mini.tree.moves(history)]
        likely = reach(mini, policy, history, 1 - seat)
        looks = FeatureMap(mini.game.observation.spec)(mini.positions(history).observation)
        for look in np.unique(looks, axis=0):
            same = (looks == look).all(1)
            worth = [np.average(v[same], weights=likely[same]) for v in after]
            mean = float(np.dot(policy[history][same][0], worth))
            distances.append(distance(targets[look.tobytes()], mean))
            for action, one in zip(mini.actions(history), worth, strict=True):
                distances.append(distance(advantages[look.tobytes(), action], one - mean))
    finite = np.array([z for z in distances if z is not None])
    assert len(finite) > 0.5 * len(distances)
    assert np.abs(finite).max() < 5
    assert np.square(finite).mean() < 2


def distance(samples: list[float], mean: float) -> float | None:
    """How many standard errors the mean of samples is off; None for few samples."""
    if len(samples) < 30:
        return None
    return float((np.mean(samples) - mean) / (np.std(samples, ddof=1) / len(samples) ** 0.5 + 1e-4))


def trained(config: PPOConfig) -> PPOTrainer:
    trainer = PPOTrainer(config)
    while not trainer.finished:
        trainer.iterate()
    return trainer


@pytest.mark.slow
def test_kuhn_is_learned() -> None:
    """Near an equilibrium, and the values of a hand of each card are those of the policy."""
    tree, trainer = KUHN_POKER.tree, trained(config_for(KUHN_POKER))
    policy = KUHN_POKER.policy(trainer.agent())
    assert exploitability(tree, policy) < 0.08  # uniform play: 0.458
    assert value(tree, policy) == pytest.approx(-1 / 18, abs=0.05)
    _, estimates = trainer.agent().evaluate(KUHN_POKER.positions(""))
    for card in range(3):
        hand = tree.deals[:, 0] == card
        exact = values(tree, policy)[hand].mean()
        np.testing.assert_allclose(
            KUHN_POKER.most * estimates[hand], np.tile([exact, -exact], (2, 1)), atol=0.3
        )


@pytest.mark.nightly  # quickly: Kuhn poker is learned
def test_leduc_is_learned_with_a_full_critic() -> None:
    """Far less exploitable than uniform play, and the critic has each deal's value."""
    config = config_for(
        LEDUC_POKER,
        critic="full",
        width=64,
        entropy=[0.4, 0.2],
        learning_rate=[5e-3, 0],
        total_steps=50 * 128 * 32,
    )
    tree, trainer = LEDUC_POKER.tree, trained(config)
    policy = LEDUC_POKER.policy(trainer.agent())
    assert exploitability(tree, policy) < 0.6  # uniform play: 2.37
    assert value(tree, policy) == pytest.approx(-0.0856, abs=0.15)
    assert trainer.critic is not None
    assert LEDUC_POKER.game.observation.privileged_spec is not None
    positions = LEDUC_POKER.positions("")
    with torch.no_grad():
        estimates = trainer.critic(
            torch.from_numpy(trainer.network.map(positions.observation)),
            torch.from_numpy(
                FeatureMap(LEDUC_POKER.game.observation.privileged_spec)(
                    LEDUC_POKER.hidden(positions)
                )
            ),
        )
    exact = values(tree, policy)
    errors = LEDUC_POKER.most * estimates.numpy() - np.stack([exact, -exact], 1)
    assert np.square(errors).mean() < 0.05 * np.square(exact).mean()
