"""A policy that began as a linear scorer, with a search by playouts before each decision.

Its scores choose the candidates, and its linear part plays the playouts (`agents.playouts`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo_training.agents.playouts import PlayoutAgent
from linkzoo_training.agents.policy import PolicyAgent, PolicySearch
from linkzoo_training.networks.action import ActionNet
from linkzoo_training.search.linear import Scorer


def began_as_scorer(policy: PolicyAgent) -> bool:
    """Returns whether a policy, or the one that it continued, began as a linear scorer."""
    return _first_run(policy).get("initial_scorer") is not None


def _first_run(policy: PolicyAgent) -> dict[str, Any]:
    """Returns the configuration of the first of the runs that trained a policy in turn."""
    run: dict[str, Any] = policy.card.get("trained", {})
    while isinstance(run.get("initial_checkpoint"), dict):
        run = run["initial_checkpoint"]
    config: dict[str, Any] = run.get("config", {})
    return config


class PolicyScores:
    """An action policy as a scorer: its logits in the units of the scores that it began with.

    Args:
        policy: The policy, for which `began_as_scorer`.
    """

    def __init__(self, policy: PolicyAgent) -> None:
        network = policy.network
        assert isinstance(network, ActionNet)  # others begin with no scorer
        self.policy = policy
        self.name = policy.name
        self._temperature = np.float32(_first_run(policy)["scorer_temperature"])
        weights = network.linear.weight.detach().float().cpu().numpy()
        self._scorer = Scorer(network.linear.context.cpu().numpy(), weights)

    def scores(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Returns scores float32[N, A], -inf if illegal, and the best actions int64[N]."""
        logits, _ = self.policy.evaluate(positions)
        scores = np.where(positions.action_mask, logits.numpy() * self._temperature, -np.inf)
        return scores, scores.argmax(1)

    def scorer(self, _game: Game) -> Scorer:
        """Returns the linear part."""
        return self._scorer


class PolicyPlayoutAgent(PolicySearch, PlayoutAgent):
    """A policy that plays the candidate with the best playouts.

    Args:
        policy: The policy, for which `began_as_scorer`.
        simulations: Playouts per decision, about.

    Raises:
        ValueError: `simulations` is out of range.
    """

    def __init__(self, policy: PolicyAgent, simulations: int) -> None:
        super().__init__(PolicyScores(policy), simulations)
        self.policy = policy

    def distribution(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns each action's share of the playouts float32[N, A], and the policy's values.

        The chosen action counts as one playout more, since halving ends with two actions that have
        equally many. Raises as `PolicyAgent.act`.
        """
        _, values = self.policy.evaluate(positions)
        return self._shares(positions)[0], values.numpy()

    def analyse(
        self, positions: Positions, check: Callable[[], None] = lambda: None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Plays the playouts of the first position; see `PolicySearch.analyse`.

        The improved policy is each action's share of the playouts, the payoffs are those that the
        policy expects, and the visits are playouts. `check` is called before them.
        """
        check()
        first = positions.part(np.zeros(1, np.int64))
        shares, counts = self._shares(first)
        _, values = self.policy.evaluate(first)
        by_seat = np.roll(values[0].numpy()[: first.num_players[0]], first.states["seat"][0])
        return shares[0], by_seat.clip(-1, 1), counts[0]

    def _shares(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Returns each action's share of the playouts, and its playouts, [N, A]."""
        played = self.play(positions)
        weights = played.counts.copy()
        weights[np.arange(len(weights)), played.actions] += 1
        shares = weights / weights.sum(1, keepdims=True)
        return shares.astype(np.float32), played.counts
