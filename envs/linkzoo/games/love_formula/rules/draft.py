"""Love Formula: the drafts. Numbers (R4..R6) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.components import NONE, PICKS, int64
from linkzoo.games.love_formula.rules import piles
from linkzoo.games.love_formula.state import ask
from linkzoo.games.love_formula.tables import CARDS


@compiled
def direction(state: Record) -> int:
    """R5: clockwise in the first half, counter-clockwise in the second."""
    return 1 if state.half == 1 else -1


@compiled
def pack_of(state: Record, seat: int) -> int:
    """The pack that a seat holds, by the seat that it was dealt to."""
    players = int64(state.num_players)
    return (int64(seat) - direction(state) * int64(state.draft_round)) % players


@compiled
def holder_of(state: Record, pack: int, number: int) -> int:
    """The seat that a pack is with in a round of the draft."""
    return (int64(pack) + direction(state) * number) % int64(state.num_players)


@compiled
def last_visit(state: Record, seat: int, pack: int) -> int:
    """The latest round, this one included, in which a seat held a pack; negative before that."""
    players = int64(state.num_players)
    number = int64(state.draft_round)
    return number - (direction(state) * (holder_of(state, pack, number) - seat)) % players


@compiled
def has_picked(state: Record, seat: int) -> bool:
    """Whether a seat has made its choice of this round of the draft."""
    pack = pack_of(state, seat)
    return bool(state.stage == phases.DRAFT and state.picks[pack, state.draft_round] != NONE)


@compiled
def start_draft(state: Record, half: int) -> None:
    """R4: deals a pack to each."""
    state.half = half
    state.stage = phases.DRAFT
    state.cursor = 0
    state.draft_round = 0
    for pack in range(state.num_players):
        for _ in range(PICKS):
            state.packs[pack, piles.draw_card(state)] += 1


@compiled
def pick(state: Record, card: int) -> None:
    """R5: the seat to act puts a card of its pack on its pile."""
    seat = int64(state.cursor)
    pack = pack_of(state, seat)
    state.packs[pack, card] -= 1
    state.piles[seat, card] += 1
    state.picks[pack, state.draft_round] = card
    state.cursor += 1


@compiled
def advance_draft(state: Record) -> None:
    """Asks the next seat; when all have picked, the packs move on."""
    if state.cursor < state.num_players:
        ask(state, decisions.DRAFT, state.cursor)
        return
    state.draft_round += 1
    state.cursor = 0
    for pack in range(state.num_players):
        for viewer in range(state.num_players):
            returns = holder_of(state, pack, int64(state.draft_round)) == viewer
            if returns or state.draft_round == PICKS:  # the end of a draft shows all the rest
                _remember(state, viewer, pack)
    if state.draft_round == PICKS:
        _end_draft(state)


@compiled
def _remember(state: Record, viewer: int, pack: int) -> None:
    """R6: a seat sees what others took since it had a pack; of two players, also who took it."""
    end = int64(state.draft_round)
    first = last_visit(state, viewer, pack) + 1
    if first == end + 1:  # it is here now
        first -= int64(state.num_players)
    if first <= 0:
        return  # it was not there before
    for number in range(first, end):
        card, other = state.picks[pack, number], holder_of(state, pack, number)
        if other != viewer and state.num_players == 2:
            state.known[viewer, other, card] += 1
        elif other != viewer:
            state.taken[viewer, card] += 1


@compiled
def _end_draft(state: Record) -> None:
    """R7: the picked cards are the hands; one that an obstacle lays open is known at once."""
    for seat in range(state.num_players):
        for card in range(CARDS.num_types):
            state.hands[seat, card] += state.piles[seat, card]
        state.hand_size[seat] += PICKS
        if piles.sees_hand(state, seat):
            piles.learn_openly(state, seat)
    state.piles.fill(0)
    state.picks.fill(NONE)
    state.draft_round = 0
    state.stage = phases.START


@compiled
def left_when_passed(state: Record, viewer: int, pack: int, out: NDArray[np.int8]) -> None:
    """Counts in `out` what a pack held when a seat last passed it on; nothing outside drafts."""
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
    for later in range(number + 1, PICKS):
        if state.picks[pack, later] != NONE:
            out[state.picks[pack, later]] += 1
