"""Who plays in the games that a learner learns from: itself, or it and an opponent."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Agent, Game, Positions
from linkzoo.engine.rng import STREAM_FIXED_OPPONENT, words
from linkzoo_training.agents.answers import checked
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.config import PoolConfig
from linkzoo_training.selfplay.initial_states import ITSELF, Drawn
from linkzoo_training.selfplay.opponent_pool import OpponentPool

DIVERGED = "the policy that plays isn't finite: learning has diverged, or its weights are damaged"


def agent_actions(
    agent: Agent, game: Game, states: NDArray[Any], seeds: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The actions [N] of an agent in records [N]; ValueError naming one that isn't legal."""
    positions = Positions(game, states, seeds)
    answers = np.asarray(agent.act(positions))
    return checked(agent.name, answers, positions.states, positions.action_mask)


class Opponents:
    """Who plays in N games, of which game i has `players[i]` seats.

    In a game against itself the learner has all seats, in one against an opponent the side of
    `learner_seat`. An opponent is a slot: of the pool's snapshots, or behind them of an agent.
    """

    def __init__(
        self, config: PoolConfig, game: Game, players: NDArray[np.int8], seed: int
    ) -> None:
        self._game, self._players, self._seed, self._size = game, players, seed, config.size
        self.agents = [make_agent(name, game.id) for name in config.fixed_opponents]
        self.fixed_slots = config.size + np.arange(len(self.agents))
        self.slot = np.full(len(players), ITSELF, np.int64)
        self.learner_seat = np.zeros(len(players), np.int8)
        # By number of players and seat
        self._side = np.zeros((game.max_players + 1, game.max_players), np.int8)
        for count in np.unique(players).tolist():
            self._side[count, :count] = game.sides(count)

    def begin(self, rows: NDArray[np.int64], drawn: Drawn) -> None:
        """What was drawn for new games in `rows`."""
        self.slot[rows], self.learner_seat[rows] = drawn.opponent, drawn.learner_seat

    def against(self, slot: int) -> NDArray[np.int64]:
        """The games [M] against an opponent."""
        return np.flatnonzero((self.slot == slot) & (self.slot != ITSELF))

    def act_in(self, seat: NDArray[Any], games: slice = slice(None)) -> NDArray[np.bool_]:
        """Whether the opponent acts in each of some games, in which these seats [N] do."""
        players = self._players[games]
        own = self._side[players, self.learner_seat[games]]
        acts: NDArray[np.bool_] = (self.slot[games] != ITSELF) & (self._side[players, seat] != own)
        return acts

    def agent(self, slot: int) -> Agent | None:
        """The agent in a slot; None where that is a snapshot's."""
        return None if slot < self._size else self.agents[slot - self._size]

    def actions(
        self, agent: Agent, states: NDArray[Any], rows: NDArray[np.int64], ply: int
    ) -> NDArray[np.int64]:
        """What an agent plays at a ply of the run in games `rows` [M] of records [N]."""
        seeds = words(self._seed, STREAM_FIXED_OPPONENT, ply, rows)
        return agent_actions(agent, self._game, states[rows], seeds)

    def count(
        self, rows: NDArray[np.int64], reward: NDArray[np.float32], pool: OpponentPool
    ) -> None:
        """Tells the pool the results of finished games: `reward` [M, P] of the games `rows` [M]."""
        slot = self.slot[rows]
        met = (slot != ITSELF) & (slot < self._size)
        payoff = reward[met, self.learner_seat[rows[met]]]
        pool.result(slot[met], np.where(payoff > 0, 1.0, np.where(payoff < 0, 0, 0.5)))

    def self_play_wins(
        self, rows: NDArray[np.int64], reward: NDArray[np.float32], counts: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Shares of wins by seat [P] of the learner's finished games against itself that count.

        `reward` [M, P] and `counts` [M] are of the games `rows` [M].
        """
        own = counts & (self.slot[rows] == ITSELF)
        playing = np.arange(reward.shape[1]) < self._players[rows[own], None]
        best = np.where(playing, reward[own], -np.inf)
        won = best == best.max(1, keepdims=True)
        shares: NDArray[np.float64] = (won / won.sum(1, keepdims=True)).sum(0)
        return shares

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name."""
        return {
            "opponent": torch.from_numpy(self.slot.copy()),
            "learner_seat": torch.from_numpy(self.learner_seat.copy()),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.slot[:] = saved["opponent"].numpy()
        self.learner_seat[:] = saved["learner_seat"].numpy()
