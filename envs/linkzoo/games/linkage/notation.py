"""Linkage as text and JSON, both ways (section "Notation and JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import agrees, integer, sequence, shown, string
from linkzoo.games.linkage.options import Options
from linkzoo.games.linkage.pieces import (
    COLOURS,
    HOLE_ACTION,
    MAX_LENGTH,
    MAX_PIECES,
    PLACEMENT_CELLS,
    PLACEMENTS,
    SIZE,
    TAKE_FEWER,
    TAKE_MORE,
)
from linkzoo.games.linkage.rules import HOLE, NONE, PLAY, ROLE, STATE, apply, can_place, new_game
from linkzoo.core.positions import Head, or_none

NAME, VERSION = "linkage", 1
HEAD = Head(NAME, VERSION, Options, STATE, 2, 2, MAX_LENGTH)
_FIELDS = (
    "game version options num_players seat ply phase more board pieces counter supply groups winner"
).split()
_PHASES = {PLAY: "play", HOLE: "hole", ROLE: "role"}
_CELLS = [f"{'abcdefg'[cell % SIZE]}{cell // SIZE + 1}" for cell in range(SIZE * SIZE)]


def piece_to_list(piece: int) -> list[str]:
    """[colour, cell, cell] of an entry of `pieces`."""
    first, second = PLACEMENT_CELLS[piece % PLACEMENTS]
    return [COLOURS[piece // PLACEMENTS], _CELLS[first], _CELLS[second]]


_TEXTS = {
    **{
        piece: "{} {}-{}".format(*piece_to_list(piece))
        for piece in range(len(COLOURS) * PLACEMENTS)
    },
    **{HOLE_ACTION + cell: f"hole {name}" for cell, name in enumerate(_CELLS)},
    TAKE_MORE: "take more",
    TAKE_FEWER: "take fewer",
}
_ACTIONS = {text: action for action, text in _TEXTS.items()}


def action_to_text(state: Record, action: int) -> str:
    """`W a1-b1`, `hole d4`, `take more` or `take fewer`; ValueError outside 0..386."""
    return _TEXTS[integer("action", action, 0, TAKE_FEWER)]


def action_parts(state: Record, action: int) -> tuple[str, ...]:
    """A piece's colour and its two cells, the hole's cell, or the words of a role."""
    text = action_to_text(state, action)
    if action < HOLE_ACTION:
        colour, cells = text.split(" ")
        return (colour, *cells.split("-"))
    return (text,) if action >= TAKE_MORE else (text.removeprefix("hole "),)


def text_to_action(state: Record, text: str) -> int:
    """The action of a move's text; ValueError if it is no move."""
    if string("move", text) not in _ACTIONS:
        raise ValueError(
            f"no move {shown(text)}; moves are like 'W a1-b1' (colours {', '.join(COLOURS)}; cells "
            "in row-major order), 'hole d4', 'take more', 'take fewer'"
        )
    return _ACTIONS[text]


def board_rows(state: Record) -> list[str]:
    """The board, row 1 first: `.` empty, `X` the hole, else the colour."""
    size, cells = int(state.board_size), ["."] * SIZE**2
    for bits, letter in zip(state.coloured.tolist(), COLOURS, strict=True):
        for cell in range(SIZE**2):
            if bits >> cell & 1:
                cells[cell] = letter
    if state.hole != NONE:
        cells[state.hole] = "X"
    return ["".join(cells[SIZE * row : SIZE * row + size]) for row in range(size)]


def to_dict(state: Record, seat: int | None = None) -> dict[str, Any]:
    """The position as JSON data; with a `seat`, what that seat sees (all but the seed)."""
    over = state.seat == NONE
    data = {
        **HEAD.write(state),
        "seat": None if over else int(state.seat),
        "ply": int(state.ply),
        "phase": _PHASES[int(state.phase)],
        "more": or_none(state.more),
        "board": board_rows(state),
        "pieces": [piece_to_list(int(piece)) for piece in state.pieces[: state.num_pieces]],
        "counter": or_none(state.counter),
        "supply": {letter: int(state.supply[i]) for i, letter in enumerate(COLOURS)},
        "groups": int(state.groups),
        "winner": int(state.winners).bit_length() - 1 if over else None,
    }
    if seat is not None:
        del data["seed"]
    return data


