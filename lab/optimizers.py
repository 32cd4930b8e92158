"""Compares AdamW and Muon on the same samples for the same number of minutes.

`python -m lab.optimizers PRESET adamw:1.5e-3 muon:6e-3 --play 5 --minutes 5` plays with an
AlphaZero preset's initial policy, with the settings of its last stage. A new network then learns
the same samples with each optimiser (NAME:RATE, linear decay to a fiftieth). Prints a row of
Markdown for each: on held-out games (played for an eighth of the time), after each quarter of the
time, the KL divergence of its policy from the search's in nats, how often its most probable action
is the search's, and the error of its values.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from linkzoo import Positions
from linkzoo_training.algorithms.alphazero import WEIGHT_DECAY, AlphaZeroTrainer
from linkzoo_training.algorithms.optimizers import Optimizers
from linkzoo_training.config.config import AlphaZeroConfig, load_config
from linkzoo_training.config.schedule import Schedule
from linkzoo_training.networks.flat import decayed
from linkzoo_training.selfplay.replay import Samples, join

_QUARTERS = 4
_PART = 16_384  # samples per call of `learn`


def played(config: AlphaZeroConfig, seed: int, seconds: float) -> Samples:
    """Returns self-play samples of the preset's initial policy."""
    trainer = AlphaZeroTrainer(replace(config, seed=seed, num_envs=512))
    parts: list[Samples] = []
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or not any(map(len, parts)):
        parts.append(trainer.play.collect(trainer.behaviour_policy, trainer.pool, 1.0, len(parts)))
    return join(parts)


def judged(trainer: AlphaZeroTrainer, samples: Samples) -> tuple[float, float, float]:
    """Returns KL divergence, agreement of the best action, and value error on held-out samples."""
    positions = Positions(trainer.game, samples.states.copy(), np.zeros(len(samples), np.uint64))
    logits, values = trainer.agent().evaluate(positions)
    policy = torch.from_numpy(samples.policy.astype(np.float32))
    policy /= policy.sum(-1, keepdim=True)
    gain = policy.clamp(min=1e-30).log() - torch.log_softmax(logits, -1)
    chosen = policy.gather(1, logits.argmax(-1, keepdim=True)).squeeze(1)
    agrees = chosen >= policy.amax(-1) - 1e-3  # the solver's moves are equally good
    error = values - torch.from_numpy(trainer.targets(samples))
    return (
        float((policy * gain).sum(-1).mean()),
        float(agrees.float().mean()),
        float(error.square().mean()),
    )


def learned(
    config: AlphaZeroConfig, name: str, rate: float, samples: Samples, seconds: float
) -> Iterator[AlphaZeroTrainer]:
    """Yields the network after each quarter of the time; an iteration learns one part."""
    plies = config.num_envs * config.horizon
    fresh = replace(config, initial_checkpoint=None, learning_rate=Schedule(rate, rate / 50))
    number = max(1, len(samples) // _PART)
    parts = [samples[k::number] for k in range(number)]

    def begun(iterations: int) -> AlphaZeroTrainer:
        trainer = AlphaZeroTrainer(replace(fresh, total_steps=iterations * plies))
        if name == "adamw":
            parameters = decayed(trainer.parameters, WEIGHT_DECAY)
            trainer.optimizers = Optimizers(adam=torch.optim.AdamW(parameters, lr=rate, fused=True))
        return trainer

    trial, tried = begun(1), parts[:3]
    trial.learn(parts[0])  # compiles
    started = time.perf_counter()
    for part in tried:
        trial.learn(part)
    count = max(_QUARTERS, round(seconds * len(tried) / (time.perf_counter() - started)))
    trainer = begun(count)
    for k in range(count):
        trainer.learn(parts[k % len(parts)])
        trainer.end_iteration()
        if (k + 1) * _QUARTERS // count > k * _QUARTERS // count:
            yield trainer


def optimizer(text: str) -> tuple[str, float]:
    """Parses an optimiser's name and learning rate."""
    name, _, rate = text.partition(":")
    if name not in ("adamw", "muon"):
        raise argparse.ArgumentTypeError(f"{name!r} is not adamw or muon")
    try:
        return name, float(rate)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {rate!r} is no learning rate") from error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset")
    parser.add_argument("optimizers", nargs="+", metavar="NAME:RATE", type=optimizer)
    parser.add_argument("--set", nargs="*", default=[], metavar="FIELD=VALUE", dest="settings")
    parser.add_argument("--play", type=float, default=5.0, metavar="MINUTES")
    parser.add_argument("--minutes", type=float, default=5.0)
    arguments = parser.parse_args()
    config = load_config(arguments.preset, arguments.settings)
    if not isinstance(config, AlphaZeroConfig):
        parser.error(f"{arguments.preset} is no preset of AlphaZero")
    samples = played(config, 1, 60 * arguments.play)
    held_out = played(config, 2, 60 * arguments.play / 8)
    print(f"{len(samples):,} samples, {len(held_out):,} held out\n")
    columns = ["optimiser", "KL after each quarter", "best action", "values"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for name, rate in arguments.optimizers:
        found = [
            judged(trainer, held_out)
            for trainer in learned(config, name, rate, samples, 60 * arguments.minutes)
        ]
        divergences = ", ".join(f"{divergence:.3f}" for divergence, _, _ in found)
        _, agrees, error = found[-1]
        print(
            f"| {name}:{rate:g} | {divergences} | {100 * agrees:.1f} % | {error:.4f} |", flush=True
        )


if __name__ == "__main__":
    main()
