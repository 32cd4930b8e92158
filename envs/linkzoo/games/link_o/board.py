"""LINK-O boards: circles of spaces, linked at connectors, read from JSON (`linko-board/1`)."""

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
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

SCHEMA = "linko-board/1"
STANDARD_BOARD = "ring4x16"
CIRCLES = 4  # of the standard board; editions have fewer
MIN_CIRCLES = 2
MAX_SPACES = 64  # a set of spaces is one word of 64 bits
MIN_RING = 4
MAX_PIP = 4
LINKOS_PER_COLOUR = 2
HAND = 8  # tiles dealt to each (R2)
TYPICAL_LENGTH = 163
_MAX_LENGTH = 2**14
BOARDS = DataFiles("board", "board", Path(__file__).with_name("boards"))
_SPACE = "id circle color pos kind prev next partner x y".split()


def number_of_tiles(circles: int, max_pip: int, linkos: int) -> int:
    """Returns the number of tiles of some colours, each with all pairs and some LINK-Os."""
    pairs = (max_pip + 1) * (max_pip + 2) // 2
    return circles * (pairs + linkos)


TILES = number_of_tiles(CIRCLES, MAX_PIP, LINKOS_PER_COLOUR)
BAG = TILES - 2 * HAND  # tiles in the bag after the deal, at most


@dataclass(frozen=True)
class Space:
    """A space of a board.

    Attributes:
        circle: The number of its circle.
        prev: The number of the space before it, counter-clockwise.
        next: The number of the space after it, clockwise.
        partner: The connector of another circle that it is linked to; None for a regular space.
        x: Its position in a drawing, in the file's units.
        y: The same, downwards.
    """

    circle: int
    prev: int
    next: int
    partner: int | None
    x: float
    y: float


@dataclass(frozen=True)
class Board:
    """A board, with the tiles that are played on it.

    Attributes:
        name: The name in the file.
        colours: The colour of each circle.
        spaces: The spaces, by number.
        digest: 12 hexadecimal digits of the file's SHA-256.
        max_pip: The highest value of an end.
        linkos: The number of LINK-Os of each colour.
        hand: The number of tiles dealt to each seat.
        defaults: Names and values of the options whose defaults differ on this board.
        typical_length: The mean number of decisions in a random game.
    """

    name: str
    colours: tuple[str, ...]
    spaces: tuple[Space, ...]
    digest: str
    max_pip: int = MAX_PIP
    linkos: int = LINKOS_PER_COLOUR
    hand: int = HAND
    defaults: tuple[tuple[str, Any], ...] = ()
    typical_length: int = TYPICAL_LENGTH

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return number_of_tiles(len(self.colours), self.max_pip, self.linkos)

    @property
    def connectors(self) -> tuple[int, ...]:
        """The numbers of the connectors."""
        return tuple(
            number for number, space in enumerate(self.spaces) if space.partner is not None
        )

    @cached_property
    def rings(self) -> list[list[int]]:
        """The spaces of each circle, clockwise from the lowest number."""
        return [_ring(self.spaces, circle) for circle in range(len(self.colours))]


def _ring(spaces: tuple[Space, ...], circle: int) -> list[int]:
    """Returns the spaces that `next` leads through, from the lowest number of a circle."""
    ring = [_spaces_of(spaces, circle)[0]]
    while (following := spaces[ring[-1]].next) != ring[0]:
        ring.append(following)
    return ring


def _spaces_of(spaces: tuple[Space, ...], circle: int) -> list[int]:
    """Returns the spaces of a circle in ascending order."""
    return [number for number, space in enumerate(spaces) if space.circle == circle]


def load_board(name: str) -> Board:
    """Returns a board of the package, or reads one from a JSON file.

    Args:
        name: The name of a board in the package, or the path of a file.

    Raises:
        ValueError: There is no such board; or names the faulty field or space of the file.
    """
    return BOARDS.parsed(name, _parse)


@cache
def _parse(text: str) -> Board:
    try:
        data = parse_json(text)
    except ValueError as error:
        raise ValueError(f"not valid JSON ({error})") from error
    return read_board(data, hashlib.sha256(text.encode()).hexdigest()[:12])


