"""`linkzoo experiment rate`: ratings against the frozen reference of a game."""

from argparse import ArgumentParser, Namespace
from functools import partial
from math import ceil
from pathlib import Path

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common
from linkzoo_training.evaluation.rating_files import (
    RatingResult,
    check_folder,
    question,
    rate,
    read_folder,
    write_page,
)
from linkzoo_training.evaluation.reference import Reference, read_reference
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor

HELP = "rate agents at fixed tables of frozen opponents, and show the ratings as a page"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("agents", metavar="AGENT", nargs="*", help=f"agents to rate: {common.AGENTS}")
    common.add_game(parser)
    common.add_players(parser, "each number that the game allows")
    text = "games at most, rounded up to whole blocks (default: the reference's, about 4,800)"
    add("--games", type=common.whole(1, 10**8), metavar="N", help=text)
    text = "play the games of a rating's file again, and compare the results"
    add("--repeat", type=Path, metavar="RATING", help=text)
    text = "folder for a file of each rating and the page index.html of all; finished ratings "
    text += "there are kept (default: %(default)s)"
    folder = "runs/ratings"
    add("--folder", type=common.continued_folder, default=folder, metavar="FOLDER", help=text)
    common.add_executor(parser, "games")


def run(args: Namespace) -> int:
    """Writes and prints each rating, then the page."""
    if args.repeat is not None and args.agents:
        raise ValueError("--repeat: the file names the agent")
    if args.repeat is None and not args.agents:
        raise ValueError("rate: name an agent, or --repeat and a rating's file")
    check_folder(args.folder)
    common.share_rows()
    with common.make_executor(args) as executor:
        if executor is not None:
            executor.start(TaskWorker)
        if args.repeat is not None:
            return _repeat(RatingResult.read(args.repeat), executor)
        for name in args.agents:
            _rate_in_all(args, AgentSpec.parse(name), executor)
    print(write_page(read_folder(args.folder), args.folder))
    return 0


def _rate_in_all(args: Namespace, spec: AgentSpec, executor: Executor | None) -> None:
    """Rates an agent with each number of players."""
    reference = read_reference(common.game_of(args.game, spec))
    for players in common.player_counts(args.players, reference.rules):
        result = _rate(args, reference, players, spec, executor)
        print(_line(result), flush=True)


def _rate(
    args: Namespace,
    reference: Reference,
    players: int,
    spec: AgentSpec,
    executor: Executor | None,
) -> RatingResult:
    """Returns a rating from the folder, else a new one, which it writes there."""
    blocks = reference.blocks.get(players, 0)  # `rate` refuses other numbers of players
    if args.games is not None:
        blocks = min(blocks, ceil(args.games / reference.games_of_a_block(players)))
    agent = reference.agent(spec)
    path = args.folder / RatingResult.name_of(reference.game, players, agent.name)
    if path.exists():
        known = RatingResult.read(path)
        if not known.answers(question(reference, players, agent, blocks)):
            raise ValueError(f"{path} is of another agent or other games: name another folder")
        return known
    with common.progress_bar() as show:
        result = rate(
            reference,
            players,
            spec,
            blocks=blocks,
            processor=common.processor(),
            progress=partial(show, f"blocks, {players} players"),
            executor=executor,
        )
    result.write(args.folder)
    return result


def _repeat(known: RatingResult, executor: Executor | None) -> int:
    """Plays the games of a rating again; returns 1 if the ratings are further apart than chance."""
    reference = read_reference(known.game)
    if reference.version != known.reference:
        raise ValueError(
            f"the reference of {known.game} is version {reference.version}, the rating is of "
            f"{known.reference}: use linkzoo {known.made_with.get('linkzoo')}"
        )
    with common.progress_bar() as show:
        result = rate(
            reference,
            known.players,
            known.agent,
            blocks=known.blocks,
            progress=partial(show, "blocks"),
            executor=executor,
        )
    print(_line(result))
    if result.results == known.results:
        print("the same games")
        return 0
    print(f"other games; the file has {_points(known)}")
    overlap = result.rating.low <= known.rating.high and known.rating.low <= result.rating.high
    print("the intervals overlap" if overlap else "the intervals don't overlap")
    return 0 if overlap else 1


def _line(result: RatingResult) -> str:
    """Returns a rating as a line."""
    text = f"{result.agent} in {result.game}, {result.players} players: {_points(result)}"
    if result.changed_opponents:
        text += f"; opponents that play otherwise now: {', '.join(result.changed_opponents)}"
    return text


def _points(result: RatingResult) -> str:
    """Returns the rating with its interval and games."""
    mean, low, high = result.rating
    return f"{mean:.0f} [{low:.0f}, {high:.0f}], {result.games:,} games"
