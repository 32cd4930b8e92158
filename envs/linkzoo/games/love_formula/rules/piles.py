"""Love Formula: deck, discard pile and hands. Numbers (R3, R16, R23..R25) refer to RULES.md."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import below, shuffle
from linkzoo.games.love_formula.components import DECK, NONE, int64
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
    """R3: all cards but Part-time Jobs, shuffled."""
    for place in range(DECK):
        state.deck[place] = CARDS.deck[place]
    state.deck_size = DECK
    shuffle(state.deck, DECK, state.seed, DECK_STREAM, 0)


@compiled
def reshuffle_if_empty(state: Record) -> None:
    """R23."""
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
    """The next card of the deck, NONE if there is none left anywhere (R23)."""
    reshuffle_if_empty(state)
    if state.deck_size == 0:
        return NONE
    state.deck_size -= 1
    card = int64(state.deck[state.deck_size])
    state.deck[state.deck_size] = NONE
    return card


@compiled
def put_below(state: Record, count: int) -> None:
    """The cards looked at go to the bottom of the deck in their order."""
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
    """R16: face up on the discard pile."""
    state.discard[state.discard_size] = card
    state.discard_size += 1


@compiled
def is_discarded(state: Record, card: int) -> bool:
    """Whether the discard pile has a copy."""
    for place in range(state.discard_size):
        if state.discard[place] == card:
            return True
    return False


@compiled
def recover(state: Record, seat: int, card: int) -> None:
    """The oldest copy in the discard pile goes to a hand."""
    place = 0
    while state.discard[place] != card:
        place += 1
    remove_at(state.discard, place, int64(state.discard_size))
    state.discard_size -= 1
    gain(state, seat, card, True)


# Hands, and what others know of them


@compiled
def sees_hand(state: Record, seat: int) -> bool:
    """Whether an obstacle lays a hand open."""
    return obstacle_sum(state, seat, CARDS.reveal_hand) > 0


@compiled
def gain(state: Record, seat: int, card: int, openly: bool) -> None:
    """A card comes to a hand; what comes openly, or to an open hand, is known to all."""
    state.hands[seat, card] += 1
    state.hand_size[seat] += 1
    if card != CARDS.job and (openly or sees_hand(state, seat)):
        for viewer in range(state.num_players):
            if viewer != seat:
                state.known[viewer, seat, card] += 1


@compiled
def lose(state: Record, seat: int, card: int) -> None:
    """A card leaves a hand, face down or not."""
    state.hands[seat, card] -= 1
    state.hand_size[seat] -= 1


@compiled
def show(state: Record, seat: int, card: int) -> None:
    """All see a card that a seat had in its hand or face down: it is no longer among the rest."""
    for viewer in range(state.num_players):
        if viewer != seat:
            if state.known[viewer, seat, card] > 0:
                state.known[viewer, seat, card] -= 1
            if state.taken[viewer, card] > 0:
                state.taken[viewer, card] -= 1


@compiled
def learn_hand(state: Record, viewer: int, seat: int) -> None:
    """A seat sees another hand; nothing lies face down then."""
    if viewer != seat:
        for card in range(CARDS.num_types):
            state.known[viewer, seat, card] = 0 if card == CARDS.job else state.hands[seat, card]


@compiled
def learn_openly(state: Record, seat: int) -> None:
    """All see a hand."""
    for viewer in range(state.num_players):
        learn_hand(state, viewer, seat)


@compiled
def discardable(state: Record, seat: int) -> int:
    """R24: the cards of a hand that are no Part-time Job."""
    return int64(state.hand_size[seat]) - int64(state.hands[seat, CARDS.job])


@compiled
def discard_from_hand(state: Record, seat: int, card: int) -> None:
    """A card of a hand goes to the discard pile."""
    lose(state, seat, card)
    show(state, seat, card)
    to_discard(state, card)


@compiled
def discard_at_random(state: Record, seat: int) -> None:
    """One card of a hand that is no Part-time Job, each as likely."""
    index = 16 * int64(state.turn) + int64(state.random_discards)
    left = below(discardable(state, seat), state.seed, DISCARD_STREAM, index)
    state.random_discards += 1
    for card in range(CARDS.num_types):
        if card != CARDS.job:
            left -= int64(state.hands[seat, card])
            if left < 0:
                discard_from_hand(state, seat, card)
                return
