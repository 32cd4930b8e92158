"""A policy's values along a game, the exact outcomes, and the turning points."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, GameRecord, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record
from linkzoo_training.agents.policy import PolicyAgent, PolicySearch
from linkzoo_training.search.solver import new_solver

SOLVER_LIMIT = 2**17  # positions per search: half a second
_BATCH = 256  # positions per forward pass
_MAX_FALLS = 5  # listed falls
_MIN_FALL = 0.05  # the smallest listed fall


@dataclass(frozen=True)
class Fall:
    """A move that lowered the value of its own seat.

    Attributes:
        ply: The number of moves up to this one.
        seat: The seat that moved.
        move: The move in words.
        by: The loss of value.
        thrown: Whether the move threw a win away: with best play its seat would have won before the
            move, but not after it.
    """

    ply: int
    seat: int
    move: str
    by: float
    thrown: bool


@dataclass(frozen=True)
class Values:
    """Values along a game.

    Attributes:
        agent: The name of the agent.
        seats: The label of each seat.
        by_ply: The values, float32[plies + 1, players], -1 to 1.
        falls: The falls, largest first.
        exact: The winner with best play at every ply, DRAW, or None where it is unknown; empty
            without a solver.
        notes: Sentences about options and players that the agent wasn't trained for.
    """

    agent: str
    seats: list[str]
    by_ply: NDArray[np.float32]
    falls: list[Fall]
    exact: list[int | None]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {
            "agent": self.agent,
            "seats": self.seats,
            "values": [[round(float(value), 3) for value in row] for row in self.by_ply],
            "falls": [{**asdict(fall), "by": round(fall.by, 3)} for fall in self.falls],
            "exact": self.exact,
            "notes": self.notes,
        }


@dataclass(frozen=True)
class Evaluation:
    """A policy's evaluation of the positions of a game; a finished position has no shares.

    Attributes:
        states: The positions, [plies + 1].
        masks: Whether actions are legal, int8[plies + 1, A].
        shares: The probabilities of the actions, float32[plies + 1, A].
        values: The payoffs that the seats expect, float32[plies + 1, players].
    """

    states: NDArray[Any]
    masks: NDArray[np.int8]
    shares: NDArray[np.float32]
    values: NDArray[np.float32]


def policy_with_values(agent: Agent) -> PolicyAgent:
    """Returns an agent's policy, without its search.

    Raises:
        ValueError: The agent has no values.
    """
    policy = agent
    if isinstance(agent, PolicySearch):
        policy = agent.policy
    if not isinstance(policy, PolicyAgent):
        raise ValueError(f"{agent.name} has no values: choose a checkpoint")
    return policy


def values_along(agent: Agent, record: GameRecord) -> Values:
    """Evaluates every position of a game with an agent's policy, without search.

    Each position is evaluated from its seat's observation; the last values of a finished game are
    the payoffs. Values are clipped to the range of payoffs: a network that was trained with score
    margins can exceed it. Forced moves and a winner's last move aren't falls.

    Args:
        agent: A policy, with or without a search.
        record: The game.

    Returns:
        The values.

    Raises:
        ValueError: The agent has no values, or its policy plays another game.
    """
    policy = policy_with_values(agent)
    return values_of(policy, record, evaluate_game(policy, record))


def evaluate_game(policy: PolicyAgent, record: GameRecord) -> Evaluation:
    """Evaluates every position of a game; raises ValueError as `values_along`."""
    game = get_game(record.game, record.options)
    states = np.array(list(record.replay()), game.state)
    values, margins = np.zeros((2, len(states), record.num_players), np.float32)
    kernels(game).outcome(states, values, margins)
    masks = np.zeros((len(states), game.num_actions), np.int8)
    shares = np.zeros((len(states), game.num_actions), np.float32)
    unfinished = np.flatnonzero(states["seat"] >= 0)
    seats = np.arange(record.num_players)
    for first in range(0, len(unfinished), _BATCH):
        rows = unfinished[first : first + _BATCH]
        positions = Positions(game, states[rows], np.zeros(len(rows), np.uint64))
        masks[rows] = positions.action_mask
        shares[rows], relative_values = policy.distribution(positions)
        relative_seats = (seats - states["seat"][rows, None]) % record.num_players
        values[rows] = np.take_along_axis(relative_values.clip(-1, 1), relative_seats, 1)
    return Evaluation(states, masks, shares, values)


def values_of(policy: PolicyAgent, record: GameRecord, evaluation: Evaluation) -> Values:
    """Returns the values along a game that the policy has evaluated."""
    game = get_game(record.game, record.options)
    exact = _exact_winners(game, list(evaluation.states))
    names = [f"player {seat}" for seat in range(record.num_players)]
    roles = game.roles(record.options)
    if roles:
        names = [f"{name} ({role})" for name, role in zip(names, roles, strict=True)]
    falls = _falls(game, record, evaluation, exact)
    notes = policy.untrained(evaluation.states[:1])
    return Values(policy.name, names, evaluation.values, falls, exact, notes)


def _exact_winners(game: Game, states: Sequence[Record]) -> list[int | None]:
    """Solves positions from the last one back to the first that is out of reach."""
    if game.solver is None:
        return []
    winners: list[int | None] = [None] * len(states)
    exact = new_solver(game)
    with suppress(OutOfReachError):
        for ply in reversed(range(len(states))):
            winners[ply] = exact.winner(states[ply], SOLVER_LIMIT)
    return winners


def _falls(
    game: Game,
    record: GameRecord,
    evaluation: Evaluation,
    exact: list[int | None],
) -> list[Fall]:
    """Returns the thrown wins, and the moves that cost their seats most."""
    states = evaluation.states
    values = evaluation.values
    has_choice = evaluation.masks.sum(1) > 1
    plies = np.arange(len(states) - 1)
    movers = states["seat"][:-1].astype(np.int64)
    losses = values[plies, movers] - values[plies + 1, movers]
    won = states["winners"][1:].astype(np.int64) >> movers & 1  # 0 before the end
    losses[~has_choice[:-1] | (won == 1)] = 0
    thrown = np.zeros(len(plies), bool)
    for ply, (before, after) in enumerate(pairwise(exact)):
        thrown[ply] = before == movers[ply] and after not in (None, before)
    falls = []
    for ply in np.lexsort((-losses, ~thrown))[:_MAX_FALLS].tolist():
        if thrown[ply] or losses[ply] >= _MIN_FALL:
            move = game.guide.action_words(states[ply], record.actions[ply])
            loss = float(losses[ply])
            falls.append(Fall(ply + 1, int(movers[ply]), move, loss, bool(thrown[ply])))
    return falls
