"""The compiled games along the histories of the trees, and a network's policy there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Records
from linkzoo_training.agents.policy import PolicyAgent
from tests.training.helpers import begin
from tests.training.miniatures.kuhn import KUHN
from tests.training.miniatures.leduc import LEDUC
from tests.training.miniatures.trees import KUHN_TREE, LEDUC_TREE, Policy, Tree

# Of every configuration of a miniature.
SETTINGS = {
    "name": "miniature",
    "width": 32,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
    "initial_states": {"midgame": 0.0},
}


@dataclass(frozen=True)
class Miniature:
    """A compiled game and its tree."""

    game: Game
    tree: Tree
    letters: str  # of the tree's moves, by action
    most: int  # chips that a payoff of 1 stands for
    suits: int  # cards of a rank

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The values of the cards in each deal of the tree."""
        return self.tree.deals // self.suits

    def states(self, history: str) -> Records:
        """The records after a history, in every deal of the tree."""
        deals = self.tree.deals
        start = begin(self.game, len(deals))
        deck = start.states["deck"]
        for row, deal in enumerate(deals):
            deck[row] = [*deal, *sorted(set(range(deck.shape[1])) - set(deal.tolist()))]
        mask = np.empty((len(deals), self.game.num_actions), np.int8)
        for letter in history:
            actions = np.full(len(deals), self.letters.index(letter))
            kernels(self.game).play(start.states, actions, mask)
        return start.states

    def positions(self, history: str) -> Positions:
        """The position after a history that isn't the end, in every deal of the tree."""
        states = self.states(history)
        return Positions(self.game, states, begin(self.game, len(states)).seeds)

    def hidden(self, positions: Positions) -> NDArray[np.int8]:
        """The hidden cards of the seats to act."""
        spec, reveal = self.game.observation.privileged_spec, kernels(self.game).reveal
        assert spec is not None
        assert reveal is not None
        out = np.full((len(positions), spec.size), 7, np.int8)
        reveal(positions.states, np.ascontiguousarray(positions.states["seat"]), out)
        return out

    def actions(self, history: str) -> list[int]:
        """The moves after a history as actions, in the order of the tree."""
        return [self.letters.index(letter) for letter in self.tree.moves(history)]

    def policy(self, agent: PolicyAgent) -> Policy:
        """The probabilities with which the network of an agent draws its moves."""
        policy = {}
        for history in self.tree.histories():
            logits, _ = agent.evaluate(self.positions(history))
            chances = np.exp(logits.double().log_softmax(-1).numpy())[:, self.actions(history)]
            policy[history] = chances / chances.sum(1, keepdims=True)
        return policy


KUHN_POKER = Miniature(KUHN, KUHN_TREE, "pb", 2, 1)
LEDUC_POKER = Miniature(LEDUC, LEDUC_TREE, "fcr", 13, 2)
MINIATURES = {"kuhn": KUHN_POKER, "leduc": LEDUC_POKER}
