"""`linkzoo compile`: compiles what training and matches use of a game ahead of their first use."""

import argparse

import numpy as np

import linkzoo
from linkzoo import Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo.compile import ENVIRONMENTS, compile_ahead
from linkzoo_training.agents.baselines import GreedyAgent, UctAgent
from linkzoo_training.config import read_config
from linkzoo_training.train import make_trainer

_SMALL = {
    "device": "cpu",
    "num_threads": 1,
    "num_envs": 4,
    "horizon": 4,
    "width": 8,
    "blocks": 1,
    "total_steps": 16,
}


def use_agents(name: str) -> None:
    """Calls what the agents without a network call."""
    game = get_game(name)
    states = np.zeros(1, game.state)
    states[:] = game.blank()
    seeds = np.zeros(1, np.uint64)
    kernels(game).begin(states, seeds, np.empty((1, game.num_actions), np.int8))
    for agent in (GreedyAgent(), UctAgent(1), UctAgent(1, cheats=True)):
        agent.act(Positions(game, states, seeds))


def use_training(name: str) -> None:
    """Trains a little, with each algorithm that can."""
    changes = {"ppo": {"minibatches": 1}, "alphazero": {"batch_size": 4, "window": 1, "reuse": 1}}
    for algorithm, more in changes.items():
        data = {"algorithm": algorithm, "name": "compiling", "game": name, **_SMALL, **more}
        if algorithm == "alphazero":
            data["simulations"] = [2]
        make_trainer(read_config(data)).iterate()


USES = (f"{__name__}:use_training", f"{__name__}:use_agents", ENVIRONMENTS)


def run(parsed: argparse.Namespace) -> None:
    """Compiles the games that are named, or all, and prints when each is ready."""
    for line in compile_ahead(parsed.names or linkzoo.game_names(), USES):
        print(line, flush=True)
