"""Love Formula: the drafts. Numbers (R4..R6) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.rules import piles
from linkzoo.games.love_formula.state import ask
from linkzoo.games.love_formula.tables import CARDS


@compiled
def direction(state: Record) -> int:
    """R5: returns 1, clockwise, in the first half and -1 in the second."""
    return 1 if state.half == 1 else -1


@compiled
def pack_of(state: Record, seat: int) -> int:
    """Returns the pack that a seat holds; packs are numbered by the seats that got them first."""
    players = int64(state.num_players)
    return (int64(seat) - direction(state) * int64(state.draft_round)) % players


@compiled
def holder_of(state: Record, pack: int, draft_round: int) -> int:
    """Returns the seat that holds a pack in a round of the draft."""
    return (int64(pack) + direction(state) * draft_round) % int64(state.num_players)


@compiled
def last_visit(state: Record, seat: int, pack: int) -> int:
    """Returns the latest round up to now in which a seat held a pack; negative for never."""
    players = int64(state.num_players)
    now = int64(state.draft_round)
    steps = direction(state) * (holder_of(state, pack, now) - seat)
    return now - steps % players


@compiled
def has_picked(state: Record, seat: int) -> bool:
    """Returns whether a seat has picked in this round of the draft."""
    pack = pack_of(state, seat)
    return bool(state.stage == phases.DRAFT and state.picks[pack, state.draft_round] != NONE)


@compiled
def start_draft(state: Record, half: int) -> None:
    """R4: deals a pack to each seat."""
    state.half = half
    state.stage = phases.DRAFT
    state.cursor = 0
    state.draft_round = 0
    if not CARDS.drafted:
        return
    for pack in range(state.num_players):
        for _ in range(CARDS.picks):
            state.packs[pack, piles.draw_card(state)] += 1


@compiled
def _deal_hands(state: Record) -> None:
    """Deals the cards that the seats would have picked."""
    for seat in range(state.num_players):
        for _ in range(CARDS.picks):
            state.piles[seat, piles.draw_card(state)] += 1
    _end_draft(state)


@compiled
def pick(state: Record, card: int) -> None:
    """R5: moves a card of the pack of the seat to act to its pile."""
    seat = int64(state.cursor)
    pack = pack_of(state, seat)
    state.packs[pack, card] -= 1
    state.piles[seat, card] += 1
    state.picks[pack, state.draft_round] = card
    state.cursor += 1


@compiled
def advance_draft(state: Record) -> None:
    """R5: asks the next seat; after the last pick of a round, the packs move on."""
    if not CARDS.drafted:
        _deal_hands(state)
        return
    if state.cursor < state.num_players:
        ask(state, decisions.DRAFT, state.cursor)
        return
    state.draft_round += 1
    state.cursor = 0
    for pack in range(state.num_players):
        for viewer in range(state.num_players):
            returns = holder_of(state, pack, int64(state.draft_round)) == viewer
            if returns or state.draft_round == CARDS.picks:  # the last cards are known at the end
                _remember(state, viewer, pack)
    if state.draft_round == CARDS.picks:
        _end_draft(state)


@compiled
def _remember(state: Record, viewer: int, pack: int) -> None:
    """R6: a seat that gets a pack again knows the cards taken; with two players also who did."""
    end = int64(state.draft_round)
    first = last_visit(state, viewer, pack) + 1
    if first == end + 1:  # the seat holds it now
        first -= int64(state.num_players)
    if first <= 0:
        return  # the seat never held it before
    for number in range(first, end):
        card = state.picks[pack, number]
        other = holder_of(state, pack, number)
        if other != viewer and state.num_players == 2:
            state.known[viewer, other, card] += 1
        elif other != viewer:
            state.taken[viewer, card] += 1


@compiled
def _end_draft(state: Record) -> None:
    """R7: adds the picks to the hands; all see a hand that an obstacle makes visible."""
    for seat in range(state.num_players):
        for card in range(CARDS.num_types):
            state.hands[seat, card] += state.piles[seat, card]
        state.hand_size[seat] += CARDS.picks
        if piles.sees_hand(state, seat):
            piles.learn_openly(state, seat)
    state.piles.fill(0)
    state.picks.fill(NONE)
    state.draft_round = 0
    state.stage = phases.START


@compiled
def left_when_passed(state: Record, viewer: int, pack: int, out: NDArray[np.int8]) -> None:
    """Fills the cards, by type, of a pack when a seat last passed it on; 0 outside drafts."""
    out.fill(0)
    if state.stage != phases.DRAFT:
        return
    number = last_visit(state, viewer, pack)
    if number == state.draft_round:
        number -= int64(state.num_players)
    if number < 0:
        return
    for card in range(CARDS.num_types):
        out[card] = state.packs[pack, card]
    for later in range(number + 1, CARDS.picks):
        if state.picks[pack, later] != NONE:
            out[state.picks[pack, later]] += 1
