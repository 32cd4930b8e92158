"""Kuhn poker (Kuhn, "A simplified two-person poker", 1950) by the contract of a game.

Three cards, of which each seat gets one, and an ante of one chip. A seat passes or bets one chip;
after a bet, to pass is to fold and to bet is to call.
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import shuffle
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec, Piece, record_dtype
from tests.training.toys import OVER, toy

CARDS, MOVES = 3, 3
PASS, BET = 0, 1
MOST = 2  # chips to lose: a payoff of -1
_STREAM = 1


@compiled
def _new_game(state: Any, seed: Any) -> None:
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
def _legal_actions(state: Any, mask: Any) -> None:
    mask[:] = state.seat != OVER


@compiled
def _apply(state: Any, action: Any) -> None:
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
def _margins(state: Any, out: Any) -> None:
    """Chips won."""
    for seat in range(2):
        out[seat] = state.stake if (state.winners >> seat) & 1 else -state.stake


@compiled
def _payoffs(state: Any, out: Any) -> None:
    _margins(state, out)
    out /= np.float32(MOST)


@compiled
def _observe(state: Any, seat: Any, out: Any) -> None:
    out[:CARDS] = 0
    out[state.deck[seat]] = 1
    out[CARDS:] = state.moves


@compiled
def _reveal(state: Any, seat: Any, out: Any) -> None:
    out[:] = 0
    out[state.deck[1 - seat]] = 1


@compiled
def _redeal(state: Any, seat: Any, seed: Any) -> None:
    state.seed = seed
    own = state.deck[seat]
    state.deck[:] = np.arange(CARDS)  # what is dealt doesn't depend on where cards lay
    shuffle(state.deck, CARDS, seed, _STREAM, 0)
    for place in range(CARDS):
        if state.deck[place] == own:
            state.deck[place] = state.deck[seat]
    state.deck[seat] = own


KUHN = toy(
    "kuhn",
    2,
    record_dtype([("deck", "i1", (CARDS,)), ("moves", "i1", (MOVES,)), ("stake", "i1")]),
    num_actions=2,
    typical_length=2,
    max_length=MOVES,
    observation=ObservationSpec(
        (
            Piece("card", (CARDS,), 0, 1, "1 for the own card"),
            Piece("moves", (MOVES,), 0, 2, "1 pass, 2 bet, 0 to come", categorical=True),
        ),
        (CARDS + MOVES,),
    ),
    hidden=ObservationSpec(
        (Piece("card", (CARDS,), 0, 1, "1 for the card of the other seat"),), (CARDS,)
    ),
    new_game=_new_game,
    legal_actions=_legal_actions,
    apply=_apply,
    observe=_observe,
    reveal=_reveal,
    payoffs=_payoffs,
    margins=_margins,
    redeal=_redeal,
)
