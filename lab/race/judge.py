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
from typing import Any

import numpy as np
from lab.race.games import GAMES, Boards, RaceGame
from numpy.typing import NDArray

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

# Maps boards to logits [N, num_actions] of one forward pass. Illegal actions are masked here.
Policy = Callable[[Boards], NDArray[Any]]


class Runner:
    """One training run in this process: call `goes_on` after each iteration.

    The clock is the process's CPU time after the first iteration, which compiles; `cores` threads
    share the budget. Nothing that measures strength is on it.
    """

    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("variant")
        parser.add_argument("--game", choices=sorted(GAMES), default="connect_four")
        parser.add_argument("--seconds", type=float, required=True, help="of each core")
        parser.add_argument("--cores", type=int, required=True)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--games", type=int, required=True)
        self.arguments = parser.parse_args()
        self.variant, self.seed = self.arguments.variant, self.arguments.seed
        self.cores: int = self.arguments.cores
        self.seconds: float = self.arguments.seconds
        self.game = GAMES[self.arguments.game]
        with self.game.positions.open() as lines:
            self._positions = [json.loads(line) for line in lines]
        self._boards = np.array([self.game.board(row["actions"]) for row in self._positions])
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
            pairs = match(self.game, policy, simulations, solves, self.arguments.games // 2)
            half = 1.96 * pairs.std(ddof=1) / len(pairs) ** 0.5
            share = pairs.mean()
            row[name] = [round(x, 4) for x in (share, share - half, share + half)]
        print(json.dumps(row))

    def _best_moves(self, policy: Policy) -> float:
        """Returns the share of solved positions in which the policy's move keeps the value."""
        actions = _act(self.game, policy, self._boards)
        rows = zip(actions, self._positions, strict=True)
        return float(np.mean([action in row["best"] for action, row in rows]))


def _act(game: RaceGame, policy: Policy, boards: Boards) -> list[int]:
    """Returns the most probable legal actions."""
    return game.chosen(np.asarray(policy(boards), np.float64), boards)


class _MatchGame:
    """A game of a match: the policy has the seat `seat`."""

    def __init__(self, state: Any, bot: Any, seat: int) -> None:
        self.state = state
        self.bot = bot
        self.seat = seat
        self.actions: list[int] = []

    def play(self, action: int) -> None:
        self.state.apply_action(action)
        self.actions.append(action)


def match(
    game: RaceGame, policy: Policy, simulations: int, solves: bool, pairs: int
) -> NDArray[np.float64]:
    """Returns the policy's shares of wins against MCTSBot, [pairs]: both seats of each opening."""
    import pyspiel

    rules = pyspiel.load_game(game.open_spiel)
    games = []
    for number in range(2 * pairs):
        bot = pyspiel.MCTSBot(
            rules,
            pyspiel.RandomRolloutEvaluator(1, number),
            _UCT_C,
            simulations,
            _MEMORY,
            solves,
            number,
            False,
            pyspiel.ChildSelectionPolicy.UCT,
        )
        match_game = _MatchGame(rules.new_initial_state(), bot, number % 2)
        chance = np.random.default_rng(number // 2)  # both games of a pair begin alike
        for _ in range(game.opening):
            match_game.play(int(chance.choice(match_game.state.legal_actions())))
        games.append(match_game)
    while running := [one for one in games if not one.state.is_terminal()]:
        asked = [one for one in running if one.state.current_player() == one.seat]
        for one in running:
            if one.state.current_player() != one.seat:
                one.play(one.bot.step(one.state))
        if asked:
            boards = np.array([game.board(one.actions) for one in asked])
            for one, action in zip(asked, _act(game, policy, boards), strict=True):
                one.play(action)
    shares = [(one.state.returns()[one.seat] + 1) / 2 for one in games]
    means: NDArray[np.float64] = np.array(shares, np.float64).reshape(pairs, 2).mean(1)
    return means
