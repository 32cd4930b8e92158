"""The layout of the features of legal actions."""

import numpy as np

from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import traits
from linkzoo.games.love_formula.components import MAX_PLAYERS, PICKS, TURNS, int64

_MAX = 127  # amounts are clipped to -127..127


def _feature(
    name: str, low: int, high: int, meaning: str, broadcast: bool = False
) -> ObservationPart:
    return ObservationPart(name, (1,), low, high, meaning, broadcast)


def _amount(name: str, meaning: str) -> ObservationPart:
    return _feature(name, -_MAX, _MAX, meaning)


def _count(name: str, meaning: str) -> ObservationPart:
    return _feature(name, 0, _MAX, meaning)


def _flag(name: str, meaning: str, broadcast: bool = False) -> ObservationPart:
    return _feature(name, 0, 1, meaning, broadcast)


_FEATURES = (
    _amount("worth", "what the position gains for greedy play, in tenths of a point"),
    _amount("points", "points that the own field gains"),
    _amount("promise", "what its incomplete couples and obstacles gain beyond, in tenths"),
    _amount("cards", "what hand, pile and selected card gain, in tenths"),
    _amount("denied", "what the other fields lose on average, in tenths"),
    _amount("ready2", "more couples of two requirements for which all is at hand"),
    _amount("ready3", "the same of three requirements"),
    _amount("near2", "more couples of two requirements that lack one card"),
    _amount("near3", "the same of three requirements"),
    _amount("slots", "more empty free slots"),
    _amount("hand", "more cards in the own hand"),
    _flag("passes", "the action is to pass"),
    _flag("menu", "the action opens the discards"),
    *traits.PARTS,
    _count("copies", "copies of the card in hand and pile"),
    _count("preparations", "preparations in hand and pile if the card is one"),
    _count("couples", "couples in hand and pile if the card is one"),
    _count("obstacles", "obstacles in hand and pile if the card is one"),
    _count("actions", "actions in hand and pile if the card is one"),
    _count("reactions", "reactions in hand and pile if the card is one"),
    _flag("completes2", "it can complete a couple of two requirements now"),
    _flag("completes3", "the same of three requirements"),
    _flag("advances", "it can be attached to another couple"),
    _count("wanted", "couples in hand and pile that require it"),
    _flag("slot", "the free slot for it is empty"),
    _flag("stuck", "it has no position, or no target now"),
    _count("met", "requirements of the couple in hand, pile and free slots"),
    _count("met_free", "requirements of the couple in free slots"),
    _count("priority", "its priority with the changes by obstacles"),
    _amount("harm", "what it costs the owner of its target at the best, in tenths"),
    _count("next_needs", "couples of the next seat's field that lack it"),
    _count("others_need", "couples of all other fields that lack it"),
    _count("pack", "cards of the pack that a couple requires, or couples that require it"),
    _amount("target_lead", "points of the target's owner beyond the own ones"),
    _flag("target_first", "no other opponent has more points"),
    _count("target_met", "requirements that the target couple meets"),
    _count("target_lacks", "requirements that it lacks"),
    _count("target_obstacles", "obstacles at it"),
    _count("bars_met", "requirements met by the target of an obstacle that bars preparations"),
    _count("drains_met", "requirements met by the target of an obstacle that drains"),
    _count("strips_met", "requirements met by the target of an obstacle that strips"),
    _count("ends_met", "requirements met by the target of an obstacle that ends couples"),
    # Equal for all actions of a position: the decision and the stage of the game.
    _flag("select", "a card is selected", True),
    _flag("draft", "a card is picked", True),
    _flag("gain", "a card is kept, recovered, or discarded from another hand", True),
    _flag("lose", "a card of the own hand or field is given away", True),
    _flag("window", "preparations can be moved or cards discarded", True),
    _flag("place", "a preparation is placed", True),
    _flag("target", "a target is chosen", True),
    _flag("react", "a reaction can be played", True),
    # The stage of the game, apart for selections, picks and other decisions; else 0.
    _flag("select_second", "the second half", True),
    _feature("select_turns", 0, TURNS, "turns of the play phase after this one", True),
    _feature("select_ending", 0, 3, "3 in the last turn, 2 in the one before, 1, 0", True),
    _feature("select_slack", -_MAX, _MAX, "cards to select beyond the turns left", True),
    _feature("select_lead", -_MAX, _MAX, "own points beyond the best other's", True),
    _feature("select_hand", 0, _MAX, "cards in the own hand", True),
    _feature("select_players", 0, MAX_PLAYERS, "players", True),
    _flag("draft_second", "the second half", True),
    _feature("draft_picks", 0, PICKS, "picks of the draft after this one", True),
    _feature("draft_lead", -_MAX, _MAX, "own points beyond the best other's", True),
    _feature("draft_players", 0, MAX_PLAYERS, "players", True),
    _flag("other_second", "the second half", True),
    _feature("other_turns", 0, TURNS, "turns of the play phase after this one", True),
    _feature("other_lead", -_MAX, _MAX, "own points beyond the best other's", True),
    _feature("other_hand", 0, _MAX, "cards in the own hand", True),
    _feature("other_players", 0, MAX_PLAYERS, "players", True),
)
ACTION_SPEC = ObservationSpec(_FEATURES)
FEATURE = ACTION_SPEC.starts()  # the index of each feature
# By kind of card: the feature that counts cards of this kind.
ALIKE = np.array(
    [FEATURE.preparations, FEATURE.couples, FEATURE.obstacles, FEATURE.actions, FEATURE.reactions]
)


@compiled
def clipped(amount: int) -> int:
    """Returns an amount within -127..127."""
    return min(max(int64(amount), -_MAX), _MAX)


@compiled
def tenths(hundredths: int) -> int:
    """Returns hundredths of a point as tenths, within -127..127."""
    return clipped(int64(hundredths) // 10)
