"""Love Formula: the drafts. Numbers (R4..R6) refer to RULES.md.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.pieces import ASK_DRAFT, DRAFT, NONE, PICKS, START
from linkzoo.games.love_formula.rules.table import (
    ask,
    draw_card,
    holder_of,
    last_visit,
    learn_openly,
    pack_of,
    sees_hand,
)

# What `bind` gives the cards for.
NUM_TYPES: int


def start_draft(state: Any, half: Any) -> None:
    """R4: deals a pack to each."""
    state.half = half
    state.stage = DRAFT
    state.cursor = 0
    state.draft_round = 0
    for pack in range(state.num_players):
        for _ in range(PICKS):
            state.packs[pack, draw_card(state)] += 1


def pick(state: Any, card: Any) -> None:
    """R5: the seat to act puts a card of its pack on its pile."""
    seat = np.int64(state.cursor)
    pack = pack_of(state, seat)
    state.packs[pack, card] -= 1
    state.piles[seat, card] += 1
    state.picks[pack, state.draft_round] = card
    state.cursor += 1


def advance_draft(state: Any) -> None:
    """Asks the next seat; when all have picked, the packs move on."""
    if state.cursor < state.num_players:
        ask(state, ASK_DRAFT, state.cursor)
        return
    state.draft_round += 1
    state.cursor = 0
    for pack in range(state.num_players):
        _remember(state, pack)
    if state.draft_round == PICKS:
        _end_draft(state)


def _remember(state: Any, pack: Any) -> None:
    """R6: who gets a pack back sees what others took; the end of the draft shows all the rest."""
    over = state.draft_round == PICKS
    for viewer in range(state.num_players):
        if over or holder_of(state, pack, state.draft_round) == viewer:
            number = np.int64(state.draft_round)
            first = last_visit(state, viewer, pack) + 1
            if first == number + 1:  # it is here now
                first = number - np.int64(state.num_players) + 1
            if first > 0:
                _note_taken(state, viewer, pack, first, number)


def _note_taken(state: Any, viewer: Any, pack: Any, first: Any, end: Any) -> None:
    """The picks of these rounds are known; with two players, also whose they are."""
    for number in range(first, end):
        card = state.picks[pack, number]
        other = holder_of(state, pack, number)
        if other != viewer:
            if state.num_players == 2:
                state.known[viewer, other, card] += 1
            else:
                state.taken[viewer, card] += 1


def _end_draft(state: Any) -> None:
    """R7: the picked cards are the hands; one that an obstacle lays open is known at once."""
    for seat in range(state.num_players):
        for card in range(NUM_TYPES):
            state.hands[seat, card] += state.piles[seat, card]
        state.hand_size[seat] += PICKS
        if sees_hand(state, seat):
            learn_openly(state, seat)
    state.piles.fill(0)
    state.picks.fill(NONE)
    state.draft_round = 0
    state.stage = START


def left_when_passed(state: Any, viewer: Any, pack: Any, out: Any) -> None:
    """Counts in `out` what a pack held when a seat last passed it on; nothing outside drafts."""
    out.fill(0)
    if state.stage != DRAFT:
        return
    number = last_visit(state, viewer, pack)
    if number == state.draft_round:
        number -= np.int64(state.num_players)
    if number < 0:
        return
    for card in range(NUM_TYPES):
        out[card] = state.packs[pack, card]
    for later in range(number + 1, PICKS):
        if state.picks[pack, later] != NONE:
            out[state.picks[pack, later]] += 1
