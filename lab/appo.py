"""RLlib's APPO on our env runner beside our own trainer: strength over CPU seconds.

    pip install ".[train,rllib]"
    python -m lab.appo love_links --seconds 60 120 240

APPO is that of `examples/rllib_ppo.py --asynchronous` with one runner: it plays one seat of 64
games in a process of its own, against copies of itself and random play, while the learner learns.
`train` is the preset `GAME_ppo` in one process with one thread, for the game's fewest players. CPU
seconds are those of the learner and its runner, without Ray's servers, the matches and the start,
which ends with the first iteration. Both policies draw from their probabilities.
"""

import argparse
import logging
import os
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence

import torch
from examples.rllib_ppo import build, policy_of

import linkzoo
from linkzoo import Agent, RandomAgent
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.config.config import load_config
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.openings import START
from linkzoo_training.train import make_trainer

OPPONENT_EVERY = 20  # CPU seconds between two copies that join the opponents
EXAMPLE = {"envs": 64, "rollout": 16, "runners": 1, "asynchronous": True}  # as its defaults

# CPU seconds, the learner's decisions so far, and the policy.
Checkpoint = tuple[float, int, Agent]


def appo(game: str, players: int, seed: int, seconds: Sequence[float]) -> Iterator[Checkpoint]:
    """Trains APPO; yields a checkpoint after each number of CPU seconds."""
    import ray

    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000)
    algorithm = build(Namespace(game=game, players=players, seed=seed, **EXAMPLE))

    def cpu() -> float:
        runners: list[float] = algorithm.env_runner_group.foreach_env_runner(
            lambda _runner: time.process_time(), local_env_runner=False
        )
        return time.process_time() + sum(runners)

    algorithm.train()
    started = cpu()
    spent = 0.0
    opponents = 0
    for until in seconds:
        while spent < until:
            result = algorithm.train()["env_runners"]
            spent = cpu() - started
            if spent > OPPONENT_EVERY * opponents:
                opponents += 1
                algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.add_opponent())
        before = cpu()
        yield spent, int(result["num_env_steps_sampled_lifetime"]), policy_of(algorithm)
        started += cpu() - before
    algorithm.stop()
    ray.shutdown()


def ours(game: str, players: int, seed: int, seconds: Sequence[float]) -> Iterator[Checkpoint]:
    """Trains the preset; yields a checkpoint after each number of CPU seconds."""
    settings = [f"num_players=[{players}]", "num_threads=1", "device=cpu", f"seed={seed}"]
    settings += [f"max_seconds={seconds[-1]}", "total_steps=1e12"]
    trainer = make_trainer(load_config(f"{game}_ppo", settings))
    trainer.iterate()
    started = time.process_time()
    spent = 0.0
    for until in seconds:
        while spent < until:
            trainer.seconds = spent
            trainer.iterate()
            spent = time.process_time() - started
        before = time.process_time()
        yield spent, trainer.steps, trainer.agent(temperature=1.0)
        started += time.process_time() - before


SYSTEMS = {"APPO": appo, "train": ours}


def main() -> None:
    """Trains both, and prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=linkzoo.game_names())
    parser.add_argument("--seconds", type=float, nargs="+", default=[60, 120, 240])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=100)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("ray").setLevel(logging.ERROR)
    print("| game | system | CPU s | decisions | v random | v greedy |", flush=True)
    print("|---|---|---:|---:|---:|---:|")
    for game in args.games:
        players = linkzoo.get_game(game).min_players
        for name in args.systems:
            for spent, decisions, agent in SYSTEMS[name](game, players, args.seed, args.seconds):
                shares = []
                for opponent in (RandomAgent(), GreedyAgent()):
                    match = play_match(
                        game, agent, opponent, args.blocks, openings=START, num_players=players
                    )
                    share = match.win_share()
                    shares.append(f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}]")
                row = [game, name, f"{spent:.0f}", f"{decisions:,}", *shares]
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
