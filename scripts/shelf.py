"""Draws the pictures of the page's shelf: positions of the recorded games.

python -m scripts.shelf
"""

from collections.abc import Iterator
from pathlib import Path

import linkzoo
from linkzoo import GameRecord
from linkzoo_training.web.catalogue import SHELF
from linkzoo_training.web.views import picture

PLAYED = Path(__file__).parents[1] / "docs" / "games" / "played"
_SHARES = (0.6, 0.75, 0.9)  # of a game before each picture


def pictures(name: str) -> Iterator[tuple[Path, str]]:
    """Yields the file and the drawing of each picture of a game, as the first seat sees it.

    The recorded games are as printed; pictures have the options that the page plays with.
    """
    record = GameRecord.load(PLAYED / f"{name}.json")
    game = linkzoo.get_game(name, record.options)
    states = list(record.replay())
    for number, share in enumerate(_SHARES, 1):
        state = states[int(share * (len(states) - 1))]
        for option, value in game.facts.balanced_options.items():
            state[option] = value
        yield SHELF / f"{name}-{number}.svg", picture(game, state, 0)


if __name__ == "__main__":
    SHELF.mkdir(exist_ok=True)
    for name in linkzoo.game_names():
        for path, svg in pictures(name):
            path.write_text(svg, encoding="utf-8")
