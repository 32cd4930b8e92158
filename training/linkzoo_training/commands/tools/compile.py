"""`linkzoo tools compile`: compiles games ahead of first use in training and matches."""

from argparse import ArgumentParser, Namespace

import numpy as np

import linkzoo
from linkzoo import Positions, get_game
from linkzoo.compile import (
    ENVIRONMENTS,
    ON_DEVICE,
    add_device,
    capability_of,
    compile_ahead,
    compile_for,
)
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


def use_rollouts(name: str, capability: tuple[int, int]) -> None:
    """Compiles PPO's kernels with `env_device: cuda` for such a GPU; needs no GPU."""
    import torch

    from linkzoo_training.config.config import PPOConfig, read_config
    from linkzoo_training.networks.flat import Critic, make_network
    from linkzoo_training.selfplay.cuda_backend import CudaBackend
    from linkzoo_training.selfplay.opponent_pool import OpponentPool
    from linkzoo_training.selfplay.rollout import RolloutGames

    compile_for(capability)
    observation = get_game(name).observation
    data = {"algorithm": "ppo", "name": "compiling", "game": name, **_SMALL}
    data |= {"minibatches": 1, "pool": {"share": 0}, "initial_states": {"midgame": 0.5}}
    data["symmetric"] = observation.symmetries is not None
    if observation.privileged_spec is not None:
        data["critic"] = "full"
    kinds = ["flat"]
    if observation.action_spec is not None:
        kinds.append("action")
    for kind in kinds:
        config = read_config({**data, "network": kind})
        assert isinstance(config, PPOConfig)
        games = RolloutGames(config, CudaBackend(torch.device("cpu")))
        critic = Critic(games.game, 8, 1) if config.critic == "full" else None
        games.begin()
        network = make_network(games.game, kind, 8, 1)
        games.collect(network, OpponentPool(1, 0), 0.0, 0, critic)


USES = (f"{__name__}:use_training", f"{__name__}:use_agents", ENVIRONMENTS)
ON_GPU = (f"{__name__}:use_rollouts", ON_DEVICE)


def add_arguments(parser: ArgumentParser) -> None:
    text = f"games to compile: {GAMES} (default: all)"
    parser.add_argument("names", metavar="GAME", nargs="*", help=text)
    add_device(parser)


def run(args: Namespace) -> None:
    """Compiles the games and reports each one."""
    names = args.names or linkzoo.game_names()
    if args.device == "cuda":
        lines = compile_ahead(names, ON_GPU, capability_of(args.arch))
    else:
        lines = compile_ahead(names, USES)
    for line in lines:
        print(line, flush=True)
