"""The observation of a seat, and what is hidden: others' cards, and the deck (R6, R8).

A card that lies face down, or was picked in this round of a draft, counts as still in the hand or
pack for all other seats.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, decisions, phases, tables
from linkzoo.games.love_formula.cards import COUPLE, OBSTACLE, PREPARATION, REACTION, Cards
from linkzoo.games.love_formula.components import COUPLES, MAX_PLAYERS, NEEDS, NONE, TURNS, int64
from linkzoo.games.love_formula.rules import draft, fields, scoring
from linkzoo.games.love_formula.state import LIMIT, MAX_HAND, obstacle_sum

_MAX_POINTS = 127
_OTHERS = MAX_PLAYERS - 1
_OF_COUPLE = "1-4 whose field, 5 the discard pile"
_IN_REACH = "requirements still to be met for which a card is in the own hand or pile"
_DRAW_ORDER = "cards by type: 120 is drawn next, then 119; 0 is not in the deck"
_Category = partial(Part, categorical=True)


def make_spec(cards: Cards) -> ObservationSpec:
    """Returns what a seat sees with a table of cards."""
    count, copies = len(cards.cards), max(card.copies for card in cards.cards)
    one, types, couples, seats = (1,), (count,), (COUPLES,), (MAX_PLAYERS,)
    reactions = (MAX_PLAYERS, len(cards.of_kind(REACTION)))
    obstacles = (COUPLES, len(cards.of_kind(OBSTACLE)))
    preparations = (len(cards.of_kind(PREPARATION)),)
    of_seats, of_types = (MAX_PLAYERS, *preparations), (MAX_PLAYERS, count)
    parts = (
        # The course of the game, and the cards that go round.
        _Category("decision", one, 0, len(decisions.NAMES), "what is asked, 0: nothing"),
        _Category("num_players", one, 2, MAX_PLAYERS, "players"),
        _Category("stage", one, 0, len(phases.STAGES) - 1, "draft, start, select, …"),
        _Category("half", one, 1, 2, "which draft and play phase"),
        Part("turn", one, -1, 2 * TURNS - 1, "of both play phases, from 0 (R7)"),
        Part("draft_round", one, 0, components.PICKS - 1, "picks before this one"),
        Part("hand", types, 0, copies, "own hand, by type"),
        Part("face_down", types, 0, 1, "own selected card"),
        Part("pile", types, 0, copies, "own picked cards"),
        Part("pack", types, 0, copies, "the pack to pick from"),
        Part("discard", types, 0, copies, "the discard pile"),
        Part("look", types, 0, copies, "the cards looked at"),
        Part("hand_size", seats, 0, MAX_HAND, "cards in hand"),
        Part("deck_size", one, 0, components.DECK, "cards in the deck"),
        Part("revealed", of_types, 0, 1, "the card of the turn, until it is resolved"),
        Part("priority", seats, 0, LIMIT, "1 + the priority of the card of the turn"),
        Part("order", seats, 0, MAX_PLAYERS, "1 + the place in the order of the turn"),
        Part("resolved", seats, 0, 1, "1 if the turn of the card is over"),
        # Couples, obstacles and preparations, and what the fields are worth.
        _Category("couple", couples, 0, MAX_PLAYERS + 1, _OF_COUPLE),
        Part("attached", (COUPLES, NEEDS), 0, 1, "1 for requirements that are met"),
        Part("complete", couples, 0, 1, "1 for complete couples"),
        Part("obstacles", obstacles, 0, copies, "obstacles at each couple, by type"),
        Part("turns_left", obstacles, 0, 2 * TURNS, "of the one that ends first"),
        Part("obstacle_by", (COUPLES, MAX_PLAYERS), 0, 1, "who plays obstacles at the couple"),
        Part("free", of_seats, 0, 1, "preparations in free slots"),
        Part("needed", of_seats, 0, COUPLES, "couples of the field that still need it"),
        Part("wanted", preparations, 0, COUPLES, "couples in the own hand and pile that need it"),
        Part("in_reach", couples, 0, NEEDS, _IN_REACH),
        Part("shield", seats, 0, 2 * TURNS + 1, "turns that no obstacle can be attached"),
        Part("priority_change", seats, -LIMIT, LIMIT, "by obstacles"),
        Part("points", seats, -LIMIT, _MAX_POINTS, "what the field is worth now (R26)"),
        # The resolving card, the event to react to, and others' cards that were seen.
        Part("acting", types, 0, 1, "the card that resolves or takes effect"),
        Part("subject", types, 0, 1, "the preparation to place, move, swap or recover"),
        Part("effect_couple", couples, 0, 1, "the couple that the effect is about"),
        _Category("event", one, 0, len(phases.EVENTS), "obstacle, action, lost preparation"),
        Part("event_source", seats, 0, 1, "whose card the event is"),
        Part("event_couple", couples, 0, 1, "the couple that the obstacle is aimed at"),
        Part("pending", reactions, 0, copies, "reactions played to the event"),
        Part("discards_of", seats, 0, 1, "whose hand cards are to be discarded"),
        Part("left", one, 0, LIMIT, "cards still to be chosen"),
        Part("can_move", one, 0, 1, "1 if the move of the windows is unused (R11)"),
        Part("passed", of_types, 0, copies, "of each seat's pack, what I passed on"),
        Part("taken", types, 0, MAX_HAND, "cards that others took and have not shown"),
        Part("known", (_OTHERS, count), 0, copies, "cards that others certainly hold"),
    )
    return ObservationSpec(parts)


def make_privileged_spec(cards: Cards) -> ObservationSpec:
    """Returns what is hidden from a seat with a table of cards."""
    shape, copies = (_OTHERS, len(cards.cards)), max(card.copies for card in cards.cards)
    parts = (
        Part("hands", shape, 0, copies, "the other hands, by type"),
        Part("selections", shape, 0, 1, "what lies face down before the others"),
        Part("piles", shape, 0, copies, "what the others have picked"),
        Part("packs", shape, 0, copies, "the packs that the others hold"),
        Part("draw_order", (components.DECK,), 0, components.DECK, _DRAW_ORDER),
    )
    return ObservationSpec(parts)


def constants(cards: Cards) -> dict[str, Any]:
    """Returns the constants of a table of cards below, by name."""
    spec = make_spec(cards)
    return {"SPEC": spec, "PRIVILEGED_SPEC": make_privileged_spec(cards), "AT": spec.starts()}


_STANDARD = constants(tables.STANDARD_CARDS)
SPEC: ObservationSpec = _STANDARD["SPEC"]
PRIVILEGED_SPEC: ObservationSpec = _STANDARD["PRIVILEGED_SPEC"]
AT = _STANDARD["AT"]  # where each part begins


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills int8 `out` with what `seat` sees (`make_spec`)."""
    out.fill(0)
    me, players = int64(seat), int64(state.num_players)
    out[AT.num_players] = players
    out[AT.stage] = state.stage
    out[AT.half] = state.half
    out[AT.turn] = state.turn
    out[AT.draft_round] = state.draft_round
    out[AT.deck_size] = state.deck_size
    for place in range(state.discard_size):
        out[AT.discard + state.discard[place]] += 1
    _copy(state.hands[me], out, AT.hand)
    _copy(state.piles[me], out, AT.pile)
    if state.stage == phases.SELECT and state.selected[me] != NONE:
        out[AT.face_down + state.selected[me]] = 1
    for step in range(players):
        _show_seat(state, (me + step) % players, step, out)
    _show_couples(state, me, out)
    _show_needs(state, me, out)
    _show_obstacles(state, me, out)
    _show_frames(state, me, out)
    _show_memory(state, me, out)
    if state.seat == seat:
        _show_turn(state, me, out)


