"""Leduc hold'em (Southey et al., "Bayes' bluff: opponent modelling in poker", UAI 2005), as a game.

Six cards, two of each of three ranks, and an ante of one chip. Each seat gets a card; after a round
of betting one more card is shown to both, and a second round follows. A raise is two chips in the
first round and four in the second, and a round has at most two. Seat 0 begins both rounds. Whoever
pairs the shown card wins, else the higher rank; equal ranks share.
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

CARDS, RANKS, ROUNDS, MOVES, RAISES = 6, 3, 2, 4, 2
SHOWN = 2  # its place in the deck, behind the cards of the seats
FOLD, CALL, RAISE = 0, 1, 2
MOST = 13  # chips to lose: a payoff of -1
_STREAM = 1


@compiled
def _new_game(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.stage = 0
    state.turn = 0
    state.raises = 0
    state.paid[:] = 1
    state.moves[:] = 0
    for card in range(CARDS):
        state.deck[card] = card
    shuffle(state.deck, CARDS, seed, _STREAM, 0)


@compiled
def _rank(state: Record, place: int) -> int:
    card: int = state.deck[place]
    return card // 2


@compiled
def _legal_actions(state: Record, mask: Mask) -> None:
    mask[:] = 0
    if state.seat != OVER:
        mask[FOLD] = state.paid[0] != state.paid[1]
        mask[CALL] = 1
        mask[RAISE] = state.raises < RAISES


@compiled
def _apply(state: Record, action: int) -> None:
    seat, other, turn = state.seat, 1 - state.seat, state.turn + 1
    state.moves[state.stage, state.turn] = 1 + action
    state.turn = turn
    state.ply += 1
    state.seat = other
    if action == FOLD:
        _finish(state, 1 << other)
        return
    state.paid[seat] = state.paid[other]
    if action == RAISE:
        state.paid[seat] += 2 * (1 + state.stage)
        state.raises += 1
    elif turn > 1:  # a call, or the second of two checks
        if state.stage == 0:
            state.stage = 1
            state.turn = 0
            state.raises = 0
            state.seat = 0
        else:
            _finish(state, _best(state))


@compiled
def _best(state: Record) -> int:
    """The winners, a bit for each, when the cards are shown."""
    first, second, shown = _rank(state, 0), _rank(state, 1), _rank(state, SHOWN)
    if first == second:
        return 3
    if shown in (first, second):
        return 1 if first == shown else 2
    return 1 if first > second else 2


@compiled
def _finish(state: Record, winners: int) -> None:
    state.winners = winners
    state.seat = OVER


@compiled
def _margins(state: Record, out: NDArray[np.float32]) -> None:
    """Chips won: the loser's stake."""
    out[:] = 0
    if state.winners == 1:
        out[0], out[1] = state.paid[1], -state.paid[1]
    elif state.winners == 2:
        out[0], out[1] = -state.paid[0], state.paid[0]


@compiled
def _payoffs(state: Record, out: NDArray[np.float32]) -> None:
    _margins(state, out)
    out /= np.float32(MOST)


@compiled
def _observe(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[: 2 * RANKS] = 0
    out[_rank(state, seat)] = 1
    if state.stage > 0:
        out[RANKS + _rank(state, SHOWN)] = 1
    for number in range(ROUNDS):
        for turn in range(MOVES):
            out[2 * RANKS + MOVES * number + turn] = state.moves[number, turn]


@compiled
def _reveal(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0
    out[_rank(state, 1 - seat)] = 1
    if state.stage == 0:
        out[RANKS + _rank(state, SHOWN)] = 1


@compiled
def _determinize(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    own, shown = state.deck[seat], state.deck[SHOWN]
    for card in range(CARDS):  # what is dealt doesn't depend on where cards lay
        state.deck[card] = card
    shuffle(state.deck, CARDS, seed, _STREAM, 0)
    _put(state, own, seat)
    if state.stage > 0:
        _put(state, shown, SHOWN)


@compiled
def _put(state: Record, card: int, at: int) -> None:
    """Swaps a card of the deck with the card at an index."""
    for index in range(CARDS):
        if state.deck[index] == card:
            state.deck[index] = state.deck[at]
    state.deck[at] = card


LEDUC = toy(
    "leduc",
    (2, 2),
    (
        Field("deck", "i1", (CARDS,), 0, CARDS - 1),
        Field("moves", "i1", (ROUNDS, MOVES), 0, 3),
        Field("paid", "i1", (2,), 0, MOST),
        Field("stage", "i1", (), 0, ROUNDS - 1),
        Field("turn", "i1", (), 0, MOVES),
        Field("raises", "i1", (), 0, RAISES),
    ),
    Rules(
        new_game=_new_game,
        legal_actions=_legal_actions,
        apply=_apply,
        payoffs=_payoffs,
        score_margins=_margins,
        determinize=_determinize,
    ),
    Facts(typical_length=4, max_length=ROUNDS * MOVES),
    num_actions=3,
    observation=Observation(
        spec=ObservationSpec(
            (
                ObservationPart("rank", (RANKS,), 0, 1, "1 for the rank of the own card"),
                ObservationPart(
                    "shown", (RANKS,), 0, 1, "1 for the rank of the card that both see"
                ),
                ObservationPart(
                    "moves",
                    (ROUNDS, MOVES),
                    0,
                    3,
                    "1 fold, 2 call, 3 raise, 0 none",
                    categorical=True,
                ),
            ),
            (2 * RANKS + ROUNDS * MOVES,),
        ),
        observe=_observe,
        privileged_spec=ObservationSpec(
            (
                ObservationPart("rank", (RANKS,), 0, 1, "1 for the rank of the other seat"),
                ObservationPart(
                    "shown", (RANKS,), 0, 1, "1 for the rank of the card that will be shown"
                ),
            ),
            (2 * RANKS,),
        ),
        reveal=_reveal,
    ),
)
