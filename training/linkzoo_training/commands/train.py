"""`linkzoo train`."""

import argparse
from contextlib import nullcontext

from linkzoo_training.commands.common import executor_of
from linkzoo_training.config import load_config


def run(parsed: argparse.Namespace) -> int:
    """Trains; 128 and the number of the signal that stopped it, else 0."""
    config = load_config(parsed.config, parsed.settings)
    from linkzoo_training.runtime import StopSignal  # loads torch
    from linkzoo_training.train import train

    stop = StopSignal()
    with executor_of(parsed) or nullcontext() as executor:
        train(config, folder=parsed.folder, resume=parsed.resume, executor=executor, stop=stop)
    return stop.exit_code
