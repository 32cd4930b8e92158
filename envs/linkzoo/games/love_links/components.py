"""The 94 links of Love Links (R1) as tables.

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


LINKS = _read()
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
