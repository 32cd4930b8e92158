"""`linkzoo replay`: a recorded game as a web page, an animation or images."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from linkzoo import Agent, GameRecord, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.commands.common import output_file, output_folder, whole
from linkzoo_training.resources import shipped_checkpoints

HELP = "show a recorded game as a page or as pictures"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options."""
    add = parser.add_argument
    add("file", type=Path, metavar="RECORD", help="JSON file of a game, written by --record")
    add("--html", type=output_file, metavar="FILE", help="web page to write (default: none)")
    text = "checkpoint whose values the page plots (default: the game's, if one ships)"
    add("--agent", metavar="CHECKPOINT", help=text)
    add("--gif", type=output_file, metavar="FILE", help="animation to write (default: none)")
    text = "folder for a picture of every position (default: none)"
    add("--png", type=output_folder, metavar="FOLDER", help=text)
    text = "width of pictures in pixels (default: %(default)s)"
    add("--width", type=whole(16, 4096), default=640, help=text)
    text = "time per position of the animation in milliseconds (default: %(default)s)"
    add("--milliseconds", type=whole(20, 60_000), default=900, help=text)


def run(args: Namespace) -> None:
    """Writes the requested files."""
    from linkzoo_training.web.pictures import as_gif, as_html, as_pngs

    if not (args.html or args.gif or args.png):
        raise ValueError("replay: needs --html FILE, --gif FILE or --png FOLDER")
    record = GameRecord.load(args.file)
    if args.html:
        as_html(record, args.html, load_evaluator(args.agent, record))
        print(f"Saved: {args.html}")
    if args.gif:
        as_gif(record, args.gif, width=args.width, milliseconds=args.milliseconds)
        print(f"Saved: {args.gif}")
    if args.png:
        count = as_pngs(record, args.png, width=args.width)
        print(f"Saved: {count} pictures in {args.png}")


def load_evaluator(spec: str | None, record: GameRecord) -> Agent | None:
    """Returns the agent whose values the page plots; ValueError if it doesn't exist.

    Without a name it is the game's shipped checkpoint, or None if that plays other options.
    """
    if spec is not None:
        return make_agent(spec, record.game, record.options)
    if record.game not in shipped_checkpoints():
        return None
    from linkzoo_training.agents.policy import load_agent

    policy = load_agent(record.game)
    return policy if policy.game.key == get_game(record.game, record.options).key else None
