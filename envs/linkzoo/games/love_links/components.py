"""The 94 links of Love Links (R1) as tables, the places for them, and the actions.

The copies of a link are interchangeable, so the record holds types: 0..58, by metal, key and lock.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class LinkTables(NamedTuple):
    """The types of links for compiled code, by the number of the type if nothing else is said.

    Attributes:
        metal: int64[TYPES], indices into METALS.
        key: int64[TYPES], the numbers of the keys.
        lock: int64[TYPES], the numbers of the locks, or MASTER.
        stone: int64[TYPES], indices into STONES.
        copies: int64[TYPES], the number of such links in the game.
        metal_points: int64[TYPES], points for the metal (R16).
        stone_points: int64[TYPES], points for the stone (R16).
        first_type: int64[metals + 1], by metal, the first of its types; last, TYPES.
        first_link: int64[metals + 1], by metal, the start of its supply; last, TOTAL.
        fits: int8[keys, locks], whether a key fits a lock (R10).
    """

    metal: NDArray[np.int64]
    key: NDArray[np.int64]
    lock: NDArray[np.int64]
    stone: NDArray[np.int64]
    copies: NDArray[np.int64]
    metal_points: NDArray[np.int64]
    stone_points: NDArray[np.int64]
    first_type: NDArray[np.int64]
    first_link: NDArray[np.int64]
    fits: NDArray[np.int8]


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


def _fits() -> NDArray[np.int8]:
    """Returns whether a key fits a lock: the lock is a multiple of the key, or M (R10)."""
    fits = np.zeros((MASTER, MASTER + 1), np.int8)
    fits[list(MASTER_KEYS), MASTER] = 1
    for key in range(2, MASTER):
        fits[key, key:MASTER:key] = 1
    return fits


def link_tables(links: Sequence[Link]) -> LinkTables:
    """Returns the tables of types of links."""
    metal, key, lock, stone, copies = np.array(links).T.copy()
    first_type = np.searchsorted(metal, np.arange(len(METALS) + 1))
    first_link = np.concatenate([[0], np.cumsum(copies)])[first_type]
    return LinkTables(
        metal=metal,
        key=key,
        lock=lock,
        stone=stone,
        copies=copies,
        metal_points=metal + 1,
        stone_points=np.array([0, 10, 5, 5, 5])[stone],
        first_type=first_type,
        first_link=first_link,
        fits=_fits(),
    )


_LINKS = _read()
LINKS = link_tables(_LINKS)
TYPES = len(_LINKS)
TOTAL = sum(link.copies for link in _LINKS)
LINK_TEXTS = [f"{link.key}-{'M' if link.lock == MASTER else link.lock}" for link in _LINKS]
LINK_NUMBERS = {words: number for number, words in enumerate(LINK_TEXTS)}
