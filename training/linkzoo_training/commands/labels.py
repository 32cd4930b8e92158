"""`linkzoo labels`."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "label positions with the values of their actions"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options."""
    add, whole = parser.add_argument, common.whole
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    common.add_settings(parser)
    text = "output file, .npz; an existing one is continued (required)"
    add("--out", type=common.output_file, metavar="FILE", required=True, help=text)
    text = "labelled positions, at least (default: %(default)s)"
    add("--positions", type=whole(1, 10**7), default=4000, metavar="N", help=text)
    text = "playouts per legal action (default: %(default)s)"
    add("--playouts", type=whole(1, 10**6), default=64, metavar="N", help=text)
    text = "who plays the playouts: random, linear, or a FILE.json of fit (default: %(default)s)"
    add("--rollout", default="random", help=text)
    text = "agent whose games the positions are from (default: %(default)s)"
    add("--agent", default="greedy", help=text)
    common.add_players(parser, "each number that the game allows")
    text = "weight of score margins beside payoffs (default: %(default)s)"
    weight = common.number(0, 100, float)
    add("--score-margin-weight", type=weight, default=0.5, metavar="WEIGHT", help=text)
    add("--seed", type=common.SEED, default=0, help="seed (default: %(default)s)")


def run(args: Namespace) -> None:
    """Writes the file and prints how many positions it holds."""
    from linkzoo import get_game
    from linkzoo_training.evaluation.labels import LabelSettings, make_labels

    options = common.options_of(args.settings, args.game, args.agent)
    game = get_game(args.game, options)
    players = range(game.min_players, game.max_players + 1)
    settings = LabelSettings(
        args.game,
        options,
        (args.players,) if args.players else tuple(players),
        args.agent,
        args.playouts,
        args.rollout,
        args.score_margin_weight,
        args.seed,
    )
    with common.progress_bar() as show:
        labels = make_labels(
            settings, args.positions, args.out, lambda done: show("labels", done, args.positions)
        )
    print(f"{args.out}: {len(labels.states):,} positions, {len(labels.values):,} values")
