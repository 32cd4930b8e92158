"""The report on a finished game: the decisions that mattered, better moves, and accuracy.

The accuracy counts decisions while a seat could still win and lose. A decision's loss is the chance
to win that it gave away, 0 to 1. Where the exact solver reaches, a loss is 1 if the move threw a
win away, else 0. Elsewhere an agent's policy judges: a move loses by another one if the policy
prefers that and it leads to a higher value. Values are averages over worlds that the seat to act
can't tell apart, so that neither luck nor hidden information counts.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, GameRecord, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.values import (
    SOLVER_LIMIT,
    evaluate_game,
    policy_with_values,
    values_of,
)
from linkzoo_training.search.solver import solver
from linkzoo_training.web.analysis import chances, rounded_chances
from linkzoo_training.web.players import Player
from linkzoo_training.web.reasons import reasons
from linkzoo_training.web.views import Json, moves

MOST_DECISIONS = 5  # listed
LEAST_LOSS = 0.005  # of a listed decision
OPEN = 0.02  # a seat with this chance to win, and to lose, could still do both
HALF_LOSS = 0.1  # a move with this loss counts half in the accuracy
_CANDIDATES = 3  # moves that are compared with the one that was played
_WORLDS = 4  # of the first look
_MORE_WORLDS = 32  # of the decisions that look worst
_SOLVED_MOVES = 20  # moves that the solver tries
_CLOSE_LOOKS = 15  # decisions that get more worlds
_BATCH = 256  # positions per forward pass
_SOLVED = "With best play player {} wins after it, and loses after the move played."


@dataclass
class Decision:
    """A decision of a game.

    Attributes:
        ply: The number of moves before it.
        seat: The seat that decided.
        played: The action that was played.
        better: The best action; the one that was played if none is better.
        loss: The chance to win that it gave away, 0 to 1.
        solved: Whether the exact solver says so.
        open: Whether the seat could still win and lose.
    """

    ply: int
    seat: int
    played: int
    better: int
    loss: float = 0.0
    solved: bool = False
    open: bool = False


def _positions(game: Game, states: NDArray[Any]) -> Positions:
    return Positions(game, states, np.zeros(len(states), np.uint64))


class Judge:
    """Judges the decisions of a game by a policy.

    Args:
        policy: The policy.
        record: The game.
    """

    def __init__(self, policy: PolicyAgent, record: GameRecord) -> None:
        self.policy = policy
        self.record = record
        self.game = get_game(record.game, record.options)
        evaluation = evaluate_game(policy, record)
        self.states = evaluation.states
        self.values = values_of(policy, record, evaluation)
        self._masks = evaluation.masks
        self._shares = evaluation.shares

    def chances(self) -> list[list[float]]:
        """Returns each seat's chance to win at every ply, [plies + 1][players]."""
        values = self.values.by_ply.astype(np.float64)
        return rounded_chances(self.game, self.record.num_players, values)

    def decisions(self) -> list[Decision]:
        """Returns the decisions that had several legal moves, with their losses."""
        plies = np.flatnonzero(self._masks[:-1].sum(1) > 1)
        decisions = [self._decision(int(ply)) for ply in plies]
        judged: list[tuple[Decision, list[int]]] = []
        for decision in decisions:
            shares = self._shares[decision.ply]
            if not self._solve(decision, shares):
                judged.append((decision, self._preferred(decision, shares)))
        judged = [(decision, candidates) for decision, candidates in judged if candidates]
        self._compare(judged, _WORLDS, 0)
        judged.sort(key=lambda entry: -entry[0].loss)
        self._compare(judged[:_CLOSE_LOOKS], _MORE_WORLDS, _WORLDS)
        return decisions

    def _decision(self, ply: int) -> Decision:
        action = self.record.actions[ply]
        seat = int(self.states["seat"][ply])
        chance = self._chance(self.values.by_ply[ply, seat])
        is_open = bool(OPEN <= chance <= 1 - OPEN)
        return Decision(ply, seat, action, action, open=is_open)

    def _chance(self, values: NDArray[Any]) -> NDArray[Any]:
        """Returns the chances to win that payoffs stand for."""
        return chances(self.game, self.record.num_players, values)

    def _preferred(self, decision: Decision, shares: NDArray[np.float32]) -> list[int]:
        """Returns the moves that the policy prefers to the one that was played, best first."""
        order = np.argsort(-shares, kind="stable")[:_CANDIDATES].tolist()
        return [action for action in order if shares[action] > shares[decision.played]]

    def _solve(self, decision: Decision, shares: NDArray[np.float32]) -> bool:
        """Fills a decision's loss by the exact solver; returns whether it reaches the moves."""
        exact = self.values.exact
        if not exact or exact[decision.ply] is None or exact[decision.ply + 1] is None:
            return False
        wins = exact[decision.ply] == decision.seat
        if wins and exact[decision.ply + 1] != decision.seat:
            winning = self._winning(decision, shares)
            if winning is None:
                return False
            decision.loss = 1.0
            decision.better = winning
        decision.solved = True
        decision.open = wins
        return True

    def _winning(self, decision: Decision, shares: NDArray[np.float32]) -> int | None:
        """Returns the move that wins with best play and that the policy likes best, if found."""
        exact = solver(self.game)
        legal = np.flatnonzero(self._masks[decision.ply])
        order = legal[np.argsort(-shares[legal], kind="stable")].tolist()
        for action in order[:_SOLVED_MOVES]:
            after = self.game.guide.after(self.states[decision.ply], action)
            with suppress(OutOfReachError):
                if exact.winner(after, SOLVER_LIMIT) == decision.seat:
                    return int(action)
        return None

    def _compare(
        self, judged: Sequence[tuple[Decision, list[int]]], worlds: int, first_world: int
    ) -> None:
        """Fills the losses by comparing the played moves with others in several worlds."""
        if not (self.game.hides or self.game.facts.chance):
            worlds = 1
        states: list[Record] = []
        actions: list[int] = []
        for decision, candidates in judged:
            for world in range(first_world, first_world + worlds):
                dealt = self._dealt(decision, world)
                for action in (decision.played, *candidates):
                    states.append(dealt)
                    actions.append(action)
        after = self._chances_after(states, actions)
        first = 0
        for decision, candidates in judged:
            choices = [decision.played, *candidates]
            last = first + worlds * len(choices)
            means = after[first:last].reshape(worlds, len(choices)).mean(0)
            best = int(means.argmax())
            decision.better = choices[best]
            decision.loss = float(means[best] - means[0])
            decision.open |= decision.loss >= OPEN
            first = last

    def _dealt(self, decision: Decision, world: int) -> Record:
        """Returns the position in a world that its seat can't tell apart, the same for a number."""
        dealt: Record = self.states[decision.ply : decision.ply + 1].copy()[0]
        self.game.determinize(dealt, decision.seat, np.uint64(world))
        return dealt

    def _chances_after(self, states: list[Record], actions: list[int]) -> NDArray[np.float64]:
        """Returns the movers' chances to win after actions, float64[N]."""
        if not states:
            return np.zeros(0)
        rows = np.array(states, self.game.state)
        movers = rows["seat"].astype(np.int64)
        masks = np.zeros((len(rows), self.game.num_actions), np.int8)
        kernels(self.game).play.serial(rows, np.array(actions, np.int64), masks)
        values, margins = np.zeros((2, len(rows), self.record.num_players), np.float32)
        kernels(self.game).outcome.serial(rows, values, margins)
        results = values[np.arange(len(rows)), movers].astype(np.float64)
        unfinished = np.flatnonzero(rows["seat"] >= 0)
        for first in range(0, len(unfinished), _BATCH):
            part = unfinished[first : first + _BATCH]
            _, relative = self.policy.distribution(_positions(self.game, rows[part]))
            place = (movers[part] - rows["seat"][part]) % self.record.num_players
            results[part] = relative[np.arange(len(part)), place]
        return self._chance(results)


