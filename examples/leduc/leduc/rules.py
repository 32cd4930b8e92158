"""The rules of Leduc hold'em (Southey et al. 2005) for two or three, compiled.

R1: There are two cards of each rank, and one rank more than seats. Each seat pays 1 chip and gets a
hidden card. R2: A round of betting follows, then a card is dealt to the board, then a second round.
The lowest seat in play begins. R3: A seat calls (pays as much as the highest), raises that by 2
chips (4 in the second round), or folds if it has paid less. A round has two raises at most, and
ends when all have answered the last. R4: Whoever is left alone wins the pot, else a card that pairs
the board, else the highest rank; equal ranks share.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import Field, Mask, Record, compiled, rng

MAX_PLAYERS, SUITS, NONE, OVER = 3, 2, -1, -1
CARDS = SUITS * (MAX_PLAYERS + 1)  # card c has rank c // SUITS
FOLD, CALL, RAISE = 0, 1, 2
RAISES = 2  # of a round
SIZES = np.array([2, 4])  # chips of a raise in each round
MAX_PAID = 1 + RAISES * int(SIZES.sum())
MOVES = 7  # of a round, at most: call, call, raise, call, raise, call, call
DEAL = 0  # the stream of chance
FIELDS = (
    Field("deck", "i1", (CARDS,), NONE, CARDS - 1, hidden="others"),  # hands by seat, board, rest
    Field("board", "i1", (), NONE, CARDS - 1),  # NONE before the second round
    Field("paid", "i1", (MAX_PLAYERS,), 0, MAX_PAID),
    Field("stake", "i1", (), 1, MAX_PAID),  # the most that a seat has paid
    Field("folded", "i1", (MAX_PLAYERS,), 0, 1),
    Field("left", "i1", (), 1, MAX_PLAYERS),  # seats in play
    Field("betting", "i1", (), 0, 1),  # the round
    Field("raises", "i1", (), 0, RAISES),  # of the round
    Field("waiting", "i1", (), 0, MAX_PLAYERS),  # seats that must still act in the round
    Field("history", "i1", (2, MOVES), NONE, RAISE),  # actions of each round, then NONE
)


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Shuffles and deals (R1)."""
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.stake = 1
    state.betting = 0
    state.raises = 0
    state.board = NONE
    state.left = state.waiting = state.num_players
    state.history[:] = NONE
    state.folded[:] = state.paid[:] = 0
    state.paid[: state.num_players] = 1
    determinize(state, NONE, seed)  # nobody has seen a card


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the deck, and puts back the cards that `seat` sees."""
    card_of_seat = state.deck[seat]
    cards = SUITS * (state.num_players + 1)
    for card in range(CARDS):
        state.deck[card] = card if card < cards else NONE
    rng.shuffle(state.deck, cards, seed, DEAL, 0)
    if seat != NONE:
        put(state, card_of_seat, seat)
    if state.board != NONE:
        put(state, state.board, state.num_players)
    state.deck[state.num_players + 1 : cards].sort()  # nobody draws from the rest
    state.seed = seed


@compiled
def put(state: Record, card: int, place: int) -> None:
    """Swaps a card into a place of the deck."""
    for other in range(CARDS):
        if state.deck[other] == card:
            state.deck[other] = state.deck[place]
            state.deck[place] = card


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Marks the legal actions (R3)."""
    mask[:] = 0
    if state.seat != OVER:
        mask[FOLD] = state.paid[state.seat] < state.stake
        mask[CALL] = 1
        mask[RAISE] = state.raises < RAISES


@compiled
def apply(state: Record, action: int) -> None:
    """Plays an action; then the next seat acts, or the next round begins, or the game ends."""
    seat = int(state.seat)
    left = int(state.left)
    waiting = int(state.waiting) - 1
    place = 0
    while place < MOVES - 1 and state.history[state.betting, place] != NONE:
        place += 1
    state.history[state.betting, place] = action
    state.ply += 1
    state.folded[seat] = action == FOLD
    left -= int(action == FOLD)
    if action == RAISE:
        state.stake += SIZES[state.betting]
        state.raises += 1
        waiting = left - 1
    if action != FOLD:
        state.paid[seat] = state.stake
    state.left = left
    state.waiting = waiting
    if left > 1 and waiting > 0:
        state.seat = next_seat(state, seat)
    elif left > 1 and state.betting == 0:  # R2
        state.board = state.deck[state.num_players]
        state.betting = 1
        state.raises = 0
        state.waiting = left
        state.seat = next_seat(state, state.num_players - 1)
    else:
        finish(state)


@compiled
def next_seat(state: Record, seat: int) -> int:
    """Returns the next seat in play (R2)."""
    for step in range(1, state.num_players):
        if not state.folded[(seat + step) % state.num_players]:
            return int((seat + step) % state.num_players)
    return seat


@compiled
def finish(state: Record) -> None:
    """Ends the game; the best hand in play wins (R4)."""
    best = NONE
    for seat in range(state.num_players):
        rank = state.deck[seat] // SUITS
        strength = rank + CARDS * (rank == state.board // SUITS)
        if not state.folded[seat] and strength >= best:
            state.winners = (state.winners if strength == best else 0) | (1 << seat)
            best = strength
    state.seat = OVER
    state.waiting = 0


@compiled
def payoffs(state: Record, out: NDArray[np.float32]) -> None:
    """Fills the chips won by each seat; 1 is MAX_PAID from every opponent."""
    pot = 0
    winners = 0
    for seat in range(state.num_players):
        pot += int(state.paid[seat])
        winners += (int(state.winners) >> seat) & 1
    for seat in range(state.num_players):
        chips = ((int(state.winners) >> seat) & 1) * pot - winners * int(state.paid[seat])
        out[seat] = np.float32(chips) / np.float32(
            max(1, winners) * MAX_PAID * (state.num_players - 1)
        )
