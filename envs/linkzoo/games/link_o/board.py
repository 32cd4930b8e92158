"""LINK-O boards: circles of spaces, linked at connectors, read from JSON (`linko-board/1`)."""

import hashlib
import os
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import (
    agrees,
    check_keys,
    file_text,
    integer,
    parse_json,
    sequence,
    shown,
    string,
)

SCHEMA = "linko-board/1"
STANDARD_BOARD = "ring4x16"
CIRCLES = 4
MAX_SPACES = 64  # a set of spaces is one word of 64 bits
MIN_RING = 4
_SHIPPED = Path(__file__).with_name("boards")
_SPACE = "id circle color pos kind prev next partner x y".split()


@dataclass(frozen=True)
class Space:
    """A space: its circle, its neighbours in the ring, and where a drawing has it.

    `next` is clockwise. `partner` is the connector of another circle that a connector is linked to,
    None for a regular space. `x` and `y` are in the units of the file, y downwards.
    """

    circle: int
    prev: int
    next: int
    partner: int | None
    x: float
    y: float


@dataclass(frozen=True)
class Board:
    """A board: the colours of its circles, and its spaces by id. `digest` is of the file."""

    name: str
    colours: tuple[str, ...]
    spaces: tuple[Space, ...]
    digest: str

    @property
    def connectors(self) -> tuple[int, ...]:
        """The ids of the connectors."""
        return tuple(i for i, space in enumerate(self.spaces) if space.partner is not None)

    @cached_property
    def rings(self) -> list[list[int]]:
        """The spaces of each circle, clockwise from the lowest number."""
        return [_ring(self.spaces, circle) for circle in range(CIRCLES)]


def _ring(spaces: tuple[Space, ...], circle: int) -> list[int]:
    ring = [next(i for i, space in enumerate(spaces) if space.circle == circle)]
    while (following := spaces[ring[-1]].next) != ring[0]:
        ring.append(following)
    return ring


def shipped() -> list[str]:
    """The names of the boards of the package."""
    return sorted(path.stem for path in _SHIPPED.glob("*.json"))


def full_name(name: str) -> str:
    """The name of a board of the package, or the whole path of a file."""
    return name if name in shipped() else os.path.abspath(name)  # noqa: PTH100  # takes any string


def load_board(name: str) -> Board:
    """The board of the package with this name, or that of a JSON file as it is now.

    ValueError names the field or the space that is wrong.
    """
    text = file_text("board", str(_SHIPPED / f"{name}.json") if name in shipped() else name)
    if text is None:
        raise ValueError(
            f"board: no board {name[:80]!r}; there are {shipped()}, or give a JSON file"
        )
    return _parse(name, text)


@cache
def _parse(name: str, text: str) -> Board:
    try:
        data = parse_json(text)
    except ValueError as error:
        raise ValueError(f"board: {name} is not valid JSON ({error})") from error
    return read_board(data, hashlib.sha256(text.encode()).hexdigest()[:12])


def read_board(data: Any, digest: str = "") -> Board:
    """The board of JSON data; ValueError names the field or the space that is wrong."""
    required = "schema name colors spaces links tiles".split()
    check_keys("board", data, required, "ring_size note provenance counts rules".split())
    agrees("schema", data["schema"], SCHEMA)
    words = sequence("colors", data["colors"], CIRCLES, CIRCLES)
    colours = tuple(string(f"colors[{circle}]", word) for circle, word in enumerate(words))
    if len(set(colours)) < CIRCLES or not all(colour and " " not in colour for colour in colours):
        raise ValueError(f"colors: {list(colours)} are not {CIRCLES} different words")
    entries = sequence("spaces", data["spaces"], CIRCLES * MIN_RING, MAX_SPACES)
    count = len(entries)
    spaces = tuple(_read_space(i, entry, colours, count) for i, entry in enumerate(entries))
    _check_rings(spaces)
    _check_links(spaces, data["links"])
    check_keys("tiles", data["tiles"], ("max_pip", "linko_per_color"), ("points", "types"))
    agrees("tiles: max_pip", data["tiles"]["max_pip"], 4)
    agrees("tiles: linko_per_color", data["tiles"]["linko_per_color"], 2)
    return Board(string("name", data["name"]), colours, spaces, digest)


def _read_space(number: int, data: Any, colours: tuple[str, ...], count: int) -> Space:
    where = f"spaces[{number}]"
    check_keys(where, data, _SPACE)
    agrees(f"{where}: id", data["id"], number)
    circle = integer(f"{where}: circle", data["circle"], 0, CIRCLES - 1)
    agrees(f"{where}: color", data["color"], colours[circle])
    integer(f"{where}: pos", data["pos"], 0, count - 1)
    prev = integer(f"{where}: prev", data["prev"], 0, count - 1)
    following = integer(f"{where}: next", data["next"], 0, count - 1)
    partner = data["partner"]
    if partner is not None:
        partner = integer(f"{where}: partner", partner, 0, count - 1)
    kind = "regular" if partner is None else "connector"
    agrees(f"{where}: kind (partner {partner})", data["kind"], kind)
    for name in ("x", "y"):
        if isinstance(data[name], bool) or not isinstance(data[name], int | float):
            raise ValueError(f"{where}: {name}: {shown(data[name])} is not a number")
    return Space(circle, prev, following, partner, float(data["x"]), float(data["y"]))


def _check_rings(spaces: tuple[Space, ...]) -> None:
    """`prev` undoes `next`, and each circle is one ring of its own."""
    for number, space in enumerate(spaces):
        back = spaces[space.next].prev
        if back != number:
            raise ValueError(f"spaces[{number}]: next is {space.next}, whose prev is {back}")
    for circle in range(CIRCLES):
        members = [i for i, space in enumerate(spaces) if space.circle == circle]
        if len(members) < MIN_RING:
            raise ValueError(f"circle {circle}: {len(members)} spaces, not {MIN_RING} or more")
        ring = sorted(_ring(spaces, circle))
        if ring != members:
            raise ValueError(f"circle {circle}: {members}, but the ring is {ring}")


def _check_links(spaces: tuple[Space, ...], links: Any) -> None:
    """Partners are mutual, of different circles, never side by side, and the links are theirs."""
    linked = []
    for number, space in enumerate(spaces):
        where, partner = f"spaces[{number}]", space.partner
        if partner is None:
            continue
        other = spaces[partner]
        if other.partner != number:
            raise ValueError(f"{where}: partner is {partner}, whose partner is {other.partner}")
        if other.circle == space.circle:
            raise ValueError(f"{where}: partner {partner} is of the same circle")
        if spaces[space.next].partner is not None:
            raise ValueError(f"{where}: its neighbour {space.next} is a connector too")
        if number < partner:
            linked.append([number, partner])
    if not linked:
        raise ValueError("links: the board has no connectors")
    found = []
    for index, link in enumerate(sequence("links", links, 0, MAX_SPACES)):
        where = f"links[{index}]"
        ends = sequence(where, link, 2, 2)
        found.append(sorted(integer(where, end, 0, len(spaces) - 1) for end in ends))
    if sorted(found) != linked:
        raise ValueError(f"links: {shown(links)}, but the partners are {linked}")
