"""Sets of links: the links of a game and how they are dealt, read from JSON (`love-links/1`)."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import (
    agrees,
    check_keys,
    integer,
    mapping,
    parse_json,
    sequence,
    shown,
    string,
)
from linkzoo.core.data_files import DataFiles
from linkzoo.games.love_links.components import (
    HAND_PLACES,
    LINK_NUMBERS,
    LINKS,
    MAX_PLAYERS,
    METALS,
    SLOTS,
    TOTAL,
)

SCHEMA = "love-links/1"
STANDARD = "standard"
MIN_PLAYERS = 2
MIN_CLOSED_LENGTH = 3
MAX_CLOSED_LENGTH = 5
LINK_SETS = DataFiles(
    "link_set", "set", Path(__file__).with_name("link_sets"), others={STANDARD: None}
)


@dataclass(frozen=True)
class LinkSet:
    """The links of a game and how they are dealt; without arguments those of the standard game.

    Attributes:
        copies: The number of copies of each type of link (R1).
        hand_sizes: The number of links in a hand, by round (R5).
        open_at_start: The minimum number of bracelets at the start of a round (R6).
        closed_length: The minimum number of links of a completed bracelet (R10).
        typical_length: The mean number of decisions in a random game.
        digest: 12 hexadecimal digits of the file's SHA-256; zeros for the standard game.
    """

    copies: tuple[int, ...] = tuple(link.copies for link in LINKS)
    hand_sizes: tuple[int, ...] = (5, 4, 4)
    open_at_start: int = 5
    closed_length: int = 5
    typical_length: int = 89
    digest: str = "0" * 12

    @property
    def max_players(self) -> int:
        """The largest number of players whose hands all are full at the start of each round."""
        by_metal = Counter[int]()
        for link, copies in zip(LINKS, self.copies, strict=True):
            by_metal[link.metal] += copies
        hands = [count // self.hand_sizes[metal] for metal, count in by_metal.items() if count]
        return min(MAX_PLAYERS, *hands)


def load_links(name: str) -> LinkSet:
    """Returns a set of the package, or reads one from a JSON file.

    Args:
        name: The name of a set in the package, or the path of a file.

    Raises:
        ValueError: There is no such set; or names the faulty field of the file.
    """
    if name == STANDARD:
        return LinkSet()
    return LINK_SETS.parsed(name, _parse)


@cache
def _parse(text: str) -> LinkSet:
    try:
        data = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not valid JSON ({error})") from error
    return read_links(data, hashlib.sha256(text.encode()).hexdigest()[:12])


def read_links(data: Any, digest: str) -> LinkSet:
    """Returns the set of JSON data; ValueError names the faulty field."""
    required = "schema name links hand_sizes open_at_start closed_length typical_length"
    check_keys("link_set", data, required.split(), ("note",))
    agrees("schema", data["schema"], SCHEMA)
    string("name", data["name"])
    sizes = sequence("hand_sizes", data["hand_sizes"], len(METALS), len(METALS))
    closed_length = data["closed_length"]
    links = LinkSet(
        copies=_read_copies(mapping("links", data["links"])),
        hand_sizes=tuple(integer("hand_sizes", size, 1, HAND_PLACES) for size in sizes),
        open_at_start=integer("open_at_start", data["open_at_start"], 1, SLOTS),
        closed_length=integer("closed_length", closed_length, MIN_CLOSED_LENGTH, MAX_CLOSED_LENGTH),
        typical_length=integer("typical_length", data["typical_length"], 1, TOTAL),
        digest=digest,
    )
    if not any(links.copies[number] for number, link in enumerate(LINKS) if link.metal == 0):
        raise ValueError(f"links: no {METALS[0]} link, with which the first round is played")
    if links.max_players < MIN_PLAYERS:
        raise ValueError("links: too few of a metal for two full hands")
    return links


def _read_copies(data: Mapping[Any, Any]) -> tuple[int, ...]:
    """Reads the number of copies of each type; types that aren't named have none."""
    copies = [0] * len(LINKS)
    for text, number in data.items():
        if text not in LINK_NUMBERS:
            raise ValueError(f"links: no link {shown(text)}")
        link = LINK_NUMBERS[text]
        copies[link] = integer(f"links: {text}", number, 0, LINKS[link].copies)
    return tuple(copies)
