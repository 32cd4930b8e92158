"""What both drawings of a LINK-O position show, read from its JSON (`to_dict`)."""

from itertools import groupby
from typing import Any

from linkzoo.games.link_o.board import Board

Json = dict[str, Any]

WILD = "LINK-O"


def rings(board: Board) -> dict[str, list[int]]:
    """The spaces of each circle by its colour, clockwise from the lowest number."""
    found: dict[str, list[int]] = {}
    for circle, colour in enumerate(board.colours):
        first = next(i for i, space in enumerate(board.spaces) if space.circle == circle)
        found[colour] = ring = [first]
        while (following := board.spaces[ring[-1]].next) != first:
            ring.append(following)
    return found


def filled(view: Json, ring: list[int]) -> int:
    """How many spaces of a circle hold a tile."""
    return sum(str(space) in view["board"] for space in ring)


def tile_parts(tile: str) -> tuple[str, list[int]]:
    """The colour, and the left and the right end; no ends for a LINK-O."""
    colour, _, ends = tile.partition(" ")
    return colour, [] if ends == WILD else [int(end) for end in ends.split("-")]


def by_colour(tiles: list[str]) -> list[str]:
    """Tiles in their order, neighbours of one colour in one string: `red 1-3 LINK-O`."""
    runs = groupby((tile.split(" ") for tile in tiles), key=lambda parts: parts[0])
    return [" ".join([colour, *(ends for _, ends in run)]) for colour, run in runs]


def size(tiles: list[str] | int) -> int:
    """The tiles in a hand or in the bag, whether they are seen or only counted."""
    return tiles if isinstance(tiles, int) else len(tiles)


def bag_order(view: Json) -> str:
    """What the order of the bag's tiles means, if they are seen."""
    return "next one first" if isinstance(view["bag"], list) and view["bag"] else ""


def count(number: int, thing: str) -> str:
    """`1 tile`, `2 tiles`."""
    return f"{number} {thing}{'s' * (number != 1)}"


def stage(view: Json) -> str:
    """The round, how long the match is, and the bonus for a circle (R23) if there is one."""
    target, bonus = view["options"]["target"], view["options"]["circle_bonus"]
    length = f"round {view['round']}, first to {target}" if target else "a single round"
    return f"{length}, {bonus} for a full circle" if bonus else length


def turn(view: Json) -> str:
    """Who is to play, or who has won."""
    if view["seat"] is not None:
        return f"Player {view['seat']} to play"
    if len(view["winners"]) in (0, view["num_players"]):
        return "A draw"
    *others, last = map(str, view["winners"])
    return f"Players {', '.join(others)} and {last} win" if others else f"Player {last} wins"


def remark(view: Json) -> str:
    """What else there is to say about the turn: what may be played, or the final score."""
    seat = view["seat"]
    if seat is None:
        return " : ".join(map(str, view["scores"]))
    if not view["board"]:
        return "opens with a double or a LINK-O on a connector"
    return "first turn: a double or a LINK-O" if view["first_turn"][seat] else "places one tile"


def last_round(view: Json) -> str:
    """How the last round ended and what it brought, or nothing."""
    result = view["last_round"]
    if result is None:
        return ""
    points = count(result["points"], "point")
    if result["winner"] is None:
        return f"Last round: blocked, tied for the lowest hand, {points} each"
    if result["how"] == "out":
        return f"Last round: player {result['winner']} went out, {points}"
    return f"Last round: blocked, player {result['winner']} had the lowest hand, {points}"


def notes(view: Json, seat: int) -> list[str]:
    """Whether a seat opened the round, has its first turn pending, dug or passed."""
    dug = view["dug"][seat]
    return [
        *["starter"] * (seat == view["starter"]),
        *["first turn due"] * bool(view["first_turn"][seat]),
        *[f"dug {dug}"] * bool(dug),
        *["passed"] * bool(view["passed"][seat]),
    ]