def accuracy(decisions: Sequence[Decision]) -> float | None:
    """Returns the mean quality of decisions, 0 to 1; None without a decision.

    A move that gives nothing away counts 1, and with each HALF_LOSS half as much.
    """
    if not decisions:
        return None
    qualities = [0.5 ** (decision.loss / HALF_LOSS) for decision in decisions]
    return round(float(np.mean(qualities)), 3)


def mattering(decisions: Sequence[Decision], seats: Sequence[int]) -> list[Decision]:
    """Returns the decisions of these seats with the largest losses, in the order of play."""
    candidates = [
        decision for decision in decisions if decision.seat in seats and decision.loss >= LEAST_LOSS
    ]
    candidates.sort(key=lambda decision: -decision.loss)
    return sorted(candidates[:MOST_DECISIONS], key=lambda decision: decision.ply)


def report(player: Player, record: GameRecord, seats: Sequence[int]) -> Json:
    """Returns the report on a game as JSON data. Call it in the player's thread.

    Args:
        player: The agent that judges.
        record: The game.
        seats: The seats whose decisions are listed.

    Raises:
        ValueError: The agent has no values.
    """
    judge = Judge(policy_with_values(player.agent), record)
    decisions = judge.decisions()
    by_seat = [
        [decision for decision in decisions if decision.seat == seat and decision.open]
        for seat in range(record.num_players)
    ]
    return {
        **judge.values.to_dict(),
        "falls": [],  # the decisions say the same, with reasons
        "players": [_label(judge, seat) for seat in range(record.num_players)],
        "chances": judge.chances(),
        "accuracy": [accuracy(decided) for decided in by_seat],
        "decided": [len(decided) for decided in by_seat],
        "decisions": [_shown(judge, decision) for decision in mattering(decisions, seats)],
    }


def _label(judge: Judge, seat: int) -> str:
    """Returns a seat with its role and its player's name, such as "Player 0 (More, Ann)"."""
    roles = judge.game.roles(judge.record.options)
    names = judge.record.names
    notes = [table[seat] for table in (roles, names) if table and table[seat]]
    if not notes:
        return f"Player {seat}"
    return f"Player {seat} ({', '.join(notes)})"


def _shown(judge: Judge, decision: Decision) -> Json:
    """Returns a decision as JSON data: both moves with their words and parts, and the reasons."""
    game = judge.game
    state = judge.states[decision.ply]
    played, better = moves(game, state, [decision.played, decision.better])
    sentences = reasons(game, state, decision.played, decision.better)
    if decision.solved:
        sentences = [_SOLVED.format(decision.seat), *sentences]
    return {
        "ply": decision.ply,
        "seat": decision.seat,
        "played": played,
        "better": better,
        "loss": round(decision.loss, 3),
        "solved": decision.solved,
        "reasons": sentences,
    }
