"""Features of legal actions: their effects, as far as the seat to act can know.

Applying the action itself would show hidden cards. Instead `outcome` changes a copy of the record
only by information of the seat: the card that it takes or gives away, moves, hits or attaches.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions
from linkzoo.games.love_formula.action_features import outcome, terms
from linkzoo.games.love_formula.action_features.spec import ACTION_SPEC as ACTION_SPEC
from linkzoo.games.love_formula.action_features.spec import FEATURE, clipped, tenths
from linkzoo.games.love_formula.cards import REACTION
from linkzoo.games.love_formula.components import FREE_SLOT, NEEDS, NONE, int64
from linkzoo.games.love_formula.rules import course, effects, fields, scoring
from linkzoo.games.love_formula.state import left_of
from linkzoo.games.love_formula.tables import CARDS
from linkzoo.games.love_formula.traits import REMOVES


@compiled
def action_features(state: Record, action: int, scratch: Record, out: NDArray[np.int8]) -> None:
    """Fills `out` with the features of an action of the seat to act; `scratch` is a copy."""
    seat = int64(state.seat)
    out[:] = 0
    _describe_position(state, seat, out)
    card = int64(NONE)
    holder = seat
    if action < CARDS.first_position_action:
        card = int64(action)
        if state.decision == decisions.HAND_DISCARD:
            holder = int64(state.effect_who)
        outcome.move_card(scratch, seat, card)
    elif action < CARDS.first_couple_action:
        card = _at_position(state, seat, fields.position_of(state, seat, action), scratch, out)
    elif action < CARDS.first_obstacle_action:
        card = _at_couple(state, seat, course.destination(action), scratch, out)
    else:
        _other_action(state, seat, action, scratch, out)
    if card != NONE:
        terms.describe_card(state, scratch, holder, card, out)
    terms.describe_change(state, scratch, seat, out)


@compiled
def _at_position(
    state: Record, seat: int, position: int, after: Record, out: NDArray[np.int8]
) -> int:
    """Describes the choice of a preparation; returns it if the seat decides on its use."""
    terms.describe_owner(state, seat, fields.field_of(state, position), out)
    if position < FREE_SLOT:
        terms.describe_couple(state, position // NEEDS, out)
    outcome.move_preparation(after, seat, position)
    if state.decision == decisions.TARGET_PREP and CARDS.traits[state.acting_card, REMOVES]:
        return int64(NONE)
    return fields.preparation_at(state, position)


@compiled
def _at_couple(state: Record, seat: int, couple: int, after: Record, out: NDArray[np.int8]) -> int:
    """Describes the choice of a couple or, for NONE, the free slot; returns the card that goes."""
    if state.decision == decisions.TARGET_COUPLE:
        card = int64(state.acting_card)
        terms.describe_owner(state, seat, int64(state.owner[couple]), out)
        terms.describe_couple(state, couple, out)
        terms.describe_attachment(card, out)
        out[FEATURE.harm] = tenths(terms.harm(state, after, card, couple))
    return outcome.move_to(after, seat, couple)


@compiled
def _other_action(
    state: Record, seat: int, action: int, after: Record, out: NDArray[np.int8]
) -> None:
    """Describes an action without a card, preparation or couple."""
    if action < CARDS.first_player_action:
        number = action - CARDS.first_obstacle_action
        fields.discard_obstacle(after, fields.obstacle_of(after, number))
    elif action < CARDS.pass_action:
        player = left_of(state, seat, action - CARDS.first_player_action)
        terms.describe_owner(state, seat, player, out)
    elif action == CARDS.yes_action:
        after.hand_size[seat] -= effects.current_op(state).number
        fields.discard_obstacle(after, int64(state.effect_obstacle))
    elif action == CARDS.pass_action:
        out[FEATURE.passes] = 1
        if state.decision == decisions.REACT:
            outcome.suffer(after, seat)
    else:
        out[FEATURE.menu] = 1


@compiled
def _describe_position(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the features that all actions of a position share."""
    decision = state.decision
    players = int64(state.num_players)
    best = scoring.points(state, left_of(state, seat))
    for step in range(2, players):
        best = max(best, scoring.points(state, left_of(state, seat, step)))
    lead = clipped(scoring.points(state, seat) - best)
    turns = CARDS.phase_turns - 1 - int64(state.turn) % CARDS.phase_turns
    if decision == decisions.SELECT:
        out[FEATURE.select] = 1
        out[FEATURE.select_second] = state.half == 2
        out[FEATURE.select_turns] = turns
        out[FEATURE.select_ending] = max(3 - turns, 0)
        out[FEATURE.select_slack] = clipped(_selectable(state, seat) - 1 - turns)
        out[FEATURE.select_lead] = lead
        out[FEATURE.select_hand] = state.hand_size[seat]
        out[FEATURE.select_players] = players
    elif decision == decisions.DRAFT:
        out[FEATURE.draft] = 1
        out[FEATURE.draft_second] = state.half == 2
        out[FEATURE.draft_picks] = CARDS.picks - 1 - int64(state.draft_round)
        out[FEATURE.draft_lead] = lead
        out[FEATURE.draft_players] = players
    else:
        out[FEATURE.other_second] = state.half == 2
        out[FEATURE.other_turns] = turns
        out[FEATURE.other_lead] = lead
        out[FEATURE.other_hand] = state.hand_size[seat]
        out[FEATURE.other_players] = players
        _describe_decision(state, seat, out)


@compiled
def _describe_decision(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Marks the group of a decision other than a pick or a selection."""
    decision = state.decision
    from_other = decision == decisions.HAND_DISCARD and state.effect_who != seat
    if from_other or decision in (decisions.LOOK_KEEP, decisions.RECOVER):
        out[FEATURE.gain] = 1
    elif decision in (decisions.HAND_DISCARD, decisions.CHOICE):
        out[FEATURE.lose] = 1
    elif decision in decisions.IN_WINDOW:
        out[FEATURE.window] = 1
    elif decision == decisions.PLACE:
        out[FEATURE.place] = 1
    elif decision == decisions.REACT:
        out[FEATURE.react] = 1
    elif decision != decisions.PAY:
        out[FEATURE.target] = 1


@compiled
def _selectable(state: Record, seat: int) -> int:
    """Returns the number of cards of a hand that can be selected, but Part-time Jobs."""
    count = int64(0)
    for card in range(CARDS.num_types):
        if CARDS.kind[card] != REACTION and card != CARDS.job:
            count += int64(state.hands[seat, card])
    return count
