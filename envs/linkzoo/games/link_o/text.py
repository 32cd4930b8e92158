"""Positions of LINK-O as text, from their JSON (`to_dict`), and the wording that SVG shares."""

from itertools import groupby
from textwrap import wrap
from typing import Any

from linkzoo.core.guide import count, winners_text
from linkzoo.games.link_o.board import Board

Json = dict[str, Any]

_WIDTH = 100  # columns, where a line can be broken
_CELL, _PER_LINE = 6, 16  # columns of a space, and spaces beside one another
_KEY = """\
Circles run clockwise; 1-3 on a space: 1 faces the space before, 3 the next one. 4=28: a connector
and its partner. O: LINK-O, on a connector with its value (? none yet). by: who placed the tile."""


def draw_text(view: Json, board: Board, seat: int | None = None) -> str:
    """The position as lines of text: the circles, the players (`>` is to act) and the bag.

    `seat` is marked as the one that looks.
    """
    lines = [f"LINK-O, {stage(view)}", *filter(None, [last_round(view)]), ""]
    for colour, ring in zip(board.colours, board.rings, strict=True):
        lines += [*_circle(view, board, colour, ring), ""]
    bag = [f"Bag: {tally(view['bag'])}", bag_order(view)]
    for player in range(view["num_players"]):
        lines += _player(view, player, seat)
    lines += _folded(f"  {', '.join(filter(None, bag))}", view["bag"])
    return "\n".join([*lines, "", _KEY, "", f"{turn(view)}, {remark(view)}", ""])


def _circle(view: Json, board: Board, colour: str, ring: list[int]) -> list[str]:
    """A circle's spaces, the tiles on them and who placed them, below one another."""
    lines = [f"{colour}, {filled(view, ring)}"]
    for start in range(0, len(ring), _PER_LINE):
        spaces = ring[start : start + _PER_LINE]
        lying = [view["board"].get(str(space)) for space in spaces]
        lines.append(_row("at", [_place(board, space) for space in spaces]))
        lines.append(_row("", ["·" if tile is None else _tile(tile) for tile in lying]))
        lines.append(_row("by", ["" if tile is None else str(tile["by"]) for tile in lying]))
    return lines


def _row(label: str, cells: list[str]) -> str:
    return f"{label:<4}{''.join(f'{cell:<{_CELL}}' for cell in cells)}".rstrip()


def _place(board: Board, space: int) -> str:
    """`5`, or `4=28` for a connector with its partner."""
    partner = board.spaces[space].partner
    return f"{space}" if partner is None else f"{space}={partner}"


def _tile(lying: Json) -> str:
    """`3-1`, `O`, or `O=2` for a LINK-O that has a value."""
    ends = "-".join(map(str, tile_parts(lying["tile"])[1])) or "O"
    value = connector_value(lying)
    return f"{ends}={value}" if value else ends


def _player(view: Json, player: int, seat: int | None) -> list[str]:
    hand, score = view["hands"][player], view["scores"][player]
    said = [count(score, "point"), tally(hand), *notes(view, player)]
    acts = ">" if player == view["seat"] else " "
    you = " (you)" if player == seat else ""
    return _folded(f"{acts} Player {player}{you}: {', '.join(said)}", hand)


def _folded(head: str, tiles: list[str] | int) -> list[str]:
    """A line, and below it the tiles if they are seen."""
    words = "" if isinstance(tiles, int) else ", ".join(by_colour(tiles))
    return [head, *wrap(words, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)]


# Wording


def filled(view: Json, ring: list[int]) -> str:
    """`3 of 16`: the spaces of a circle that hold a tile."""
    return f"{sum(str(space) in view['board'] for space in ring)} of {len(ring)}"


def tile_parts(tile: str) -> tuple[str, list[int]]:
    """The colour, and the left and the right end; no ends for a LINK-O."""
    colour, _, ends = tile.partition(" ")
    return colour, [] if ends == "LINK-O" else [int(end) for end in ends.split("-")]


def connector_value(lying: Json) -> str:
    """The value of a LINK-O on a connector, `?` for none yet; nothing for other tiles."""
    if "value" not in lying:
        return ""
    return "?" if lying["value"] is None else str(lying["value"])


def by_colour(tiles: list[str]) -> list[str]:
    """Tiles in their order, neighbours of one colour in one string: `red 1-3 LINK-O`."""
    runs = groupby((tile.split(" ") for tile in tiles), key=lambda parts: parts[0])
    return [" ".join([colour, *(ends for _, ends in run)]) for colour, run in runs]


def tally(tiles: list[str] | int) -> str:
    """`3 tiles`: those of a hand or of the bag, whether they are seen or only counted."""
    return count(tiles if isinstance(tiles, int) else len(tiles), "tile")


def bag_order(view: Json) -> str:
    """Explains the order of the bag's tiles, if they are seen."""
    return "next one first" if isinstance(view["bag"], list) and view["bag"] else ""


def stage(view: Json) -> str:
    """The round, how long the match is, and the bonus for a circle (R23) if there is one."""
    target, bonus = view["options"]["target"], view["options"]["circle_bonus"]
    length = f"round {view['round']}, first to {target}" if target else "a single round"
    return f"{length}, {bonus} for a full circle" if bonus else length


def turn(view: Json) -> str:
    """Who is to play, or who has won."""
    if view["seat"] is not None:
        return f"Player {view['seat']} to play"
    return winners_text(view["winners"], view["num_players"])


def remark(view: Json) -> str:
    """Returns a remark on the turn: what may be played, or the final score."""
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
    """Whether a seat opened the round, has its first turn pending, drew or passed."""
    dug = view["dug"][seat]
    return [
        *["starter"] * (seat == view["starter"]),
        *["first turn due"] * bool(view["first_turn"][seat]),
        *[f"drew {dug}"] * bool(dug),
        *["passed"] * bool(view["passed"][seat]),
    ]
