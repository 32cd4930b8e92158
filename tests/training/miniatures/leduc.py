"""Leduc hold'em (Southey et al., "Bayes' bluff: opponent modelling in poker", UAI 2005), as a game.

Six cards, two of each of three ranks, and an ante of one chip. Each seat gets a card; after a round
of betting one more card is shown to both, and a second round follows. A raise is two chips in the
first round and four in the second, and a round has at most two. Seat 0 begins both rounds. Whoever
pairs the shown card wins, else the higher rank; equal ranks share.
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import shuffle
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec, Piece, record_dtype
from tests.training.toys import OVER, toy

CARDS, RANKS, ROUNDS, MOVES, RAISES = 6, 3, 2, 4, 2
SHOWN = 2  # its place in the deck, behind the cards of the seats
FOLD, CALL, RAISE = 0, 1, 2
MOST = 13  # chips to lose: a payoff of -1
_STREAM = 1


@compiled
def _new_game(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.round = 0
    state.turn = 0
    state.raises = 0
    state.paid[:] = 1
    state.moves[:] = 0
    for card in range(CARDS):
        state.deck[card] = card
    shuffle(state.deck, CARDS, seed, _STREAM, 0)


@compiled
def _rank(state: Any, place: Any) -> Any:
    return state.deck[place] // 2


@compiled
def _legal_actions(state: Any, mask: Any) -> None:
    mask[:] = 0
    if state.seat != OVER:
        mask[FOLD] = state.paid[0] != state.paid[1]
        mask[CALL] = 1
        mask[RAISE] = state.raises < RAISES


@compiled
def _apply(state: Any, action: Any) -> None:
    seat, other = np.int64(state.seat), 1 - np.int64(state.seat)
    state.moves[state.round, state.turn] = 1 + action
    state.turn += 1
    state.ply += 1
    state.seat = other
    if action == FOLD:
        _finish(state, 1 << other)
        return
    state.paid[seat] = state.paid[other]
    if action == RAISE:
        state.paid[seat] += 2 * (1 + state.round)
        state.raises += 1
    elif state.turn > 1:  # a call, or the second of two checks
        if state.round == 0:
            state.round = 1
            state.turn = 0
            state.raises = 0
            state.seat = 0
        else:
            _finish(state, _best(state))


@compiled
def _best(state: Any) -> Any:
    """The winners, a bit for each, when the cards are shown."""
    first, second, shown = _rank(state, 0), _rank(state, 1), _rank(state, SHOWN)
    if first == second:
        return 3
    if shown in (first, second):
        return 1 if first == shown else 2
    return 1 if first > second else 2


@compiled
def _finish(state: Any, winners: Any) -> None:
    state.winners = winners
    state.seat = OVER


@compiled
def _margins(state: Any, out: Any) -> None:
    """Chips won: what the loser has paid."""
    out[:] = 0
    if state.winners == 1:
        out[0], out[1] = state.paid[1], -state.paid[1]
    elif state.winners == 2:
        out[0], out[1] = -state.paid[0], state.paid[0]


@compiled
def _payoffs(state: Any, out: Any) -> None:
    _margins(state, out)
    out /= np.float32(MOST)


@compiled
def _observe(state: Any, seat: Any, out: Any) -> None:
    out[: 2 * RANKS] = 0
    out[_rank(state, seat)] = 1
    if state.round > 0:
        out[RANKS + _rank(state, SHOWN)] = 1
    for number in range(ROUNDS):
        for turn in range(MOVES):
            out[2 * RANKS + MOVES * number + turn] = state.moves[number, turn]


@compiled
def _reveal(state: Any, seat: Any, out: Any) -> None:
    out[:] = 0
    out[_rank(state, 1 - seat)] = 1
    if state.round == 0:
        out[RANKS + _rank(state, SHOWN)] = 1


@compiled
def _redeal(state: Any, seat: Any, seed: Any) -> None:
    state.seed = seed
    own, shown = state.deck[seat], state.deck[SHOWN]
    state.deck[:] = np.arange(CARDS)  # what is dealt doesn't depend on where cards lay
    shuffle(state.deck, CARDS, seed, _STREAM, 0)
    _put(state, own, seat)
    if state.round > 0:
        _put(state, shown, SHOWN)


@compiled
def _put(state: Any, card: Any, at: Any) -> None:
    """Puts a card of the deck into a place, and what lies there where the card was."""
    for place in range(CARDS):
        if state.deck[place] == card:
            state.deck[place] = state.deck[at]
    state.deck[at] = card


LEDUC = toy(
    "leduc",
    2,
    record_dtype(
        [
            ("deck", "i1", (CARDS,)),
            ("moves", "i1", (ROUNDS, MOVES)),
            ("paid", "i1", (2,)),
            ("round", "i1"),
            ("turn", "i1"),
            ("raises", "i1"),
        ],
    ),
    num_actions=3,
    typical_length=4,
    max_length=ROUNDS * MOVES,
    observation=ObservationSpec(
        (
            Piece("rank", (RANKS,), 0, 1, "1 for the rank of the own card"),
            Piece("shown", (RANKS,), 0, 1, "1 for the rank of the card that both see"),
            Piece(
                "moves", (ROUNDS, MOVES), 0, 3, "1 fold, 2 call, 3 raise, 0 none", categorical=True
            ),
        ),
        (2 * RANKS + ROUNDS * MOVES,),
    ),
    hidden=ObservationSpec(
        (
            Piece("rank", (RANKS,), 0, 1, "1 for the rank of the other seat"),
            Piece("shown", (RANKS,), 0, 1, "1 for the rank of the card that will be shown"),
        ),
        (2 * RANKS,),
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
