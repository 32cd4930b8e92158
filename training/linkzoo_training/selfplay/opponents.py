"""Assigns the players of self-play games: the learner alone, or the learner and an opponent."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from linkzoo import Agent, Game
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.arrays import Float64s
from linkzoo_training.config.config import PoolConfig
from linkzoo_training.networks.transfers import ToHost
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.opponent_pool import OpponentPool

ITSELF = -1  # opponent slot of pure self-play games


class Opponents:
    """The opponents of N games and the learner's results.

    In self-play the learner has all seats; against an opponent, the side of `learner_seat`.
    Opponents are slots: first the snapshots of the pool, then the fixed agents. `players` [N] are
    the numbers of seats.
    """

    def __init__(
        self, config: PoolConfig, game: Game, players: Tensor, backend: HostBackend
    ) -> None:
        self._players, self._size = players.long(), config.size
        fixed = id_of(game), game.fixed.values
        self.agents = [make_agent(name, *fixed) for name in config.fixed_opponents]
        slots = config.size + len(self.agents)
        self.fixed_slots = list(range(config.size, slots))
        self._slots = backend.tensor(np.arange(slots))
        self.slot = torch.full_like(self._players, ITSELF)
        self.learner_seat = torch.zeros_like(players)
        sides = np.zeros((game.max_players + 1, game.max_players), np.int8)  # by players and seat
        for count in range(game.min_players, game.max_players + 1):
            sides[count, :count] = game.facts.sides(count)
        self._side = backend.tensor(sides)
        self._seats = backend.tensor(np.arange(game.max_players))
        # Totals since `report`: wins by seat in self-play; the learner's scores and games by slot.
        self._wins = backend.zeros(game.max_players, dtype=torch.float64)
        self._results = backend.zeros(2, max(1, slots), dtype=torch.float64)

    def against(self, slot: int) -> Tensor:
        """Returns the games played against a slot, bool [N]."""
        return (self.slot == slot) & (self.slot != ITSELF)

    def act_in(self, seat: Tensor, games: slice = slice(None)) -> Tensor:
        """Returns whether an opponent is to act, bool [n], for seats to act `seat` [n]."""
        players = self._players[games]
        own = self._side[players, self.learner_seat[games].long()]
        return (self.slot[games] != ITSELF) & (self._side[players, seat.long()] != own)

    def rows(
        self, acts: Tensor, pool: OpponentPool, games: slice = slice(None)
    ) -> Callable[[], list[tuple[int, Tensor]]]:
        """Finds the games in which each opponent is to act: those of a slice where `acts` [n].

        Returns:
            A function that returns slots with their rows of `acts`, int64 [m]. It waits for the row
            counts if they come from a GPU.
        """
        if not pool.networks and not self.agents:
            return list
        slots = torch.where(acts, self.slot[games], len(self._slots))
        order = slots.argsort(stable=True)
        sent = ToHost((slots[:, None] == self._slots).sum(0))

        def found() -> list[tuple[int, Tensor]]:
            (counts,) = sent.arrays()
            ends = counts.cumsum()
            return [
                (slot, order[ends[slot] - counts[slot] : ends[slot]])
                for slot in np.flatnonzero(counts).tolist()
            ]

        return found

    def agent(self, slot: int) -> Agent | None:
        """Returns the fixed agent in a slot; None for a snapshot."""
        return None if slot < self._size else self.agents[slot - self._size]

    def count(self, games: slice | Tensor, payoff: Tensor, done: Tensor, counts: Tensor) -> None:
        """Counts the results of games with payoffs [n, P] where `done` [n].

        Wins of self-play games are counted where `counts` [n].
        """
        slot, itself = self.slot[games], self.slot[games] == ITSELF
        own = payoff.gather(1, self.learner_seat[games].long()[:, None])[:, 0]
        met = (done & ~itself).double()
        score = torch.where(own > 0, 1.0, torch.where(own < 0, 0.0, 0.5)) * met
        self._results.index_add_(1, slot.clamp(min=0), torch.stack([score, met]))
        seats = payoff.shape[1]
        playing = self._seats[:seats] < self._players[games][:, None]
        best = torch.where(playing, payoff, -torch.inf)
        won = (best == best.amax(1, keepdim=True)).double() * (done & itself & counts)[:, None]
        self._wins[:seats] += (won / won.sum(1, keepdim=True).clamp(min=1)).sum(0)

    def report(self, pool: OpponentPool) -> Float64s:
        """Reports results since the last call to the pool; returns wins by seat in self-play."""
        wins, results = (array.copy() for array in ToHost(self._wins, self._results).arrays())
        pool.count(*results[:, : pool.size])
        self._wins.zero_()
        self._results.zero_()
        return wins
