"""LINK-O as text and as a picture, from what `to_dict` gives to a seat or to the referee."""

from textwrap import wrap

from linkzoo.games.link_o import picture
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.view import (
    Json,
    bag_order,
    by_colour,
    count,
    filled,
    last_round,
    notes,
    remark,
    rings,
    size,
    stage,
    tile_parts,
    turn,
)

_WIDTH = 100  # columns, where a line can be broken
_CELL, _PER_LINE = 6, 16  # columns of a space, and spaces beside one another
_KEY = """\
Circles run clockwise; 1-3 on a space: 1 faces the space before, 3 the next one. 4=28: a connector
and its partner. O: LINK-O, on a connector with its value (? none yet). by: who placed the tile."""


def draw_svg(view: Json, board: Board, seat: int | None = None) -> str:
    """The position as an SVG document of 1200 x 720 pixels, with what the view shows of hands.

    `seat` is marked as the one that looks.
    """
    return picture.draw(view, board, seat)


def draw_text(view: Json, board: Board, seat: int | None = None) -> str:
    """The position as lines of text: the circles, the players (`>` is to act) and the bag.

    `seat` is marked as the one that looks.
    """
    lines = [f"LINK-O, {stage(view)}", *filter(None, [last_round(view)]), ""]
    for colour, ring in rings(board).items():
        lines += [*_circle(view, board, colour, ring), ""]
    bag = [f"Bag: {count(size(view['bag']), 'tile')}", bag_order(view)]
    for player in range(view["num_players"]):
        lines += _player(view, player, seat)
    lines += _folded(f"  {', '.join(filter(None, bag))}", view["bag"])
    return "\n".join([*lines, "", _KEY, "", f"{turn(view)}, {remark(view)}", ""])


def _circle(view: Json, board: Board, colour: str, ring: list[int]) -> list[str]:
    """A circle's spaces, the tiles on them and who placed them, below one another."""
    lines = [f"{colour}, {filled(view, ring)} of {len(ring)}"]
    for start in range(0, len(ring), _PER_LINE):
        spaces = ring[start : start + _PER_LINE]
        lying = [view["board"].get(str(space)) for space in spaces]
        lines += [
            _row("at", [_place(board, space) for space in spaces]),
            _row("", ["·" if tile is None else _tile(tile) for tile in lying]),
            _row("by", ["" if tile is None else str(tile["by"]) for tile in lying]),
        ]
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
    if "value" not in lying:
        return ends
    return f"{ends}={'?' if lying['value'] is None else lying['value']}"


def _player(view: Json, player: int, seat: int | None) -> list[str]:
    """A player's score, what happened in the latest turn, and the hand."""
    hand, score = view["hands"][player], view["scores"][player]
    said = [count(score, "point"), count(size(hand), "tile"), *notes(view, player)]
    acts = ">" if player == view["seat"] else " "
    you = " (you)" if player == seat else ""
    return _folded(f"{acts} Player {player}{you}: {', '.join(said)}", hand)


def _folded(head: str, tiles: list[str] | int) -> list[str]:
    """A line, and below it the tiles if they are seen."""
    words = "" if isinstance(tiles, int) else ", ".join(by_colour(tiles))
    return [head, *wrap(words, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)]
