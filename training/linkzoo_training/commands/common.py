"""Options, ranges, progress and files shared by several commands.

Importing this module loads neither torch nor rich, so help and invalid options are answered fast.
"""

import platform
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeVar

from linkzoo import Game, game_names
from linkzoo.core.arguments import shown
from linkzoo.core.urls import fetched, is_url
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.agents.specs import BASELINES, AgentSpec
from linkzoo_training.selfplay.executors import EXECUTORS, Executor
from linkzoo_training.storage import output_file, output_folder

if TYPE_CHECKING:
    from linkzoo.exact import GameTree

GAMES = f"{', '.join(game_names())}, or module:name or FILE.py:name of a custom game"
AGENTS = (
    f"{BASELINES}, "
    "checkpoint (the game's shipped policy), a checkpoint's name or folder with optional suffixes "
    "@N (symmetric views), ~T (temperature) and :N (simulations per move), llm:MODEL (a language "
    "model, with settings such as llm:MODEL,base_url=http://localhost:8000/v1), or a custom agent, "
    "FILE.py:NAME or module:NAME"
)

OPENINGS = "2-4 in long games without chance, else 0"  # by default
_WORKERS = 2  # by default

Number = TypeVar("Number", int, float)
Progress = Callable[[str, int, int], None]


def number(
    low: int, high: int, kind: Callable[[Any], Number], noun: str = "a number"
) -> Callable[[str], Number]:
    """Returns an argparse type: a number of this kind in low..high."""

    def convert(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = kind(low - 1)
        if not low <= value <= high:
            raise ArgumentTypeError(f"{shown(text)} is not {noun} in {low}..{high}")
        return value

    return convert


def whole(low: int, high: int) -> Callable[[str], int]:
    """Returns an argparse type: an integer in low..high, such as 20000 or 2e4."""
    return number(low, high, _integer, "an integer")


def _integer(text: Any) -> int:
    try:
        return int(text)
    except ValueError:
        if not float(text).is_integer():
            raise
        return int(float(text))


SEED = whole(0, 2**64 - 1)  # an argparse type


def continued_file(text: str) -> Path:
    """An argparse type: a writable file; the command continues or refuses an existing one.

    It is checked before the command runs, so that no result is lost. For a URL it is the local file
    that is sent there.
    """
    if is_url(text):
        return _stored(output_file, text)
    path = Path(text)
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder")
    if path.exists() and not path.is_file():
        raise ArgumentTypeError(f"{path} is not a regular file, and would be replaced")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"{path}: there is no folder {path.parent}")
    _check_writable(path, path.parent)
    return path


def new_file(text: str) -> Path:
    """An argparse type: a writable file that doesn't exist yet."""
    path = continued_file(text)
    if path.exists():
        raise ArgumentTypeError(f"{text} exists: name another file, or delete it")
    return path


def continued_folder(text: str) -> Path:
    """An argparse type: a writable folder, or its URL; the command keeps or refuses its files."""
    if is_url(text):
        return _stored(output_folder, text)
    folder = Path(text)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise ArgumentTypeError(f"{folder}: {existing} is not a folder")
    _check_writable(folder, existing)
    return folder


def new_folder(text: str) -> Path:
    """An argparse type: a writable folder that is empty or doesn't exist yet."""
    folder = continued_folder(text)
    if folder.is_dir() and any(folder.iterdir()):
        raise ArgumentTypeError(f"{text} isn't empty: name another folder")
    return folder


def _stored(make: Callable[[str], Path], url: str) -> Path:
    """Returns the local file or folder of a URL; ArgumentTypeError if it can't be written."""
    try:
        return make(url)
    except Exception as error:  # each kind of store raises its own
        raise ArgumentTypeError(f"{url} can't be written: {error}") from error


def input_path(text: str) -> Path:
    """An argparse type: a file or folder, or the local copy of a URL."""
    try:
        return Path(fetched(text))
    except Exception as error:  # each kind of store raises its own
        raise ArgumentTypeError(f"{text} can't be read: {error}") from error


def _check_writable(path: Path, folder: Path) -> None:
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ArgumentTypeError(f"{path} can't be written: {error.strerror}") from error


def add_game(parser: ArgumentParser, default: str | None = None) -> None:
    """Adds `--game`; without a default it is None and `game_of` decides."""
    shown_default = default or f"the checkpoint's game, else {game_names()[0]}"
    parser.add_argument("--game", default=default, help=f"game: {GAMES} (default: {shown_default})")


def add_players(parser: ArgumentParser, default: str = "the game's minimum") -> None:
    """Adds `--players`; the range depends on the game."""
    parser.add_argument("--players", type=int, help=f"number of players (default: {default})")


def add_score_margin_weight(parser: ArgumentParser) -> None:
    """Adds `--score-margin-weight`."""
    parser.add_argument(
        "--score-margin-weight",
        type=number(0, 100, float),
        default=0.5,
        metavar="WEIGHT",
        help="weight of score margins beside payoffs (default: %(default)s)",
    )


