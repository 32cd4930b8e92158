"""The 94 links of Love Links (R1), the places for them, and the actions.

The copies of a link are interchangeable, so the record holds types: 0..58, by metal, key and lock.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

MAX_PLAYERS = 4
MAX_SIDES = 3
NUM_SIDES = np.array([0, 1, 2, 3, 2])  # by number of players (R2)
HAND_PLACES = 5
SLOTS = 24  # places for open bracelets
SET_ASIDE = SLOTS  # one more slot, for links that found no free slot; not a bracelet
NONE = -1

# Actions: (place * 24 + slot) * 3 + mode, then 360 + place. The modes:
KEY = 0
LOCK = 1
CLOSE = 2
MODES = 3
NEW = HAND_PLACES * SLOTS * MODES
NUM_ACTIONS = NEW + HAND_PLACES

METALS = ("bronze", "silver", "gold")
STONES = ("", "diamond", "ruby", "emerald", "sapphire")
MASTER = 11  # the lock M
MASTER_KEYS = (2, 3, 4, 5, 6, 8)  # the keys that fit it


class Link(NamedTuple):
    """A type of link.

    Attributes:
        metal: An index into METALS.
        key: The number of its key.
        lock: The number of its lock, or MASTER.
        stone: An index into STONES.
        copies: The number of such links in the game.
    """

    metal: int
    key: int
    lock: int
    stone: int
    copies: int


def _read() -> list[Link]:
    """Reads the types of links, in the order of their numbers."""
    links = []
    with Path(__file__).with_name("links.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = int(row["key"])
            lock = MASTER if row["lock"] == "M" else int(row["lock"])
            stone = STONES.index(row["stone"])
            for metal, name in enumerate(METALS):
                if row[name] != "0":
                    links.append(Link(metal, key, lock, stone, int(row[name])))
    return sorted(links)


LINKS = _read()
TYPES = len(LINKS)
TOTAL = sum(link.copies for link in LINKS)
LINK_TEXTS = [f"{link.key}-{'M' if link.lock == MASTER else link.lock}" for link in LINKS]
LINK_NUMBERS = {words: number for number, words in enumerate(LINK_TEXTS)}
