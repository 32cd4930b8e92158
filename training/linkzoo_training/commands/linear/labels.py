"""`linkzoo linear labels`: values of actions, from playouts."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common

HELP = "label positions with the values of their actions"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    whole = common.whole
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    common.add_settings(parser)
    text = "output file, .npz; an existing one is continued (required)"
    add("--out", type=common.continued_file, metavar="FILE", required=True, help=text)
    text = "smallest number of labelled positions (default: %(default)s)"
    add("--positions", type=whole(1, 10**7), default=4000, metavar="N", help=text)
    text = "playouts per legal action (default: %(default)s)"
    add("--playouts", type=whole(1, 10**6), default=64, metavar="N", help=text)
    text = "policy of the playouts: random, linear, or a FILE.json of linear fit"
    text += " (default: %(default)s)"
    add("--rollout", default="random", help=text)
    text = "agent that plays the games of the positions (default: %(default)s)"
    add("--agent", default="greedy", help=text)
    common.add_players(parser, "each number that the game allows")
    common.add_score_margin_weight(parser)
    text = "labelled share of the positions with a choice (default: %(default)s)"
    add("--share", type=common.number(0, 1, float), default=0.15, help=text)
    add("--seed", type=common.SEED, default=0, help="seed (default: %(default)s)")
    common.add_executor(parser, "games")


def run(args: Namespace) -> None:
    """Writes the file and prints the number of its positions."""
    from linkzoo import get_game
    from linkzoo_training.evaluation.labelled_positions import LabelSettings
    from linkzoo_training.linear.labels import make_labels

    options = common.options_of(args.settings, args.game, AgentSpec.parse(args.agent))
    settings = LabelSettings(
        game=args.game,
        options=options,
        players=common.player_counts(args.players, get_game(args.game, options)),
        agent=args.agent,
        playouts=args.playouts,
        rollout=args.rollout,
        score_margin_weight=args.score_margin_weight,
        seed=args.seed,
        share=args.share,
    )
    with common.make_executor(args) as executor, common.progress_bar() as show:
        labels = make_labels(
            settings,
            args.positions,
            args.out,
            lambda done: show("labels", done, args.positions),
            executor,
        )
    print(f"{args.out}: {len(labels.states):,} positions, {len(labels.values):,} values")
