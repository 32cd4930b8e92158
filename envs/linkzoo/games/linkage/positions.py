"""Positions of Linkage as JSON, both ways (section "JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.core.arguments import check_keys, integer, sequence, shown, string
from linkzoo.core.positions import JsonHeader, none_or_integer, or_none
from linkzoo.core.state import Record
from linkzoo.games import VERSIONS
from linkzoo.games.linkage import components, describe
from linkzoo.games.linkage.components import COLOURS, MAX_SUPPLY, PLACEMENTS, SIZE
from linkzoo.games.linkage.notation import PIECES
from linkzoo.games.linkage.options import Options
from linkzoo.games.linkage.rules import end
from linkzoo.games.linkage.state import FIELDS, NONE

HEADER = JsonHeader("linkage", VERSIONS["linkage"], Options, FIELDS, (2, 2), components.MAX_LENGTH)
_KEYS = (
    "game version options num_players seat ply phase more board pieces counter supply groups winner"
).split()
_PHASES = ["play", "hole", "role"]  # PLAY, HOLE, ROLE
_PIECE_NUMBERS: dict[tuple[str, ...], int] = {words: piece for piece, words in enumerate(PIECES)}


def to_dict(state: Record, seat: int | None = None) -> dict[str, Any]:
    """Returns the position as JSON data; for a `seat` without the seed."""
    winner = describe.acting(state) if state.seat == NONE else None
    return {
        **HEADER.write(state, seat),
        "phase": _PHASES[state.phase],
        "more": or_none(state.more),
        "board": _board_rows(state),
        "pieces": [list(PIECES[piece]) for piece in state.pieces[: state.num_pieces]],
        "counter": or_none(state.counter),
        "supply": dict(zip(COLOURS, state.supply.tolist(), strict=True)),
        "groups": int(state.groups),
        "winner": winner,
    }


def _board_rows(state: Record) -> list[str]:
    """Returns the rows of the board, row 1 first: `.` empty, `X` the hole, else the colour."""
    size = int(state.board_size)
    cells = ["."] * SIZE**2
    for cell, piece in describe.piece_indices(state).items():
        cells[cell] = describe.piece_colour(state, piece)
    if state.hole != NONE:
        cells[state.hole] = "X"
    return ["".join(cells[SIZE * row : SIZE * row + size]) for row in range(size)]


def from_dict(data: Mapping[str, Any]) -> Record:
    """Reads the record of `to_dict`; a missing seed is 0. ValueError names a faulty field."""
    state = HEADER.read(data, _KEYS, optional=("seed",))
    if data["phase"] not in _PHASES:
        raise ValueError(f"phase: {shown(data['phase'])} is not one of {_PHASES}")
    state.phase = _PHASES.index(data["phase"])
    state.more = none_or_integer("more", data["more"], 0, 1)
    state.counter = none_or_integer("counter", data["counter"], 0, components.MAX_PIECES - 1)
    state.groups = integer("groups", data["groups"], 0, components.MAX_PIECES)
    check_keys("supply", data["supply"], COLOURS)
    for colour, letter in enumerate(COLOURS):
        state.supply[colour] = integer(f"supply: {letter}", data["supply"][letter], 0, MAX_SUPPLY)
    _read_hole(state, data["board"])
    _read_pieces(state, data["pieces"])
    state.seat = none_or_integer("seat", data["seat"], 0, 1)
    if state.seat == NONE:
        integer("more", data["more"], 0, 1)  # R10: the winner follows
        end(state)
    return state


def _read_hole(state: Record, rows: Any) -> None:
    """Reads the hole's cell from the rows of the board."""
    size = int(state.board_size)
    state.hole = NONE
    for number, row in enumerate(sequence("board", rows, size, size)):
        column = string(f"board[{number}]", row).find("X", 0, size)
        if column >= 0:
            state.hole = SIZE * number + column
            state.occupied = np.uint64(1 << int(state.hole))


def _read_pieces(state: Record, pieces: Any) -> None:
    """Reads the pieces, and the cells that they cover."""
    for index, words in enumerate(sequence("pieces", pieces, 0, components.MAX_PIECES)):
        name = f"pieces[{index}]"
        texts = tuple(string(name, word) for word in sequence(name, words, 3, 3))
        piece = _PIECE_NUMBERS.get(texts)
        if piece is None:
            raise ValueError(f"{name}: {shown(texts)} is not [colour, cell, cell]")
        cells = components.BOARD.covered[piece % PLACEMENTS]
        state.pieces[index] = piece
        state.occupied |= cells
        state.coloured[piece // PLACEMENTS] |= cells
        state.num_pieces += 1
