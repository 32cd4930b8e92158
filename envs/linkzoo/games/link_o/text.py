"""Positions of LINK-O as text, from their JSON (`to_dict`), and wording shared with the SVG."""

from itertools import groupby
from textwrap import wrap
from typing import Any

from linkzoo.core.guide import count, winners_text
from linkzoo.games.link_o.board import Board

Json = dict[str, Any]

_WIDTH = 100  # columns of a line that can be broken
_CELL = 6  # columns of a space
_PER_LINE = 16  # spaces
_KEY = """\
Circles run clockwise; 1-3 on a space: 1 faces the space before, 3 the next one. 4=28: a connector
and its partner. O: LINK-O, on a connector with its value (? none yet). by: who placed the tile."""


def draw_text(view: Json, board: Board, seat: int | None = None) -> str:
    """Returns the position as lines of text: the circles, the players and the bag.

    Args:
        view: A position as JSON.
        board: Its board.
        seat: The observer, who is marked; None: no observer.
    """
    lines = [f"LINK-O, {stage(view)}"]
    if view["last_round"] is not None:
        lines.append(last_round(view))
    lines.append("")
    for colour, ring in zip(board.colours, board.rings, strict=True):
        lines += [*_circle(view, board, colour, ring), ""]
    for player in range(view["num_players"]):
        lines += _player(view, player, seat)
    bag = f"  Bag: {tally(view['bag'])}"
    if bag_order(view):
        bag += f", {bag_order(view)}"
    lines += _folded(bag, view["bag"])
    return "\n".join([*lines, "", _KEY, "", f"{turn(view)}, {remark(view)}", ""])


def _circle(view: Json, board: Board, colour: str, ring: list[int]) -> list[str]:
    """Returns three lines per row: a circle's spaces, their tiles, and the owners of the tiles."""
    lines = [f"{colour}, {filled(view, ring)}"]
    for start in range(0, len(ring), _PER_LINE):
        spaces = ring[start : start + _PER_LINE]
        tiles = dict.fromkeys(spaces, "·")
        owners = dict.fromkeys(spaces, "")
        for space in spaces:
            entry = view["board"].get(str(space))
            if entry is not None:
                tiles[space] = _tile(entry)
                owners[space] = str(entry["by"])
        lines.append(_row("at", [_space(board, space) for space in spaces]))
        lines.append(_row("", list(tiles.values())))
        lines.append(_row("by", list(owners.values())))
    return lines


def _row(label: str, cells: list[str]) -> str:
    """Returns a line of cells in columns."""
    return f"{label:<4}{''.join(f'{cell:<{_CELL}}' for cell in cells)}".rstrip()


def _space(board: Board, space: int) -> str:
    """Returns `5`, or `4=28` for a connector with its partner."""
    partner = board.spaces[space].partner
    if partner is None:
        return str(space)
    return f"{space}={partner}"


def _tile(entry: Json) -> str:
    """Returns a tile on the board: `3-1`, `O`, or `O=2` for a LINK-O that has a value."""
    _, ends = tile_parts(entry["tile"])
    words = "-".join(map(str, ends)) or "O"
    value = connector_value(entry)
    if value:
        words += f"={value}"
    return words


def _player(view: Json, player: int, seat: int | None) -> list[str]:
    """Returns a player's line, and the lines of the hand if it is visible."""
    hand = view["hands"][player]
    facts = [count(view["scores"][player], "point"), tally(hand), *notes(view, player)]
    mark = ">" if player == view["seat"] else " "
    name = f"Player {player}"
    if player == seat:
        name += " (you)"
    return _folded(f"{mark} {name}: {', '.join(facts)}", hand)


def _folded(head: str, tiles: list[str] | int) -> list[str]:
    """Returns a line, and below it the tiles if they are visible."""
    if isinstance(tiles, int):
        return [head]
    words = ", ".join(by_colour(tiles))
    indent = " " * 6
    return [head, *wrap(words, _WIDTH, initial_indent=indent, subsequent_indent=indent)]


# Wording


def filled(view: Json, ring: list[int]) -> str:
    """Returns the number of a circle's spaces that hold a tile: `3 of 16`."""
    return f"{sum(str(space) in view['board'] for space in ring)} of {len(ring)}"


def tile_parts(tile: str) -> tuple[str, list[int]]:
    """Returns the colour, and the left and the right end; no ends for a LINK-O."""
    colour, _, ends = tile.partition(" ")
    if ends == "LINK-O":
        return colour, []
    return colour, [int(end) for end in ends.split("-")]


def connector_value(entry: Json) -> str:
    """Returns the value of a LINK-O on a connector, `?` without one; "" for other tiles."""
    if "value" not in entry:
        return ""
    if entry["value"] is None:
        return "?"
    return str(entry["value"])


def by_colour(tiles: list[str]) -> list[str]:
    """Returns tiles in their order, with neighbours of one colour together: `red 1-3 LINK-O`."""
    runs = groupby((tile.split(" ") for tile in tiles), key=lambda parts: parts[0])
    return [" ".join([colour, *(ends for _, ends in run)]) for colour, run in runs]


def tally(tiles: list[str] | int) -> str:
    """Returns the number of tiles of a hand or the bag, visible or not: `3 tiles`."""
    return count(number_of(tiles), "tile")


def number_of(tiles: list[str] | int) -> int:
    """Returns the number of tiles; of hidden tiles, JSON has the number itself."""
    return tiles if isinstance(tiles, int) else len(tiles)


def bag_order(view: Json) -> str:
    """Returns an explanation of the order of the bag's tiles if they are visible, else ""."""
    if isinstance(view["bag"], list) and view["bag"]:
        return "next one first"
    return ""


def stage(view: Json) -> str:
    """Returns the round, the length of the match, and the bonus for a circle (R23) if any."""
    words = "a single round"
    if view["options"]["target"]:
        words = f"round {view['round']}, first to {view['options']['target']}"
    if view["options"]["circle_bonus"]:
        words += f", {view['options']['circle_bonus']} for a full circle"
    return words


def turn(view: Json) -> str:
    """Returns the seat to play, or the winners."""
    if view["seat"] is not None:
        return f"Player {view['seat']} to play"
    return winners_text(view["winners"], view["num_players"])


def remark(view: Json) -> str:
    """Returns a remark on the turn: the tiles that may be played, or the final score."""
    seat = view["seat"]
    if seat is None:
        return " : ".join(map(str, view["scores"]))
    if not view["board"]:
        return "opens with a double or a LINK-O on a connector"
    if view["first_turn"][seat]:
        return "first turn: a double or a LINK-O"
    return "places one tile"


def last_round(view: Json) -> str:
    """Returns the end of the last round and its points, or ""."""
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
    """Returns notes on a seat: starter of the round, first turn to come, tiles drawn, passed."""
    words = []
    if seat == view["starter"]:
        words.append("starter")
    if view["first_turn"][seat]:
        words.append("first turn due")
    if view["dug"][seat]:
        words.append(f"drew {view['dug'][seat]}")
    if view["passed"][seat]:
        words.append("passed")
    return words