def read_board(data: Any, digest: str = "") -> Board:
    """Returns the board of JSON data; ValueError names the faulty field or space."""
    required = "schema name colors spaces links tiles".split()
    optional = "hand options typical_length ring_size note provenance counts rules"
    check_keys("board", data, required, optional.split())
    agrees("schema", data["schema"], SCHEMA)
    words = sequence("colors", data["colors"], MIN_CIRCLES, CIRCLES)
    colours = tuple(string(f"colors[{circle}]", word) for circle, word in enumerate(words))
    circles = len(colours)
    if len(set(colours)) < circles or not all(colour and " " not in colour for colour in colours):
        raise ValueError(f"colors: {list(colours)} are not {circles} different words")
    entries = sequence("spaces", data["spaces"], circles * MIN_RING, MAX_SPACES)
    spaces = tuple(
        _read_space(number, entry, colours, len(entries)) for number, entry in enumerate(entries)
    )
    _check_rings(spaces, circles)
    _check_links(spaces, data["links"])
    tiles = data["tiles"]
    check_keys("tiles", tiles, ("max_pip", "linko_per_color"), ("points", "types"))
    max_pip = integer("tiles: max_pip", tiles["max_pip"], 1, MAX_PIP)
    linkos = integer("tiles: linko_per_color", tiles["linko_per_color"], 0, LINKOS_PER_COLOUR)
    defaults = mapping("options", data.get("options", {}))
    for name, value in defaults.items():
        if not isinstance(value, int | str):
            raise ValueError(f"options: {name}: {shown(value)} is no value of an option")
    typical_length = data.get("typical_length", TYPICAL_LENGTH)
    board = Board(
        name=string("name", data["name"]),
        colours=colours,
        spaces=spaces,
        digest=digest,
        max_pip=max_pip,
        linkos=linkos,
        hand=integer("hand", data.get("hand", HAND), 1, HAND),
        defaults=tuple(defaults.items()),
        typical_length=integer("typical_length", typical_length, 1, _MAX_LENGTH),
    )
    in_bag = board.tiles - 2 * board.hand  # with two seats
    if not 0 <= in_bag <= BAG:
        raise ValueError(
            f"hand: {board.tiles} tiles, and {board.hand} for each of two: {in_bag} in the bag, "
            f"which has room for 0..{BAG}"
        )
    return board


def _read_space(number: int, data: Any, colours: tuple[str, ...], count: int) -> Space:
    """Reads one of `count` spaces."""
    label = f"spaces[{number}]"
    check_keys(label, data, _SPACE)
    agrees(f"{label}: id", data["id"], number)
    circle = integer(f"{label}: circle", data["circle"], 0, len(colours) - 1)
    agrees(f"{label}: color", data["color"], colours[circle])
    integer(f"{label}: pos", data["pos"], 0, count - 1)
    prev = integer(f"{label}: prev", data["prev"], 0, count - 1)
    following = integer(f"{label}: next", data["next"], 0, count - 1)
    partner = data["partner"]
    kind = "regular"
    if partner is not None:
        partner = integer(f"{label}: partner", partner, 0, count - 1)
        kind = "connector"
    agrees(f"{label}: kind (partner {partner})", data["kind"], kind)
    for name in ("x", "y"):
        if isinstance(data[name], bool) or not isinstance(data[name], int | float):
            raise ValueError(f"{label}: {name}: {shown(data[name])} is not a number")
    return Space(circle, prev, following, partner, float(data["x"]), float(data["y"]))


def _check_rings(spaces: tuple[Space, ...], circles: int) -> None:
    """Checks that `prev` undoes `next`, and that each circle is one ring."""
    for number, space in enumerate(spaces):
        back = spaces[space.next].prev
        if back != number:
            raise ValueError(f"spaces[{number}]: next is {space.next}, whose prev is {back}")
    for circle in range(circles):
        members = _spaces_of(spaces, circle)
        if len(members) < MIN_RING:
            raise ValueError(f"circle {circle}: {len(members)} spaces, not {MIN_RING} or more")
        ring = sorted(_ring(spaces, circle))
        if ring != members:
            raise ValueError(f"circle {circle}: {members}, but the ring is {ring}")


def _check_links(spaces: tuple[Space, ...], links: Any) -> None:
    """Checks that partners are mutual, of different circles and not adjacent, and the links."""
    linked = []
    for number, space in enumerate(spaces):
        label = f"spaces[{number}]"
        partner = space.partner
        if partner is None:
            continue
        other = spaces[partner]
        if other.partner != number:
            raise ValueError(f"{label}: partner is {partner}, whose partner is {other.partner}")
        if other.circle == space.circle:
            raise ValueError(f"{label}: partner {partner} is of the same circle")
        if spaces[space.next].partner is not None:
            raise ValueError(f"{label}: its neighbour {space.next} is a connector too")
        if number < partner:
            linked.append([number, partner])
    if not linked:
        raise ValueError("links: the board has no connectors")
    listed = []
    for index, link in enumerate(sequence("links", links, 0, MAX_SPACES)):
        label = f"links[{index}]"
        ends = sequence(label, link, 2, 2)
        listed.append(sorted(integer(label, end, 0, len(spaces) - 1) for end in ends))
    if sorted(listed) != linked:
        raise ValueError(f"links: {shown(links)}, but the partners are {linked}")
