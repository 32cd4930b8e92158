"""The `linkzoo` command: what it takes. The module named after a command does it."""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from linkzoo import __version__, games
from linkzoo.fields import integer
from linkzoo_training.agents.human import QuitError
from linkzoo_training.selfplay.executors import EXECUTORS

_GAMES = f"{', '.join(games)}, or module:name of a game elsewhere"

# What numbers may be; of others it depends on the game.
_RANGES = {
    "seed": (0, 2**64 - 1),
    "games": (1, 10**8),
    "batch": (1, 2**20),
    "simulations": (1, 10**6),
    "workers": (1, 1024),
    "port": (0, 2**16 - 1),
    "width": (16, 4096),
    "milliseconds": (20, 60_000),
}
_MOST_ELO = 4000

_NEEDED = "filelock matplotlib openskill pydantic rich safetensors tensorboard torch yaml".split()
_AGENTS = (
    "random, greedy, uct-N, cheat-N, exact, checkpoint, a checkpoint's name or folder; @N behind "
    "it: views, ~T: temperature, :N: simulations; FILE.py:NAME or module:NAME for one of your own"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    It is 0, 2 for a user's error, 130 for an interruption (Ctrl-C); a training that saved and
    stopped gives 130 too, or 143 if it was a TERM signal that asked it to.
    """
    parser = _parser()
    parsed, rest = parser.parse_known_args(arguments)
    # argparse takes positional arguments in one go, but settings may also stand behind options.
    unknown = [text for text in rest if "settings" not in parsed or not re.match(r"[\w.]+=", text)]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        parsed.settings = [*parsed.settings, *rest]
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"linkzoo: {', '.join(missing)} not installed: pip install 'linkzoo[train]'",
            file=sys.stderr,
        )
        return 2
    try:
        _check_ranges(parsed)
        command = import_module(f"linkzoo_training.commands.{parsed.module}")
        return command.run(parsed) or 0
    except (ValueError, OSError) as error:
        print(f"linkzoo: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, QuitError):
        return 130


def _check_ranges(parsed: argparse.Namespace) -> None:
    """ValueError naming the option and what is allowed, before anything is made."""
    for name, (low, high) in _RANGES.items():
        value = getattr(parsed, name, None)
        if value is not None:
            integer(f"--{name}", value, low, high)
    for elo in getattr(parsed, "sprt", None) or ():
        if not abs(elo) <= _MOST_ELO:
            raise ValueError(f"--sprt: {elo:g} is not in -{_MOST_ELO}..{_MOST_ELO}")
    for name in ("json", "record", "html", "gif"):
        if (path := getattr(parsed, name, None)) is not None:
            _check_writable(path / "game.json" if name == "record" and path.is_dir() else path)


def _check_writable(path: Path) -> None:
    """ValueError unless a file can be written there, so that no result is lost in the end."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"{path} can't be written: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="linkzoo", description="tabletop games and self-play")
    parser.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a policy by self-play")
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or a shipped one's name")
    train.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="overrides")
    train.add_argument("--resume", action="store_true", help="where the run stopped")
    _add_executor(train, "play the games")
    train.set_defaults(module="train")

    response = commands.add_parser("best-response", help="train a best response to an agent")
    response.add_argument("agent", metavar="AGENT", help=_AGENTS)
    response.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="of the training")
    response.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    response.add_argument("--players", type=int, help="default: every number of the game")
    response.add_argument("--steps", type=int, help="the budget; default: the configuration's")
    response.add_argument("--seconds", type=float, help="stop training after these")
    response.add_argument("--config", help="default: the game's quick one for PPO")
    response.add_argument("--games", type=int, default=1000, help="rounded up to whole blocks")
    response.add_argument("--openings", help="as in evaluate")
    response.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")
    response.add_argument("--resume", action="store_true", help="where the run stopped")
    response.set_defaults(module="best_response")

    evaluate = commands.add_parser(
        "evaluate", help="measure an agent: in matches or on solved positions"
    )
    evaluate.add_argument("a", metavar="A", help=_AGENTS)
    evaluate.add_argument(
        "b", metavar="B", nargs="?", help="the same; not needed with --ladder or --solved-positions"
    )
    evaluate.add_argument(
        "--ladder", action="store_true", help="against every agent of the game's ladder instead"
    )
    evaluate.add_argument(
        "--solved-positions",
        action="store_true",
        help="report A's blunder rate on the game's solved positions",
    )
    evaluate.add_argument(
        "--card",
        action="store_true",
        help="write what --ladder and --solved-positions find into the card of A, a checkpoint",
    )
    evaluate.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    evaluate.add_argument(
        "--games", type=int, help="rounded up to whole blocks; default: 1000, or the ladder's"
    )
    evaluate.add_argument("--seed", type=int, help="default: 0, or the ladder's")
    evaluate.add_argument(
        "--openings",
        help="random plies before a game begins, such as 0 or 2-4; default: 2-4, or the ladder's",
    )
    evaluate.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="stop when it is clear whether A is stronger than B by HIGH Elo rather than LOW",
    )
    _add_simulations(evaluate)
    evaluate.add_argument("--batch", type=int, default=64, help="blocks played side by side")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    _add_variant(evaluate)
    evaluate.set_defaults(module="evaluate")

    every = commands.add_parser("tournament", help="every agent against every other, with ratings")
    every.add_argument("agents", metavar="AGENT", nargs="*", help=_AGENTS)
    every.add_argument(
        "--ladder",
        action="store_true",
        help="with the agents, openings and options of the game's ladder",
    )
    every.add_argument("--game", default=games[0], help=_GAMES)
    every.add_argument("--players", type=int, help="default: the game's smallest number")
    every.add_argument("--games", type=int, default=200, help="of a match, rounded up to blocks")
    every.add_argument("--seed", type=int, default=0)
    every.add_argument("--openings", help="as in evaluate")
    _add_simulations(every)
    _add_executor(every, "play a match each")
    every.add_argument(
        "--output", type=Path, default=Path("runs/tournament"), metavar="FOLDER", help="%(default)s"
    )
    every.set_defaults(module="tournament")

    human = commands.add_parser("play", help="play against an agent in the terminal")
    human.add_argument("game", metavar="GAME", help=_GAMES)
    human.add_argument("--opponent", default="checkpoint", help=_AGENTS)
    _add_simulations(human)
    human.add_argument("--seat", type=int, default=0)
    human.add_argument("--seed", type=int, help="of the game's chance; new each time without it")
    human.add_argument(
        "--record", type=Path, metavar="PATH", help="save the game there: a file, or a folder"
    )
    _add_variant(human)
    human.set_defaults(module="play")

    _add_pages(commands)

    bench = commands.add_parser("bench", help="measure this machine's speed")
    bench.add_argument("--game", default=games[0], help=_GAMES)
    bench.add_argument("--players", type=int, help="default: the game's smallest number")
    bench.set_defaults(module="bench")

    ahead = commands.add_parser("compile", help="compile games ahead of their first use")
    ahead.add_argument("names", metavar="GAME", nargs="*", help="default: all")
    ahead.set_defaults(module="compile")
    return parser


