"""Terms of the features: fields, couples and cards, as far as a seat can know them."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import decisions, heuristic, ops, phases
from linkzoo.games.love_formula.action_features.spec import ALIKE, FEATURE, clipped, tenths
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION
from linkzoo.games.love_formula.components import BITS, NEEDS, NONE, SLOTS, int64
from linkzoo.games.love_formula.rules import draft, fields, scoring, targets
from linkzoo.games.love_formula.state import left_of, obstacle_sum
from linkzoo.games.love_formula.tables import CARDS
from linkzoo.games.love_formula.traits import BARS, DRAINS, ENDS, STRIPS


@compiled
def describe_change(state: Record, after: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the changes of the fields and the own cards."""
    players = int64(state.num_players)
    gained = heuristic.cards(after, seat) - heuristic.cards(state, seat)
    denied = int64(0)
    promised = int64(0)
    points = int64(0)
    if state.decision not in (decisions.DRAFT, decisions.SELECT, decisions.WINDOW):
        points = scoring.points(after, seat) - scoring.points(state, seat)
        promised = heuristic.field(after, seat) - heuristic.field(state, seat)
        for other in range(players):
            if other != seat:
                denied += heuristic.field(state, other) - heuristic.field(after, other)
        denied //= players - 1
    out[FEATURE.worth] = tenths(gained + promised + denied)
    out[FEATURE.points] = clipped(points)
    out[FEATURE.promise] = tenths(promised - 100 * points)
    out[FEATURE.cards] = tenths(gained)
    out[FEATURE.denied] = tenths(denied)
    _count_couples(after, seat, 1, out)
    _count_couples(state, seat, -1, out)
    for slot in range(SLOTS):
        out[FEATURE.slots] += after.free[seat, slot] == NONE
        out[FEATURE.slots] -= state.free[seat, slot] == NONE
    out[FEATURE.hand] = int64(after.hand_size[seat]) - int64(state.hand_size[seat])


@compiled
def _count_couples(state: Record, seat: int, sign: int, out: NDArray[np.int8]) -> None:
    """Counts couples, in the field or at hand, with none or one requirement out of reach."""
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat:
            if fields.is_complete(state, couple):
                continue
        elif not _is_at_hand(state, seat, CARDS.couple_type[couple]):
            continue
        lacking = _lacking(state, seat, couple)
        needs_three = BITS[CARDS.all_met[couple]] == NEEDS
        if lacking == 0 and needs_three:
            out[FEATURE.ready3] += sign
        elif lacking == 0:
            out[FEATURE.ready2] += sign
        elif lacking == 1 and needs_three:
            out[FEATURE.near3] += sign
        elif lacking == 1:
            out[FEATURE.near2] += sign


@compiled
def _lacking(state: Record, seat: int, couple: int) -> int:
    """Returns the number of requirements of a couple that are neither met nor at hand."""
    lacking = 0
    for place in range(NEEDS):
        card = CARDS.needs[couple, place]
        if card != NONE and not (state.attached[couple] >> place) & 1:
            lacking += not _is_at_hand(state, seat, card)
    return lacking


@compiled
def _is_at_hand(state: Record, seat: int, card: int) -> bool:
    """Returns whether a card is held, selected, to be placed, or in a free slot."""
    if heuristic.held(state, seat, card) > 0 or state.selected[seat] == card:
        return True
    if CARDS.kind[card] != PREPARATION:
        return False
    return bool(state.free[seat, CARDS.subtype[card]] == card or state.limbo == card)


@compiled
def describe_owner(state: Record, seat: int, owner: int, out: NDArray[np.int8]) -> None:
    """Fills the features of the owner of a target."""
    if owner == seat:
        return
    points = scoring.points(state, owner)
    out[FEATURE.target_lead] = clipped(points - scoring.points(state, seat))
    first = True
    for other in range(state.num_players):
        if other != seat and scoring.points(state, other) > points:
            first = False
    out[FEATURE.target_first] = first


@compiled
def describe_couple(state: Record, couple: int, out: NDArray[np.int8]) -> None:
    """Fills the requirements met and lacking, and the obstacles, of a target couple."""
    met = int64(BITS[state.attached[couple]])
    out[FEATURE.target_met] = met
    out[FEATURE.target_lacks] = BITS[CARDS.all_met[couple]] - met
    for place in range(state.obstacle_count):
        out[FEATURE.target_obstacles] += state.obstacle_couple[place] == couple


@compiled
def describe_attachment(card: int, out: NDArray[np.int8]) -> None:
    """Fills the requirements met by the target of an obstacle, by the obstacle's effect."""
    met = out[FEATURE.target_met]
    if CARDS.traits[card, BARS]:
        out[FEATURE.bars_met] = met
    if CARDS.traits[card, DRAINS]:
        out[FEATURE.drains_met] = met
    if CARDS.traits[card, STRIPS]:
        out[FEATURE.strips_met] = met
    if CARDS.traits[card, ENDS]:
        out[FEATURE.ends_met] = met