@compiled
def _copy(counts: NDArray[Any], out: NDArray[np.int8], first: int) -> None:
    for card in range(tables.NUM_TYPES):
        out[first + card] = counts[card]


@compiled
def _show_seat(state: Record, seat: int, step: int, out: NDArray[np.int8]) -> None:
    """Fills the public knowledge about a seat, `step` seats after the observer."""
    selected = int64(state.selected[seat])
    face_down = state.stage == phases.SELECT and selected != NONE
    out[AT.hand_size + step] = state.hand_size[seat] + (1 if face_down else 0)
    if selected != NONE and not face_down:
        out[AT.revealed + tables.NUM_TYPES * step + selected] = 1
    for slot in range(components.SLOTS):
        card = state.free[seat, slot]
        if card != NONE:
            out[AT.free + tables.TYPES_OF[PREPARATION] * step + tables.NUMBER[card]] = 1
    # A draft comes after the turn that the record counts, which no longer runs.
    left = int64(state.shield[seat]) - state.turn + (0 if state.stage == phases.DRAFT else 1)
    out[AT.shield + step] = max(left, 0)
    out[AT.points + step] = min(max(scoring.points(state, seat), -LIMIT), _MAX_POINTS)
    change = obstacle_sum(state, seat, tables.PRIORITY_MOD)
    out[AT.priority_change + step] = min(max(change, -LIMIT), LIMIT)
    if state.priorities[seat] != NONE:
        out[AT.priority + step] = min(int64(state.priorities[seat]) + 1, LIMIT)
    for place in range(state.order_size):
        if state.order[place] == seat:
            out[AT.order + step] = place + 1
            if state.stage != phases.RESOLVE or place < state.cursor:
                out[AT.resolved + step] = 1