def _add_pages(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """What shows games in a browser or as pictures."""
    serve = commands.add_parser("serve", help="play, watch and replay in the browser")
    serve.add_argument("--host", default="127.0.0.1", help="another than %(default)s has a token")
    serve.add_argument("--port", type=int, default=8765, help="0: any that is free; %(default)s")
    serve.add_argument(
        "--record",
        type=Path,
        dest="records",
        default=Path("runs/games"),
        metavar="FOLDER",
        help="where games are saved; %(default)s",
    )
    serve.add_argument(
        "--add-game", action="append", default=[], metavar="GAME", help="offer module:name too"
    )
    serve.add_argument(
        "--add-agent",
        action="append",
        default=[],
        metavar="AGENT",
        help="offer FILE.py:NAME, module:NAME or a checkpoint's folder too",
    )
    serve.set_defaults(module="serve")

    replay = commands.add_parser("replay", help="a recorded game as a page or as pictures")
    replay.add_argument("file", type=Path, metavar="RECORD", help="what --record has saved")
    replay.add_argument("--html", type=Path, metavar="FILE", help="one page, with all it needs")
    replay.add_argument("--gif", type=Path, metavar="FILE", help="an animation")
    replay.add_argument("--png", type=Path, metavar="FOLDER", help="a picture of every position")
    replay.add_argument(
        "--width", type=int, default=640, help="of pictures, in pixels; %(default)s"
    )
    replay.add_argument(
        "--milliseconds", type=int, default=900, help="that the GIF shows a position; %(default)s"
    )
    replay.set_defaults(module="replay")


def _add_executor(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--executor",
        choices=list(EXECUTORS),
        default="local",
        help=f"where workers {what}: this process, processes of this machine, Ray; %(default)s",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="default: 2")


def _add_simulations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="checkpoints search with so many for each decision; default: none",
    )


def _add_variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--players", type=int, help="default: the game's smallest number")
    parser.add_argument(
        "settings", metavar="OPTION=VALUE", nargs="*", help="of the game, such as skip_forced=true"
    )


if __name__ == "__main__":
    sys.exit(main())