@compiled
def harm(state: Record, after: Record, card: int, couple: int) -> int:
    """Returns the cost of an obstacle for the owner of a couple, in hundredths of a point."""
    worth = int64(-100 * CARDS.vp[card])
    met = int64(BITS[state.attached[couple]])
    lost = int64(0)
    if fields.is_complete(state, couple):
        points = scoring.couple_points(state, couple)
        if CARDS.vp_halve[card] and not fields.has_obstacle(state, couple, CARDS.vp_halve):
            lost = 100 * (points - points // 2)
    else:
        lost = heuristic.promise(state, couple, met) // 2 * CARDS.vp_halve[card]
    if met > 0 and CARDS.traits[card, STRIPS]:
        lost += 100 - heuristic.promise(state, couple, met - 1)
        if met == BITS[CARDS.all_met[couple]]:
            lost += 300
        else:
            lost += heuristic.promise(state, couple, met)
    place = int64(after.obstacle_count)
    after.obstacle_type[place] = card
    after.obstacle_couple[place] = couple
    after.turns_left[place] = max(CARDS.turns[card], 0)
    return worth + lost + heuristic.burden(after, place)


@compiled
def describe_card(
    state: Record, after: Record, holder: int, card: int, out: NDArray[np.int8]
) -> None:
    """Fills the traits of a card, and its use for its holder."""
    for trait in range(CARDS.traits.shape[1]):
        out[FEATURE.preparation + trait] = CARDS.traits[card, trait]
    kind = CARDS.kind[card]
    out[FEATURE.copies] = heuristic.held(state, holder, card)
    alike = int64(0)
    for other in range(CARDS.num_types):
        if CARDS.kind[other] == kind and other != CARDS.job:
            alike += heuristic.held(state, holder, other)
    if card != CARDS.job:
        out[ALIKE[kind]] = clipped(alike)
    if kind == PREPARATION:
        _describe_preparation(state, holder, card, out)
    elif kind == COUPLE:
        _describe_met(state, holder, CARDS.number[card], out)
    if state.decision == decisions.SELECT:
        _describe_selection(state, after, holder, card, out)
    elif state.decision == decisions.DRAFT:
        _describe_pack(state, holder, card, out)


@compiled
def _describe_selection(
    state: Record, after: Record, seat: int, card: int, out: NDArray[np.int8]
) -> None:
    """Fills the priority of a card, and whether it has a target now."""
    change = obstacle_sum(state, seat, CARDS.priority_mod)
    out[FEATURE.priority] = clipped(max(0, CARDS.priority[card] + change))
    if CARDS.target[card] != ops.NO_TARGET:
        out[FEATURE.stuck] = not targets.has_target(state, seat, card)
    if CARDS.kind[card] == OBSTACLE:
        most = int64(0)
        for couple in range(CARDS.num_couples):
            if fields.can_attach_to(state, seat, card, couple):
                most = max(most, harm(state, after, card, couple))
        out[FEATURE.harm] = tenths(most)


@compiled
def _describe_preparation(state: Record, holder: int, card: int, out: NDArray[np.int8]) -> None:
    """Fills the couples that a preparation can be attached to."""
    out[FEATURE.slot] = fields.slot_is_empty(state, holder, card)
    out[FEATURE.stuck] = not out[FEATURE.slot]
    next_seat = int64(NONE)
    if state.stage == phases.DRAFT:
        next_seat = left_of(state, holder, draft.direction(state))
    for couple in range(CARDS.num_couples):
        place = CARDS.need_place[couple, card]
        owner = state.owner[couple]
        if place == NONE or (state.attached[couple] >> place) & 1:
            continue
        if owner == holder:
            if fields.takes(state, couple, card):
                size = BITS[CARDS.all_met[couple]]
                if BITS[state.attached[couple]] + 1 < size:
                    out[FEATURE.advances] = 1
                elif size == NEEDS:
                    out[FEATURE.completes3] = 1
                else:
                    out[FEATURE.completes2] = 1
                out[FEATURE.stuck] = 0
        elif owner != NONE:
            out[FEATURE.others_need] += 1
            out[FEATURE.next_needs] += owner == next_seat
        elif heuristic.held(state, holder, CARDS.couple_type[couple]) > 0:
            out[FEATURE.wanted] += 1


@compiled
def _describe_met(state: Record, holder: int, couple: int, out: NDArray[np.int8]) -> None:
    """Fills the requirements of a couple in hand, pile and free slots."""
    for place in range(NEEDS):
        card = CARDS.needs[couple, place]
        if card != NONE:
            in_slot = state.free[holder, CARDS.subtype[card]] == card
            out[FEATURE.met_free] += in_slot
            out[FEATURE.met] += in_slot or heuristic.held(state, holder, card) > 0


@compiled
def _describe_pack(state: Record, holder: int, card: int, out: NDArray[np.int8]) -> None:
    """Fills the number of cards of the pack that go with a card."""
    pack = state.packs[draft.pack_of(state, holder)]
    for couple in range(CARDS.num_couples):
        if CARDS.kind[card] == PREPARATION:
            needed = CARDS.need_place[couple, card] != NONE
            out[FEATURE.pack] += needed and pack[CARDS.couple_type[couple]] > 0
        elif CARDS.couple_type[couple] == card:
            for place in range(NEEDS):
                need = CARDS.needs[couple, place]
                out[FEATURE.pack] += need != NONE and pack[need] > 0
