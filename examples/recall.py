"""A game for networks with memory: `linkzoo.make("examples/recall.py:GAME")`.

R1: Each seat sees a symbol in its first turn, and never again. R2: In its next turns it can only
wait. R3: In its last turn it names the symbol; one wrong symbol can't be named. R4: Who names the
right symbol wins; both or neither is a draw. The observation is that of the turn alone.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import (
    Drawing,
    Facts,
    Field,
    Game,
    Mask,
    Notation,
    Observation,
    ObservationPart,
    ObservationSpec,
    Record,
    Rules,
    compiled,
    rng,
)

SYMBOLS = 8
WAIT = SYMBOLS  # the action
UNSEEN = SYMBOLS
LAST = 4  # the turn of the answer, counted from 0
SEATS = 2
OVER = -1
DEAL = 0  # streams of chance
EXCLUDE = 1
SPEC = ObservationSpec(
    (
        ObservationPart("symbol", (1,), 0, UNSEEN, "symbol, in the first turn", categorical=True),
        ObservationPart("turn", (1,), 0, LAST, "turn of this seat", categorical=True),
    )
)


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Draws the symbols (R1)."""
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.answer[:] = WAIT
    determinize(state, -1, seed)


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Draws the symbols of the other seats."""
    for other in range(SEATS):
        if other != seat:
            symbol = rng.below(SYMBOLS, seed, DEAL, other)
            distance = 1 + rng.below(SYMBOLS - 1, seed, EXCLUDE, other)
            state.symbol[other] = symbol
            state.excluded[other] = (symbol + distance) % SYMBOLS
    state.seed = seed


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Marks the legal actions (R2, R3)."""
    mask[:] = 0
    if state.seat != OVER:
        if state.ply // SEATS < LAST:
            mask[WAIT] = 1
        else:
            mask[:SYMBOLS] = 1
            mask[state.excluded[state.seat]] = 0


@compiled
def apply(state: Record, action: int) -> None:
    """Plays an action; the game ends after all answers (R4)."""
    state.answer[state.seat] = action
    ply = int(state.ply) + 1
    state.ply = ply
    state.seat = ply % SEATS
    if ply == SEATS * (LAST + 1):
        for seat in range(SEATS):
            if state.answer[seat] == state.symbol[seat]:
                state.winners |= 1 << seat
        if state.winners == 0:
            state.winners = (1 << SEATS) - 1
        state.seat = OVER


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills `out` with the turn, and in the first turn with the symbol (SPEC)."""
    turn = min(state.ply // SEATS, LAST)
    out[0] = UNSEEN
    if turn == 0:
        out[0] = state.symbol[seat]
    out[1] = turn


def action_to_text(state: Record, action: int) -> str:
    """Returns the action's name; ValueError if there is no such action."""
    names = [*map(str, range(SYMBOLS)), "wait"]
    return names[range(len(names)).index(action)]


def text_to_action(state: Record, text: str) -> int:
    """Returns the action of a name; ValueError if it is none."""
    return [*map(str, range(SYMBOLS)), "wait"].index(text)


def draw(state: Record, seat: int | None = None) -> str:
    """Returns the position as `seat` sees it; None sees all symbols."""
    shown = [
        str(state.symbol[other]) if seat is None or (other == seat and state.ply < SEATS) else "?"
        for other in range(SEATS)
    ]
    return f"turn {state.ply // SEATS}, symbols {' '.join(shown)}"


GAME = Game(
    name="recall",
    version=0,
    title="Recall",
    players=(SEATS, SEATS),
    num_actions=SYMBOLS + 1,
    fields=(
        Field("symbol", "i1", (SEATS,), 0, SYMBOLS - 1, hidden="others"),
        Field("excluded", "i1", (SEATS,), 0, SYMBOLS - 1, hidden="others"),
        Field("answer", "i1", (SEATS,), 0, WAIT, hidden="others"),
    ),
    rules=Rules(
        new_game=new_game, legal_actions=legal_actions, apply=apply, determinize=determinize
    ),
    observation=Observation(spec=SPEC, observe=observe),
    notation=Notation(action_to_text=action_to_text, text_to_action=text_to_action),
    drawing=Drawing(text=draw),
    facts=Facts(typical_length=SEATS * (LAST + 1), max_length=SEATS * (LAST + 1)),
)
