"""`linkzoo experiment league`: rates the snapshots of runs that play against each other."""

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from linkzoo import get_game
from linkzoo.core.urls import is_url
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common
from linkzoo_training.evaluation.match import blocks_of
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.storage import stored_name

HELP = "rate the snapshots of a league of runs"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "folder of the league (pool.league)"
    add("folder", type=common.continued_folder, metavar="FOLDER", help=text)
    text = f"other agents to rate beside the snapshots (default: none): {common.AGENTS}"
    add("agents", metavar="AGENT", nargs="*", help=text)
    text = "rate snapshots at multiples of N iterations (default: all)"
    add("--every", type=common.whole(1, 10**9), default=1, metavar="N", help=text)
    common.add_players(parser)
    text = "games per match, rounded up to whole blocks (default: %(default)s)"
    add("--games", type=common.whole(1, 10**8), default=100, metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the matches (default: %(default)s)")
    common.add_openings(parser)
    common.add_executor(parser, "matches")
    text = "rate new snapshots every SECONDS until Ctrl-C (default: once)"
    add("--watch", type=common.number(1, 10**6, float), metavar="SECONDS", help=text)


def run(args: Namespace) -> None:
    """Plays the missing matches and writes ratings and a picture, once or until Ctrl-C."""
    url = stored_name(args.folder)
    if args.watch is not None and is_url(url):
        raise ValueError(f"--watch: needs a folder, not {url}")
    _rate(args)
    while args.watch is not None:
        time.sleep(args.watch)
        _rate(args)


def _rate(args: Namespace) -> None:
    from linkzoo_training.checkpoints.checkpoint import load_card
    from linkzoo_training.evaluation.league import plot_league
    from linkzoo_training.evaluation.report import write_ratings
    from linkzoo_training.selfplay.league import find_snapshots

    members: list[Path] = []
    snapshots: dict[str, dict[int, str]] = {}
    for run, paths in find_snapshots(args.folder).items():
        rated = {number: path for number, path in paths.items() if number % args.every == 0}
        members += rated.values()
        snapshots[run] = {number: stored_name(path) for number, path in rated.items()}
    if not members:
        raise ValueError(f"{args.folder}: no snapshots of a league (pool.league) there")
    card = load_card(members[0])
    game = card["game"]
    options = card["fixed"]
    rules = get_game(game, options)
    players = int(rules.blank(args.players, options).num_players)
    names = [*map(stored_name, members), *args.agents]
    specs = tuple(AgentSpec.parse(name).resolved(game) for name in names)
    blocks = blocks_of(game, players, args.games, options)
    plan = Tournament(game, specs, blocks, args.seed, players, args.openings, options)
    common.share_rows()
    output = args.folder / "ratings"
    with common.make_executor(args) as executor, common.progress_bar() as show:
        pairings = run_tournament(plan, output, show, executor)
    write_ratings(plan, pairings, output)
    plot_league(plan, pairings, snapshots, output / "league.png")
    for name in ("league.png", "ratings.md", "ratings.json"):
        print(output / name)
