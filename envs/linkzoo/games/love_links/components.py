"""The 94 links of Love Links (R1) as tables, the places for them, and the actions.

The copies of a link are interchangeable, so the record holds types: 0..58, by metal, key and lock.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

MAX_PLAYERS, MAX_SIDES = 4, 3
NUM_SIDES = np.array([0, 1, 2, 3, 2])  # by number of players (R2)
HAND_PLACES = 5
SLOTS = 24  # places for open bracelets
SET_ASIDE = SLOTS  # the slot behind the others, for links that found none: no bracelet
NONE = -1

# Actions: (place * 24 + slot) * 3 + mode, then 360 + place.
KEY, LOCK, CLOSE, MODES = 0, 1, 2, 3
NEW = HAND_PLACES * SLOTS * MODES
NUM_ACTIONS = NEW + HAND_PLACES

METALS = ("bronze", "silver", "gold")
STONES = ("", "diamond", "ruby", "emerald", "sapphire")
MASTER = 11  # the lock M
MASTER_KEYS = (2, 3, 4, 5, 6, 8)  # that fit it


class Link(NamedTuple):
    """A type of link: its metal and stone as indices into METALS and STONES."""

    metal: int
    key: int
    lock: int
    stone: int
    copies: int


def _read() -> Iterator[Link]:
    with Path(__file__).with_name("links.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key, stone = int(row["key"]), STONES.index(row["stone"])
            lock = MASTER if row["lock"] == "M" else int(row["lock"])
            for metal, name in enumerate(METALS):
                if row[name] != "0":
                    yield Link(metal, key, lock, stone, int(row[name]))


LINKS = sorted(_read())  # by number
LINK_TEXTS = [f"{link.key}-{'M' if link.lock == MASTER else link.lock}" for link in LINKS]
LINK_NUMBERS = {words: number for number, words in enumerate(LINK_TEXTS)}
TYPES, TOTAL = len(LINKS), sum(link.copies for link in LINKS)

METAL, KEYS, LOCKS, STONE, COPIES = np.array(LINKS).T.copy()  # by type
METAL_POINTS = METAL + 1  # (R16)
STONE_POINTS = np.array([0, 10, 5, 5, 5])[STONE]  # (R16)

# By metal; supplies and types are in this order, and the last entry is the end.
FIRST_TYPE = np.searchsorted(METAL, np.arange(len(METALS) + 1))
FIRST_LINK = np.concatenate([[0], np.cumsum(COPIES)])[FIRST_TYPE]

# Whether a key fits a lock (R10), by both.
FITS = np.zeros((MASTER, MASTER + 1), np.int8)
FITS[list(MASTER_KEYS), MASTER] = 1
for _key in range(2, MASTER):
    FITS[_key, _key:MASTER:_key] = 1
