"""`linkzoo linear improve`: natural policy gradient on a linear scorer."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "improve a linear scorer of actions by self-play"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    whole = common.whole
    number = common.number
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    common.add_settings(parser)
    text = "output file, .json; its path names the agent; a stopped run resumes (required)"
    add("--out", type=common.continued_file, metavar="FILE", required=True, help=text)
    text = "first scorer: linear or a FILE.json of linear fit (default: %(default)s)"
    add("--scorer", default="linear", help=text)
    text = "the first policy is the softmax of scores divided by this (default: %(default)s)"
    add("--temperature", type=number(0, 1000, float), default=1.0, metavar="T", help=text)
    text = "steps of natural policy gradient (default: %(default)s)"
    add("--steps", type=whole(1, 10**6), default=5, metavar="N", help=text)
    text = "smallest number of decisions of self-play per step (default: %(default)s)"
    add("--decisions", type=whole(1, 10**8), default=1_000_000, metavar="N", help=text)
    text = "growth of scores per predicted gain in result (default: %(default)s)"
    add("--learning-rate", type=number(0, 10_000, float), default=5.0, metavar="RATE", help=text)
    common.add_players(parser, "each number that the game allows")
    common.add_score_margin_weight(parser)
    text = (
        "the result of a decision is how the score margin changes in N plies, without the weight "
        "above (default: the result of the game)"
    )
    add("--plies", type=whole(1, 10**6), metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed (default: %(default)s)")
    common.add_executor(parser, "games")


def run(args: Namespace) -> None:
    """Writes the scorer after every step and prints the step's result."""
    from linkzoo import get_game
    from linkzoo_training.linear.natural_gradient import ImproveSettings, improve

    options = common.options_of(args.settings, args.game)
    settings = ImproveSettings(
        game=args.game,
        options=options,
        players=common.player_counts(args.players, get_game(args.game, options)),
        scorer=args.scorer,
        temperature=args.temperature,
        decisions=args.decisions,
        learning_rate=args.learning_rate,
        score_margin_weight=args.score_margin_weight,
        seed=args.seed,
        plies=args.plies,
    )
    print(f"{'step':>4}  {'games':>9}  {'decisions':>10}  {'to gain':>7}  of it in other games")
    with common.make_executor(args) as executor, common.progress_bar() as show:
        steps = improve(
            settings,
            args.steps,
            args.out,
            lambda done: show("decisions", done, args.decisions),
            executor,
        )
        for step in steps:
            size = f"{step.games:>9,}  {step.decisions:>10,}  {step.deviation:>7.4f}"
            gain, low, high = step.held_out
            print(f"{step.number:>4}  {size}  {gain:+.4f} [{low:+.4f}, {high:+.4f}]", flush=True)
    print(args.out)
