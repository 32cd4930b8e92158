"""What several commands do: choose the game and the workers, show progress, write JSON.

Importing it loads no torch, so that wrong input is answered at once.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from linkzoo import game_names
from linkzoo_training.agents.specs import source_of
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.selfplay.executors import EXECUTORS, Executor

T = TypeVar("T")


def executor_of(parsed: argparse.Namespace) -> Executor | None:
    """The executor of a command; None if the command is to do everything itself."""
    if parsed.executor == "local":
        if parsed.workers is not None:
            raise ValueError(f"--workers {parsed.workers}: name an --executor for them")
        return None
    return EXECUTORS[parsed.executor](2 if parsed.workers is None else parsed.workers)


def game_of(chosen: str | None, agent: str) -> str:
    """The game that was chosen, else the one of a checkpoint, else the first."""
    from linkzoo_training.checkpoint import load_card

    source = source_of(agent)
    if chosen is not None or source is None or source == "checkpoint":
        return chosen or game_names()[0]
    try:
        return str(load_card(find_checkpoint(source))["game"])
    except ValueError:
        return game_names()[0]  # there is no such agent in any game, which make_agent explains


def share_rows() -> None:
    """Has the threads of this program share the rows that networks are asked about (`shards`)."""
    from linkzoo.engine.threads import get_num_threads
    from linkzoo_training import shards

    shards.use(get_num_threads())


def write_json(path: Path | None, data: dict[str, Any]) -> None:
    """Writes JSON data to a file, if one is given."""
    from linkzoo.core.files import write_atomically

    if path is not None:
        write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


def with_progress(what: str, run: Callable[[Callable[[int, int], None]], T]) -> T:
    """Runs `run(progress)` and shows how far it is, on a terminal."""
    columns = *Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        return run(lambda finished, total: bar.update(task, completed=finished, total=total))
