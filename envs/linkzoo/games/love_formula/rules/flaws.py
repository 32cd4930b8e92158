"""Love Formula: what can be wrong with a position from elsewhere. Numbers refer to RULES.md.

What passes `flaw`, and lies within the bounds of the record's fields, can be played to its end. The
functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.cards import (
    ACTION,
    MAX_TYPES,
    OBSTACLE,
    PREPARATION,
    REACTION,
)
from linkzoo.games.love_formula.pieces import (
    ASK_CHOICE,
    ASK_DISCARD_MENU,
    ASK_DRAFT,
    ASK_HAND_DISCARD,
    ASK_LOOK_KEEP,
    ASK_MOVE_DEST,
    ASK_PAY,
    ASK_PLACE,
    ASK_REACT,
    ASK_RECOVER,
    ASK_SELECT,
    ASK_SWAP_OWN,
    ASK_TARGET_COUPLE,
    ASK_TARGET_OBSTACLE,
    ASK_TARGET_PLAYER,
    ASK_TARGET_PREP,
    ASK_WINDOW,
    AT_EFFECT,
    AT_REACT,
    AT_TARGET,
    BY_ME,
    CHOOSE_DISCARD,
    COUPLES,
    DECK,
    DISCARD_AFFECTED_PREP,
    DISCARD_HAND,
    DISCARD_OBSTACLE,
    DISCARD_PREP,
    DISCARD_PREP_OR_COUPLE,
    DRAFT,
    EACH_OPP,
    EFFECT,
    END,
    LOOK_TOP,
    MAX_PLAYERS,
    ME,
    NEEDS,
    NO_STEP,
    NO_TARGET,
    NONE,
    OBSTACLE_EVENT,
    OBSTACLES,
    ON_EXPIRE,
    ON_RESOLVE,
    ON_TURN_START,
    OPP,
    OVER,
    OWN_OBSTACLE,
    PAY_TO_REMOVE,
    PICKS,
    POSITIONS,
    POST,
    PRE,
    PREP_EVENT,
    RANDOM,
    REACTION_PLAYED,
    REACTIONS,
    RECOVER,
    REDIRECT_EVENT,
    RESOLVE,
    RETURN_AFFECTED_PREP,
    SELECT,
    SELF_TO_HAND,
    SLOTS,
    START,
    SWAP_PAIR,
    SWAP_PREP,
    TAKE_PREP,
    TARGET,
    TURNS,
)
from linkzoo.games.love_formula.rules.decisions import legal_actions
from linkzoo.games.love_formula.rules.effects import current_op
from linkzoo.games.love_formula.rules.scoring import set_winners
from linkzoo.games.love_formula.rules.table import (
    discardable,
    field_of,
    holder_of,
    is_discarded,
    last_visit,
    preparation_at,
    returns_from_discard,
)

# What `bind` gives the cards for (`pieces.tables`).
NUM_TYPES: int
NUM_ACTIONS: int
JOB: int
KIND: Any
SUBTYPE: Any
FULL_DECK: Any
COUPLE_TYPE: Any
NEED: Any
FULL: Any
TIMER: Any
TARGET_KIND: Any
TRIGGER: Any
OP: Any
OP_COUNT: Any


def flaw(state: Any, scratch: Any) -> Any:
    """What is wrong with a position, or ""."""
    return (
        _flaw_of_numbers(state)
        or _flaw_of_fields(state)
        or _flaw_of_cards(state)
        or _flaw_of_course(state)
        or _flaw_of_draft(state)
        or _flaw_of_order(state)
        or _flaw_of_acting(state)
        or _flaw_of_effect(state)
        or _flaw_of_event(state)
        or _flaw_of_knowledge(state)
        or _flaw_of_decision(state, scratch)
    )


# Numbers, cards and fields


def _flaw_of_numbers(state: Any) -> Any:
    """Cards are of the table, seats of the game, and what is not in use is empty."""
    players = np.int64(state.num_players)
    for viewer in range(MAX_PLAYERS):
        held = np.int64(0)
        for card in range(MAX_TYPES):
            held += np.int64(state.hands[viewer, card])
            if viewer < players and card < NUM_TYPES:
                continue
            some = state.hands[viewer, card] | state.piles[viewer, card]
            some |= state.packs[viewer, card] | state.taken[viewer, card]
            for seat in range(MAX_PLAYERS):
                some |= state.known[viewer, seat, card] | state.known[seat, viewer, card]
            if some != 0:
                return "hands, piles, packs, taken, known: seats or cards that there aren't"
        if state.hand_size[viewer] != held:
            return "hand_size: not what is in the hand"
        if viewer >= players and not _is_absent(state, viewer):
            return "selected, priorities, free, shield: seats that there aren't"
        if viewer < players:
            jobs = np.int64(state.hands[viewer, JOB]) + (state.selected[viewer] == JOB)
            if jobs != 1:
                return "hands: a seat has not one Part-time Job"
    for seat in (state.acting_by, state.effect_by, state.effect_who, state.event_source):
        if seat >= players:
            return "acting_by, effect_by, effect_who, event_source: no seat"
    for seat in (state.event_owner, state.poll):
        if seat >= players:
            return "event_owner, poll: no seat"
    for card in (state.acting_card, state.effect_card, state.event_card, state.limbo):
        if card >= NUM_TYPES:
            return "acting_card, effect_card, event_card, limbo: no card"
    if state.limbo != NONE and KIND[state.limbo] != PREPARATION:
        return "limbo: no preparation"
    return ""


def _is_absent(state: Any, seat: Any) -> Any:
    """Whether a seat without a player has nothing."""
    for slot in range(SLOTS):
        if state.free[seat, slot] != NONE:
            return False
    return (
        state.selected[seat] == NONE
        and state.priorities[seat] == NONE
        and state.shield[seat] == NONE
        and state.hand_sizes_at_end[seat] == NONE
    )


def _flaw_of_fields(state: Any) -> Any:
    """Couples, free slots and obstacles."""
    for couple in range(COUPLES):
        owner = state.owner[couple]
        if owner >= state.num_players or state.attached[couple] & ~FULL[couple] != 0:
            return "owner, attached: no seat, or not what the couple requires"
        if owner == NONE and state.attached[couple] != 0:
            return "attached: at a couple that is in no field"
    for seat in range(state.num_players):
        for slot in range(SLOTS):
            card = state.free[seat, slot]
            if card >= NUM_TYPES or (card != NONE and SUBTYPE[card] != slot):
                return "free: not a preparation of the slot"
    for place in range(OBSTACLES):
        if place >= state.obstacle_count:
            if not _has_no_obstacle(state, place):
                return "obstacle_type: more obstacles than obstacle_count"
        elif not _is_obstacle(state, place):
            return "obstacle_type, obstacle_couple, obstacle_by, turns_left: no obstacle of a field"
    return ""


def _has_no_obstacle(state: Any, place: Any) -> Any:
    return (
        state.obstacle_type[place] == NONE
        and state.obstacle_couple[place] == NONE
        and state.obstacle_by[place] == NONE
        and state.turns_left[place] == 0
    )


def _is_obstacle(state: Any, place: Any) -> Any:
    card, couple = np.int64(state.obstacle_type[place]), np.int64(state.obstacle_couple[place])
    if card == NONE or card >= NUM_TYPES or KIND[card] != OBSTACLE or couple == NONE:
        return False
    if state.owner[couple] == NONE or not 0 <= state.obstacle_by[place] < state.num_players:
        return False
    left = np.int64(state.turns_left[place])
    if TIMER[card] <= 0:
        return left == 0
    # T0 counts a timed one down before it is looked at again, T4 discards it at 0.
    counted = state.stage == START and place < state.cursor
    due = state.stage == END and place >= state.cursor
    lasts = state.stage in (SELECT, RESOLVE, OVER) or counted or due
    return (0 if lasts else 1) <= left <= TIMER[card]


def _flaw_of_cards(state: Any) -> Any:
    """Every card is in exactly one place."""
    counts = np.zeros(MAX_TYPES, np.int64)
    for card in FULL_DECK:
        counts[card] -= 1
    counts[JOB] -= np.int64(state.num_players)
    if not (
        _count_list(state.deck, state.deck_size, counts)
        and _count_list(state.discard, state.discard_size, counts)
        and _count_list(state.look, state.look_size, counts)
    ):
        return "deck, discard, look: not as many cards as their sizes say"
    waiting = state.pending_size if state.resolving == NONE else state.resolving
    for place in range(waiting):
        card = state.pending_card[place]
        if card == NONE or card >= NUM_TYPES:
            return "pending_card: no card"
        counts[card] += 1
    for seat in range(state.num_players):
        card = state.selected[seat]
        if card >= NUM_TYPES or (card != NONE and KIND[card] == REACTION):
            return "selected: not a card that can be selected"
        if card != NONE:
            counts[card] += 1
        for card in range(NUM_TYPES):
            counts[card] += np.int64(state.hands[seat, card]) + np.int64(state.piles[seat, card])
            counts[card] += np.int64(state.packs[seat, card])
    if state.limbo != NONE:
        counts[state.limbo] += 1
    lying = _count_fields(state, counts)
    for card in range(NUM_TYPES):
        if counts[card] != 0:
            return "cards: one is missing, or there too often"
    # R4, R23: the second draft deals from what does not lie in fields then.
    turns = TURNS - (np.int64(state.turn) if state.turn > 0 else 0)
    if state.half == 1 and lying + turns * state.num_players > DECK - PICKS * state.num_players:
        return "owner, free, obstacle_type: more in fields than can have been played"
    return ""


def _count_list(cards: Any, size: Any, counts: Any) -> Any:
    """Counts the cards of a list; says whether it has this size."""
    for place in range(len(cards)):
        card = np.int64(cards[place])
        if card >= NUM_TYPES or (card == NONE) != (place >= size):
            return False
        if card != NONE:
            counts[card] += 1
    return True


def _count_fields(state: Any, counts: Any) -> Any:
    """Counts what lies in fields; how many cards that is."""
    lying = np.int64(0)
    for place in range(state.obstacle_count):
        counts[state.obstacle_type[place]] += 1
        lying += 1
    for couple in range(COUPLES):
        if state.owner[couple] != NONE:
            counts[COUPLE_TYPE[couple]] += 1
            lying += 1
        for place in range(NEEDS):
            if (state.attached[couple] >> place) & 1:
                counts[NEED[couple, place]] += 1
                lying += 1
    for seat in range(state.num_players):
        for slot in range(SLOTS):
            if state.free[seat, slot] != NONE:
                counts[state.free[seat, slot]] += 1
                lying += 1
    return lying


# The course of a game


def _flaw_of_course(state: Any) -> Any:
    """Half, turn, stage, step and cursor."""
    stage, cursor = state.stage, np.int64(state.cursor)
    first = TURNS * (np.int64(state.half) - 1)
    if stage == DRAFT:
        if state.turn != first - 1:
            return "turn: not that of the draft"
    elif not first <= state.turn < first + TURNS:
        return "turn: not one of the half"
    if stage == OVER and state.turn != 2 * TURNS - 1:
        return "stage: the game is not over"
    if stage == RESOLVE:
        if state.step == NO_STEP or cursor >= state.order_size:
            return "step, cursor: no card resolves"
    elif stage in (START, END):
        if state.step != EFFECT or state.effect_list == NONE:
            return "step, effect_list: no obstacle takes effect"
        if state.effect_obstacle not in (NONE, cursor):
            return "cursor: not at the obstacle that takes effect"
        if cursor > state.obstacle_count:
            return "cursor: there are fewer obstacles"
    elif state.step != NO_STEP or cursor >= (1 if stage == OVER else state.num_players):
        return "step, cursor: not those of the stage"
    if stage in (DRAFT, SELECT, OVER) and (state.effect_list != NONE or state.event != NONE):
        return "effect_list, event: nothing takes effect in this stage"
    return ""


def _flaw_of_draft(state: Any) -> Any:
    """R5: packs, and the picks from them, which the piles hold."""
    drafting = state.stage == DRAFT
    if not drafting and state.draft_round != 0:
        return "draft_round: there is no draft"
    piles = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    for pack in range(MAX_PLAYERS):
        made = np.int64(0)
        if drafting and pack < state.num_players:
            made = np.int64(state.draft_round)
            if holder_of(state, pack, made) < state.cursor:
                made += 1
        for number in range(PICKS):
            card = np.int64(state.picks[pack, number])
            if card >= NUM_TYPES or (card != NONE) != (number < made):
                return "picks: not as many as have been made"
            if card != NONE:
                piles[holder_of(state, pack, number), card] += 1
        left = np.int64(0)
        for kind in range(NUM_TYPES):
            left += np.int64(state.packs[pack, kind])
        if left != (PICKS - made if drafting and pack < state.num_players else 0):
            return "packs: not as many cards as there are picks to come"
    for seat in range(state.num_players):
        for kind in range(NUM_TYPES):
            if state.piles[seat, kind] != piles[seat, kind]:
                return "piles: not what the seats have picked"
    return ""


def _flaw_of_order(state: Any) -> Any:
    """T1, T2: who has selected, and in which order the cards resolve."""
    if (state.order_size > 0) != (state.stage in (RESOLVE, END)):
        return "order_size: not what the stage says"
    if state.order_size > state.num_players:
        return "order_size: more seats than there are"
    waiting = np.zeros(MAX_PLAYERS, np.int64)  # for their cards to resolve
    ordered = np.zeros(MAX_PLAYERS, np.int64)
    for place in range(MAX_PLAYERS):
        seat = np.int64(state.order[place])
        if seat >= state.num_players or (seat == NONE) != (place >= state.order_size):
            return "order: not as many seats as order_size says"
        if seat != NONE:
            if ordered[seat]:
                return "order: a seat twice"
            ordered[seat] = 1
            waiting[seat] = state.stage == RESOLVE and _is_unresolved(state, place)
    for each in range(state.num_players):
        if state.stage == SELECT:
            waiting[each] = each < state.cursor
        if (state.selected[each] != NONE) != (waiting[each] == 1):
            return "selected: set where the card has its turn behind it, or not where it has not"
        if (state.priorities[each] != NONE) != (ordered[each] == 1):
            return "priorities: not of the seats in the order"
    return ""


def _is_unresolved(state: Any, place: Any) -> Any:
    """T3: whether the card of a place in the order lies there still."""
    if place != state.cursor:
        return place > state.cursor
    if state.step != EFFECT:
        return state.step == PRE
    if state.acting_step != AT_EFFECT or state.effect_list == NONE:
        return True
    if KIND[state.acting_card] == OBSTACLE:
        return False
    for index in range(min(state.effect_op, OP_COUNT[state.acting_card, ON_RESOLVE])):
        if OP[state.acting_card, ON_RESOLVE, index, 0] == SELF_TO_HAND:
            return False
    return True


# Frames


def _flaw_of_acting(state: Any) -> Any:
    """R12..R14: the card that resolves, and its targets."""
    card, seat, at = np.int64(state.acting_card), state.acting_by, state.acting_step
    resolving = state.stage == RESOLVE and state.step == EFFECT
    if (card != NONE) != resolving:
        return "acting_card: not what the stage and the step say"
    if card == NONE:
        if seat != NONE or at != NONE or state.targets[0] != NONE or state.targets[1] != NONE:
            return "acting_by, acting_step, targets: no card resolves"
        return ""
    if seat != state.order[state.cursor] or at == NONE:
        return "acting_by, acting_step: not the seat whose turn it is"
    if state.selected[seat] != NONE and state.selected[seat] != card:
        return "acting_card: not the one that was selected"
    kind = KIND[card]
    if kind == PREPARATION:
        if at != AT_EFFECT or state.effect_list != NONE or state.event != NONE:
            return "acting_step: a preparation is placed at once"
    elif kind not in (OBSTACLE, ACTION):
        return "acting_card: not a card that takes its time"
    elif (at == AT_REACT) != (state.event not in (NONE, PREP_EVENT)):
        return "acting_step, event: reactions are asked for, or not"
    elif (at == AT_EFFECT) != (state.effect_list != NONE):
        return "acting_step, effect_list: the card takes effect, or not"
    return "" if _has_right_targets(state, card) else "targets: not those that the card can have"


def _has_right_targets(state: Any, card: Any) -> Any:
    """R13, R14: as many as are chosen, and those still there that have yet to be used."""
    seat, kind = np.int64(state.acting_by), TARGET_KIND[card]
    first, second = np.int64(state.targets[0]), np.int64(state.targets[1])
    if first == NONE:
        used = kind == OWN_OBSTACLE and state.acting_step == AT_EFFECT
        missing = state.acting_step == AT_TARGET or KIND[card] == PREPARATION
        return second == NONE and (
            kind == NO_TARGET or missing or (used and not _is_to_come(state, card))
        )
    if kind == NO_TARGET or (state.acting_step == AT_TARGET and kind != SWAP_PAIR):
        return False
    if (second != NONE) != (kind == SWAP_PAIR and state.acting_step != AT_TARGET):
        return False
    if KIND[card] == OBSTACLE:
        return first < COUPLES and state.owner[first] != NONE
    to_come = _is_to_come(state, card)
    if kind == OPP:
        return first < state.num_players and first != seat
    if kind == OWN_OBSTACLE:
        return first < state.obstacle_count and (
            not to_come or state.owner[state.obstacle_couple[first]] == seat
        )
    if kind == DISCARD_PREP_OR_COUPLE:
        if first >= NUM_TYPES or not returns_from_discard(first):
            return False
        return not to_come or is_discarded(state, first)
    if first >= POSITIONS or second >= POSITIONS:
        return False
    if not to_come:
        return True
    theirs = preparation_at(state, first)
    if theirs == NONE or field_of(state, first) == seat:
        return False
    if second == NONE:
        return True
    mine = preparation_at(state, second)
    return mine != NONE and field_of(state, second) == seat and SUBTYPE[mine] == SUBTYPE[theirs]


def _is_to_come(state: Any, card: Any) -> Any:
    """Whether the op that works on the target has not begun."""
    if state.acting_step != AT_EFFECT:
        return True
    begun = 0 if state.effect_who == NONE else 1
    for index in range(state.effect_op + begun, OP_COUNT[card, ON_RESOLVE]):
        number = OP[card, ON_RESOLVE, index, 0]
        if number in (DISCARD_PREP, TAKE_PREP, SWAP_PREP, DISCARD_OBSTACLE, RECOVER):
            return True
    return False


def _flaw_of_effect(state: Any) -> Any:
    """The list of ops that runs: whose it is, and what it is about."""
    which, card = np.int64(state.effect_list), np.int64(state.effect_card)
    couple, place = np.int64(state.effect_couple), np.int64(state.effect_obstacle)
    if which == NONE:
        if (
            card != NONE
            or couple != NONE
            or place != NONE
            or state.effect_by != NONE
            or state.effect_who != NONE
            or state.effect_op != 0
            or state.effect_left != 0
        ):
            return "effect_card, effect_by, effect_op: nothing takes effect"
        return ""
    by = np.int64(state.effect_by)
    if NONE in (card, by) or state.effect_op > OP_COUNT[card, which]:
        return "effect_card, effect_by, effect_op: no card takes effect"
    if state.stage == RESOLVE:
        if which != ON_RESOLVE or card != state.acting_card or state.effect_by != state.acting_by:
            return "effect_list, effect_card, effect_by: not the card that resolves"
    elif which != (ON_TURN_START if state.stage == START else ON_EXPIRE):
        return "effect_list: not that of the stage"
    if KIND[card] != OBSTACLE:
        if state.stage != RESOLVE or couple != NONE or place != NONE:
            return "effect_couple, effect_obstacle: the card is no obstacle"
        return ""
    if couple == NONE or state.owner[couple] == NONE:
        return "effect_couple: it is in no field"
    if state.stage == RESOLVE and couple != state.targets[0]:
        return "effect_couple: not the target"
    if place != NONE and (
        place >= state.obstacle_count
        or state.obstacle_type[place] != card
        or state.obstacle_couple[place] != couple
        or state.obstacle_by[place] != state.effect_by
    ):
        return "effect_obstacle: not the card, the couple and the seat that take effect"
    return ""


def _flaw_of_event(state: Any) -> Any:
    """R19..R22: the event, and the reactions to it."""
    event, source = state.event, state.event_source
    if event == NONE:
        return "" if _has_no_event(state) else "event_card, poll, pending_card: there is no event"
    if event == PREP_EVENT:
        if not _has_lost_preparation(state):
            return "event: no effect has just cost a preparation"
    elif source != state.acting_by or state.event_card != state.acting_card:
        return "event_source, event_card: not the card that resolves"
    elif KIND[state.acting_card] != (OBSTACLE if event == OBSTACLE_EVENT else ACTION):
        return "event: not what the card is"
    if event == OBSTACLE_EVENT:
        couple = state.event_couple
        if couple != state.targets[0] or state.event_owner != state.owner[couple]:
            return "event_couple, event_owner: not the target"
    elif state.event_couple != NONE or (state.event_owner != NONE) != (event == PREP_EVENT):
        return "event_couple, event_owner: the event has none"
    if state.event_cancelled or state.event_recovered:
        return "event_cancelled, event_recovered: nothing is asked any more"
    polling = state.resolving == NONE
    if state.poll == NONE or (state.quiet < state.num_players) != polling:
        return "poll, quiet, resolving: not how far the reactions are"
    if state.quiet > state.num_players:
        return "quiet: more seats than there are"
    if state.event_redirected and (polling or event != OBSTACLE_EVENT):
        return "event_redirected: nothing can have been redirected"
    return _flaw_of_pending(state)


def _has_no_event(state: Any) -> Any:
    if state.pending_size != 0 or state.quiet != 0 or state.poll != NONE:
        return False
    for place in range(REACTIONS):
        if not _has_no_reaction(state, place):
            return False
    return (
        state.resolving == NONE
        and state.event_source == NONE
        and state.event_card == NONE
        and state.event_couple == NONE
        and state.event_owner == NONE
        and not state.event_cancelled
        and not state.event_redirected
        and not state.event_recovered
    )


def _has_no_reaction(state: Any, place: Any) -> Any:
    return (
        state.pending_card[place] == NONE
        and state.pending_by[place] == NONE
        and state.pending_answers[place] == NONE
        and state.pending_cancelled[place] == 0
    )


def _has_lost_preparation(state: Any) -> Any:
    """E3 of R19: an op of the effect has just discarded a preparation of another field."""
    card, index = state.event_card, np.int64(state.effect_op)
    owner, by = np.int64(state.event_owner), np.int64(state.effect_by)
    if state.effect_list == NONE or state.event_source != state.effect_by:
        return False
    if card == NONE or KIND[card] != PREPARATION or owner in (NONE, by):
        return False
    if state.effect_who == NONE:
        before = OP[state.effect_card, state.effect_list, max(index - 1, 0)]
        return index > 0 and before[0] == DISCARD_PREP and state.effect_left == 0
    if index == OP_COUNT[state.effect_card, state.effect_list] or state.effect_couple == NONE:
        return False
    op = current_op(state)
    chooses = op[0] == CHOOSE_DISCARD or op[0] == DISCARD_AFFECTED_PREP
    return (
        chooses
        and state.effect_who == owner
        and owner == state.owner[state.effect_couple]
        and state.effect_left < op[2]
    )


def _flaw_of_pending(state: Any) -> Any:
    for place in range(REACTIONS):
        if place >= state.pending_size:
            if not _has_no_reaction(state, place):
                return "pending_card: more than pending_size"
            continue
        card, answers = np.int64(state.pending_card[place]), np.int64(state.pending_answers[place])
        if card == NONE or card >= NUM_TYPES or KIND[card] != REACTION:
            return "pending_card: no reaction"
        if not 0 <= state.pending_by[place] < state.num_players:
            return "pending_by: no seat"
        if (answers != NONE) != (TRIGGER[card] == REACTION_PLAYED) or answers >= place:
            return "pending_answers: not what the reaction answers"
    if state.resolving == NONE:
        return ""
    if state.resolving >= state.pending_size or state.event != OBSTACLE_EVENT:
        return "resolving: no reaction"
    redirects = OP[state.pending_card[state.resolving], ON_RESOLVE, 0, 0] == REDIRECT_EVENT
    by = state.pending_by[state.resolving]
    if not redirects or by != state.event_owner or by == state.event_source:
        return "resolving: a reaction that has nothing to ask"
    return ""


# What is asked


def _flaw_of_knowledge(state: Any) -> Any:
    """Nobody knows more cards than there are, or in a draft than a pack that came back told."""
    told = np.zeros((MAX_PLAYERS, MAX_TYPES), np.int64)
    if state.stage == DRAFT and state.num_players == 2:
        for pack in range(2):
            for viewer in range(2):
                last = last_visit(state, viewer, pack)
                for number in range(last % 2 + 1, last, 2):
                    told[1 - viewer, state.picks[pack, number]] += 1
    for seat in range(state.num_players):
        for card in range(NUM_TYPES):
            held = np.int64(state.hands[seat, card])
            if state.stage == DRAFT:
                held = told[seat, card]
            elif state.stage == SELECT and state.selected[seat] == card:
                held += 1
            for viewer in range(state.num_players):
                if state.known[viewer, seat, card] > (0 if viewer == seat else held):
                    return "known: more than can be known of the seat, or a seat's own cards"
    return ""


def _flaw_of_decision(state: Any, scratch: Any) -> Any:
    """Who is asked for what follows from the rest, and something is possible."""
    over = state.stage == OVER
    for seat in range(state.num_players):
        if (state.hand_sizes_at_end[seat] != NONE) != over:
            return "hand_sizes_at_end: not what the stage says"
    if (state.seat == NONE) != over or (state.decision == NONE) != over:
        return "seat, decision: not what the stage says"
    if not over and not _is_expected(state):
        return "seat, decision: not what the rest of the position says"
    if (state.moving != NONE) != (state.decision == ASK_MOVE_DEST):
        return "moving: the decision is another"
    if state.moving != NONE:
        moving = np.int64(state.moving)
        if preparation_at(state, moving) == NONE or field_of(state, moving) != state.seat:
            return "moving: no preparation of the field"
    if (state.look_size > 0) != (state.decision == ASK_LOOK_KEEP):
        return "look_size: the decision is another"
    if (state.limbo != NONE) != (state.decision == ASK_PLACE and state.effect_list != NONE):
        return "limbo: the decision is another"
    if over:
        set_winners(scratch)
        return "" if scratch.winners == state.winners else "winners: not what the fields say"
    mask = np.zeros(NUM_ACTIONS, np.int8)
    legal_actions(state, mask)
    possible = 0
    for action in range(NUM_ACTIONS):
        possible += mask[action]
    if possible < (2 if state.decision == ASK_REACT else 1):
        return "decision: nothing can be decided"
    return ""


def _is_expected(state: Any) -> Any:
    """Whether the frames lead to this decision of this seat."""
    decision, seat = state.decision, np.int64(state.seat)
    if state.event != NONE:
        if state.resolving == NONE:
            return decision == ASK_REACT and seat == state.poll
        return decision == ASK_TARGET_COUPLE and seat == state.pending_by[state.resolving]
    if state.effect_list != NONE:
        return _is_expected_of_effect(state, decision, seat)
    if state.stage in (DRAFT, SELECT):
        asked = ASK_DRAFT if state.stage == DRAFT else ASK_SELECT
        return decision == asked and seat == state.cursor
    if state.stage != RESOLVE or seat != state.order[state.cursor]:
        return False
    if state.step in (PRE, POST):
        return decision in (ASK_WINDOW, ASK_MOVE_DEST, ASK_DISCARD_MENU)
    card = np.int64(state.acting_card)
    if KIND[card] == PREPARATION:
        return decision == ASK_PLACE
    if state.targets[0] != NONE:
        return decision == ASK_SWAP_OWN
    return decision == _asked_for_target(card)


def _asked_for_target(card: Any) -> Any:
    kind = TARGET_KIND[card]
    if kind == NO_TARGET:
        return np.int64(NONE)
    if KIND[card] == OBSTACLE:
        return ASK_TARGET_COUPLE
    if kind == OWN_OBSTACLE:
        return ASK_TARGET_OBSTACLE
    if kind == DISCARD_PREP_OR_COUPLE:
        return ASK_RECOVER
    return ASK_TARGET_PLAYER if kind == OPP else ASK_TARGET_PREP


def _is_expected_of_effect(state: Any, decision: Any, seat: Any) -> Any:
    """Whether the op that runs asks for this, with as much to choose as there is."""
    card, which, left = state.effect_card, state.effect_list, np.int64(state.effect_left)
    if state.effect_op == OP_COUNT[card, which] or state.effect_who == NONE:
        return False
    op, who = current_op(state), np.int64(state.effect_who)
    number = op[0]
    if number == DISCARD_HAND:
        return (
            decision == ASK_HAND_DISCARD
            and op[3] != RANDOM
            and 0 < left <= min(op[2], discardable(state, who))
            and seat == (state.effect_by if op[3] == BY_ME else who)
            and _is_concerned(state, op[1], who)
        )
    if seat != who:
        return False
    if number == LOOK_TOP:
        return (
            decision == ASK_LOOK_KEEP
            and who == state.effect_by
            and 0 < left <= min(op[3], np.int64(state.look_size))
        )
    if number == TAKE_PREP:
        return decision == ASK_PLACE and who == state.effect_by
    if state.effect_couple == NONE or who != state.owner[state.effect_couple]:
        return False
    if number == PAY_TO_REMOVE:
        wanted = left if left > 0 else op[2]
        return (
            decision == (ASK_HAND_DISCARD if left > 0 else ASK_PAY)
            and state.effect_obstacle != NONE
            and wanted <= min(op[2], discardable(state, who))
        )
    chooses = number in (CHOOSE_DISCARD, DISCARD_AFFECTED_PREP, RETURN_AFFECTED_PREP)
    return chooses and decision == ASK_CHOICE and 0 < left <= op[2]


def _is_concerned(state: Any, who: Any, seat: Any) -> Any:
    """Whether an op works on a seat."""
    if who == ME:
        return seat == state.effect_by
    if who == EACH_OPP:
        return seat != state.effect_by
    if who == TARGET:
        return seat == state.targets[0]
    return seat == state.owner[state.effect_couple]
