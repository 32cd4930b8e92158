"""The part that all runners of the race share: arguments, clock and measures of strength.

It imports NumPy alone, and OpenSpiel when the training is over: so it runs in the environment of
each package, and isn't in the memory that is measured.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS = 6, 7
_OPENING = 4  # random plies before a game
# Opponents, OpenSpiel's MCTSBot with the constant of its examples: simulations, and whether it
# proves wins and losses (`solve`), which makes it much stronger.
_OPPONENTS = {
    "mcts_100": (100, False),
    "mcts_1000": (1000, False),
    "mcts_1000_solving": (1000, True),
}
_UCT_C = 2.0
_MEMORY = 1000  # limit of a search, in megabytes
_EVERY = 30  # seconds between points of the curve

# Maps boards int8[N, 2, 6, 7] (the mover's stones and the other's, the lowest row first) to logits
# [N, 7] of one forward pass. Columns that are full are masked here.
Policy = Callable[[NDArray[np.int8]], NDArray[Any]]


class Runner:
    """One training run in this process: call `goes_on` after each iteration.

    The clock is the process's CPU time after the first iteration, which compiles; `cores` threads
    share the budget. Nothing that measures strength is on it.
    """

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("variant")
        parser.add_argument("--seconds", type=float, required=True, help="of each core")
        parser.add_argument("--cores", type=int, required=True)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--positions", type=Path, required=True)
        parser.add_argument("--games", type=int, required=True)
        self.arguments = parser.parse_args()
        self.variant, self.seed = self.arguments.variant, self.arguments.seed
        self.cores: int = self.arguments.cores
        self.seconds: float = self.arguments.seconds
        self._positions = [json.loads(line) for line in self.arguments.positions.open()]
        self._boards = np.array([board_of(one["columns"]) for one in self._positions])
        self._started: float | None = None  # CPU time of this process when its clock began
        self._measuring = 0.0
        self._curve: list[tuple[float, float]] = []
        self._startup, self._first_plies = 0.0, 0

    @property
    def spent(self) -> float:
        """Seconds of each core on the clock."""
        if self._started is None:
            return 0.0
        return (time.process_time() - self._started - self._measuring) / self.cores

    def goes_on(self, policy: Policy, plies: int) -> bool:
        """Notes strength now and then; returns whether time is left."""
        if self._started is None:
            self._started = self._startup = time.process_time()
            self._first_plies = plies
        spent, before = self.spent, time.process_time()
        if spent >= _EVERY * len(self._curve) or spent >= self.seconds:
            self._curve.append((round(spent, 1), self._best_moves(policy)))
            print(f"  {spent:6.0f} s  {self._curve[-1][1]:.3f}  {plies:,}", file=sys.stderr)
            self._measuring += time.process_time() - before
        return spent < self.seconds

    def finish(self, policy: Policy, plies: int) -> None:
        """Plays the matches and prints the run's row as JSON."""
        spent = self.spent
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row: dict[str, Any] = {
            "cpu_seconds": round(spent, 1),
            "startup": round(self._startup, 1),
            "plies": plies,
            "plies_per_second": round((plies - self._first_plies) / spent),
            "megabytes": round(peak),
            "curve": self._curve,
            "best_moves": round(self._best_moves(policy), 4),
        }
        for name, (simulations, solves) in _OPPONENTS.items():
            pairs = match(policy, simulations, solves, self.arguments.games // 2)
            half = 1.96 * pairs.std(ddof=1) / len(pairs) ** 0.5
            share = pairs.mean()
            row[name] = [round(x, 4) for x in (share, share - half, share + half)]
        print(json.dumps(row))

    def _best_moves(self, policy: Policy) -> float:
        """Returns the share of solved positions in which the policy's move keeps the value."""
        moves = chosen(policy, self._boards)
        keep = [move in one["best"] for move, one in zip(moves, self._positions, strict=True)]
        return float(np.mean(keep))


def chosen(policy: Policy, boards: NDArray[np.int8]) -> list[int]:
    """Returns the most probable legal columns."""
    logits = np.asarray(policy(boards), np.float64)
    full = boards[:, :, ROWS - 1].any(1)
    moves: list[int] = np.where(full, -np.inf, logits).argmax(1).tolist()
    return moves


def board_of(columns: str) -> NDArray[np.int8]:
    """Returns the mover's and the other's stones after discs into these columns."""
    board = np.zeros((2, ROWS, COLUMNS), np.int8)
    for column in map(int, columns):
        board = board[::-1].copy()  # the mover becomes the other
        board[1, int(board[:, :, column].sum()), column] = 1
    return board


def match(policy: Policy, simulations: int, solves: bool, pairs: int) -> NDArray[np.float64]:
    """Returns the policy's shares of wins against MCTSBot, [pairs]: both seats of each opening."""
    import pyspiel

    rules = pyspiel.load_game("connect_four")
    games = []
    for number in range(2 * pairs):
        chance, columns = np.random.default_rng(number // 2), ""
        state = rules.new_initial_state()
        for _ in range(_OPENING):  # too few for a win
            columns += str(int(chance.choice(state.legal_actions())))
            state.apply_action(int(columns[-1]))
        rollouts = pyspiel.RandomRolloutEvaluator(1, number)
        selection = pyspiel.ChildSelectionPolicy.UCT
        bot = pyspiel.MCTSBot(
            rules, rollouts, _UCT_C, simulations, _MEMORY, solves, number, False, selection
        )
        games.append([state, columns, bot])
    while any(not state.is_terminal() for state, _, _ in games):
        asked = []
        for number, game in enumerate(games):
            state, _, bot = game
            if state.is_terminal():
                continue
            if state.current_player() == number % 2:
                asked.append(game)
            else:
                _play(game, bot.step(state))
        if asked:
            boards = np.array([board_of(columns) for _, columns, _ in asked])
            for game, column in zip(asked, chosen(policy, boards), strict=True):
                _play(game, column)
    shares = [(state.returns()[number % 2] + 1) / 2 for number, (state, _, _) in enumerate(games)]
    means: NDArray[np.float64] = np.array(shares, np.float64).reshape(pairs, 2).mean(1)
    return means


def _play(game: list[Any], column: int) -> None:
    game[0].apply_action(column)
    game[1] += str(column)
