"""`linkzoo data selfplay`: games between agents, for learning elsewhere."""

from argparse import ArgumentParser, Namespace
from functools import partial

from linkzoo import get_game
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common

HELP = "play games between agents and write them as data"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "agents that play, in turn on each side; a single agent plays against itself: "
    add("agents", metavar="AGENT", nargs="+", help=text + common.AGENTS)
    common.add_settings(parser)
    common.add_game(parser)
    common.add_players(parser)
    text = "number of games (default: %(default)s)"
    add("--games", type=common.whole(1, 10**8), default=1000, metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the games (default: %(default)s)")
    common.add_openings(parser)
    common.add_simulations(parser)
    text = "records: a JSON file per game; npz: arrays with a row per decision; parquet: the same "
    text += "as tables (extra parquet); minari: a Minari data set (extra minari), one episode per "
    text += "game and seat (default: %(default)s)"
    formats = ["records", "npz", "parquet", "minari"]
    add("--format", choices=formats, default="records", help=text)
    text = "games that are played side by side and written together (default: %(default)s)"
    add("--batch", type=common.whole(1, 2**20), default=512, metavar="N", help=text)
    common.add_executor(parser, "games")
    text = "folder to write; an unfinished one is continued (required)"
    add("--out", type=common.continued_folder, metavar="FOLDER", required=True, help=text)


def run(args: Namespace) -> None:
    """Writes the games that are missing in the folder."""
    from linkzoo_training.evaluation.dataset import write_dataset
    from linkzoo_training.evaluation.openings import describe_openings, standard_openings
    from linkzoo_training.evaluation.played_games import GamesPlan

    agents, settings = common.separate_settings(args.agents)
    if not agents:
        raise ValueError("selfplay: name an agent that plays")
    specs = [AgentSpec.parse(agent).with_simulations(args.simulations) for agent in agents]
    game = common.game_of(args.game, specs[0])
    specs = [spec.resolved(game) for spec in specs]
    options = common.options_of(settings, game, *specs)
    players = int(get_game(game, options).blank(args.players, options).num_players)
    for spec in specs:  # raises before the first game
        spec.check(game, human=False)
        NamedAgent(spec, game, options)
    openings = args.openings or standard_openings(get_game(game, options))
    plan = GamesPlan(
        game, tuple(specs), args.games, players, openings, args.seed, options, args.batch
    )
    common.share_rows()
    with common.make_executor(args) as executor, common.progress_bar() as show:
        write_dataset(plan, args.format, args.out, partial(show, "games"), executor)
    print(f"{args.out}: {args.games:,} games of {game} {describe_openings(openings)}")
