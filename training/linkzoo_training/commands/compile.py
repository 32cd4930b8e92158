"""`linkzoo compile`: compiles games ahead of first use in training and matches."""

from argparse import ArgumentParser, Namespace

import numpy as np

import linkzoo
from linkzoo import Positions, get_game
from linkzoo.compile import ENVIRONMENTS, compile_ahead
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from linkzoo_training.commands.common import GAMES

HELP = "compile games ahead of their first use"

_SMALL = {"device": "cpu", "num_threads": 1, "num_envs": 4, "total_steps": 16}
_SMALL |= {"horizon": 4, "width": 8, "blocks": 1}


def use_agents(name: str) -> None:
    """Compiles the code used by agents without a network."""
    game = get_game(name)
    states = np.array([game.blank()], game.state)
    seeds = np.zeros(1, np.uint64)
    kernels(game).begin(states, seeds, np.empty((1, game.num_actions), np.int8))
    for agent in (GreedyAgent(), UctAgent(1), UctAgent(1, sees="all")):
        agent.act(Positions(game, states, seeds))


def use_training(name: str) -> None:
    """Compiles the code used by training, by a short run of each algorithm."""
    from linkzoo_training.config.config import read_config
    from linkzoo_training.train import make_trainer

    search = {"simulations": [2], "batch_size": 4, "window": 1, "reuse": 1}
    for algorithm, more in (("ppo", {"minibatches": 1}), ("alphazero", search)):
        data = {"algorithm": algorithm, "name": "compiling", "game": name, **_SMALL, **more}
        make_trainer(read_config(data)).iterate()


USES = (f"{__name__}:use_training", f"{__name__}:use_agents", ENVIRONMENTS)


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options."""
    text = f"games to compile: {GAMES} (default: all)"
    parser.add_argument("names", metavar="GAME", nargs="*", help=text)


def run(args: Namespace) -> None:
    """Compiles the games and reports each one."""
    for line in compile_ahead(args.names or linkzoo.game_names(), USES):
        print(line, flush=True)
