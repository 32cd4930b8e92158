"""Love Formula: events, and the reactions to them. Numbers (R18..R22) refer to RULES.md.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.pieces import (
    ACTION_EVENT,
    ASK_REACT,
    ASK_TARGET_COUPLE,
    CANCEL_EVENT,
    COUPLES,
    MY_PREP_DISCARDED,
    NONE,
    OBSTACLE_EVENT,
    OBSTACLE_ON_ME,
    ON_RESOLVE,
    OPP_ACTION,
    OPP_COUPLE_INCOMPLETE,
    PREP_EVENT,
    REACTION_PLAYED,
    REDIRECT_EVENT,
)
from linkzoo.games.love_formula.rules.table import (
    ask,
    is_complete,
    is_discarded,
    is_shielded,
    lose,
    recover,
    show,
    to_discard,
)

# What `bind` gives the cards for.
NUM_TYPES: int
KIND: Any
TRIGGER: Any
TARGET_KIND: Any
OP: Any


def open_event(
    state: Any, event: Any, source: Any, card: Any, couple: Any = NONE, owner: Any = NONE
) -> None:
    """R19, R20: an event that reactions may answer; the seat left of its source is asked first."""
    state.event = event
    state.event_source = source
    state.event_card = card
    state.event_couple = couple
    state.event_owner = owner
    state.event_cancelled = 0
    state.event_redirected = 0
    state.event_recovered = 0
    state.poll = _left_of(state, source)
    state.quiet = 0


def close_event(state: Any) -> None:
    """No event."""
    state.event = NONE
    state.event_source = NONE
    state.event_card = NONE
    state.event_couple = NONE
    state.event_owner = NONE
    state.event_cancelled = 0
    state.event_redirected = 0
    state.event_recovered = 0
    state.poll = NONE
    state.quiet = 0
    state.resolving = NONE
    state.pending_card.fill(NONE)
    state.pending_by.fill(NONE)
    state.pending_answers.fill(NONE)
    state.pending_cancelled.fill(0)
    state.pending_size = 0


def _left_of(state: Any, seat: Any) -> Any:
    return (np.int64(seat) + 1) % np.int64(state.num_players)


def advance_reactions(state: Any) -> Any:
    """R20: asks on, and resolves when all have passed in a row; says whether all is settled."""
    while state.quiet < state.num_players:
        if _can_react(state, state.poll):
            ask(state, ASK_REACT, state.poll)
            return False
        pass_reaction(state)
    if state.resolving == NONE:
        state.resolving = state.pending_size
    while state.resolving > 0:
        state.resolving -= 1
        if _resolve(state, state.resolving):
            return False
    return True


def pass_reaction(state: Any) -> None:
    """The seat that was asked plays no reaction."""
    state.quiet += 1
    state.poll = _left_of(state, state.poll)


def play_reaction(state: Any, card: Any) -> None:
    """R20: pushes a reaction of the seat that was asked."""
    seat = np.int64(state.poll)
    place = state.pending_size
    state.pending_card[place] = card
    state.pending_by[place] = seat
    if TRIGGER[card] == REACTION_PLAYED:
        state.pending_answers[place] = _latest_of_others(state, seat)
    state.pending_size += 1
    lose(state, seat, card)
    show(state, seat, card)
    state.quiet = 0
    state.poll = _left_of(state, seat)


def _can_react(state: Any, seat: Any) -> Any:
    for card in range(NUM_TYPES):
        if can_play(state, seat, card):
            return True
    return False


def can_play(state: Any, seat: Any, card: Any) -> Any:
    """R19: whether a seat holds this reaction and its trigger is met."""
    if KIND[card] != REACTION or state.hands[seat, card] == 0:
        return False
    trigger = TRIGGER[card]
    if trigger == REACTION_PLAYED:
        return _latest_of_others(state, seat) != NONE
    if OP[card, ON_RESOLVE, 0, 0] == REDIRECT_EVENT and not can_redirect(state, seat):
        return False
    return _is_met(state, seat, trigger)


def _is_met(state: Any, seat: Any, trigger: Any) -> Any:
    """R19: whether the event itself meets a trigger."""
    if trigger == OPP_ACTION:
        return state.event == ACTION_EVENT and state.event_source != seat
    if state.event_owner != seat or state.event_source == seat:
        return False
    if trigger == OBSTACLE_ON_ME:
        return state.event == OBSTACLE_EVENT
    return trigger == MY_PREP_DISCARDED and state.event == PREP_EVENT


def _latest_of_others(state: Any, seat: Any) -> Any:
    """R20: the most recent pending reaction of another seat."""
    for place in range(state.pending_size - 1, -1, -1):
        if state.pending_by[place] != seat:
            return place
    return NONE


def can_redirect(state: Any, seat: Any) -> Any:
    """Whether the obstacle of the event could go elsewhere."""
    for couple in range(COUPLES):
        if is_redirection(state, seat, couple):
            return True
    return False


def is_redirection(state: Any, seat: Any, couple: Any) -> Any:
    """Whether a seat may redirect the obstacle of the event to a couple (A15)."""
    return (
        state.event == OBSTACLE_EVENT
        and state.owner[couple] != seat
        and can_have(state, couple, state.event_card)
    )


def can_have(state: Any, couple: Any, card: Any) -> Any:
    """R13: whether an obstacle can be attached to a couple of some field."""
    owner = state.owner[couple]
    if owner == NONE or is_shielded(state, owner):
        return False
    return TARGET_KIND[card] != OPP_COUPLE_INCOMPLETE or not is_complete(state, couple)


def _resolve(state: Any, place: Any) -> Any:
    """R21: a pending reaction is discarded, and works if it still can; True if it has to ask."""
    card, seat = np.int64(state.pending_card[place]), np.int64(state.pending_by[place])
    to_discard(state, card)
    if state.pending_cancelled[place]:
        return False
    answers = state.pending_answers[place]
    if answers != NONE:
        state.pending_cancelled[answers] = 1
        return False
    if state.event_cancelled or not _is_met(state, seat, TRIGGER[card]):
        return False
    op = OP[card, ON_RESOLVE, 0, 0]
    if op == CANCEL_EVENT:
        state.event_cancelled = 1
    elif op == REDIRECT_EVENT:
        if can_redirect(state, seat):
            ask(state, ASK_TARGET_COUPLE, seat)
            return True
    elif not state.event_recovered and is_discarded(state, state.event_card):
        recover(state, seat, np.int64(state.event_card))
        state.event_recovered = 1
    return False


def redirect(state: Any, couple: Any) -> None:
    """The obstacle of the event goes to another couple."""
    state.event_couple = couple
    state.event_owner = state.owner[couple]
    state.event_redirected = 1
    state.targets[0] = couple
