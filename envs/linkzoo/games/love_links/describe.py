"""Descriptions of a Love Links position, read from its JSON (`to_dict`); for text and SVG."""

from typing import Any

from linkzoo.games.love_links.components import LINK_NUMBERS, METAL_POINTS, STONE_POINTS
from linkzoo.games.love_links.rules import CLOSED_LENGTH, TARGET
from linkzoo.games.love_links.state import sides

Json = dict[str, Any]
Chain = list[tuple[int, int | None]]  # links of a bracelet from its key end: type, owner


def side_of(position: Json, seat: int) -> int:
    """Returns a seat's side (R2)."""
    return sides(position["num_players"])[seat]


def seats_of(position: Json, side: int) -> list[int]:
    """Returns the seats of a side."""
    return [seat for seat, own in enumerate(sides(position["num_players"])) if own == side]


def side_name(position: Json, side: int) -> str:
    """Returns `Player 0`, or `Players 0 and 2` for a team."""
    seats = seats_of(position, side)
    return f"Player{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"


def winners(position: Json) -> list[int]:
    """Returns the sides that have won; none before the end."""
    return sorted({side_of(position, seat) for seat in position["winners"]})


def bracelets(position: Json) -> dict[int, Chain]:
    """Returns the open bracelets by slot."""
    return {
        bracelet["slot"]: [(LINK_NUMBERS[words], owner) for words, owner in bracelet["links"]]
        for bracelet in position["bracelets"]
    }


def worth(position: Json, chain: Chain) -> int | None:
    """Returns the points for closing a bracelet, without its closing link; None if too short."""
    if position["seat"] is None or len(chain) < CLOSED_LENGTH - 1:
        return None
    own = side_of(position, position["seat"])  # R16, from here on
    points = sum(int(METAL_POINTS[number] + STONE_POINTS[number]) for number, _ in chain)
    captured = sum(owner is not None and side_of(position, owner) != own for _, owner in chain)
    return points + 2 * (len(chain) + 1 - CLOSED_LENGTH) + (captured or 10)


def turn(position: Json) -> str:
    """Returns the turn or the winner as text."""
    if position["seat"] is not None:
        return f"Player {position['seat']} to move"
    names = [side_name(position, side) for side in winners(position)]
    return f"{names[0]} win{'s' * (len(names[0]) < 10)}" if len(names) == 1 else "A shared win"


def remark(position: Json) -> str:
    """Returns a remark on the turn, or the final scores."""
    if position["seat"] is None:
        scores = position["scores"]
        tied = scores.count(max(scores)) > len(winners(position))
        return " : ".join(map(str, scores)) + (", by captured stones" if tied else "")
    notes = [f"move {position['move']} of 2"]
    if position["must_start"]:
        notes.append("must start a bracelet")
    elif position["matched"]:
        notes.append("a match is worth 3")
    return ", ".join(notes)


def stage(position: Json) -> str:
    """Returns the round and the variant."""
    ends = f", first to {TARGET}" if position["options"]["short"] else ""
    return f"{position['round']} round{ends}"
