"""Love Formula: fresh worlds that a seat can't tell from the real one (section "Redeal").

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import below, shuffle
from linkzoo.engine.compiled import local
from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.pieces import ASK_REACT, DECK, DRAFT, NONE, PICKS, SELECT
from linkzoo.games.love_formula.rules.reactions import can_play
from linkzoo.games.love_formula.rules.table import REDEAL_STREAM, holder_of, last_visit

# What `bind` gives the cards for.
NUM_TYPES: int
JOB: int
KIND: Any

_ALL, _PACKS, _SELECTED = 0, 1, 100  # where the indices of the shuffles and draws begin


def redeal(state: Any, seat: Any, seed: Any) -> None:
    """Deals what `seat` can't see anew, to the same numbers of cards."""
    state.seed = seed
    if state.stage == DRAFT:
        _redeal_draft(state, np.int64(seat))
    else:
        _redeal_play(state, np.int64(seat))


def _sort(cards: Any, size: Any) -> None:
    """Puts cards in the order of their types: chance doesn't depend on where they lay."""
    counts = local(NUM_TYPES, np.int64)
    counts[:] = 0
    for place in range(size):
        counts[cards[place]] += 1
    place = 0
    for card in range(NUM_TYPES):
        for _ in range(counts[card]):
            cards[place] = card
            place += 1


def _take_deck(state: Any, pool: Any) -> Any:
    """Copies the deck to the pool; how many cards there are."""
    size = np.int64(state.deck_size)
    for place in range(size):
        pool[place] = state.deck[place]
    return size


def _put_deck(state: Any, pool: Any) -> None:
    """Copies the pool's first cards back to the deck."""
    for place in range(state.deck_size):
        state.deck[place] = pool[place]


# In a draft


def _redeal_draft(state: Any, seat: Any) -> None:
    """Shuffles others' picks between own visits of a pack; what was never seen with the deck."""
    pool = local(DECK, np.int64)
    size = _take_deck(state, pool)
    for pack in range(state.num_players):
        size = _collect_unseen(state, seat, pack, pool, size)
        _mix_seen(state, seat, pack)
    _sort(pool, size)
    shuffle(pool, size, state.seed, REDEAL_STREAM, _ALL)
    for pack in range(state.num_players):
        size = _deal_unseen(state, seat, pack, pool, size)
    _put_deck(state, pool)
    _sort_piles(state, seat)


def _first_visit(state: Any, seat: Any, pack: Any) -> Any:
    """The first round in which a seat holds a pack, in the past or to come."""
    return (last_visit(state, seat, pack)) % np.int64(state.num_players)


def _is_seen(state: Any, seat: Any, pack: Any) -> Any:
    return last_visit(state, seat, pack) >= 0


def _made(state: Any, pack: Any) -> Any:
    """How many picks of a pack were made."""
    number = np.int64(state.draft_round)
    return number + (1 if state.picks[pack, number] != NONE else 0)


def _unseen_picks(state: Any, seat: Any, pack: Any) -> Any:
    """The picks of a pack before a seat first saw it."""
    if _is_seen(state, seat, pack):
        return _first_visit(state, seat, pack)
    return _made(state, pack)


def _collect_unseen(state: Any, seat: Any, pack: Any, pool: Any, size: Any) -> Any:
    """Adds to the pool the picks of a pack before its first visit, and a pack never seen."""
    for number in range(_unseen_picks(state, seat, pack)):
        pool[size] = state.picks[pack, number]
        size += 1
    if not _is_seen(state, seat, pack):
        for card in range(NUM_TYPES):
            for _ in range(state.packs[pack, card]):
                pool[size] = card
                size += 1
    return size


def _deal_unseen(state: Any, seat: Any, pack: Any, pool: Any, size: Any) -> Any:
    """Undoes `_collect_unseen` with the cards at the end of the shuffled pool."""
    made = _made(state, pack)
    for number in range(_unseen_picks(state, seat, pack)):
        size -= 1
        state.picks[pack, number] = pool[size]
    if not _is_seen(state, seat, pack):
        state.packs[pack] = 0
        for _ in range(PICKS - made):
            size -= 1
            state.packs[pack, pool[size]] += 1
    return size


def _mix_seen(state: Any, seat: Any, pack: Any) -> None:
    """Permutes the picks between two visits, and those after the last with what is left."""
    players, last = np.int64(state.num_players), last_visit(state, seat, pack)
    visit = _first_visit(state, seat, pack)
    while _is_seen(state, seat, pack) and visit < last:
        _permute(state, pack, visit + 1, visit + players, False)
        visit += players
    if 0 <= last < state.draft_round:
        _permute(state, pack, last + 1, _made(state, pack), True)


