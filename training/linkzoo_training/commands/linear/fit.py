"""`linkzoo linear fit`: a linear scorer from labels."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "fit a linear scorer of actions to labelled positions"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "files of `linkzoo linear labels`"
    add("labels", type=common.input_path, metavar="LABELS", nargs="+", help=text)
    text = "new file, .json; its path names the agent (required)"
    add("--out", type=common.new_file, metavar="FILE", required=True, help=text)


def run(args: Namespace) -> None:
    """Writes the scorer and prints its regret in held-out positions."""
    from linkzoo_training.agents.linear import save_scorer
    from linkzoo_training.evaluation.labelled_positions import read_labels
    from linkzoo_training.linear.fit import fit_linear

    labels = [read_labels(path) for path in args.labels]
    fit = fit_linear(labels)
    print(f"{'positions':>10}  regret in held-out positions (random play: {fit.random:.4f})")
    for positions, regret in fit.rows:
        print(f"{positions:>10,}  {regret.mean:.4f} [{regret.low:.4f}, {regret.high:.4f}]")
    save_scorer(labels[0].game, fit.weights, args.out)
    print(args.out)
