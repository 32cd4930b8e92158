"""A game with all that can be hidden: two or three hands and the order of a deck.

Each seat gets a card. In turn it stays (0) or draws another (1); the highest card of all wins.
"""

from dataclasses import replace

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

CARDS, SEATS, OVER = 9, 3, -1
FIELDS = (
    Field("hands", "i1", (SEATS, CARDS), 0, 1, hidden="others"),
    Field("deck", "i1", (CARDS,), 0, CARDS - 1, hidden="all"),
    Field("left", "i1", (), 0, CARDS),
)


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Shuffles the deck and deals a card to each seat."""
    state.seed, state.winners, state.ply, state.seat = seed, 0, 0, 0
    state.left = CARDS
    for card in range(CARDS):
        state.deck[card] = card
        for seat in range(SEATS):
            state.hands[seat, card] = 0
    rng.shuffle(state.deck, CARDS, seed, 1, 0)
    for seat in range(state.num_players):
        draw(state, seat)


@compiled
def draw(state: Record, seat: int) -> None:
    """The last card of the deck goes to a hand."""
    state.left -= 1
    state.hands[seat, state.deck[state.left]] = 1
    state.deck[state.left] = 0


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Stay and draw, as long as the game goes on."""
    mask[:] = state.seat != OVER


@compiled
def apply(state: Record, action: int) -> None:
    """Stays or draws; after the last seat the highest card wins."""
    if action == 1:
        draw(state, state.seat)
    state.ply += 1
    state.seat = state.seat + 1 if state.seat + 1 < state.num_players else OVER
    if state.seat == OVER:
        best = -1
        for seat in range(state.num_players):
            for card in range(CARDS):
                if state.hands[seat, card] and card > best:
                    best = card
                    state.winners = 1 << seat


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the deck and the other hands, by number first: chance depends on no hidden order."""
    state.seed = seed
    pool = np.zeros(CARDS, np.int64)
    size, dealt = 0, 0
    for card in range(CARDS):
        if not state.hands[seat, card]:
            pool[size] = card
            size += 1
    rng.shuffle(pool, size, seed, 2, 0)
    for other in range(state.num_players):
        for card in range(CARDS if other != seat else 0):
            if state.hands[other, card]:
                size -= 1
                state.hands[other, card] = 0
                dealt |= 1 << pool[size] << CARDS * other
    for card in range(CARDS):
        state.deck[card] = pool[card] if card < size else 0
        for other in range(SEATS):
            state.hands[other, card] |= (dealt >> (CARDS * other + card)) & 1


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """The own hand and the numbers of cards."""
    out[:] = 0
    for step in range(state.num_players):
        for card in range(CARDS):
            held = state.hands[(seat + step) % state.num_players, card]
            out[CARDS + step] += held
            out[card] += held if step == 0 else 0


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """The other hands, and the deck."""
    out[:] = 0
    for card in range(CARDS):
        for step in range(1, state.num_players):
            other = (seat + step) % state.num_players
            out[CARDS * (step - 1) + card] = state.hands[other, card]
        out[CARDS * (SEATS - 1) + card] = state.deck[card]


SEEN = (
    ObservationPart("hand", (CARDS,), 0, 1, "own cards"),
    ObservationPart("sizes", (SEATS,), 0, 2, "cards of each seat"),
)
HIDDEN = (
    ObservationPart("hands", (SEATS - 1, CARDS), 0, 1, "the other hands"),
    ObservationPart("deck", (CARDS,), 0, CARDS - 1, "the last is drawn next"),
)
OPEN = Game(  # as if the cards lay open
    name="cards",
    version=0,
    title="Cards",
    players=(2, SEATS),
    num_actions=2,
    fields=FIELDS,
    rules=Rules(
        new_game=new_game, legal_actions=legal_actions, apply=apply, determinize=determinize
    ),
    observation=Observation(
        spec=ObservationSpec(SEEN, (CARDS + SEATS,)),
        observe=observe,
    ),
    notation=Notation(
        action_to_text=lambda state, action: ("stay", "draw")[range(2).index(action)],
        text_to_action=lambda state, text: ("stay", "draw").index(text),
    ),
    drawing=Drawing(text=lambda state, seat=None: f"{state.left} cards are left"),
    facts=Facts(typical_length=2, max_length=SEATS),
)


GAME = replace(
    OPEN,
    observation=replace(
        OPEN.observation, privileged_spec=ObservationSpec(HIDDEN, (27,)), reveal=reveal
    ),
)
