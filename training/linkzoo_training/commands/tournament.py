"""`linkzoo tournament`: every agent against every other."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from linkzoo import game_names, get_game
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.match import blocks_of
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.evaluation.tournament import Tournament, run_tournament

HELP = "play every agent against every other, with ratings"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("agents", metavar="AGENT", nargs="*", help=f"agents that play: {common.AGENTS}")
    text = "add the agents of the game's ladder, and use its openings and options"
    add("--ladder", action="store_true", help=text)
    common.add_settings(parser)
    common.add_game(parser, game_names()[0])
    common.add_players(parser)
    text = "games per match, rounded up to whole blocks (default: %(default)s)"
    add("--games", type=common.whole(1, 10**8), default=200, metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the matches (default: %(default)s)")
    common.add_openings(parser, f"the ladder's with --ladder; {common.OPENINGS}")
    common.add_simulations(parser)
    common.add_executor(parser, "matches")
    text = "folder for matches and ratings; a tournament there is continued, also with more agents"
    text += " (default: %(default)s)"
    folder = "runs/tournament"
    add("--output", type=common.continued_folder, default=folder, metavar="FOLDER", help=text)


def run(args: Namespace) -> None:
    """Plays the missing matches, writes the ratings and prints them."""
    from rich.console import Console
    from rich.markdown import Markdown

    from linkzoo_training.evaluation.report import check_ratings, write_ratings

    agents, settings = common.separate_settings(args.agents)
    specs = [AgentSpec.parse(agent).with_simulations(args.simulations) for agent in agents]
    openings: str | None = args.openings
    options: Mapping[str, Any] = {}
    if args.ladder:
        ladder = read_ladder(args.game)
        specs = [*ladder.opponents, *specs]
        openings = openings or ladder.openings
        options = ladder.options[0]
    specs = [spec.resolved(args.game) for spec in specs]
    options = {**options, **common.options_of(settings, args.game, *specs)}
    first = variants_of(options)[0]
    rules = get_game(args.game, first)
    players = int(rules.blank(args.players, first).num_players)
    blocks = blocks_of(args.game, players, args.games, options)
    plan = Tournament(args.game, tuple(specs), blocks, args.seed, players, openings, options)
    check_ratings(plan, args.output)
    common.share_rows()
    with common.make_executor(args) as executor, common.progress_bar() as show:
        pairings = run_tournament(plan, args.output, show, executor)
    Console().print(Markdown(write_ratings(plan, pairings, args.output)))
    for name in ("ratings.md", "ratings.json", "ratings.png"):
        print(args.output / name)
