"""What both drawings of a Love Links position show, read from its JSON (`to_dict`)."""

from typing import Any

from linkzoo.games.love_links.pieces import (
    CLOSED_LENGTH,
    LINK_NUMBERS,
    METAL_POINTS,
    NUM_SIDES,
    STONE_POINTS,
    TARGET,
)
from linkzoo.games.love_links.table import sides

Json = dict[str, Any]
Chain = list[tuple[int, int | None]]  # the links of a bracelet from its key end: type, owner


def side_of(view: Json, seat: int) -> int:
    """The side that a seat plays for (R2)."""
    return sides(view["num_players"])[seat]


def seats_of(view: Json, side: int) -> list[int]:
    """The seats of a side."""
    return [seat for seat, own in enumerate(sides(view["num_players"])) if own == side]


def side_range(view: Json) -> range:
    """The sides of the game."""
    return range(int(NUM_SIDES[view["num_players"]]))


def side_name(view: Json, side: int) -> str:
    """`Player 0`, or `Players 0 and 2` for a team."""
    seats = seats_of(view, side)
    return f"Player{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"


def winners(view: Json) -> list[int]:
    """The sides that have won, none before the end."""
    return sorted({side_of(view, seat) for seat in view["winners"]})


def bracelets(view: Json) -> dict[int, Chain]:
    """The open bracelets by slot."""
    return {
        bracelet["slot"]: [(LINK_NUMBERS[words], owner) for words, owner in bracelet["links"]]
        for bracelet in view["bracelets"]
    }


def worth(view: Json, chain: Chain) -> int | None:
    """What closing a bracelet brings the seat to act before its link counts; None: too short."""
    if view["seat"] is None or len(chain) < CLOSED_LENGTH - 1:
        return None
    own = side_of(view, view["seat"])  # R16, from here on
    points = sum(int(METAL_POINTS[number] + STONE_POINTS[number]) for number, _ in chain)
    captured = sum(owner is not None and side_of(view, owner) != own for _, owner in chain)
    return points + 2 * (len(chain) + 1 - CLOSED_LENGTH) + (captured or 10)


def turn(view: Json) -> str:
    """Who is to move, or who has won."""
    if view["seat"] is not None:
        return f"Player {view['seat']} to move"
    names = [side_name(view, side) for side in winners(view)]
    return f"{names[0]} win{'s' * (len(names[0]) < 10)}" if len(names) == 1 else "A shared win"


def remark(view: Json) -> str:
    """What else there is to say about the turn."""
    if view["seat"] is None:
        scores = view["scores"]
        tied = scores.count(max(scores)) > len(winners(view))
        return " : ".join(map(str, scores)) + (", by captured stones" if tied else "")
    notes = [f"move {view['move']} of 2"]
    if view["must_start"]:
        notes.append("must start a bracelet")
    elif view["matched"]:
        notes.append("a match is worth 3")
    return ", ".join(notes)


def stage(view: Json) -> str:
    """The round and the variant."""
    ends = f", first to {TARGET}" if view["options"]["short"] else ""
    return f"{view['round']} round{ends}"
