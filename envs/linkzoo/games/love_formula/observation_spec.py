"""The layout of a seat's observation, and of the information hidden from it (R6, R8)."""

from functools import partial

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.games.love_formula import components, decisions, phases
from linkzoo.games.love_formula.cards import OBSTACLE, PREPARATION, REACTION, Cards
from linkzoo.games.love_formula.components import COUPLES, MAX_PLAYERS, NEEDS, TURNS
from linkzoo.games.love_formula.state import LIMIT, MAX_HAND

MAX_POINTS = 127  # that an observation shows
OTHERS = MAX_PLAYERS - 1
_OF_COUPLE = "1-4 whose field, 5 the discard pile"
_IN_REACH = "requirements still to be met for which a card is in the own hand or pile"
_DRAW_ORDER = "cards by type: 120 is drawn next, then 119; 0 is not in the deck"
_Category = partial(Part, categorical=True)


def make_spec(cards: Cards) -> ObservationSpec:
    """Returns the layout of a seat's observation with a table of cards."""
    count = len(cards.cards)
    copies = max(card.copies for card in cards.cards)
    one = (1,)
    types = (count,)
    couples = (COUPLES,)
    seats = (MAX_PLAYERS,)
    preparations = (len(cards.of_kind(PREPARATION)),)
    obstacles = (COUPLES, len(cards.of_kind(OBSTACLE)))
    reactions = (MAX_PLAYERS, len(cards.of_kind(REACTION)))
    of_seats = (MAX_PLAYERS, *preparations)
    of_types = (MAX_PLAYERS, count)
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
        # Couples, obstacles and preparations, and the points of the fields.
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
        Part("points", seats, -LIMIT, MAX_POINTS, "what the field is worth now (R26)"),
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
        Part("known", (OTHERS, count), 0, copies, "cards that others certainly hold"),
    )
    return ObservationSpec(parts)


def make_privileged_spec(cards: Cards) -> ObservationSpec:
    """Returns the layout of the information hidden from a seat."""
    shape = (OTHERS, len(cards.cards))
    copies = max(card.copies for card in cards.cards)
    parts = (
        Part("hands", shape, 0, copies, "the other hands, by type"),
        Part("selections", shape, 0, 1, "what lies face down before the others"),
        Part("piles", shape, 0, copies, "what the others have picked"),
        Part("packs", shape, 0, copies, "the packs that the others hold"),
        Part("draw_order", (components.DECK,), 0, components.DECK, _DRAW_ORDER),
    )
    return ObservationSpec(parts)
