"""What a seat sees of Love Formula, and what it doesn't: others' cards, and the deck (R6, R8).

A card that lies face down, or was picked in this round of a draft, counts as still in the hand or
pack for all other seats. The compiled functions are plain: `linkzoo.games.love_formula.game_with`
compiles them for a table of cards (`compiled.bind`).
"""

from collections import namedtuple
from typing import Any

import numpy as np

from linkzoo.core.game import ObservationSpec, Piece
from linkzoo.games.love_formula.cards import OBSTACLE, PREPARATION, REACTION, Cards
from linkzoo.games.love_formula.pieces import (
    ASK_HAND_DISCARD,
    ASK_SWAP_OWN,
    ASK_WINDOW,
    COUPLES,
    DECISIONS,
    DECK,
    DRAFT,
    EVENTS,
    MAX_PLAYERS,
    NEEDS,
    NONE,
    PICKS,
    PREP_EVENT,
    RESOLVE,
    SELECT,
    SLOTS,
    STAGES,
    TURNS,
)
from linkzoo.games.love_formula.rules.draft import left_when_passed
from linkzoo.games.love_formula.rules.scoring import points
from linkzoo.games.love_formula.rules.table import (
    has_picked,
    is_complete,
    pack_of,
    preparation_at,
)
from linkzoo.games.love_formula.rules.turns import priority_change

_MAX_HAND = 120
_MOST = 99  # of numbers that a table of cards may drive far
_MAX_POINTS = 127
_SEATS = (MAX_PLAYERS,)
_OTHERS = MAX_PLAYERS - 1

# What `bind` gives the cards for, and where the pieces of their observation begin.
NUM_TYPES: int
NUM_OBSTACLE_TYPES: int
NUM_PREPARATIONS: int
NUM_REACTIONS: int
NEED: Any
COUPLE_TYPE: Any
COUPLE_NUMBER: Any
PREP_NUMBER: Any
OBSTACLE_NUMBER: Any
REACTION_NUMBER: Any
FIRST_COPY: Any
AT: Any


def observation(cards: Cards) -> ObservationSpec:
    """The observation with a table of cards."""
    pieces = (*_turn(cards), *_table(cards), *_effect(cards))
    return ObservationSpec(pieces, (sum(int(np.prod(piece.shape)) for piece in pieces),))


def _turn(cards: Cards) -> tuple[Piece, ...]:
    """The course of the game, and the cards that go round."""
    count, copies = len(cards.cards), _most_copies(cards)
    types = (count,)
    return (
        Piece("decision", (1,), 0, len(DECISIONS), "what is asked, 0: nothing", categorical=True),
        Piece("num_players", (1,), 2, MAX_PLAYERS, "players", categorical=True),
        Piece("stage", (1,), 0, len(STAGES) - 1, "draft, start, select, …", categorical=True),
        Piece("half", (1,), 1, 2, "which draft and play phase", categorical=True),
        Piece("turn", (1,), -1, 2 * TURNS - 1, "of both play phases, from 0 (R7)"),
        Piece("draft_round", (1,), 0, PICKS - 1, "picks before this one"),
        Piece("hand", types, 0, copies, "own hand, by type"),
        Piece("face_down", types, 0, 1, "own selected card"),
        Piece("pile", types, 0, copies, "own picked cards"),
        Piece("pack", types, 0, copies, "the pack to pick from"),
        Piece("discard", types, 0, copies, "the discard pile"),
        Piece("look", types, 0, copies, "the cards looked at"),
        Piece("hand_size", _SEATS, 0, _MAX_HAND, "cards in hand"),
        Piece("deck_size", (1,), 0, DECK, "cards in the deck"),
        Piece("revealed", (MAX_PLAYERS, count), 0, 1, "the card of the turn, until it is resolved"),
        Piece("priority", _SEATS, 0, _MOST, "1 + the priority of the card of the turn"),
        Piece("order", _SEATS, 0, MAX_PLAYERS, "1 + the place in the order of the turn"),
        Piece("resolved", _SEATS, 0, 1, "1 if the turn of the card is over"),
    )


