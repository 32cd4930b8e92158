"""Love Formula: the record, and what moves cards in it. Numbers (R1..R27) refer to RULES.md.

A hand, pile or pack is a count for each type. What lies in a field is told by couple: its owner and
three bits for the preparations attached to it; a position of a preparation is a number
(`pieces.py`). Frames that are not in use hold NONE or 0, so that equal positions have equal bytes.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import below, shuffle
from linkzoo.core.game import Field, record_dtype
from linkzoo.games.love_formula.cards import (
    COUPLE,
    LISTS,
    MAX_LOOK,
    MAX_NUMBER,
    MAX_OPS,
    MAX_TYPES,
    PREPARATION,
)
from linkzoo.games.love_formula.options import OFF, WINDOWS
from linkzoo.games.love_formula.pieces import (
    ACTING_STEPS,
    COUPLES,
    DECISIONS,
    DECK,
    DRAFT,
    END,
    EVENTS,
    FREE_SLOT,
    MAX_PLAYERS,
    NEEDS,
    NONE,
    OBSTACLES,
    PICKS,
    POSITIONS,
    REACTIONS,
    SLOTS,
    STAGES,
    START,
    STEPS,
    TURNS,
)

# Streams of chance, with what their index counts.
DECK_STREAM = 0  # 0
TIES_STREAM = 1  # the turn
DISCARD_STREAM = 2  # 16 * turn + random discards in it so far
RESHUFFLE_STREAM = 3  # reshuffles so far
REDEAL_STREAM = 4

MAX_HAND = 120
MOST = 99  # of numbers that only grow, and that a table of cards may drive far
_BY_SEAT = (MAX_PLAYERS,)
_COUNTS = (MAX_PLAYERS, MAX_TYPES)
_CARD = (NONE, MAX_TYPES - 1)
_SEAT = (NONE, MAX_PLAYERS - 1)
_COUPLE = (NONE, COUPLES - 1)
_FLAG = (0, 1)

FIELDS = (
    # The options.
    Field("digest", "u8"),  # of the cards
    Field("voluntary_discards", "i1", (), WINDOWS, OFF),
    # Where the game stands.
    Field("half", "i1", (), 1, 2),
    Field("turn", "i1", (), NONE, 2 * TURNS - 1),  # from 0; -1 before the first
    Field("stage", "i1", (), 0, len(STAGES) - 1),
    Field("cursor", "i1", (), 0, OBSTACLES),  # seat, obstacle, or place in the order, by stage
    Field("step", "i1", (), 0, len(STEPS) - 1),
    Field("decision", "i1", (), NONE, len(DECISIONS) - 1),  # NONE when the game is over
    # Cards that nobody has.
    Field("deck", "i1", (DECK,), *_CARD),  # drawn from its end; NONE where drawn
    Field("deck_size", "i1", (), 0, DECK),
    Field("discard", "i1", (DECK,), *_CARD),  # oldest first; NONE behind them
    Field("discard_size", "i1", (), 0, DECK),
    Field("reshuffles", "i1", (), 0, MOST),
    Field("random_discards", "i1", (), 0, MOST),  # in this turn
    # Cards of the seats; packs and picks by the seat that the pack was dealt to.
    Field("hands", "i1", _COUNTS, 0, MAX_HAND),
    Field("hand_size", "i1", _BY_SEAT, 0, MAX_HAND),
    Field("piles", "i1", _COUNTS, 0, PICKS),
    Field("packs", "i1", _COUNTS, 0, PICKS),
    Field("picks", "i1", (MAX_PLAYERS, PICKS), *_CARD),
    Field("draft_round", "i1", (), 0, PICKS - 1),  # of the draft: picks before it
    # The cards of this turn.
    Field("selected", "i1", _BY_SEAT, *_CARD),
    Field("priorities", "i1", _BY_SEAT, NONE, MOST),
    Field("order", "i1", _BY_SEAT, *_SEAT),
    Field("order_size", "i1", (), 0, MAX_PLAYERS),
    # Fields.
    Field("owner", "i1", (COUPLES,), *_SEAT),  # NONE for couples that are in no field
    Field("attached", "i1", (COUPLES,), 0, 2**NEEDS - 1),  # a bit for each requirement
    Field("free", "i1", (MAX_PLAYERS, SLOTS), *_CARD),
    # The last turn that it lasts.
    Field("shield", "i1", _BY_SEAT, NONE, 2 * TURNS - 1 + MAX_NUMBER),
    Field("obstacle_type", "i1", (OBSTACLES,), *_CARD),  # in order of attachment
    Field("obstacle_couple", "i1", (OBSTACLES,), *_COUPLE),
    Field("obstacle_by", "i1", (OBSTACLES,), *_SEAT),
    Field("turns_left", "i1", (OBSTACLES,), 0),
    Field("obstacle_count", "i1", (), 0, OBSTACLES),
    # The windows of a resolution (R11).
    Field("move_used", "i1", (), *_FLAG),
    Field("discard_closed", "i1", (), *_FLAG),
    Field("moving", "i1", (), NONE, POSITIONS - 1),  # a position
    # The card that resolves.
    Field("acting_card", "i1", (), *_CARD),
    Field("acting_by", "i1", (), *_SEAT),
    Field("acting_step", "i1", (), NONE, len(ACTING_STEPS) - 1),
    Field("targets", "i1", (2,), NONE, max(POSITIONS, MAX_TYPES) - 1),
    # The list of ops that runs.
    Field("effect_list", "i1", (), NONE, len(LISTS) - 1),
    Field("effect_card", "i1", (), *_CARD),
    Field("effect_by", "i1", (), *_SEAT),
    Field("effect_couple", "i1", (), *_COUPLE),
    # Its place, NONE when it has left the table.
    Field("effect_obstacle", "i1", (), NONE, OBSTACLES - 1),
    Field("effect_op", "i1", (), 0, MAX_OPS),
    Field("effect_who", "i1", (), *_SEAT),  # NONE until the op has begun
    Field("effect_left", "i1", (), 0, MAX_HAND),
    Field("look", "i1", (MAX_LOOK,), *_CARD),  # the topmost first
    Field("look_size", "i1", (), 0, MAX_LOOK),
    Field("limbo", "i1", (), *_CARD),  # a preparation that is to be placed
    # The event that reactions answer.
    Field("event", "i1", (), NONE, len(EVENTS) - 1),
    Field("event_source", "i1", (), *_SEAT),
    Field("event_card", "i1", (), *_CARD),
    Field("event_couple", "i1", (), *_COUPLE),
    Field("event_owner", "i1", (), *_SEAT),
    Field("event_cancelled", "i1", (), *_FLAG),
    Field("event_redirected", "i1", (), *_FLAG),
    Field("event_recovered", "i1", (), *_FLAG),
    Field("poll", "i1", (), *_SEAT),
    Field("quiet", "i1", (), 0, MAX_PLAYERS),  # seats in a row that passed
    Field("resolving", "i1", (), NONE, REACTIONS - 1),  # the pending reaction that resolves
    Field("pending_card", "i1", (REACTIONS,), *_CARD),
    Field("pending_by", "i1", (REACTIONS,), *_SEAT),
    Field("pending_answers", "i1", (REACTIONS,), NONE, REACTIONS - 1),
    Field("pending_cancelled", "i1", (REACTIONS,), *_FLAG),
    Field("pending_size", "i1", (), 0, REACTIONS),
    # What seats know: the first index is the seat that knows.
    Field("taken", "i1", _COUNTS, 0, MAX_HAND),
    Field("known", "i1", (MAX_PLAYERS, MAX_PLAYERS, MAX_TYPES), 0, MAX_HAND),
    Field("hand_sizes_at_end", "i1", _BY_SEAT, NONE, MAX_HAND),  # R17
)
STATE = record_dtype(FIELDS)

# What `bind` gives the cards for (`pieces.tables`).
NUM_TYPES: int
JOB: int
KIND: Any
SUBTYPE: Any
FULL_DECK: Any
COUPLE_NUMBER: Any
COUPLE_TYPE: Any
NEED: Any
NEED_PLACE: Any
FULL: Any
NO_ATTACH: Any
REVEAL_HAND: Any
OBSTACLE_FIRST: Any

# Asking


def ask(state: Any, decision: Any, seat: Any) -> None:
    """The seat is to make this decision."""
    state.decision = decision
    state.seat = seat


# Deck and discard pile


def fill_deck(state: Any) -> None:
    """R3: all cards but Part-time Jobs, shuffled."""
    for place in range(DECK):
        state.deck[place] = FULL_DECK[place]
    state.deck_size = DECK
    shuffle(state.deck, DECK, state.seed, DECK_STREAM, 0)


def reshuffle_if_empty(state: Any) -> None:
    """R23."""
    if state.deck_size > 0 or state.discard_size == 0:
        return
    size = np.int64(state.discard_size)
    for place in range(size):
        state.deck[place] = state.discard[place]
    state.deck_size = size
    state.discard.fill(NONE)
    state.discard_size = 0
    shuffle(state.deck, size, state.seed, RESHUFFLE_STREAM, state.reshuffles)
    state.reshuffles += 1


def draw_card(state: Any) -> Any:
    """The next card of the deck, NONE if there is none left anywhere (R23)."""
    reshuffle_if_empty(state)
    if state.deck_size == 0:
        return NONE
    state.deck_size -= 1
    card = np.int64(state.deck[state.deck_size])
    state.deck[state.deck_size] = NONE
    return card


def put_below(state: Any, count: Any) -> None:
    """The cards looked at go to the bottom of the deck in their order."""
    size = np.int64(state.deck_size)
    for place in range(size - 1, -1, -1):
        state.deck[place + count] = state.deck[place]
    for index in range(count):
        state.deck[count - 1 - index] = state.look[index]
    state.deck_size += count
    state.look.fill(NONE)
    state.look_size = 0


def to_discard(state: Any, card: Any) -> None:
    """R16: face up on the discard pile."""
    state.discard[state.discard_size] = card
    state.discard_size += 1


def is_discarded(state: Any, card: Any) -> Any:
    """Whether the discard pile has a copy."""
    for place in range(state.discard_size):
        if state.discard[place] == card:
            return True
    return False


def recover(state: Any, seat: Any, card: Any) -> None:
    """The oldest copy in the discard pile goes to a hand."""
    place = 0
    while state.discard[place] != card:
        place += 1
    for after in range(place + 1, state.discard_size):
        state.discard[after - 1] = state.discard[after]
    state.discard_size -= 1
    state.discard[state.discard_size] = NONE
    gain(state, seat, card, True)


# Hands, and what others know of them


def sees_hand(state: Any, seat: Any) -> Any:
    """Whether an obstacle lays a hand open."""
    for place in range(state.obstacle_count):
        if (
            REVEAL_HAND[state.obstacle_type[place]]
            and state.owner[state.obstacle_couple[place]] == seat
        ):
            return True
    return False


def gain(state: Any, seat: Any, card: Any, openly: Any) -> None:
    """A card comes to a hand; what comes openly, or to an open hand, is known to all."""
    state.hands[seat, card] += 1
    state.hand_size[seat] += 1
    if card != JOB and (openly or sees_hand(state, seat)):
        for viewer in range(state.num_players):
            if viewer != seat:
                state.known[viewer, seat, card] += 1


def lose(state: Any, seat: Any, card: Any) -> None:
    """A card leaves a hand, face down or not."""
    state.hands[seat, card] -= 1
    state.hand_size[seat] -= 1


def show(state: Any, seat: Any, card: Any) -> None:
    """All see a card that a seat had in its hand or face down: it is no longer among the rest."""
    for viewer in range(state.num_players):
        if viewer != seat:
            if state.known[viewer, seat, card] > 0:
                state.known[viewer, seat, card] -= 1
            if state.taken[viewer, card] > 0:
                state.taken[viewer, card] -= 1


def learn_hand(state: Any, viewer: Any, seat: Any) -> None:
    """A seat sees another hand; nothing lies face down then."""
    if viewer != seat:
        for card in range(NUM_TYPES):
            state.known[viewer, seat, card] = 0 if card == JOB else state.hands[seat, card]


def learn_openly(state: Any, seat: Any) -> None:
    """All see a hand."""
    for viewer in range(state.num_players):
        learn_hand(state, viewer, seat)


def draw_to_hand(state: Any, seat: Any, count: Any) -> None:
    """A seat draws; R25: as many as it likes to hold."""
    for _ in range(count):
        card = draw_card(state)
        if card != NONE:
            gain(state, seat, card, False)


def discardable(state: Any, seat: Any) -> Any:
    """R24: the cards of a hand that are no Part-time Job."""
    return np.int64(state.hand_size[seat]) - np.int64(state.hands[seat, JOB])


def discard_from_hand(state: Any, seat: Any, card: Any) -> None:
    """A card of a hand goes to the discard pile."""
    lose(state, seat, card)
    show(state, seat, card)
    to_discard(state, card)


def discard_at_random(state: Any, seat: Any) -> None:
    """One card of a hand that is no Part-time Job, each as likely."""
    index = 16 * np.int64(state.turn) + np.int64(state.random_discards)
    left = below(discardable(state, seat), state.seed, DISCARD_STREAM, index)
    state.random_discards += 1
    for card in range(NUM_TYPES):
        if card != JOB:
            left -= np.int64(state.hands[seat, card])
            if left < 0:
                discard_from_hand(state, seat, card)
                return


# The draft


def direction(state: Any) -> Any:
    """R5: clockwise in the first half, counter-clockwise in the second."""
    return 1 if state.half == 1 else -1


def pack_of(state: Any, seat: Any) -> Any:
    """The pack that a seat holds, by the seat that it was dealt to."""
    players = np.int64(state.num_players)
    return (np.int64(seat) - direction(state) * np.int64(state.draft_round)) % players


def holder_of(state: Any, pack: Any, number: Any) -> Any:
    """The seat that a pack is with in a round of the draft."""
    return (np.int64(pack) + direction(state) * number) % np.int64(state.num_players)


def last_visit(state: Any, seat: Any, pack: Any) -> Any:
    """The latest round, this one included, in which a seat held a pack; negative before that."""
    players = np.int64(state.num_players)
    number = np.int64(state.draft_round)
    return number - (direction(state) * (holder_of(state, pack, number) - seat)) % players


def has_picked(state: Any, seat: Any) -> Any:
    """Whether a seat has made its choice of this round of the draft."""
    return state.stage == DRAFT and state.picks[pack_of(state, seat), state.draft_round] != NONE


# Positions of preparations (R10)


def field_of(state: Any, position: Any) -> Any:
    """The seat in whose field a position is."""
    if position >= FREE_SLOT:
        return (np.int64(position) - FREE_SLOT) // SLOTS
    return np.int64(state.owner[position // NEEDS])


def free_slot(seat: Any, card: Any) -> Any:
    """The free slot for a preparation."""
    return FREE_SLOT + SLOTS * np.int64(seat) + SUBTYPE[card]


def place_at(couple: Any, card: Any) -> Any:
    """The position at a couple for a preparation that it needs."""
    return NEEDS * couple + NEED_PLACE[couple, card]


def preparation_at(state: Any, position: Any) -> Any:
    """The preparation at a position, or NONE."""
    if position >= FREE_SLOT:
        slot = np.int64(position) - FREE_SLOT
        return np.int64(state.free[slot // SLOTS, slot % SLOTS])
    couple, place = position // NEEDS, position % NEEDS
    if (state.attached[couple] >> place) & 1:
        return NEED[couple, place]
    return np.int64(NONE)


def put(state: Any, position: Any, card: Any) -> None:
    """Lays a preparation on an empty position."""
    if position >= FREE_SLOT:
        slot = np.int64(position) - FREE_SLOT
        state.free[slot // SLOTS, slot % SLOTS] = card
    else:
        state.attached[position // NEEDS] |= 1 << (position % NEEDS)


def take(state: Any, position: Any) -> Any:
    """Removes the preparation at a position."""
    card = preparation_at(state, position)
    if position >= FREE_SLOT:
        slot = np.int64(position) - FREE_SLOT
        state.free[slot // SLOTS, slot % SLOTS] = NONE
    else:
        state.attached[position // NEEDS] ^= 1 << (position % NEEDS)
    return card


def is_blocked(state: Any, couple: Any) -> Any:
    """Whether an obstacle keeps preparations from a couple."""
    for place in range(state.obstacle_count):
        if state.obstacle_couple[place] == couple and NO_ATTACH[state.obstacle_type[place]]:
            return True
    return False


def takes(state: Any, couple: Any, card: Any) -> Any:
    """R10: whether a preparation can be attached to a couple of a field."""
    place = NEED_PLACE[couple, card]
    if place == NONE or (state.attached[couple] >> place) & 1:
        return False
    return not is_blocked(state, couple)


def slot_is_empty(state: Any, seat: Any, card: Any) -> Any:
    """R10: whether the free slot for a preparation is empty."""
    return state.free[seat, SUBTYPE[card]] == NONE


def can_place(state: Any, seat: Any, card: Any) -> Any:
    """Whether a field has a position for a preparation."""
    if slot_is_empty(state, seat, card):
        return True
    for couple in range(COUPLES):
        if state.owner[couple] == seat and takes(state, couple, card):
            return True
    return False


def is_complete(state: Any, couple: Any) -> Any:
    """Whether a couple has all that it needs."""
    return state.attached[couple] == FULL[couple]


def is_open(state: Any, position: Any) -> Any:
    """Whether a preparation lies free or at an incomplete couple."""
    return position >= FREE_SLOT or not is_complete(state, position // NEEDS)


def next_preparation(state: Any, seat: Any, position: Any) -> Any:
    """The next position from this one on where a field has a preparation; POSITIONS: none.

    `for` loops over fields are written with it: position = next_preparation(state, seat, 0) and so
    on from position + 1.
    """
    while position < FREE_SLOT:
        couple = position // NEEDS
        if state.owner[couple] != seat:
            position = NEEDS * (couple + 1)
        elif (state.attached[couple] >> (position % NEEDS)) & 1:
            return position
        else:
            position += 1
    first = FREE_SLOT + SLOTS * np.int64(seat)
    position = max(position, first)
    while position < first + SLOTS:
        if state.free[seat, position - first] != NONE:
            return position
        position += 1
    return POSITIONS


# Couples and obstacles


def attach_obstacle(state: Any, card: Any, couple: Any, seat: Any, turns: Any) -> None:
    """R13: an obstacle lies at a couple; its player controls it."""
    place = state.obstacle_count
    state.obstacle_type[place] = card
    state.obstacle_couple[place] = couple
    state.obstacle_by[place] = seat
    state.turns_left[place] = turns
    state.obstacle_count += 1


def discard_obstacle(state: Any, place: Any) -> None:
    """An obstacle leaves the table; those behind it close up."""
    to_discard(state, state.obstacle_type[place])
    for after in range(np.int64(place) + 1, state.obstacle_count):
        state.obstacle_type[after - 1] = state.obstacle_type[after]
        state.obstacle_couple[after - 1] = state.obstacle_couple[after]
        state.obstacle_by[after - 1] = state.obstacle_by[after]
        state.turns_left[after - 1] = state.turns_left[after]
    state.obstacle_count -= 1
    last = state.obstacle_count
    state.obstacle_type[last] = NONE
    state.obstacle_couple[last] = NONE
    state.obstacle_by[last] = NONE
    state.turns_left[last] = 0
    if state.effect_obstacle == place:
        state.effect_obstacle = NONE
    elif state.effect_obstacle > place:
        state.effect_obstacle -= 1
    if state.stage in (START, END) and state.cursor > place:
        state.cursor -= 1


def obstacle_rank(state: Any, place: Any) -> Any:
    """How many copies of an obstacle were attached before it."""
    rank = 0
    for before in range(place):
        if state.obstacle_type[before] == state.obstacle_type[place]:
            rank += 1
    return rank


def obstacle_action(state: Any, place: Any) -> Any:
    """The number of an obstacle among the actions that name obstacles."""
    return OBSTACLE_FIRST[state.obstacle_type[place]] + obstacle_rank(state, place)


def discard_couple(state: Any, couple: Any) -> None:
    """R15: a couple leaves its field with all that is attached to it."""
    to_discard(state, COUPLE_TYPE[couple])
    for place in range(NEEDS):
        if (state.attached[couple] >> place) & 1:
            to_discard(state, NEED[couple, place])
    state.owner[couple] = NONE
    state.attached[couple] = 0
    obstacle = np.int64(0)
    while obstacle < state.obstacle_count:
        if state.obstacle_couple[obstacle] == couple:
            discard_obstacle(state, obstacle)
        else:
            obstacle += 1


def is_shielded(state: Any, seat: Any) -> Any:
    """Whether obstacles can't be attached to couples of a field."""
    return state.turn <= state.shield[seat]


def returns_from_discard(card: Any) -> Any:
    """Whether a card of the discard pile is a preparation or a couple."""
    return KIND[card] == PREPARATION or KIND[card] == COUPLE
