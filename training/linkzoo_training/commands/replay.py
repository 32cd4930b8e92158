"""`linkzoo replay`: a recorded game as a page of its own, as an animation, or as pictures."""

import argparse

from linkzoo import GameRecord
from linkzoo_training.pictures import as_gif, as_html, as_pngs


def run(parsed: argparse.Namespace) -> None:
    """Writes what was asked for; ValueError if nothing was, or if the record is wrong."""
    if not (parsed.html or parsed.gif or parsed.png):
        raise ValueError("replay: --html FILE, --gif FILE or --png FOLDER")
    record = GameRecord.load(parsed.file)
    if parsed.html:
        as_html(record, parsed.html)
        print(f"Saved: {parsed.html}")
    if parsed.gif:
        as_gif(record, parsed.gif, width=parsed.width, milliseconds=parsed.milliseconds)
        print(f"Saved: {parsed.gif}")
    if parsed.png:
        count = as_pngs(record, parsed.png, width=parsed.width)
        print(f"Saved: {count} pictures in {parsed.png}")
