"""UCT against OpenSpiel's MCTSBot on Connect Four, with equal simulations.

`python -m lab.uct_open_spiel` needs the extra `openspiel` and our Connect Four: `pip install
examples/connect_four`. Each player uses its best constant, found with the same command:
`linkzoo:0.7 linkzoo:1`, `open_spiel:1 open_spiel:1.4`. Games start with two random plies, and both
players take both seats of each opening. MCTSBot is compiled and uses its defaults: one random
playout per simulation, and backup of proven positions.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from connect_four import GAME as CONNECT_FOUR

from linkzoo import Positions
from linkzoo.engine.rng import STREAM_ACTION, random_u64
from linkzoo_training.agents.baselines import UctAgent
from linkzoo_training.evaluation.openings import RandomPlies
from linkzoo_training.evaluation.result import win_shares
from linkzoo_training.evaluation.statistics import Counts, from_blocks

_MEMORY = 1000  # limit of a tree, in megabytes
_PLIES = (2, 2)

# Returns an action for the position, given as our record and as OpenSpiel's state, and a seed.
Player = Callable[[Any, Any, np.uint64], int]


def player(spec: str, simulations: int) -> Player:
    """Returns the player `linkzoo:C` or `open_spiel:C`, with UCT's constant C."""
    kind, _, constant = spec.partition(":")
    game = pyspiel.load_game("connect_four")
    agent = UctAgent(simulations, float(constant) if constant else None)

    def ours(record: Any, _: Any, seed: np.uint64) -> int:
        states = np.array([record], CONNECT_FOUR.state)
        return int(agent.act(Positions(CONNECT_FOUR, states, np.array([seed], np.uint64)))[0])

    def theirs(_: Any, state: Any, seed: np.uint64) -> int:
        short = int(seed >> np.uint64(33))
        bot = pyspiel.MCTSBot(
            game,
            pyspiel.RandomRolloutEvaluator(1, short),
            float(constant),
            simulations,
            _MEMORY,
            True,  # solve
            short,
            False,  # verbose
            pyspiel.ChildSelectionPolicy.UCT,
        )
        return int(bot.step(state))

    return {"linkzoo": ours, "open_spiel": theirs}[kind]


def result(a: Player, b: Player, seed: np.uint64, opening: int) -> list[float]:
    """Returns A's share of the win in each seat, from one opening."""
    game = pyspiel.load_game("connect_four")
    start = RandomPlies(*_PLIES).begin(CONNECT_FOUR, CONNECT_FOUR.blank(), seed, [opening])[0]
    shares = []
    for seat in range(2):
        record, state = start.copy(), game.new_initial_state()
        for column in moves_of(start):
            state.apply_action(column)
        while record.seat >= 0:
            mover = a if record.seat == seat else b
            drawn = random_u64(seed, STREAM_ACTION, opening, int(record.ply))
            action = mover(record, state, drawn)
            CONNECT_FOUR.rules.apply(record, action)
            state.apply_action(action)
        assert state.is_terminal()
        share = win_shares(np.array([record.winners]), range(2))[0, seat]
        assert state.returns()[seat] == 2 * share - 1
        shares.append(float(share))
    return shares


def moves_of(record: Any) -> list[int]:
    """Returns the two opening columns, seat 0's first."""
    return [int(np.flatnonzero((record.board == seat).any(0))[0]) for seat in range(2)]


def main() -> None:
    parser = argparse.ArgumentParser(description="UCT against OpenSpiel's MCTSBot")
    parser.add_argument("a", nargs="?", default="linkzoo:0.7")
    parser.add_argument("b", nargs="?", default="open_spiel:1")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    arguments = parser.parse_args()

    a, b = (player(spec, arguments.simulations) for spec in (arguments.a, arguments.b))
    seed = np.uint64(arguments.seed)
    found = np.array([result(a, b, seed, opening) for opening in range(-(-arguments.games // 2))])
    share, drawn = from_blocks(found.mean(1), 0, 1), int((found == 0.5).sum())
    counts = Counts(int((found == 1).sum()), drawn, int((found == 0).sum()))
    print(
        f"{arguments.a} against {arguments.b}, {arguments.simulations} simulations: "
        f"wins / draws / losses {counts}, "
        f"share {share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]"
    )


if __name__ == "__main__":
    main()
