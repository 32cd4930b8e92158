"""`linkzoo replay`: a recorded game as a page of its own, as an animation, or as pictures."""

import argparse

from linkzoo import Agent, GameRecord, get_game
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.pictures import as_gif, as_html, as_pngs
from linkzoo_training.resources import find_checkpoint


def run(parsed: argparse.Namespace) -> None:
    """Writes what was asked for; ValueError if nothing was, or if the record is wrong."""
    if not (parsed.html or parsed.gif or parsed.png):
        raise ValueError("replay: --html FILE, --gif FILE or --png FOLDER")
    record = GameRecord.load(parsed.file)
    if parsed.html:
        as_html(record, parsed.html, judge_of(parsed.agent, record))
        print(f"Saved: {parsed.html}")
    if parsed.gif:
        as_gif(record, parsed.gif, width=parsed.width, milliseconds=parsed.milliseconds)
        print(f"Saved: {parsed.gif}")
    if parsed.png:
        count = as_pngs(record, parsed.png, width=parsed.width)
        print(f"Saved: {count} pictures in {parsed.png}")


def judge_of(spec: str | None, record: GameRecord) -> Agent | None:
    """The agent of that name; without one the game's, None if it plays other options or none is."""
    if spec is not None:
        return make_agent(spec, record.game)
    try:
        find_checkpoint(record.game)
    except ValueError:
        return None
    policy = load_agent(record.game)
    return policy if policy.game.key == get_game(record.game, record.options).key else None