def add_settings(parser: ArgumentParser) -> None:
    """Adds `OPTION=VALUE`."""
    text = "game options, such as skip_forced=true (default: the standard options)"
    parser.add_argument("settings", metavar="OPTION=VALUE", nargs="*", help=text)


def add_openings(parser: ArgumentParser, default: str = OPENINGS) -> None:
    """Adds `--openings`; the range depends on the game."""
    text = "random plies before each game, such as 0 or 2-4, or a file of positions, one per block"
    parser.add_argument("--openings", metavar="PLIES|FILE", help=f"{text} (default: {default})")


def add_simulations(parser: ArgumentParser) -> None:
    """Adds `--simulations`."""
    text = "simulations per move of checkpoints without :N (default: no search)"
    parser.add_argument("--simulations", type=whole(1, 10**6), metavar="N", help=text)


def add_json(parser: ArgumentParser) -> None:
    """Adds `--json`."""
    text = "new JSON file of the result (default: none)"
    parser.add_argument("--json", type=new_file, metavar="FILE", help=text)


def add_executor(parser: ArgumentParser, work: str) -> None:
    """Adds `--executor` and `--workers`, which `make_executor` reads; `work` names the tasks."""
    text = f"place of the {work}: this process, worker processes or Ray (default: %(default)s)"
    parser.add_argument("--executor", choices=list(EXECUTORS), default="local", help=text)
    text = f"number of workers (default: {_WORKERS})"
    parser.add_argument("--workers", type=whole(1, 1024), metavar="N", help=text)


def make_executor(args: Namespace) -> AbstractContextManager[Executor | None]:
    """Returns a context manager that yields the executor; None plays in this process."""
    if args.executor == "local":
        if args.workers is not None:
            raise ValueError(f"--workers {args.workers}: needs --executor processes or ray")
        return nullcontext()
    return EXECUTORS[args.executor](args.workers or _WORKERS)


def game_of(chosen: str | None, agent: AgentSpec) -> str:
    """Returns the chosen game, else the game of a checkpoint, else the first game."""
    if chosen is not None:
        return chosen
    game = game_names()[0]
    with suppress(ValueError):  # make_agent raises the error
        game = agent.card(game).get("game", game)
    return game


def player_counts(chosen: int | None, game: Game) -> tuple[int, ...]:
    """Returns the chosen number of players, else each number that the game allows."""
    if chosen is not None:
        return (chosen,)
    return tuple(range(game.min_players, game.max_players + 1))


def is_setting(text: str) -> bool:
    """Returns whether a text has the form `OPTION=VALUE`."""
    return re.match(r"[\w.]+=", text) is not None


def separate_settings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words that are no settings, and the settings.

    argparse gives a list of names all the words, also those of `OPTION=VALUE` behind it.
    """
    names = [word for word in words if not is_setting(word)]
    settings = [word for word in words if is_setting(word)]
    return names, settings


def options_of(settings: Sequence[str], game: str, *agents: AgentSpec) -> dict[str, Any]:
    """Returns the options of settings; by default the board or cards of a checkpoint that plays."""
    from linkzoo_training.config.fields import read_options

    fixed: dict[str, Any] = {}
    for spec in agents:
        spec.check(game)
        fixed = fixed or spec.fixed(game)
    return fixed | read_options(settings)


def add_max_nodes(parser: ArgumentParser) -> None:
    """Adds `--max-nodes`."""
    text = "positions of the tree at most; 5 million take 5 GB (default: %(default)s)"
    parser.add_argument(
        "--max-nodes", type=whole(1, 5 * 10**7), default=10**7, metavar="N", help=text
    )


def tree_of(game: str, args: Namespace, *agents: AgentSpec) -> "GameTree":
    """Returns the tree that `settings`, `--players` and `--max-nodes` name, and prints its size."""
    from linkzoo import exact

    options = options_of(args.settings, game, *agents)
    with progress_bar() as show:
        tree = exact.tree(
            game,
            args.players,
            options,
            max_nodes=args.max_nodes,
            progress=lambda nodes: show("positions", nodes, args.max_nodes),
        )
    print(f"{tree.num_nodes:,} positions, {tree.num_infosets:,} information sets")
    return tree


def share_rows() -> None:
    """Lets this process's threads share network batches (see `shards`)."""
    from linkzoo_training.networks import shards  # loads torch

    shards.use(get_num_threads())


def processor() -> str:
    """Returns the name of the processor, as well as this system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        match = re.search(r"^model name\s*: (.+)$", info.read_text(encoding="utf-8"), re.MULTILINE)
        if match:
            return f"{match[1]}, {platform.system()}"
    return f"{platform.processor() or platform.machine()}, {platform.system()}"


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yields `show(label, done, total)`, a progress bar if stderr is a terminal."""
    from rich import progress
    from rich.console import Console

    columns = [
        *progress.Progress.get_default_columns()[:2],
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    ]
    console = Console(stderr=True)
    bar = progress.Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=None)
    # A hidden bar of rich before 14 ends with an empty line.
    with bar if console.is_terminal else nullcontext():
        yield lambda label, done, total: bar.update(
            task, description=label, completed=done, total=total
        )
