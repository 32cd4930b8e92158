"""Love Formula: deck, discard pile and hands. Numbers (R3, R16, R23..R25) refer to RULES.md."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import below, shuffle
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.state import (
    DECK_STREAM,
    DISCARD_STREAM,
    RESHUFFLE_STREAM,
    obstacle_sum,
    remove_at,
)
from linkzoo.games.love_formula.tables import CARDS

# Deck and discard pile


@compiled
def fill_deck(state: Record) -> None:
    """R3: forms the deck of all cards but Part-time Jobs, shuffled."""
    size = len(CARDS.deck)
    state.deck.fill(NONE)
    for place in range(size):
        state.deck[place] = CARDS.deck[place]
    state.deck_size = size
    shuffle(state.deck, size, state.seed, DECK_STREAM, 0)


@compiled
def reshuffle_if_empty(state: Record) -> None:
    """R23: forms a new deck of the discard pile if the deck is empty."""
    if state.deck_size > 0 or state.discard_size == 0:
        return
    size = int64(state.discard_size)
    for place in range(size):
        state.deck[place] = state.discard[place]
    state.deck_size = size
    state.discard.fill(NONE)
    state.discard_size = 0
    shuffle(state.deck, size, state.seed, RESHUFFLE_STREAM, state.reshuffles)
    state.reshuffles += 1


@compiled
def draw_card(state: Record) -> int:
    """R23: draws the next card of the deck; NONE if deck and discard pile are empty."""
    reshuffle_if_empty(state)
    if state.deck_size == 0:
        return NONE
    state.deck_size -= 1
    card = int64(state.deck[state.deck_size])
    state.deck[state.deck_size] = NONE
    return card


@compiled
def put_below(state: Record, count: int) -> None:
    """Moves the cards looked at to the bottom of the deck, in their order."""
    size = int64(state.deck_size)
    for place in range(size - 1, -1, -1):
        state.deck[place + count] = state.deck[place]
    for index in range(count):
        state.deck[count - 1 - index] = state.look[index]
    state.deck_size += count
    state.look.fill(NONE)
    state.look_size = 0


@compiled
def to_discard(state: Record, card: int) -> None:
    """R16: puts a card on the discard pile."""
    state.discard[state.discard_size] = card
    state.discard_size += 1


@compiled
def is_discarded(state: Record, card: int) -> bool:
    """Returns whether the discard pile has a copy of a card."""
    for place in range(state.discard_size):
        if state.discard[place] == card:
            return True
    return False


@compiled
def recover(state: Record, seat: int, card: int) -> None:
    """Moves the oldest copy in the discard pile to a hand."""
    place = 0
    while state.discard[place] != card:
        place += 1
    remove_at(state.discard, place, int64(state.discard_size))
    state.discard_size -= 1
    gain(state, seat, card, True)


# Hands, and the knowledge of other seats


@compiled
def sees_hand(state: Record, seat: int) -> bool:
    """Returns whether an obstacle makes a hand visible to all."""
    return obstacle_sum(state, seat, CARDS.reveal_hand) > 0


@compiled
def gain(state: Record, seat: int, card: int, openly: bool) -> None:
    """Adds a card to a hand; all see it if it comes openly, or to a visible hand."""
    state.hands[seat, card] += 1
    state.hand_size[seat] += 1
    if card != CARDS.job and (openly or sees_hand(state, seat)):
        for viewer in range(state.num_players):
            if viewer != seat:
                state.known[viewer, seat, card] += 1


@compiled
def lose(state: Record, seat: int, card: int) -> None:
    """Removes a card from a hand."""
    state.hands[seat, card] -= 1
    state.hand_size[seat] -= 1


@compiled
def show(state: Record, seat: int, card: int) -> None:
    """Shows a card that leaves a seat's hand: others no longer know it to be there."""
    for viewer in range(state.num_players):
        if viewer != seat:
            if state.known[viewer, seat, card] > 0:
                state.known[viewer, seat, card] -= 1
            if state.taken[viewer, card] > 0:
                state.taken[viewer, card] -= 1


@compiled
def learn_hand(state: Record, viewer: int, seat: int) -> None:
    """Shows a hand to a seat, while no card is face down."""
    if viewer != seat:
        for card in range(CARDS.num_types):
            state.known[viewer, seat, card] = state.hands[seat, card]
        state.known[viewer, seat, CARDS.job] = 0


@compiled
def learn_openly(state: Record, seat: int) -> None:
    """Shows a hand to all."""
    for viewer in range(state.num_players):
        learn_hand(state, viewer, seat)


@compiled
def discardable(state: Record, seat: int) -> int:
    """R24: returns the number of cards of a hand but Part-time Jobs."""
    return int64(state.hand_size[seat]) - int64(state.hands[seat, CARDS.job])


@compiled
def discard_from_hand(state: Record, seat: int, card: int) -> None:
    """Discards a card of a hand."""
    lose(state, seat, card)
    show(state, seat, card)
    to_discard(state, card)


@compiled
def discard_at_random(state: Record, seat: int) -> None:
    """Discards a random card of a hand but Part-time Jobs (R24), each copy as likely."""
    index = 16 * int64(state.turn) + int64(state.random_discards)
    rest = below(discardable(state, seat), state.seed, DISCARD_STREAM, index)
    state.random_discards += 1
    for card in range(CARDS.num_types):
        if card != CARDS.job:
            rest -= int64(state.hands[seat, card])
            if rest < 0:
                discard_from_hand(state, seat, card)
                return
