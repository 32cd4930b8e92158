"""Kuhn poker (Kuhn, "A simplified two-person poker", 1950) by the contract of a game.

Three cards, of which each seat gets one, and an ante of one chip. A seat passes or bets one chip;
after a bet, to pass is to fold and to bet is to call.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.contract import Facts, Observation, Rules
from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.core.state import OVER, Field, Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import shuffle
from tests.training.toys import toy

CARDS, MOVES = 3, 3
PASS, BET = 0, 1
MOST = 2  # chips to lose: a payoff of -1
_STREAM = 1


@compiled
def _new_game(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.stake = 0
    state.moves[:] = 0
    for card in range(CARDS):
        state.deck[card] = card
    shuffle(state.deck, CARDS, seed, _STREAM, 0)


@compiled
def _legal_actions(state: Record, mask: Mask) -> None:
    mask[:] = state.seat != OVER


@compiled
def _apply(state: Record, action: int) -> None:
    other = 1 - np.int64(state.seat)
    raised = state.ply > 0 and state.moves[state.ply - 1] == 1 + BET
    state.moves[state.ply] = 1 + action
    state.ply += 1
    state.seat = other
    if raised or (action == PASS and state.ply == 2):
        higher = 0 if state.deck[0] > state.deck[1] else 1
        folded = raised and action == PASS
        state.winners = 1 << (other if folded else higher)
        state.stake = 2 if raised and action == BET else 1
        state.seat = OVER


@compiled
def _margins(state: Record, out: NDArray[np.float32]) -> None:
    """Chips won."""
    for seat in range(2):
        out[seat] = state.stake if (state.winners >> seat) & 1 else -state.stake


@compiled
def _payoffs(state: Record, out: NDArray[np.float32]) -> None:
    _margins(state, out)
    out /= np.float32(MOST)


@compiled
def _observe(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[:CARDS] = 0
    out[state.deck[seat]] = 1
    for ply in range(len(state.moves)):
        out[CARDS + ply] = state.moves[ply]


@compiled
def _reveal(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0
    out[state.deck[1 - seat]] = 1


@compiled
def _determinize(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    own = state.deck[seat]
    for card in range(CARDS):  # what is dealt doesn't depend on where cards lay
        state.deck[card] = card
    shuffle(state.deck, CARDS, seed, _STREAM, 0)
    for index in range(CARDS):
        if state.deck[index] == own:
            state.deck[index] = state.deck[seat]
    state.deck[seat] = own


KUHN = toy(
    "kuhn",
    (2, 2),
    (
        Field("deck", "i1", (CARDS,), 0, CARDS - 1),
        Field("moves", "i1", (MOVES,), 0, 2),
        Field("stake", "i1", (), 0, MOST),
    ),
    Rules(
        new_game=_new_game,
        legal_actions=_legal_actions,
        apply=_apply,
        payoffs=_payoffs,
        score_margins=_margins,
        determinize=_determinize,
    ),
    Facts(typical_length=2, max_length=MOVES),
    num_actions=2,
    observation=Observation(
        spec=ObservationSpec(
            (
                ObservationPart("card", (CARDS,), 0, 1, "1 for the own card"),
                ObservationPart(
                    "moves", (MOVES,), 0, 2, "1 pass, 2 bet, 0 to come", categorical=True
                ),
            ),
            (CARDS + MOVES,),
        ),
        observe=_observe,
        privileged_spec=ObservationSpec(
            (ObservationPart("card", (CARDS,), 0, 1, "1 for the card of the other seat"),), (CARDS,)
        ),
        reveal=_reveal,
    ),
)