def _permute(state: Any, pack: Any, first: Any, end: Any, with_rest: Any) -> None:
    cards = local(PICKS, np.int64)
    size = end - first
    for index in range(size):
        cards[index] = state.picks[pack, first + index]
    if with_rest:
        for card in range(NUM_TYPES):
            for _ in range(state.packs[pack, card]):
                cards[size] = card
                size += 1
        state.packs[pack] = 0
    index = _PACKS + PICKS * np.int64(pack) + first
    _sort(cards, size)
    shuffle(cards, size, state.seed, REDEAL_STREAM, index)
    for number in range(first, end):
        state.picks[pack, number] = cards[number - first]
    for left in range(end - first, size):
        state.packs[pack, cards[left]] += 1


def _sort_piles(state: Any, seat: Any) -> None:
    """The others' piles hold what they picked."""
    for other in range(state.num_players):
        if other != seat:
            state.piles[other] = 0
    for pack in range(state.num_players):
        for number in range(_made(state, pack)):
            other = holder_of(state, pack, number)
            if other != seat:
                state.piles[other, state.picks[pack, number]] += 1


# In play


def _redeal_play(state: Any, seat: Any) -> None:
    """Others keep their Part-time Job and what is known; all else is shuffled with the deck."""
    pool = local(DECK, np.int64)
    size = _take_deck(state, pool)
    looked = state.seat != seat
    if looked:
        for place in range(state.look_size):
            pool[size] = state.look[place]
            size += 1
    for other in range(state.num_players):
        if other != seat:
            size = _collect_hand(state, seat, other, pool, size)
    _sort(pool, size)
    shuffle(pool, size, state.seed, REDEAL_STREAM, _ALL)
    if state.decision == ASK_REACT and looked:
        size = _give_reaction(state, np.int64(state.seat), pool, size)
    for other in range(state.num_players):
        if other != seat:
            size = _deal_hand(state, other, pool, size)
            _forget(state, seat, other)
    for place in range(state.look_size if looked else 0):
        size -= 1
        state.look[place] = pool[size]
    _put_deck(state, pool)


def _lies_face_down(state: Any, other: Any) -> Any:
    return state.stage == SELECT and state.selected[other] != NONE


def _collect_hand(state: Any, seat: Any, other: Any, pool: Any, size: Any) -> Any:
    """Leaves a hand, with the face-down card, what is known of it; the rest goes to the pool."""
    if _lies_face_down(state, other):
        state.hands[other, state.selected[other]] += 1
    for card in range(NUM_TYPES):
        if card != JOB:
            for _ in range(state.hands[other, card] - state.known[seat, other, card]):
                pool[size] = card
                size += 1
            state.hands[other, card] = state.known[seat, other, card]
    return size


def _deal_hand(state: Any, other: Any, pool: Any, size: Any) -> Any:
    """Fills a hand up; a face-down card is any of it but a reaction."""
    face_down = _lies_face_down(state, other)
    held = np.int64(0)
    for card in range(NUM_TYPES):
        held += np.int64(state.hands[other, card])
    for _ in range(np.int64(state.hand_size[other]) + (1 if face_down else 0) - held):
        size -= 1
        state.hands[other, pool[size]] += 1
    if face_down:
        card = _choose_selected(state, other)
        state.selected[other] = card
        state.hands[other, card] -= 1
    return size


def _choose_selected(state: Any, other: Any) -> Any:
    """A card of a hand that may be selected, each copy as likely (T1)."""
    count = np.int64(0)
    for card in range(NUM_TYPES):
        if KIND[card] != REACTION:
            count += np.int64(state.hands[other, card])
    left = below(count, state.seed, REDEAL_STREAM, _SELECTED + other)
    chosen = np.int64(JOB)
    for card in range(NUM_TYPES):
        if KIND[card] != REACTION and left >= 0:
            left -= np.int64(state.hands[other, card])
            chosen = np.int64(card)
    return chosen


def _give_reaction(state: Any, other: Any, pool: Any, size: Any) -> Any:
    """Who is asked for a reaction has one: if not a known one, the last of the pool that works."""
    for card in range(NUM_TYPES):
        if can_play(state, other, card):
            return size
    place = size - 1
    while not _would_work(state, other, pool[place]):
        place -= 1
    state.hands[other, pool[place]] += 1
    pool[place] = pool[size - 1]
    return size - 1


def _would_work(state: Any, other: Any, card: Any) -> Any:
    state.hands[other, card] += 1
    works = can_play(state, other, card)
    state.hands[other, card] -= 1
    return works


def _forget(state: Any, seat: Any, other: Any) -> None:
    """Of a hand that was dealt anew, the others know no more than the seat does."""
    for viewer in range(state.num_players):
        for card in range(NUM_TYPES):
            known = min(state.known[viewer, other, card], state.known[seat, other, card])
            state.known[viewer, other, card] = known