def from_dict(data: Mapping[str, Any]) -> Record:
    """The record of `to_dict`; ValueError names the field that is wrong or disagrees.

    Without a seed (a seat's view) the seed is 0.
    """
    state = HEAD.read(data, _FIELDS, optional=("seed",))
    ply = int(state.ply)
    new_game(state, state.seed)
    _read_phase(state, data)
    _read_hole(state, data)
    _read_pieces(state, data)
    state.ply = ply
    _read_turn(state, data)
    for name, value in to_dict(state).items():
        if name in ("board", "supply", "groups", "winner"):
            agrees(name, data[name], value)
    return state


def _optional(name: str, value: Any, low: int, high: int) -> int:
    return NONE if value is None else integer(name, value, low, high)


def _read_phase(state: Record, data: Mapping[str, Any]) -> None:
    phases = [phase for phase, name in _PHASES.items() if name == data["phase"]]
    if not phases or (phases[0] != PLAY and not state.free_hole):
        allowed = list(_PHASES.values()) if state.free_hole else ["play"]
        raise ValueError(f"phase: {shown(data['phase'])} is not one of {allowed}")
    state.phase = phases[0]
    state.more = _optional("more", data["more"], 0, 1)
    if (state.more == NONE) != (state.phase != PLAY):
        raise ValueError(f"more: {shown(data['more'])} in phase {shown(data['phase'])}")
    if not state.free_hole:
        agrees("more", data["more"], 0)  # R3


def _read_hole(state: Record, data: Mapping[str, Any]) -> None:
    size = int(state.board_size)
    rows = sequence("board", data["board"], size, size)
    if not all(isinstance(row, str) and len(row) == size for row in rows):
        raise ValueError(f"board: not {size} strings of {size}: {shown(rows)}")
    holes = [SIZE * r + c for r in range(size) for c in range(size) if rows[r][c] == "X"]
    if not state.free_hole:
        agrees("board's holes", holes, [] if state.hole == NONE else [int(state.hole)])
    elif len(holes) != (state.phase != HOLE):
        raise ValueError(f"board: {len(holes)} holes in phase {shown(data['phase'])}")
    elif holes:
        state.hole = holes[0]
        state.occupied |= np.uint64(1 << holes[0])


def _read_pieces(state: Record, data: Mapping[str, Any]) -> None:
    pieces = sequence("pieces", data["pieces"], 0, MAX_PIECES)
    if pieces and state.phase != PLAY:
        raise ValueError(f"pieces: {len(pieces)} pieces in phase {shown(data['phase'])}")
    for index, piece in enumerate(pieces):
        try:
            action = text_to_action(state, "{} {}-{}".format(*piece))
        except (ValueError, IndexError, TypeError, RecursionError) as error:
            raise ValueError(
                f"pieces[{index}]: {shown(piece)} is not [colour, cell, cell]"
            ) from error
        colour, cells = action // PLACEMENTS, PLACEMENT_CELLS[action % PLACEMENTS]
        size = state.board_size
        if any(c // SIZE >= size or c % SIZE >= size for c in cells) or len(piece) != 3:
            raise ValueError(f"pieces[{index}]: {shown(piece)} is off the board")
        if any((int(state.occupied) >> int(cell)) & 1 for cell in cells):
            raise ValueError(f"pieces[{index}]: {shown(piece)} lies on another piece or the hole")
        if state.supply[colour] == 0:
            raise ValueError(f"pieces[{index}]: no piece {piece[0]} is left")
        apply(state, action)


def _read_turn(state: Record, data: Mapping[str, Any]) -> None:
    last = int(state.num_pieces) - 1
    state.counter = _optional("counter", data["counter"], 0, MAX_PIECES - 1)
    if state.counter not in (NONE, last):
        raise ValueError(
            f"counter: {shown(data['counter'])} is neither null nor the last piece, {last}"
        )
    state.seat = _optional("seat", data["seat"], 0, 1)
    if state.seat == NONE:
        if state.phase != PLAY or can_place(state, False):
            raise ValueError("seat: null, but the game is not over")
        agrees("counter", data["counter"], last)
        winner = state.more if state.groups >= state.threshold else 1 - state.more
        state.winners = 1 << int(winner)
    elif state.phase == PLAY and not can_place(state, True):
        raise ValueError(f"seat: {shown(data['seat'])}, but no piece can be placed")
    elif state.phase != PLAY:
        agrees("seat", data["seat"], 0 if state.phase == HOLE else 1)
        state.winners = 0
    else:
        state.winners = 0
