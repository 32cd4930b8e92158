"""What each command takes: `parser` reads a command line, and names the module that does it."""

import argparse
from collections.abc import Callable
from pathlib import Path

from linkzoo import __version__, games
from linkzoo_training.selfplay.executors import EXECUTORS

_GAMES = f"{', '.join(games)}, or module:name of a game elsewhere"
_AGENTS = (
    "random, greedy, uct-N, cheat-N, exact, checkpoint, a checkpoint's name or folder; @N behind "
    "it: views, ~T: temperature, :N: simulations; FILE.py:NAME or module:NAME for one of your own"
)


def parser() -> argparse.ArgumentParser:
    """The parser of `linkzoo`; what it gives has the `module` of the command."""
    linkzoo = argparse.ArgumentParser(prog="linkzoo", description="tabletop games and self-play")
    linkzoo.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    commands = linkzoo.add_subparsers(required=True, metavar="COMMAND")
    for name, (add_arguments, what) in _COMMANDS.items():
        command = commands.add_parser(name, help=what)
        add_arguments(command)
        command.set_defaults(module=name.replace("-", "_"))
    return linkzoo


def _train(command: argparse.ArgumentParser) -> None:
    command.add_argument("config", metavar="CONFIG", help="a YAML file, or a shipped one's name")
    command.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="overrides")
    command.add_argument("--resume", action="store_true", help="where the run stopped")
    _add_executor(command, "play the games")


def _best_response(command: argparse.ArgumentParser) -> None:
    command.add_argument("agent", metavar="AGENT", help=_AGENTS)
    command.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="of the training")
    command.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    command.add_argument("--players", type=int, help="default: every number of the game")
    command.add_argument("--steps", type=int, help="the budget; default: the configuration's")
    command.add_argument("--seconds", type=float, help="stop training after these")
    command.add_argument("--config", help="default: the game's quick one for PPO")
    command.add_argument("--games", type=int, default=1000, help="rounded up to whole blocks")
    command.add_argument("--openings", help="as in evaluate")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")
    command.add_argument("--resume", action="store_true", help="where the run stopped")


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument("a", metavar="A", help=_AGENTS)
    command.add_argument(
        "b", metavar="B", nargs="?", help="the same; not needed with --ladder or --solved-positions"
    )
    command.add_argument(
        "--ladder", action="store_true", help="against every agent of the game's ladder instead"
    )
    command.add_argument(
        "--solved-positions",
        action="store_true",
        help="report A's blunder rate on the game's solved positions",
    )
    command.add_argument(
        "--card",
        action="store_true",
        help="write what --ladder and --solved-positions find into the card of A, a checkpoint",
    )
    command.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    command.add_argument(
        "--games", type=int, help="rounded up to whole blocks; default: 1000, or the ladder's"
    )
    command.add_argument("--seed", type=int, help="default: 0, or the ladder's")
    command.add_argument(
        "--openings",
        help="random plies before a game begins, such as 0 or 2-4; default: 2-4, or the ladder's",
    )
    command.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="stop when it is clear whether A is stronger than B by HIGH Elo rather than LOW",
    )
    _add_simulations(command)
    command.add_argument("--batch", type=int, default=64, help="blocks played side by side")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    command.add_argument(
        "--record",
        type=Path,
        dest="records",
        metavar="FOLDER",
        help="save every game against B in a new or empty folder: BLOCK-A0.json has A on side 0",
    )
    _add_variant(command)


def _tournament(command: argparse.ArgumentParser) -> None:
    command.add_argument("agents", metavar="AGENT", nargs="*", help=_AGENTS)
    command.add_argument(
        "--ladder",
        action="store_true",
        help="with the agents, openings and options of the game's ladder",
    )
    command.add_argument("--game", default=games[0], help=_GAMES)
    command.add_argument("--players", type=int, help="default: the game's smallest number")
    command.add_argument("--games", type=int, default=200, help="of a match, rounded up to blocks")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--openings", help="as in evaluate")
    _add_simulations(command)
    _add_executor(command, "play a match each")
    command.add_argument(
        "--output", type=Path, default=Path("runs/tournament"), metavar="FOLDER", help="%(default)s"
    )


def _play(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", metavar="GAME", help=_GAMES)
    command.add_argument("--opponent", default="checkpoint", help=_AGENTS)
    _add_simulations(command)
    command.add_argument("--seat", type=int, default=0)
    command.add_argument("--seed", type=int, help="of the game's chance; new each time without it")
    command.add_argument(
        "--record", type=Path, metavar="PATH", help="save the game there: a file, or a folder"
    )
    _add_variant(command)


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--host", default="127.0.0.1", help="another than %(default)s has a token")
    command.add_argument("--port", type=int, default=8765, help="0: any that is free; %(default)s")
    command.add_argument(
        "--record",
        type=Path,
        dest="records",
        default=Path("runs/games"),
        metavar="FOLDER",
        help="where games are saved; %(default)s",
    )
    command.add_argument(
        "--add-game", action="append", default=[], metavar="GAME", help="offer module:name too"
    )
    command.add_argument(
        "--add-agent",
        action="append",
        default=[],
        metavar="AGENT",
        help="offer FILE.py:NAME, module:NAME or a checkpoint's folder too",
    )


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="RECORD", help="what --record has saved")
    command.add_argument("--html", type=Path, metavar="FILE", help="one page, with all it needs")
    command.add_argument(
        "--agent",
        metavar="CHECKPOINT",
        help="whose values the page shows as a curve; default: the game's, if one ships",
    )
    command.add_argument("--gif", type=Path, metavar="FILE", help="an animation")
    command.add_argument("--png", type=Path, metavar="FOLDER", help="a picture of every position")
    command.add_argument(
        "--width", type=int, default=640, help="of pictures, in pixels; %(default)s"
    )
    command.add_argument(
        "--milliseconds", type=int, default=900, help="that the GIF shows a position; %(default)s"
    )


def _bench(command: argparse.ArgumentParser) -> None:
    command.add_argument("--game", default=games[0], help=_GAMES)
    command.add_argument("--players", type=int, help="default: the game's smallest number")


def _export(command: argparse.ArgumentParser) -> None:
    command.add_argument("checkpoint", metavar="CHECKPOINT", help="its name or folder")
    command.add_argument("--onnx", type=Path, metavar="FILE", required=True, help="ONNX")


def _compile_ahead(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="GAME", nargs="*", help="default: all")


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


_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "train": (_train, "train a policy by self-play"),
    "best-response": (_best_response, "train a best response to an agent"),
    "evaluate": (_evaluate, "measure an agent: in matches or on solved positions"),
    "tournament": (_tournament, "every agent against every other, with ratings"),
    "play": (_play, "play against an agent in the terminal"),
    "serve": (_serve, "play, watch and replay in the browser"),
    "replay": (_replay, "a recorded game as a page or as pictures"),
    "bench": (_bench, "measure this machine's speed"),
    "export": (_export, "write a checkpoint's network to a file that needs no torch"),
    "compile": (_compile_ahead, "compile games ahead of their first use"),
}