@compiled
def _show_couples(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    players = int64(state.num_players)
    for couple in range(COUPLES):
        if state.owner[couple] != NONE:
            out[AT.couple + couple] = 1 + (state.owner[couple] - seat) % players
            for place in range(NEEDS):
                out[AT.attached + NEEDS * couple + place] = (state.attached[couple] >> place) & 1
            out[AT.complete + couple] = fields.is_complete(state, couple)
    for place in range(state.discard_size):
        card = state.discard[place]
        if tables.KIND[card] == COUPLE:
            out[AT.couple + tables.NUMBER[card]] = MAX_PLAYERS + 1


@compiled
def _show_needs(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills what couples lack: it follows from the cards, a network would have to learn that."""
    players = int64(state.num_players)
    for couple in range(COUPLES):
        held = int64(state.hands[seat, tables.COUPLE_TYPE[couple]])
        held += state.piles[seat, tables.COUPLE_TYPE[couple]]
        for place in range(NEEDS):
            card = tables.NEED[couple, place]
            if card == NONE or (state.attached[couple] >> place) & 1:
                continue
            if state.owner[couple] != NONE:
                step = (state.owner[couple] - seat) % players
                out[AT.needed + tables.TYPES_OF[PREPARATION] * step + tables.NUMBER[card]] += 1
            if held > 0:
                out[AT.wanted + tables.NUMBER[card]] += 1
            if state.hands[seat, card] + state.piles[seat, card] > 0:
                out[AT.in_reach + couple] += 1


@compiled
def _show_obstacles(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    players = int64(state.num_players)
    for place in range(state.obstacle_count):
        couple = int64(state.obstacle_couple[place])
        entry = tables.TYPES_OF[OBSTACLE] * couple + tables.NUMBER[state.obstacle_type[place]]
        out[AT.obstacles + entry] += 1
        left = state.turns_left[place]
        if left > 0 and (out[AT.turns_left + entry] == 0 or left < out[AT.turns_left + entry]):
            out[AT.turns_left + entry] = left
        step = (state.obstacle_by[place] - seat) % players
        out[AT.obstacle_by + MAX_PLAYERS * couple + step] = 1


@compiled
def _show_frames(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """The card that resolves, the effect, and the event with the reactions to it."""
    players = int64(state.num_players)
    if state.acting_card != NONE:
        out[AT.acting + state.acting_card] = 1
    if state.effect_list != NONE:
        out[AT.acting + state.effect_card] = 1
        if state.effect_couple != NONE:
            out[AT.effect_couple + state.effect_couple] = 1
        out[AT.left] = min(int64(state.effect_left), LIMIT)
    if state.limbo != NONE:
        out[AT.subject + state.limbo] = 1
    if state.event == NONE:
        return
    out[AT.event] = 1 + state.event
    out[AT.event_source + (state.event_source - seat) % players] = 1
    if state.event_couple != NONE:
        out[AT.event_couple + state.event_couple] = 1
    if state.event == phases.PREP_EVENT:
        out[AT.subject + state.event_card] = 1
    for place in range(state.pending_size):
        step = (state.pending_by[place] - seat) % players
        reaction = tables.NUMBER[state.pending_card[place]]
        out[AT.pending + tables.TYPES_OF[REACTION] * step + reaction] += 1


@compiled
def _show_memory(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills what a player with a perfect memory knows."""
    players = int64(state.num_players)
    if state.stage == phases.DRAFT:
        for step in range(players):
            first = AT.passed + tables.NUM_TYPES * step
            pack = draft.pack_of(state, (seat + step) % players)
            draft.left_when_passed(state, seat, pack, out[first : first + tables.NUM_TYPES])
        if not draft.has_picked(state, seat):
            _copy(state.packs[draft.pack_of(state, seat)], out, AT.pack)
    _copy(state.taken[seat], out, AT.taken)
    for step in range(1, players):
        other = (seat + step) % players
        _copy(state.known[seat, other], out, AT.known + tables.NUM_TYPES * (step - 1))


@compiled
def _show_turn(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills what only the seat to act is told."""
    players = int64(state.num_players)
    out[AT.decision] = 1 + state.decision
    for place in range(state.look_size):
        out[AT.look + state.look[place]] += 1
    if state.moving != NONE:
        out[AT.subject + fields.preparation_at(state, int64(state.moving))] = 1
    if state.decision == decisions.SWAP_OWN:
        out[AT.subject + fields.preparation_at(state, int64(state.targets[0]))] = 1
    if state.decision == decisions.HAND_DISCARD:
        out[AT.discards_of + (state.effect_who - seat) % players] = 1
    out[AT.can_move] = state.decision == decisions.WINDOW and not state.move_used


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills int8 `out` with what `seat` can't see (`make_privileged_spec`)."""
    out.fill(0)
    me, players = int64(seat), int64(state.num_players)
    block = _OTHERS * tables.NUM_TYPES
    for step in range(1, players):
        other = (me + step) % players
        first = tables.NUM_TYPES * (step - 1)
        _copy(state.hands[other], out, first)
        if state.stage == phases.SELECT and state.selected[other] != NONE:
            out[block + first + state.selected[other]] = 1
        _copy(state.piles[other], out, 2 * block + first)
        if state.stage == phases.DRAFT:
            _copy(state.packs[draft.pack_of(state, other)], out, 3 * block + first)
    for place in range(state.deck_size):
        card = state.deck[place]
        at = 4 * block + tables.FIRST_COPY[card]
        while out[at] != 0:
            at += 1
        out[at] = components.DECK - (int64(state.deck_size) - 1 - place)