def _table(cards: Cards) -> tuple[Piece, ...]:
    """Couples, obstacles and preparations, and what the fields are worth."""
    copies = _most_copies(cards)
    obstacles = (COUPLES, len(cards.of_kind(OBSTACLE)))
    preparations = len(cards.of_kind(PREPARATION))
    return (
        Piece(
            "couple",
            (COUPLES,),
            0,
            MAX_PLAYERS + 1,
            "1-4 whose field, 5 the discard pile",
            categorical=True,
        ),
        Piece("attached", (COUPLES, NEEDS), 0, 1, "1 for requirements that are met"),
        Piece("complete", (COUPLES,), 0, 1, "1 for complete couples"),
        Piece("obstacles", obstacles, 0, copies, "obstacles at each couple, by type"),
        Piece("turns_left", obstacles, 0, 2 * TURNS, "of the one that ends first"),
        Piece("obstacle_by", (COUPLES, MAX_PLAYERS), 0, 1, "who plays obstacles at the couple"),
        Piece("free", (MAX_PLAYERS, preparations), 0, 1, "preparations in free slots"),
        Piece(
            "needed",
            (MAX_PLAYERS, preparations),
            0,
            COUPLES,
            "couples of the field that still need it",
        ),
        Piece(
            "wanted", (preparations,), 0, COUPLES, "couples in the own hand and pile that need it"
        ),
        Piece(
            "in_reach",
            (COUPLES,),
            0,
            NEEDS,
            "requirements still to be met for which a card is in the own hand or pile",
        ),
        Piece("shield", _SEATS, 0, 2 * TURNS + 1, "turns that no obstacle can be attached"),
        Piece("priority_change", _SEATS, -_MOST, _MOST, "by obstacles"),
        Piece("points", _SEATS, -_MOST, _MAX_POINTS, "what the field is worth now (R26)"),
    )


def _effect(cards: Cards) -> tuple[Piece, ...]:
    """What resolves, what may be reacted to, and what has been seen of others' cards."""
    count, copies = len(cards.cards), _most_copies(cards)
    types, reactions = (count,), len(cards.of_kind(REACTION))
    return (
        Piece("acting", types, 0, 1, "the card that resolves or takes effect"),
        Piece("subject", types, 0, 1, "the preparation to place, move, swap or recover"),
        Piece("effect_couple", (COUPLES,), 0, 1, "the couple that the effect is about"),
        Piece(
            "event", (1,), 0, len(EVENTS), "obstacle, action, lost preparation", categorical=True
        ),
        Piece("event_source", _SEATS, 0, 1, "whose card the event is"),
        Piece("event_couple", (COUPLES,), 0, 1, "the couple that the obstacle is aimed at"),
        Piece("pending", (MAX_PLAYERS, reactions), 0, copies, "reactions played to the event"),
        Piece("discards_of", _SEATS, 0, 1, "whose hand cards are to be discarded"),
        Piece("left", (1,), 0, _MOST, "cards still to be chosen"),
        Piece("can_move", (1,), 0, 1, "1 if the move of the windows is unused (R11)"),
        Piece("passed", (MAX_PLAYERS, count), 0, copies, "of each seat's pack, what I passed on"),
        Piece("taken", types, 0, _MAX_HAND, "cards that others took and have not shown"),
        Piece("known", (_OTHERS, count), 0, copies, "cards that others certainly hold"),
    )


def _most_copies(cards: Cards) -> int:
    return max(card.copies for card in cards.cards)


def hidden(cards: Cards) -> ObservationSpec:
    """What the observation hides with a table of cards."""
    shape = (_OTHERS, len(cards.cards))
    copies = _most_copies(cards)
    pieces = (
        Piece("hands", shape, 0, copies, "the other hands, by type"),
        Piece("selections", shape, 0, 1, "what lies face down before the others"),
        Piece("piles", shape, 0, copies, "what the others have picked"),
        Piece("packs", shape, 0, copies, "the packs that the others hold"),
        Piece(
            "draw_order",
            (DECK,),
            0,
            DECK,
            "cards by type: 120 is drawn next, then 119; 0 is not in the deck",
        ),
    )
    return ObservationSpec(pieces, (sum(int(np.prod(piece.shape)) for piece in pieces),))


