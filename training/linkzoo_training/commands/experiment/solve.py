"""`linkzoo experiment solve`: an equilibrium of a small game, as an agent."""

import time
from argparse import ArgumentParser, Namespace

from linkzoo_training.commands import common

HELP = "solve a small game exactly: an equilibrium by CFR+, or perfect play if nothing is hidden"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options."""
    add = parser.add_argument
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    common.add_settings(parser)
    common.add_players(parser)
    text = "new file of the policy, which the agent tabular:FILE plays (default: none)"
    add("--out", type=common.new_file, metavar="FILE", help=text)
    text = "NashConv at which to stop (default: %(default)s)"
    add("--nash-conv", type=common.number(0, 10, float), default=0.001, metavar="X", help=text)
    text = "iterations of CFR+ at most (default: %(default)s)"
    add("--iterations", type=common.whole(1, 10**6), default=10**5, metavar="N", help=text)
    common.add_max_nodes(parser)


def run(args: Namespace) -> None:
    """Prints the NashConv now and then, and the value of every seat at the end."""
    from linkzoo import exact

    tree = common.tree_of(args.game, args)
    begin = time.process_time()

    def show(iterations: int, nash_conv: float) -> None:
        seconds = time.process_time() - begin
        print(f"iteration {iterations:,}: NashConv {nash_conv:.6f} after {seconds:.1f} s")

    solution = exact.solve(tree, args.nash_conv, max_iterations=args.iterations, progress=show)
    result = solution.exploitability
    for seat, value in enumerate(result.values):
        print(f"value of seat {seat}: {value:+.5f}")
    print(f"NashConv: {result.nash_conv:.6f}")
    if args.out is not None:
        facts = {"nash_conv": result.nash_conv, "iterations": solution.iterations}
        agent = exact.tabular_agent(tree, solution.policy, facts)
        played = exact.exploitability(agent, tree)
        agent.card["nash_conv_as_played"] = played.nash_conv
        agent.save(args.out)
        print(f"{args.out}: NashConv {played.nash_conv:.6f} as it plays, by what a seat sees now")
