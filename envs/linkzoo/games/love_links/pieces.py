"""The 94 links of Love Links as tables, and the numbers that the rules are made of.

The copies of a link are interchangeable, so the record holds types: 0..58, by metal, key and lock.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

METALS = ("bronze", "silver", "gold")
STONES = ("", "diamond", "ruby", "emerald", "sapphire")
MASTER = 11  # the lock M
MASTER_KEYS = (2, 3, 4, 5, 6, 8)  # that fit it

SLOTS = 24  # places for open bracelets
HAND_PLACES = 5
HAND_SIZES = np.array([5, 4, 4])  # by round (R5)
OPEN_AT_START = 5  # bracelets at the start of a round, at least (R6)
CLOSED_LENGTH = 5  # links of a completed bracelet, at least (R10)
TARGET = 90  # of the short game (R21)
NUM_SIDES = np.array([0, 1, 2, 3, 2])  # by number of players (R2)
MAX_PLAYERS, MAX_SIDES = 4, 3

KEY, LOCK, CLOSE, MODES = 0, 1, 2, 3
NEW = HAND_PLACES * SLOTS * MODES  # (place * 24 + slot) * 3 + mode, then 360 + place
NUM_ACTIONS = NEW + HAND_PLACES


class Link(NamedTuple):
    """A type of link: its metal and stone as indices into METALS and STONES."""

    metal: int
    key: int
    lock: int
    stone: int
    copies: int


def _read() -> list[Link]:
    """The types in the order of their numbers."""
    with Path(__file__).with_name("links.csv").open(encoding="utf-8", newline="") as file:
        return sorted(
            Link(
                metal,
                int(row["key"]),
                MASTER if row["lock"] == "M" else int(row["lock"]),
                STONES.index(row["stone"]),
                int(row[name]),
            )
            for row in csv.DictReader(file)
            for metal, name in enumerate(METALS)
            if row[name] != "0"
        )


def _fits(key: int, lock: int) -> bool:
    """Whether a key fits a lock (R10)."""
    if lock == MASTER:
        return key in MASTER_KEYS
    return key > 1 and lock > 1 and lock % key == 0


LINKS = _read()
LINK_TEXTS = [f"{link.key}-{'M' if link.lock == MASTER else link.lock}" for link in LINKS]
LINK_NUMBERS = {words: number for number, words in enumerate(LINK_TEXTS)}
TYPES, TOTAL = len(LINKS), sum(link.copies for link in LINKS)

# By type.
KEYS = np.array([link.key for link in LINKS])
LOCKS = np.array([link.lock for link in LINKS])
COPIES = np.array([link.copies for link in LINKS])
STONE = np.array([link.stone for link in LINKS])
METAL = np.array([link.metal for link in LINKS])
METAL_POINTS = METAL + 1  # (R16)
STONE_POINTS = np.array([0, 10, 5, 5, 5])[STONE]  # (R16)

# By metal; supplies and types are in this order, and the last entry is the end.
FIRST_TYPE = np.searchsorted(METAL, np.arange(len(METALS) + 1))
FIRST_LINK = np.concatenate([[0], np.cumsum(COPIES)])[FIRST_TYPE]

FITS = np.array([[_fits(k, lock) for lock in range(MASTER + 1)] for k in range(MASTER)], np.int8)
