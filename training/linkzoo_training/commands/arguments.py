"""What each command takes: `parser` reads a command line, and names the module that does it."""

import argparse
from collections.abc import Callable
from pathlib import Path

from linkzoo import game_names, __version__
from linkzoo_training.selfplay.executors import EXECUTORS

_GAMES = f"{', '.join(game_names())}, or module:name of a game from outside"
_PLAYERS = "number of players; default: the game's smallest"
_AGENTS = (
    "random, greedy, uct-N, cheat-N, mc-N, exact, checkpoint, a checkpoint's name or folder, which "
    "may end in @N (symmetric views), ~T (temperature), :N (simulations); or FILE.py:NAME or "
    "module:NAME, an agent of your own"
)


def parser() -> argparse.ArgumentParser:
    """The parser of `linkzoo`; what it gives has the `module` of the command."""
    linkzoo = argparse.ArgumentParser(
        prog="linkzoo", description="self-play training on tabletop games"
    )
    linkzoo.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    commands = linkzoo.add_subparsers(required=True, metavar="COMMAND")
    for name, (add_arguments, what) in _COMMANDS.items():
        command = commands.add_parser(name, help=what)
        add_arguments(command)
        command.set_defaults(module=name.replace("-", "_"))
    return linkzoo


def _train(command: argparse.ArgumentParser) -> None:
    command.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a preset")
    command.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="changes fields")
    command.add_argument("--resume", action="store_true", help="continue where the run stopped")
    command.add_argument("--folder", type=Path, help="of the run; default: runs/NAME")
    _add_executor(command, "play the games")


def _best_response(command: argparse.ArgumentParser) -> None:
    command.add_argument("agent", metavar="AGENT", help=_AGENTS)
    command.add_argument(
        "settings", metavar="FIELD=VALUE", nargs="*", help="changes fields of the training"
    )
    command.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    command.add_argument(
        "--players", type=int, help="number of players; default: every one of the game"
    )
    command.add_argument("--steps", type=int, help="the budget; default: the configuration's")
    command.add_argument("--seconds", type=float, help="stop training after so many")
    command.add_argument("--config", help="default: the game's quick preset for PPO")
    command.add_argument(
        "--games", type=int, default=1000, help="of the match, rounded up to whole blocks; 1000"
    )
    command.add_argument("--openings", help="as in evaluate")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the result there")
    command.add_argument("--resume", action="store_true", help="continue where the run stopped")


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument("a", metavar="A", help=_AGENTS)
    command.add_argument(
        "b",
        metavar="B",
        nargs="?",
        help="its opponent; not needed with --ladder or --solved-positions",
    )
    command.add_argument(
        "--ladder", action="store_true", help="play every agent of the game's ladder"
    )
    command.add_argument(
        "--solved-positions",
        action="store_true",
        help="report A's blunder rate on the game's solved positions",
    )
    command.add_argument(
        "--card",
        action="store_true",
        help="write the results of --ladder and --solved-positions into the checkpoint's card",
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
    command.add_argument("--batch", type=int, default=64, help="blocks played side by side; 64")
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
    command.add_argument("--game", default=game_names()[0], help=_GAMES)
    command.add_argument("--players", type=int, help=_PLAYERS)
    command.add_argument(
        "--games", type=int, default=200, help="of each match, rounded up to blocks; %(default)s"
    )
    command.add_argument("--seed", type=int, default=0, help="of the matches; %(default)s")
    command.add_argument("--openings", help="as in evaluate")
    _add_simulations(command)
    _add_executor(command, "play the matches")
    command.add_argument(
        "--output",
        type=Path,
        default=Path("runs/tournament"),
        metavar="FOLDER",
        help="default: %(default)s",
    )


def _play(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", metavar="GAME", help=_GAMES)
    command.add_argument("--opponent", default="checkpoint", help=_AGENTS)
    _add_simulations(command)
    command.add_argument("--seat", type=int, default=0, help="where you sit; %(default)s")
    command.add_argument("--seed", type=int, help="of the game; default: another one each time")
    command.add_argument(
        "--record", type=Path, metavar="PATH", help="save the game there: a file, or a folder"
    )
    _add_variant(command)


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="default: %(default)s; any other address needs the printed token",
    )
    command.add_argument(
        "--port", type=int, default=8765, help="default: %(default)s; 0: any free one"
    )
    command.add_argument(
        "--record",
        type=Path,
        dest="records",
        default=Path("runs/games"),
        metavar="FOLDER",
        help="where games are saved; default: %(default)s",
    )
    command.add_argument(
        "--add-game",
        action="append",
        default=[],
        metavar="GAME",
        help="also offer this game, module:name",
    )
    command.add_argument(
        "--add-agent",
        action="append",
        default=[],
        metavar="AGENT",
        help="also offer this agent: FILE.py:NAME, module:NAME or a checkpoint's folder",
    )


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="RECORD", help="a game saved by --record")
    command.add_argument("--html", type=Path, metavar="FILE", help="write one self-contained page")
    command.add_argument(
        "--agent",
        metavar="CHECKPOINT",
        help="whose values the page shows as a curve; default: the game's, if one ships",
    )
    command.add_argument("--gif", type=Path, metavar="FILE", help="write an animation")
    command.add_argument(
        "--png", type=Path, metavar="FOLDER", help="write a picture of every position"
    )
    command.add_argument(
        "--width", type=int, default=640, help="of pictures, in pixels; default: %(default)s"
    )
    command.add_argument(
        "--milliseconds",
        type=int,
        default=900,
        help="for each position of the GIF; default: %(default)s",
    )


def _bench(command: argparse.ArgumentParser) -> None:
    command.add_argument("--game", default=game_names()[0], help=_GAMES)
    command.add_argument("--players", type=int, help=_PLAYERS)
    command.add_argument(
        "--device",
        choices=["cpu", "cuda"],
        default="cpu",
        help="where games are played; cuda measures games in lock-step alone; default: %(default)s",
    )


def _export(command: argparse.ArgumentParser) -> None:
    command.add_argument("checkpoint", metavar="CHECKPOINT", help="its name or folder")
    command.add_argument(
        "--onnx", type=Path, metavar="FILE", required=True, help="where to write it"
    )


def _compile_ahead(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="GAME", nargs="*", help="default: all")


def _add_executor(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--executor",
        choices=list(EXECUTORS),
        default="local",
        help=f"where to {what}: this process, worker processes, or Ray; default: %(default)s",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="of the executor; default: 2")


def _add_simulations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="checkpoints search with N simulations per decision; default: no search",
    )


def _add_variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--players", type=int, help=_PLAYERS)
    parser.add_argument(
        "settings", metavar="OPTION=VALUE", nargs="*", help="of the game, such as skip_forced=true"
    )


_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "train": (_train, "train a policy by self-play"),
    "best-response": (_best_response, "train a best response to an agent"),
    "evaluate": (_evaluate, "measure an agent: in matches or on solved positions"),
    "tournament": (_tournament, "play every agent against every other, with ratings"),
    "play": (_play, "play against an agent in the terminal"),
    "serve": (_serve, "play, watch and replay in the browser"),
    "replay": (_replay, "show a recorded game as a page or as pictures"),
    "bench": (_bench, "measure this machine's speed"),
    "export": (_export, "write a checkpoint's network to a file that needs no torch"),
    "compile": (_compile_ahead, "compile games ahead of their first use"),
}
