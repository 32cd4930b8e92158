"""A set of links as arrays that are compiled into the rules (`binding`): `LINKS`."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import MASTER, METALS
from linkzoo.games.love_links.links import LinkSet


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
        first_link: int64[metals + 1], by metal, the start of its supply; last, their end.
        fits: int8[keys, locks], whether a key fits a lock (R10).
        hand_sizes: int64[metals], the number of links in a hand, by round (R5).
        largest_hand: The number of links in the largest hand of all rounds.
        open_at_start: The minimum number of bracelets at the start of a round (R6).
        closed_length: The minimum number of links of a completed bracelet (R10).
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
    hand_sizes: NDArray[np.int64]
    largest_hand: int
    open_at_start: int
    closed_length: int


@cache
def link_tables(links: LinkSet) -> LinkTables:
    """Returns the tables of a set of links; equal sets share them."""
    metal, key, lock, stone, _ = np.array(components.LINKS).T.copy()
    copies = np.array(links.copies)
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
        hand_sizes=np.array(links.hand_sizes),
        largest_hand=max(links.hand_sizes),
        open_at_start=links.open_at_start,
        closed_length=links.closed_length,
    )


def _fits() -> NDArray[np.int8]:
    """Returns whether a key fits a lock: the lock is a multiple of the key, or M (R10)."""
    fits = np.zeros((MASTER, MASTER + 1), np.int8)
    fits[list(components.MASTER_KEYS), MASTER] = 1
    for key in range(2, MASTER):
        fits[key, key:MASTER:key] = 1
    return fits


LINKS = link_tables(LinkSet())  # `binding` sets it for other links
