"""`linkzoo experiment best-response`: a lower bound on exploitability."""

from argparse import ArgumentParser, Namespace

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common

HELP = "train a best response to an agent"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options; the configuration checks the ranges of the budget."""
    add = parser.add_argument
    add("agent", metavar="AGENT", help=f"agent to exploit: {common.AGENTS}")
    text = "fields that override the configuration, such as seed=1 (default: none)"
    add("settings", metavar="FIELD=VALUE", nargs="*", help=text)
    common.add_game(parser)
    common.add_players(parser, "each number that the game allows")
    budget = "(default: the configuration's"
    steps = common.whole(1, 10**15)
    add("--steps", type=steps, metavar="N", help=f"training budget in plies {budget})")
    text = f"training budget in seconds {budget}; with --steps: no limit)"
    add("--seconds", type=float, help=text)
    text = "YAML file or preset for PPO (default: GAME_ppo_quick; required for a custom game)"
    add("--config", help=text)
    text = "games of the final match, rounded up to whole blocks (default: %(default)s)"
    add("--games", type=common.whole(1, 10**8), default=1000, metavar="N", help=text)
    common.add_openings(parser, "0: the game itself")
    common.add_json(parser)
    add("--resume", action="store_true", help="continue a run that was stopped")
    common.add_executor(parser, "games")


def run(args: Namespace) -> int:
    """Trains the response; returns 0, or 128 plus the number of the signal that stopped it."""
    from linkzoo_training.best_response import best_response_config, train_best_response
    from linkzoo_training.evaluation.openings import START
    from linkzoo_training.runtime import StopSignal

    agent = AgentSpec.parse(args.agent)
    game = common.game_of(args.game, agent)
    config = best_response_config(
        agent,
        game,
        config=args.config,
        players=args.players,
        steps=args.steps,
        seconds=args.seconds,
        settings=args.settings,
    )
    stop = StopSignal()
    with common.make_executor(args) as executor:
        train_best_response(
            config,
            args.games,
            openings=args.openings or START,
            output=args.json,
            resume=args.resume,
            stop=stop,
            executor=executor,
        )
    return stop.exit_code
