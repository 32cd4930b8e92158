"""`linkzoo linear labels`."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "label positions with the values of their actions"


def add_arguments(parser: ArgumentParser) -> None:
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
    common.add_score_margin_weight(parser)
    text = "share of the positions with a choice that are labelled (default: %(default)s)"
    add("--share", type=common.number(0, 1, float), default=0.15, help=text)
    add("--seed", type=common.SEED, default=0, help="seed (default: %(default)s)")


def run(args: Namespace) -> None:
    """Writes the file and prints how many positions it holds."""
    from linkzoo import get_game
    from linkzoo_training.evaluation.labels import LabelSettings, make_labels

    options = common.options_of(args.settings, args.game, args.agent)
    settings = LabelSettings(
        args.game,
        options,
        common.player_counts(args.players, get_game(args.game, options)),
        args.agent,
        args.playouts,
        args.rollout,
        args.score_margin_weight,
        args.seed,
        args.share,
    )
    with common.progress_bar() as show:
        labels = make_labels(
            settings, args.positions, args.out, lambda done: show("labels", done, args.positions)
        )
    print(f"{args.out}: {len(labels.states):,} positions, {len(labels.values):,} values")
