"""Love Formula: other worlds that a seat can't tell from the real one (RULES.md, "Determinize")."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import below, shuffle
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.cards import MAX_TYPES, REACTION
from linkzoo.games.love_formula.components import DECK, NONE, PICKS, int64
from linkzoo.games.love_formula.rules import draft, reactions
from linkzoo.games.love_formula.state import DETERMINIZE_STREAM
from linkzoo.games.love_formula.tables import CARDS

_ALL, _PACKS, _SELECTED = 0, 1, 100  # where the indices of the shuffles and draws begin


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Deals what `seat` can't see anew, to the same numbers of cards."""
    state.seed = seed
    if state.stage == phases.DRAFT:
        _determinize_draft(state, int64(seat))
    else:
        _determinize_play(state, int64(seat))


@compiled
def reshuffle(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the deck; all that the seats hold, pass on or look at stays."""
    state.seed = seed
    cards, size = local(DECK, np.int64), int64(state.deck_size)
    cards[:size] = state.deck[:size]
    _shuffle(state, cards, size, _ALL)
    state.deck[:size] = cards[:size]


@compiled
def _pour(counts: NDArray[Any], pool: NDArray[np.int64], size: int) -> int:
    """Adds counted cards to the first `size` cards of a pool; how many there are then."""
    for card in range(CARDS.num_types):
        for _ in range(counts[card]):
            pool[size] = card
            size += 1
    return size


@compiled
def _shuffle(state: Record, cards: NDArray[np.int64], size: int, index: int) -> None:
    """Shuffles cards, by type first: chance doesn't depend on where they lay."""
    counts = local(MAX_TYPES, np.int64)
    counts[:] = 0
    for place in range(size):
        counts[cards[place]] += 1
    _pour(counts, cards, 0)
    shuffle(cards, size, state.seed, DETERMINIZE_STREAM, index)


# In a draft


@compiled
def _determinize_draft(state: Record, seat: int) -> None:
    """Shuffles others' picks between own visits of a pack; what was never seen with the deck."""
    pool = local(DECK, np.int64)
    size = int64(state.deck_size)
    pool[:size] = state.deck[:size]
    for pack in range(state.num_players):
        for number in range(_unseen_picks(state, seat, pack)):
            pool[size] = state.picks[pack, number]
            size += 1
        if draft.last_visit(state, seat, pack) < 0:  # never seen
            size = _pour(state.packs[pack], pool, size)
        _mix_seen(state, seat, pack)
    _shuffle(state, pool, size, _ALL)
    for pack in range(state.num_players):
        size = _deal_unseen(state, seat, pack, pool, size)
    state.deck[:size] = pool[:size]
    state.piles.fill(0)  # they hold what the seats picked
    for pack in range(state.num_players):
        for number in range(_made(state, pack)):
            state.piles[draft.holder_of(state, pack, number), state.picks[pack, number]] += 1


@compiled
def _made(state: Record, pack: int) -> int:
    """How many picks of a pack were made."""
    number = int64(state.draft_round)
    return number + (1 if state.picks[pack, number] != NONE else 0)


@compiled
def _unseen_picks(state: Record, seat: int, pack: int) -> int:
    """The picks of a pack before a seat first saw it."""
    last = draft.last_visit(state, seat, pack)
    return last % int64(state.num_players) if last >= 0 else _made(state, pack)


@compiled
def _deal_unseen(state: Record, seat: int, pack: int, pool: NDArray[np.int64], size: int) -> int:
    """The picks before the first visit, and a pack never seen, from the end of the pool."""
    for number in range(_unseen_picks(state, seat, pack)):
        size -= 1
        state.picks[pack, number] = pool[size]
    if draft.last_visit(state, seat, pack) < 0:
        state.packs[pack] = 0
        for _ in range(PICKS - _made(state, pack)):
            size -= 1
            state.packs[pack, pool[size]] += 1
    return size


@compiled
def _mix_seen(state: Record, seat: int, pack: int) -> None:
    """Permutes the picks between two visits, and those after the last with what is left."""
    players, last = int64(state.num_players), draft.last_visit(state, seat, pack)
    for visit in range(last % players, last, players):
        _permute(state, pack, visit + 1, visit + players, False)
    if 0 <= last < state.draft_round:
        _permute(state, pack, last + 1, _made(state, pack), True)


@compiled
def _permute(state: Record, pack: int, first: int, end: int, with_rest: bool) -> None:
    cards = local(PICKS, np.int64)
    picked = end - first
    cards[:picked] = state.picks[pack, first:end]
    size = picked
    if with_rest:
        size = _pour(state.packs[pack], cards, size)
        state.packs[pack] = 0
    _shuffle(state, cards, size, _PACKS + PICKS * int64(pack) + first)
    state.picks[pack, first:end] = cards[:picked]
    for left in range(picked, size):
        state.packs[pack, cards[left]] += 1


# In play


@compiled
def _determinize_play(state: Record, seat: int) -> None:
    """Others keep their Part-time Job and what is known; all else is shuffled with the deck."""
    pool = local(DECK, np.int64)
    deck, looked = int64(state.deck_size), int64(0 if state.seat == seat else state.look_size)
    pool[:deck] = state.deck[:deck]
    size = deck + looked
    pool[deck:size] = state.look[:looked]
    for other in range(state.num_players):
        if other != seat:
            size = _collect_hand(state, seat, other, pool, size)
    _shuffle(state, pool, size, _ALL)
    if state.decision == decisions.REACT and state.seat != seat:
        size = _give_reaction(state, int64(state.seat), pool, size)
    for other in range(state.num_players):
        if other != seat:
            size = _deal_hand(state, other, pool, size)
            for viewer in range(state.num_players):  # nobody knows more of the new hand
                for card in range(CARDS.num_types):
                    known = min(state.known[viewer, other, card], state.known[seat, other, card])
                    state.known[viewer, other, card] = known
    for place in range(looked):
        size -= 1
        state.look[place] = pool[size]
    state.deck[:deck] = pool[:deck]


@compiled
def _lies_face_down(state: Record, other: int) -> bool:
    return bool(state.stage == phases.SELECT and state.selected[other] != NONE)


@compiled
def _collect_hand(state: Record, seat: int, other: int, pool: NDArray[np.int64], size: int) -> int:
    """Leaves a hand, with the face-down card, what is known of it; the rest goes to the pool."""
    if _lies_face_down(state, other):
        state.hands[other, state.selected[other]] += 1
    for card in range(CARDS.num_types):
        if card != CARDS.job:
            for _ in range(state.hands[other, card] - state.known[seat, other, card]):
                pool[size] = card
                size += 1
            state.hands[other, card] = state.known[seat, other, card]
    return size


@compiled
def _deal_hand(state: Record, other: int, pool: NDArray[np.int64], size: int) -> int:
    """Fills a hand up; a face-down card is any of it but a reaction."""
    face_down = _lies_face_down(state, other)
    held = state.hands[other].sum()
    for _ in range(int64(state.hand_size[other]) + (1 if face_down else 0) - held):
        size -= 1
        state.hands[other, pool[size]] += 1
    if face_down:
        card = _choose_selected(state, other)
        state.selected[other] = card
        state.hands[other, card] -= 1
    return size


@compiled
def _choose_selected(state: Record, other: int) -> int:
    """A card of a hand that may be selected, each copy as likely (T1)."""
    count = int64(0)
    for card in range(CARDS.num_types):
        if CARDS.kind[card] != REACTION:
            count += int64(state.hands[other, card])
    left = below(count, state.seed, DETERMINIZE_STREAM, _SELECTED + other)
    chosen = int64(CARDS.job)
    for card in range(CARDS.num_types):
        if CARDS.kind[card] != REACTION and left >= 0:
            left -= int64(state.hands[other, card])
            chosen = int64(card)
    return chosen


@compiled
def _give_reaction(state: Record, other: int, pool: NDArray[np.int64], size: int) -> int:
    """Who is asked for a reaction has one: if not a known one, the last of the pool that works."""
    if reactions.can_react(state, other):
        return size
    place = size - 1
    state.hands[other, pool[place]] += 1
    while not reactions.can_play(state, other, pool[place]):
        state.hands[other, pool[place]] -= 1
        place -= 1
        state.hands[other, pool[place]] += 1
    pool[place] = pool[size - 1]
    return size - 1
