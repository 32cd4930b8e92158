"""Descriptions of a Love Links position, read from its JSON (`to_dict`); for text and SVG."""

from typing import Any

from linkzoo.games.love_links.components import LINK_NUMBERS
from linkzoo.games.love_links.rules import TARGET
from linkzoo.games.love_links.state import sides
from linkzoo.games.love_links.tables import LINKS

Json = dict[str, Any]
Chain = list[tuple[int, int | None]]  # types and owners of a bracelet's links, from its key end


def side_of(position: Json, seat: int) -> int:
    """Returns a seat's side (R2)."""
    return sides(position["num_players"])[seat]


def seats_of(position: Json, side: int) -> list[int]:
    """Returns the seats of a side."""
    return [seat for seat in range(position["num_players"]) if side_of(position, seat) == side]


def side_name(position: Json, side: int) -> str:
    """Returns `Player 0`, or `Players 0 and 2` for a team."""
    seats = seats_of(position, side)
    if len(seats) == 1:
        return f"Player {seats[0]}"
    return f"Players {' and '.join(map(str, seats))}"


def winners(position: Json) -> list[int]:
    """Returns the winning sides; none before the end."""
    return sorted({side_of(position, seat) for seat in position["winners"]})


def bracelets(position: Json) -> dict[int, Chain]:
    """Returns the open bracelets by slot."""
    return {
        bracelet["slot"]: [(LINK_NUMBERS[words], owner) for words, owner in bracelet["links"]]
        for bracelet in position["bracelets"]
    }


def worth(position: Json, chain: Chain, closed_length: int) -> int | None:
    """Returns the points for closing a bracelet, without its closing link; None if too short."""
    if position["seat"] is None or len(chain) < closed_length - 1:
        return None
    points = 2 * (len(chain) + 1 - closed_length)  # R16, from here on
    for number, _ in chain:
        points += int(LINKS.metal_points[number] + LINKS.stone_points[number])
    captures = captured(position, chain)
    if captures == 0:
        return points + 10  # domination
    return points + captures


def captured(position: Json, chain: Chain) -> int:
    """Returns the number of a bracelet's links that other sides than the mover's placed."""
    mover = side_of(position, position["seat"])
    return sum(owner is not None and side_of(position, owner) != mover for _, owner in chain)


def turn(position: Json) -> str:
    """Returns the turn or the winner as text."""
    if position["seat"] is not None:
        return f"Player {position['seat']} to move"
    winning = winners(position)
    if len(winning) != 1:
        return "A shared win"
    verb = "win" if len(seats_of(position, winning[0])) > 1 else "wins"
    return f"{side_name(position, winning[0])} {verb}"


def remark(position: Json) -> str:
    """Returns a remark on the turn, or the final scores."""
    if position["seat"] is None:
        scores = position["scores"]
        words = " : ".join(map(str, scores))
        if scores.count(max(scores)) > len(winners(position)):
            words += ", by captured stones"
        return words
    notes = [f"move {position['move']} of 2"]
    if position["must_start"]:
        notes.append("must start a bracelet")
    elif position["matched"]:
        notes.append("a match is worth 3")
    return ", ".join(notes)


def stage(position: Json) -> str:
    """Returns the round and the variant."""
    words = f"{position['round']} round"
    if position["options"]["short"]:
        words += f", first to {TARGET}"
    return words
