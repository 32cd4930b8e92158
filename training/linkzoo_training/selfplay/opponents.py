"""Assigns the players of self-play games: the learner alone, or the learner and an opponent."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from linkzoo import Agent, Game
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.arrays import Bools, Float32s, Float64s, Int8s, Int64s
from linkzoo_training.config.config import PoolConfig
from linkzoo_training.networks.transfers import ToHost
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.opponent_pool import OpponentPool

ITSELF = -1  # opponent slot of pure self-play games


@compiled
def _act(
    first: int,
    last: int,
    acts: Bools,  # [n], output: whether an opponent is to act
    seat: Int8s,  # [n], the seat to act
    slot: Int64s,  # [n]
    learner_seat: Int8s,  # [n]
    players: Int8s,  # [n]
    sides: Int8s,  # [P + 1, P], by number of players and seat
) -> None:
    for i in range(first, last):
        side = sides[players[i]]
        acts[i] = slot[i] != ITSELF and side[seat[i]] != side[learner_seat[i]]


@compiled
def _count(
    first: int,
    last: int,
    done: Bools,  # [n]
    payoff: Float32s,  # [n, P]
    counts: Bools,  # [n], whether a game of self-play counts
    slot: Int64s,  # [n]
    learner_seat: Int8s,  # [n]
    players: Int8s,  # [n]
    wins: Float64s,  # [n, P], totals of self-play
    results: Float64s,  # [n, 2, slots], totals of the learner's scores and games
) -> None:
    for i in range(first, last):
        if done[i] and slot[i] != ITSELF:
            score = 0.5
            if payoff[i, learner_seat[i]] > 0:
                score = 1.0
            elif payoff[i, learner_seat[i]] < 0:
                score = 0.0
            results[i, 0, slot[i]] += score
            results[i, 1, slot[i]] += 1.0
        elif done[i] and counts[i]:
            best = payoff[i, 0]
            winners = 0
            for p in range(1, players[i]):
                best = max(best, payoff[i, p])
            for p in range(players[i]):
                winners += payoff[i, p] == best
            for p in range(players[i]):
                if payoff[i, p] == best:
                    wins[i, p] += 1 / winners


_ACT = RowKernel(_act, 16384)
_COUNT = RowKernel(_count, 8192)


class Opponents:
    """The opponents of N games and the learner's results.

    In self-play the learner has all seats; against an opponent, the side of `learner_seat`.
    Opponents are slots: first the snapshots of the pool, then the fixed agents.

    Args:
        config: The pool's configuration.
        game: The game.
        players: The numbers of seats, int8 [N].
        backend: Where the games are played.

    Attributes:
        agents: The fixed agents.
        fixed_slots: Their slots.
        slot: Each game's opponent or ITSELF, int64 [N].
        learner_seat: The learner's seat against an opponent, int8 [N].
    """

    def __init__(
        self, config: PoolConfig, game: Game, players: Tensor, backend: HostBackend
    ) -> None:
        self._players = players
        self._size = config.size
        self._backend = backend
        self.agents = [
            make_agent(name, id_of(game), game.fixed.values) for name in config.fixed_opponents
        ]
        slots = config.size + len(self.agents)
        self.fixed_slots = list(range(config.size, slots))
        self._slots = backend.tensor(np.arange(slots))
        self.slot = torch.full_like(players, ITSELF, dtype=torch.int64)
        self.learner_seat = torch.zeros_like(players)
        sides = np.zeros((game.max_players + 1, game.max_players), np.int8)  # by players and seat
        for count in range(game.min_players, game.max_players + 1):
            sides[count, :count] = game.facts.sides(count)
        self._sides = backend.tensor(sides)
        # Totals of each game since `report`.
        self._wins = backend.zeros(len(players), game.max_players, dtype=torch.float64)
        self._results = backend.zeros(len(players), 2, max(1, slots), dtype=torch.float64)

    def against(self, slot: int) -> Tensor:
        """Returns the games played against a slot, bool [N]."""
        return (self.slot == slot) & (self.slot != ITSELF)

    def act_in(self, seat: Tensor, games: slice = slice(None)) -> Tensor:
        """Returns whether an opponent is to act, bool [n], for seats to act `seat` [n]."""
        acts = torch.empty_like(seat, dtype=torch.bool)
        slot = self.slot[games]
        learner_seat = self.learner_seat[games]
        self._backend.run(_ACT, acts, seat, slot, learner_seat, self._players[games], self._sides)
        return acts

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

        def rows_by_slot() -> list[tuple[int, Tensor]]:
            (counts,) = sent.arrays()
            ends = counts.cumsum()
            return [
                (slot, order[ends[slot] - counts[slot] : ends[slot]])
                for slot in np.flatnonzero(counts).tolist()
            ]

        return rows_by_slot

    def agent(self, slot: int) -> Agent | None:
        """Returns the fixed agent in a slot; None for a snapshot."""
        if slot < self._size:
            return None
        return self.agents[slot - self._size]

    def count(self, games: slice, payoff: Tensor, done: Tensor, counts: Tensor) -> None:
        """Counts the results of games with payoffs [n, P] where `done` [n].

        Wins of self-play games are counted where `counts` [n].
        """
        self._backend.run(
            _COUNT,
            done,
            payoff,
            counts,
            self.slot[games],
            self.learner_seat[games],
            self._players[games],
            self._wins[games],
            self._results[games],
        )

    def report(self, pool: OpponentPool) -> Float64s:
        """Reports results since the last call to the pool; returns wins by seat in self-play."""
        wins, results = ToHost(self._wins.sum(0), self._results.sum(0)).arrays()
        pool.count(*results[:, : pool.size])
        self._wins.zero_()
        self._results.zero_()
        return wins
