"""`linkzoo train`: self-play training of one configuration."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from linkzoo import get_game
from linkzoo_training.commands.common import add_executor, continued_folder, make_executor
from linkzoo_training.resources import STATE_FILE, file_exists

if TYPE_CHECKING:
    from linkzoo_training.config.config import AnyConfig

HELP = "train a policy by self-play"

_MINUTE = 60  # seconds
_HOUR = 3600


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "YAML file, name of a preset, or a game, for a configuration picked by its facts"
    add("config", metavar="CONFIG", help=text)
    text = "fields that override the configuration, such as seed=1 (default: none)"
    add("settings", metavar="FIELD=VALUE", nargs="*", help=text)
    add("--resume", action="store_true", help="continue a run that was stopped")
    text = "output folder of the run; one with a run needs --resume (default: runs/NAME)"
    add("--folder", type=continued_folder, metavar="FOLDER", help=text)
    text = "callback of the run, may be repeated (default: none)"
    add("--callback", metavar="FILE.py:NAME", action="append", default=[], help=text)
    text = "URL of a copy of the folder, such as s3://bucket/runs, for --resume elsewhere"
    add("--storage", metavar="URL", help=f"{text} (default: none)")
    add_executor(parser, "games")


def run(args: Namespace) -> int:
    """Trains; returns 0, or 128 plus the number of the signal that stopped it."""
    from linkzoo_training.config.config import load_config
    from linkzoo_training.config.standard import is_game

    config = load_config(args.config, args.settings)  # raises before torch is loaded
    if is_game(args.config):
        print(describe(config))
    from linkzoo_training.callbacks import load_callback
    from linkzoo_training.runtime import StopSignal
    from linkzoo_training.train import train

    folder = args.folder or Path("runs") / config.name
    if args.resume and not args.storage and not file_exists(folder / STATE_FILE):
        print(f"no run in {folder}: a new one begins")
    stop = StopSignal()
    with make_executor(args) as executor:
        train(
            config,
            folder=folder,
            resume=args.resume,
            executor=executor,
            stop=stop,
            callbacks=[load_callback(path) for path in args.callback],
            storage=args.storage,
        )
    return stop.exit_code


def describe(config: "AnyConfig") -> str:
    """Returns a line with the picked configuration and its reason."""
    hidden = {True: "something", False: "nothing"}[get_game(config.game, config.options).hides]
    return (
        f"picked for {config.game}, in which {hidden} is hidden: "
        f"algorithm={config.algorithm} network={config.network} ({config.width} wide, "
        f"{config.blocks} blocks), {_budget(config)}; change fields with FIELD=VALUE"
    )


def _budget(config: "AnyConfig") -> str:
    """Returns the end of a run in words."""
    from linkzoo_training.config.standard import UNLIMITED_STEPS

    limits = []
    if config.max_seconds is not None:
        limits.append(duration(config.max_seconds))
    if config.total_steps < UNLIMITED_STEPS:
        limits.append(f"{config.total_steps:,} steps")
    return " or ".join(limits) or "until Ctrl-C"


def duration(seconds: float) -> str:
    """Returns a time in words, in the unit that suits it: `10 seconds`, `30 minutes`."""
    if seconds < _MINUTE:
        amount, unit = seconds, "second"
    elif seconds < 2 * _HOUR:
        amount, unit = seconds / _MINUTE, "minute"
    else:
        amount, unit = seconds / _HOUR, "hour"
    text = f"{amount:.3g}"
    if text != "1":
        unit += "s"
    return f"{text} {unit}"
