"""Love Formula: other worlds consistent with a seat's information (RULES.md, "Determinize")."""

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

# Indices of the stream of chance: the shuffle of the pool, then the first of packs and of seats.
_ALL = 0
_PACKS = 1
_SELECTED = 100


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Deals the cards hidden from `seat` anew; all numbers of cards stay."""
    state.seed = seed
    if state.stage == phases.DRAFT:
        _determinize_draft(state, int64(seat))
    else:
        _determinize_play(state, int64(seat))


@compiled
def reshuffle(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the deck; cards that the seats hold, pass on or look at stay."""
    state.seed = seed
    cards = local(DECK, np.int64)
    size = int64(state.deck_size)
    cards[:size] = state.deck[:size]
    _shuffle(state, cards, size, _ALL)
    state.deck[:size] = cards[:size]


@compiled
def _pour(counts: NDArray[Any], pool: NDArray[np.int64], size: int) -> int:
    """Adds cards, counted by type, behind the first `size` of a pool; returns the new size."""
    for card in range(CARDS.num_types):
        for _ in range(counts[card]):
            pool[size] = card
            size += 1
    return size


@compiled
def _shuffle(state: Record, cards: NDArray[np.int64], size: int, index: int) -> None:
    """Sorts and shuffles cards: the result doesn't depend on their order before."""
    counts = local(MAX_TYPES, np.int64)
    counts[:] = 0
    for place in range(size):
        counts[cards[place]] += 1
    _pour(counts, cards, 0)
    shuffle(cards, size, state.seed, DETERMINIZE_STREAM, index)


# In a draft


@compiled
def _determinize_draft(state: Record, seat: int) -> None:
    """Shuffles others' picks between own visits of a pack; unseen cards with the deck."""
    pool = local(DECK, np.int64)
    size = int64(state.deck_size)
    pool[:size] = state.deck[:size]
    for pack in range(state.num_players):
        for number in range(_unseen_picks(state, seat, pack)):
            pool[size] = state.picks[pack, number]
            size += 1
        if draft.last_visit(state, seat, pack) < 0:  # the seat never saw it
            size = _pour(state.packs[pack], pool, size)
        _mix_seen(state, seat, pack)
    _shuffle(state, pool, size, _ALL)
    for pack in range(state.num_players):
        size = _deal_unseen(state, seat, pack, pool, size)
    state.deck[:size] = pool[:size]
    state.piles.fill(0)  # they hold what the seats picked
    for pack in range(state.num_players):
        for number in range(_pick_count(state, pack)):
            state.piles[draft.holder_of(state, pack, number), state.picks[pack, number]] += 1


@compiled
def _pick_count(state: Record, pack: int) -> int:
    """Returns the number of picks made from a pack."""
    count = int64(state.draft_round)
    if state.picks[pack, count] != NONE:
        count += 1
    return count


@compiled
def _unseen_picks(state: Record, seat: int, pack: int) -> int:
    """Returns the number of picks from a pack before a seat first saw it."""
    last = draft.last_visit(state, seat, pack)
    if last < 0:
        return _pick_count(state, pack)
    return last % int64(state.num_players)


@compiled
def _deal_unseen(state: Record, seat: int, pack: int, pool: NDArray[np.int64], size: int) -> int:
    """Takes unseen picks and an unseen pack from the end of the pool; returns its new size."""
    for number in range(_unseen_picks(state, seat, pack)):
        size -= 1
        state.picks[pack, number] = pool[size]
    if draft.last_visit(state, seat, pack) < 0:
        state.packs[pack] = 0
        for _ in range(CARDS.picks - _pick_count(state, pack)):
            size -= 1
            state.packs[pack, pool[size]] += 1
    return size


@compiled
def _mix_seen(state: Record, seat: int, pack: int) -> None:
    """Permutes the picks between two visits, and the picks after the last with the rest."""
    players = int64(state.num_players)
    last = draft.last_visit(state, seat, pack)
    for visit in range(last % players, last, players):
        _permute(state, pack, visit + 1, visit + players, False)
    if 0 <= last < state.draft_round:
        _permute(state, pack, last + 1, _pick_count(state, pack), True)


@compiled
def _permute(state: Record, pack: int, first: int, end: int, with_rest: bool) -> None:
    """Permutes the picks first..end - 1 from a pack, `with_rest` with the cards left in it."""
    cards = local(PICKS, np.int64)
    picked = end - first
    cards[:picked] = state.picks[pack, first:end]
    size = picked
    if with_rest:
        size = _pour(state.packs[pack], cards, size)
        state.packs[pack] = 0
    _shuffle(state, cards, size, _PACKS + PICKS * int64(pack) + first)
    state.picks[pack, first:end] = cards[:picked]
    for index in range(picked, size):
        state.packs[pack, cards[index]] += 1


# In play


@compiled
def _determinize_play(state: Record, seat: int) -> None:
    """Others keep their Part-time Job and known cards; the rest is shuffled with the deck."""
    pool = local(DECK, np.int64)
    deck = int64(state.deck_size)
    looked = int64(0 if state.seat == seat else state.look_size)
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
            _limit_knowledge(state, seat, other)
    for place in range(looked):
        size -= 1
        state.look[place] = pool[size]
    state.deck[:deck] = pool[:deck]


@compiled
def _limit_knowledge(state: Record, seat: int, other: int) -> None:
    """Of a hand dealt anew, no seat knows more than `seat`."""
    for viewer in range(state.num_players):
        for card in range(CARDS.num_types):
            known = min(state.known[viewer, other, card], state.known[seat, other, card])
            state.known[viewer, other, card] = known


@compiled
def _has_face_down(state: Record, other: int) -> bool:
    """Returns whether a seat has selected a card that is still face down."""
    return bool(state.stage == phases.SELECT and state.selected[other] != NONE)


@compiled
def _collect_hand(state: Record, seat: int, other: int, pool: NDArray[np.int64], size: int) -> int:
    """Moves the unknown cards of a hand, the face-down card included, to the pool."""
    if _has_face_down(state, other):
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
    """Fills a hand from the pool, then selects a face-down card if there was one."""
    face_down = _has_face_down(state, other)
    missing = int64(state.hand_size[other]) - state.hands[other].sum()
    if face_down:
        missing += 1
    for _ in range(missing):
        size -= 1
        state.hands[other, pool[size]] += 1
    if face_down:
        card = _choose_selected(state, other)
        state.selected[other] = card
        state.hands[other, card] -= 1
    return size


@compiled
def _choose_selected(state: Record, other: int) -> int:
    """T1: returns a random card of a hand that can be selected, each copy as likely."""
    count = int64(0)
    for card in range(CARDS.num_types):
        if CARDS.kind[card] != REACTION:
            count += int64(state.hands[other, card])
    rest = below(count, state.seed, DETERMINIZE_STREAM, _SELECTED + other)
    chosen = int64(CARDS.job)
    for card in range(CARDS.num_types):
        if CARDS.kind[card] != REACTION and rest >= 0:
            rest -= int64(state.hands[other, card])
            chosen = int64(card)
    return chosen


@compiled
def _give_reaction(state: Record, other: int, pool: NDArray[np.int64], size: int) -> int:
    """Gives a seat that is asked for a reaction a playable one, the last of the pool, if needed."""
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
