"""Love Formula: events, and the reactions to them. Numbers (R18..R22) refer to RULES.md."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, ops, phases
from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.components import NONE, int64
from linkzoo.games.love_formula.rules import fields, piles
from linkzoo.games.love_formula.state import ask, left_of
from linkzoo.games.love_formula.tables import CARDS, op_of


@compiled
def open_event(
    state: Record, event: int, source: int, card: int, couple: int = NONE, owner: int = NONE
) -> None:
    """R19, R20: opens an event; the seat at the left of its source is asked first."""
    state.event = event
    state.event_source = source
    state.event_card = card
    state.event_couple = couple
    state.event_owner = owner
    state.event_cancelled = 0
    state.event_redirected = 0
    state.event_recovered = 0
    state.poll = left_of(state, source)
    state.quiet = 0


@compiled
def close_event(state: Record) -> None:
    """Closes the event."""
    open_event(state, NONE, NONE, NONE)
    state.poll = NONE
    state.resolving = NONE
    state.pending_card.fill(NONE)
    state.pending_by.fill(NONE)
    state.pending_answers.fill(NONE)
    state.pending_cancelled.fill(0)
    state.pending_size = 0


@compiled
def advance_reactions(state: Record) -> bool:
    """R20: polls the seats, then resolves the reactions; returns whether all are settled."""
    while state.quiet < state.num_players:
        if can_react(state, int64(state.poll)):
            ask(state, decisions.REACT, state.poll)
            return False
        pass_reaction(state)
    if state.resolving == NONE:
        state.resolving = state.pending_size
    while state.resolving > 0:
        state.resolving -= 1
        if _resolve(state, int64(state.resolving)):
            return False
    return True


@compiled
def pass_reaction(state: Record) -> None:
    """R20: the polled seat plays no reaction."""
    state.quiet += 1
    state.poll = left_of(state, state.poll)


@compiled
def play_reaction(state: Record, card: int) -> None:
    """R20: the polled seat plays a reaction, which is pending; the polling starts again."""
    seat = int64(state.poll)
    place = state.pending_size
    state.pending_card[place] = card
    state.pending_by[place] = seat
    if CARDS.trigger[card] == ops.REACTION_PLAYED:
        state.pending_answers[place] = _latest_of_others(state, seat)
    state.pending_size += 1
    piles.lose(state, seat, card)
    piles.show(state, seat, card)
    state.quiet = 0
    state.poll = left_of(state, seat)


@compiled
def can_react(state: Record, seat: int) -> bool:
    """Returns whether a seat holds a reaction that it can play."""
    for card in range(CARDS.num_types):
        if can_play(state, seat, card):
            return True
    return False


@compiled
def can_play(state: Record, seat: int, card: int) -> bool:
    """R19: returns whether a seat holds this reaction and its trigger is met."""
    if CARDS.kind[card] != REACTION or state.hands[seat, card] == 0:
        return False
    trigger = CARDS.trigger[card]
    if trigger == ops.REACTION_PLAYED:
        return _latest_of_others(state, seat) != NONE
    if not _is_met(state, seat, trigger):
        return False
    redirects = op_of(card, ops.ON_RESOLVE, 0).kind == ops.REDIRECT_EVENT
    return not redirects or fields.can_attach(state, seat, int64(state.event_card))


@compiled
def _is_met(state: Record, seat: int, trigger: int) -> bool:
    """R19: returns whether the event, apart from reactions to it, meets a trigger."""
    if trigger == ops.OPP_ACTION:
        return bool(state.event == phases.ACTION_EVENT and state.event_source != seat)
    if state.event_owner != seat or state.event_source == seat:
        return False
    if trigger == ops.OBSTACLE_ON_ME:
        return bool(state.event == phases.OBSTACLE_EVENT)
    return bool(trigger == ops.MY_PREP_DISCARDED and state.event == phases.PREP_EVENT)


@compiled
def _latest_of_others(state: Record, seat: int) -> int:
    """R20: returns the place of the latest pending reaction of another seat, or NONE."""
    for place in range(state.pending_size - 1, -1, -1):
        if state.pending_by[place] != seat:
            return place
    return NONE


@compiled
def _resolve(state: Record, place: int) -> bool:
    """R21: discards a pending reaction and applies it if it still can; True if it must ask."""
    card = int64(state.pending_card[place])
    seat = int64(state.pending_by[place])
    piles.to_discard(state, card)
    if state.pending_cancelled[place]:
        return False
    answered = state.pending_answers[place]
    if answered != NONE:
        state.pending_cancelled[answered] = 1
        return False
    if state.event_cancelled or not _is_met(state, seat, CARDS.trigger[card]):
        return False
    kind = op_of(card, ops.ON_RESOLVE, 0).kind
    if kind == ops.CANCEL_EVENT:
        state.event_cancelled = 1
    elif kind == ops.REDIRECT_EVENT:
        if fields.can_attach(state, seat, int64(state.event_card)):
            ask(state, decisions.TARGET_COUPLE, seat)
            return True
    elif not state.event_recovered and piles.is_discarded(state, state.event_card):
        piles.recover(state, seat, int64(state.event_card))
        state.event_recovered = 1
    return False


@compiled
def redirect(state: Record, couple: int) -> None:
    """R22: aims the obstacle of the event at another couple."""
    state.event_couple = couple
    state.event_owner = state.owner[couple]
    state.event_redirected = 1
    state.targets[0] = couple
