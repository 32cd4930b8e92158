"""`linkzoo replay`: a recorded game as a web page, an animation or images."""

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from linkzoo import Agent, GameRecord, get_game
from linkzoo.core.arguments import shown
from linkzoo_training.agents.make import make_agent
from linkzoo_training.commands.common import input_path, new_file, new_folder, progress_bar, whole
from linkzoo_training.resources import best_checkpoints

HELP = "show a recorded game as a page or as pictures"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=input_path, metavar="RECORD", help="JSON file of a game, written by --record")
    add("--html", type=new_file, metavar="FILE", help="new file for a web page (default: none)")
    text = "checkpoint whose values the page plots (default: the game's, if one ships)"
    add("--agent", metavar="CHECKPOINT", help=text)
    add("--gif", type=new_file, metavar="FILE", help="new file for an animation (default: none)")
    text = "new or empty folder for a picture of every position (default: none)"
    add("--png", type=new_folder, metavar="FOLDER", help=text)
    text = "plies of --gif and --png, such as 10-20 or 10- (default: all)"
    add("--plies", type=_plies, metavar="A-B", default=(0, None), help=text)
    text = "width of pictures in pixels (default: %(default)s)"
    add("--width", type=whole(16, 4096), default=640, help=text)
    text = "time per position of the animation in milliseconds (default: %(default)s)"
    add("--milliseconds", type=whole(20, 60_000), default=900, help=text)


def _plies(text: str) -> tuple[int, int | None]:
    """Reads `first-last`; without a number before or behind the dash there is no limit."""
    match = re.fullmatch(r"(\d{0,9})-(\d{0,9})", text)
    if match is None:
        raise ArgumentTypeError(f"{shown(text)} is not like 10-20, 10- or -20")
    first, last = match.groups()
    return int(first or 0), int(last) if last else None


def run(args: Namespace) -> None:
    """Writes the requested files."""
    from linkzoo_training.web.pictures import as_gif, as_pngs

    if not (args.html or args.gif or args.png):
        raise ValueError("replay: needs --html FILE, --gif FILE or --png FOLDER")
    record = GameRecord.load(args.file)
    pictures = {"width": args.width, "plies": args.plies}
    with progress_bar() as show:
        if args.html:
            from linkzoo_training.web.replay_page import as_html  # imports PyTorch

            as_html(record, args.html, load_evaluator(args.agent, record), show)
            print(f"Saved: {args.html}")
        if args.gif:
            time = args.milliseconds
            step = as_gif(record, args.gif, milliseconds=time, progress=show, **pictures)
            print(f"Saved: {args.gif}")
            if step > 1:
                print(f"It shows 1 of {step} positions, to keep it short")
        if args.png:
            count = as_pngs(record, args.png, progress=show, **pictures)
            print(f"Saved: {count} pictures in {args.png}")


def load_evaluator(spec: str | None, record: GameRecord) -> Agent | None:
    """Returns the agent whose values the page plots; ValueError if it doesn't exist.

    Without a name it is the game's shipped checkpoint, or None if that plays other options.
    """
    if spec is not None:
        return make_agent(spec, record.game, record.options)
    if record.game not in best_checkpoints():
        return None
    from linkzoo_training.agents.policy import load_agent

    policy = load_agent(record.game)
    if policy.game.key != get_game(record.game, record.options).key:
        return None
    return policy
