"""`linkzoo tournament`."""

import argparse
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress

from linkzoo import get_game
from linkzoo_training.agents.specs import check_agent, make_agent, searching
from linkzoo_training.commands.common import executor_of, share_rows
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.match import blocks_of
from linkzoo_training.evaluation.tournament import Tournament, write
from linkzoo_training.evaluation.tournament import run as play_tournament


def run(parsed: argparse.Namespace) -> None:
    """Plays what isn't played yet and shows the ratings."""
    names = tuple(searching(spec, parsed.simulations) for spec in parsed.agents)
    openings: str | None = parsed.openings
    options: Mapping[str, Any] = {}
    if parsed.ladder:
        ladder = read_ladder(parsed.game)
        names = (*ladder.rungs, *names)
        openings = ladder.openings if openings is None else openings
        options = ladder.options[0]
    rules = get_game(parsed.game)
    players = int(rules.blank(parsed.players).num_players)
    blocks = blocks_of(rules, players, parsed.games, options)
    settings = Tournament(parsed.game, names, blocks, parsed.seed, players, openings, options)
    share_rows()
    make = partial(make_agent, game=parsed.game)
    for name in names:  # raises before the first match
        check_agent(name, parsed.game, human=False)
        make(name)
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with (
        executor_of(parsed) or nullcontext() as executor,
        Progress(console=console, transient=True, disable=hidden) as bar,
    ):
        task = bar.add_task("matches", total=len(settings.pairs()))

        def progress(match: str, finished: int, count: int) -> None:
            bar.update(task, description=match, completed=finished, total=count)

        pairings = play_tournament(settings, make, parsed.output, progress, executor)
    Console().print(Markdown(write(settings, pairings, parsed.output)))
    for name in ("ratings.md", "ratings.json", "ratings.png"):
        print(parsed.output / name)
