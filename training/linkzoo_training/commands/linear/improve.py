"""`linkzoo linear improve`."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "improve a linear scorer of actions by self-play"


def add_arguments(parser: ArgumentParser) -> None:
    add, whole, number = parser.add_argument, common.whole, common.number
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    common.add_settings(parser)
    text = "output file, .json, which is an agent's name; a run that stopped goes on (required)"
    add("--out", type=common.output_file, metavar="FILE", required=True, help=text)
    text = "first scorer: linear or a FILE.json of fit (default: %(default)s)"
    add("--scorer", default="linear", help=text)
    text = "the first policy is the softmax of scores divided by this (default: %(default)s)"
    add("--temperature", type=number(0, 1000, float), default=1.0, metavar="T", help=text)
    text = "steps of natural policy gradient (default: %(default)s)"
    add("--steps", type=whole(1, 10**6), default=5, metavar="N", help=text)
    text = "decisions of self-play per step, at least (default: %(default)s)"
    add("--decisions", type=whole(1, 10**8), default=1_000_000, metavar="N", help=text)
    text = "how much scores grow per gain in result (default: %(default)s)"
    add("--learning-rate", type=number(0, 10_000, float), default=5.0, metavar="RATE", help=text)
    common.add_players(parser, "each number that the game allows")
    common.add_score_margin_weight(parser)
    add("--seed", type=common.SEED, default=0, help="seed (default: %(default)s)")


def run(args: Namespace) -> None:
    """Writes the scorer after every step and prints what the step found."""
    from linkzoo import get_game
    from linkzoo_training.algorithms.natural_gradient import ImproveSettings, improve

    options = common.options_of(args.settings, args.game)
    settings = ImproveSettings(
        args.game,
        options,
        common.player_counts(args.players, get_game(args.game, options)),
        args.scorer,
        args.temperature,
        args.decisions,
        args.learning_rate,
        args.score_margin_weight,
        args.seed,
    )
    print(f"{'step':>4}  {'games':>9}  {'decisions':>10}  {'to gain':>7}  of it in other games")
    with common.progress_bar() as show:
        found = improve(
            settings, args.steps, args.out, lambda done: show("decisions", done, args.decisions)
        )
        for step in found:
            size = f"{step.games:>9,}  {step.decisions:>10,}  {step.deviation:>7.4f}"
            gain, low, high = step.held_out
            print(f"{step.number:>4}  {size}  {gain:+.4f} [{low:+.4f}, {high:+.4f}]", flush=True)
    print(args.out)