def starts(spec: ObservationSpec) -> Any:
    """Where each piece begins, by name."""
    found = spec.slices()
    places: list[Any] = [np.int64(where.start) for where in found.values()]
    return namedtuple("starts", found)(*places)


def observe(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out` with what `seat` sees (`observation`)."""
    out.fill(0)
    me, players = np.int64(seat), np.int64(state.num_players)
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
    if state.stage == SELECT and state.selected[me] != NONE:
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


def _copy(counts: Any, out: Any, first: Any) -> None:
    for card in range(NUM_TYPES):
        out[first + card] = counts[card]


def _show_seat(state: Any, seat: Any, step: Any, out: Any) -> None:
    """What all know of a seat, `step` seats after the observer."""
    selected = np.int64(state.selected[seat])
    face_down = state.stage == SELECT and selected != NONE
    out[AT.hand_size + step] = state.hand_size[seat] + (1 if face_down else 0)
    if selected != NONE and not face_down:
        out[AT.revealed + NUM_TYPES * step + selected] = 1
    for slot in range(SLOTS):
        card = state.free[seat, slot]
        if card != NONE:
            out[AT.free + NUM_PREPARATIONS * step + PREP_NUMBER[card]] = 1
    # A draft comes after the turn that the record counts, which no longer runs.
    left = np.int64(state.shield[seat]) - state.turn + (0 if state.stage == DRAFT else 1)
    out[AT.shield + step] = max(left, 0)
    out[AT.points + step] = min(max(points(state, seat), -_MOST), _MAX_POINTS)
    out[AT.priority_change + step] = min(max(priority_change(state, seat), -_MOST), _MOST)
    if state.priorities[seat] != NONE:
        out[AT.priority + step] = min(np.int64(state.priorities[seat]) + 1, _MOST)
    for place in range(state.order_size):
        if state.order[place] == seat:
            out[AT.order + step] = place + 1
            if state.stage != RESOLVE or place < state.cursor:
                out[AT.resolved + step] = 1


def _show_couples(state: Any, seat: Any, out: Any) -> None:
    players = np.int64(state.num_players)
    for couple in range(COUPLES):
        if state.owner[couple] != NONE:
            out[AT.couple + couple] = 1 + (state.owner[couple] - seat) % players
            for place in range(NEEDS):
                out[AT.attached + NEEDS * couple + place] = (state.attached[couple] >> place) & 1
            out[AT.complete + couple] = is_complete(state, couple)
    for place in range(state.discard_size):
        couple = COUPLE_NUMBER[state.discard[place]]
        if couple != NONE:
            out[AT.couple + couple] = MAX_PLAYERS + 1


def _show_needs(state: Any, seat: Any, out: Any) -> None:
    """What couples lack: it follows from the cards, but a network would have to learn that."""
    players = np.int64(state.num_players)
    for couple in range(COUPLES):
        held = np.int64(state.hands[seat, COUPLE_TYPE[couple]])
        held += state.piles[seat, COUPLE_TYPE[couple]]
        for place in range(NEEDS):
            card = NEED[couple, place]
            if card == NONE or (state.attached[couple] >> place) & 1:
                continue
            if state.owner[couple] != NONE:
                step = (state.owner[couple] - seat) % players
                out[AT.needed + NUM_PREPARATIONS * step + PREP_NUMBER[card]] += 1
            if held > 0:
                out[AT.wanted + PREP_NUMBER[card]] += 1
            if state.hands[seat, card] + state.piles[seat, card] > 0:
                out[AT.in_reach + couple] += 1


def _show_obstacles(state: Any, seat: Any, out: Any) -> None:
    players = np.int64(state.num_players)
    for place in range(state.obstacle_count):
        couple = np.int64(state.obstacle_couple[place])
        entry = NUM_OBSTACLE_TYPES * couple + OBSTACLE_NUMBER[state.obstacle_type[place]]
        out[AT.obstacles + entry] += 1
        left = state.turns_left[place]
        if left > 0 and (out[AT.turns_left + entry] == 0 or left < out[AT.turns_left + entry]):
            out[AT.turns_left + entry] = left
        step = (state.obstacle_by[place] - seat) % players
        out[AT.obstacle_by + MAX_PLAYERS * couple + step] = 1


def _show_frames(state: Any, seat: Any, out: Any) -> None:
    """The card that resolves, the effect, and the event with the reactions to it."""
    players = np.int64(state.num_players)
    if state.acting_card != NONE:
        out[AT.acting + state.acting_card] = 1
    if state.effect_list != NONE:
        out[AT.acting + state.effect_card] = 1
        if state.effect_couple != NONE:
            out[AT.effect_couple + state.effect_couple] = 1
        out[AT.left] = min(np.int64(state.effect_left), _MOST)
    if state.limbo != NONE:
        out[AT.subject + state.limbo] = 1
    if state.event == NONE:
        return
    out[AT.event] = 1 + state.event
    out[AT.event_source + (state.event_source - seat) % players] = 1
    if state.event_couple != NONE:
        out[AT.event_couple + state.event_couple] = 1
    if state.event == PREP_EVENT:
        out[AT.subject + state.event_card] = 1
    for place in range(state.pending_size):
        step = (state.pending_by[place] - seat) % players
        reaction = REACTION_NUMBER[state.pending_card[place]]
        out[AT.pending + NUM_REACTIONS * step + reaction] += 1


def _show_memory(state: Any, seat: Any, out: Any) -> None:
    """What a player with a perfect memory knows."""
    players = np.int64(state.num_players)
    if state.stage == DRAFT:
        for step in range(players):
            first = AT.passed + NUM_TYPES * step
            pack = pack_of(state, (seat + step) % players)
            left_when_passed(state, seat, pack, out[first : first + NUM_TYPES])
        if not has_picked(state, seat):
            _copy(state.packs[pack_of(state, seat)], out, AT.pack)
    _copy(state.taken[seat], out, AT.taken)
    for step in range(1, players):
        other = (seat + step) % players
        _copy(state.known[seat, other], out, AT.known + NUM_TYPES * (step - 1))


def _show_turn(state: Any, seat: Any, out: Any) -> None:
    """What only the seat to act is told."""
    players = np.int64(state.num_players)
    out[AT.decision] = 1 + state.decision
    for place in range(state.look_size):
        out[AT.look + state.look[place]] += 1
    if state.moving != NONE:
        out[AT.subject + preparation_at(state, np.int64(state.moving))] = 1
    if state.decision == ASK_SWAP_OWN:
        out[AT.subject + preparation_at(state, np.int64(state.targets[0]))] = 1
    if state.decision == ASK_HAND_DISCARD:
        out[AT.discards_of + (state.effect_who - seat) % players] = 1
    out[AT.can_move] = state.decision == ASK_WINDOW and not state.move_used


def reveal(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out` with what `seat` can't see (`hidden`)."""
    out.fill(0)
    me, players = np.int64(seat), np.int64(state.num_players)
    block = _OTHERS * NUM_TYPES
    for step in range(1, players):
        other = (me + step) % players
        first = NUM_TYPES * (step - 1)
        _copy(state.hands[other], out, first)
        if state.stage == SELECT and state.selected[other] != NONE:
            out[block + first + state.selected[other]] = 1
        _copy(state.piles[other], out, 2 * block + first)
        if state.stage == DRAFT:
            _copy(state.packs[pack_of(state, other)], out, 3 * block + first)
    for place in range(state.deck_size):
        card = state.deck[place]
        at = 4 * block + FIRST_COPY[card]
        while out[at] != 0:
            at += 1
        out[at] = DECK - (np.int64(state.deck_size) - 1 - place)
