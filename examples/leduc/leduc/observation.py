"""The observation of a seat (its card, the board, chips, all actions), and the hidden cards."""

import numpy as np
from numpy.typing import NDArray

from leduc.rules import MAX_PAID, MAX_PLAYERS, MOVES, NONE, RAISE, SUITS
from linkzoo import ObservationPart as Part
from linkzoo import ObservationSpec, Record, compiled

SPEC = ObservationSpec(
    (
        Part("hand", (1,), 0, MAX_PLAYERS, "rank of the own card", categorical=True),
        Part("board", (1,), NONE, MAX_PLAYERS, "rank of the board", categorical=True),
        Part("seat", (1,), 0, MAX_PLAYERS - 1, "own seat", categorical=True),
        Part("num_players", (1,), 2, MAX_PLAYERS, "players", categorical=True),
        Part("paid", (MAX_PLAYERS,), 0, MAX_PAID, "chips paid, own ones first"),
        Part("history", (2, MOVES), NONE, RAISE, "actions by round", categorical=True),
    )
)
AT = SPEC.starts()
HIDDEN = ObservationSpec(
    (Part("deck", (MAX_PLAYERS,), NONE, MAX_PLAYERS, "hands, then board", categorical=True),)
)


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the flat `out` with what `seat` sees (SPEC); other seats follow it in order."""
    out[:] = 0
    out[AT.hand] = state.deck[seat] // SUITS
    out[AT.board] = state.board // SUITS
    out[AT.seat] = seat
    out[AT.num_players] = state.num_players
    for step in range(state.num_players):
        out[AT.paid + step] = state.paid[(seat + step) % state.num_players]
    for place in range(2 * MOVES):
        out[AT.history + place] = state.history[place // MOVES, place % MOVES]


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills `out` with what is hidden from `seat` (HIDDEN)."""
    out[:] = NONE
    for step in range(1, state.num_players):
        out[step - 1] = state.deck[(seat + step) % state.num_players] // SUITS
    out[MAX_PLAYERS - 1] = state.deck[state.num_players] // SUITS
