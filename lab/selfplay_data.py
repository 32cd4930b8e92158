"""The speed of `linkzoo data selfplay`, beside `make_vec` with the same policy.

python -m lab.selfplay_data love_links --format npz
"""

import argparse
import tempfile
import time
from itertools import count
from pathlib import Path

import numpy as np

from linkzoo import Positions, get_game, make_vec
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training import make_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.common import share_rows
from linkzoo_training.commands.tools.bench import rate
from linkzoo_training.evaluation.dataset import FORMATS, write_dataset
from linkzoo_training.evaluation.played_games import GamesPlan, play_part

_GAMES = 512  # side by side, in both


def in_lock_step(game: str, name: str, seconds: float) -> float:
    """Returns plies per second of `make_vec` with an agent that plays all seats."""
    agent, vec, plies = make_agent(name, game), make_vec(game, _GAMES, check=False), count()
    now = vec.reset(0)

    def work() -> int:
        seeds = random_u64s(0, STREAM_ACTION, next(plies), np.arange(_GAMES))
        positions = Positions(vec.game, vec.states.copy(), seeds)
        positions.action_mask, positions.observation = now.action_mask, now.observation
        vec.step(agent.act(positions))  # fills the arrays of `now`
        return _GAMES

    return rate(work, seconds)


def as_data(game: str, name: str, form: str, parts: int) -> float:
    """Returns plies per second of a data set of so many parts."""
    plan = GamesPlan(
        game, (AgentSpec.parse(name),), parts * _GAMES, get_game(game).min_players, "0"
    )
    openings = plan.read_openings()
    with tempfile.TemporaryDirectory() as folder:
        first = play_part(plan, plan.parts[0], openings)  # compiles
        FORMATS[form](plan).encode(plan, first)
        start = time.perf_counter()
        write_dataset(plan, form, Path(folder))
        spent = time.perf_counter() - start
    return parts * len(first.action) / spent


def main() -> None:
    """Prints both speeds, measured in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--agent", default="checkpoint")
    parser.add_argument("--format", choices=list(FORMATS), default="npz")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--parts", type=int, default=4)
    parsed = parser.parse_args()
    share_rows()
    rates = []
    for _ in range(3):
        vec = in_lock_step(parsed.game, parsed.agent, parsed.seconds)
        data = as_data(parsed.game, parsed.agent, parsed.format, parsed.parts)
        rates.append(data / vec)
        print(f"make_vec {vec:,.0f} plies/s, {parsed.format} {data:,.0f}: {data / vec:.0%}")
    print(f"{parsed.game}, {parsed.agent}, {parsed.format}: {sorted(rates)[1]:.0%} of make_vec")


if __name__ == "__main__":
    main()
