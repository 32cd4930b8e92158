"""Kinds and effects of cards as features of actions: the same for all copies, at any time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart
from linkzoo.games.love_formula import cards, tables
from linkzoo.games.love_formula.cards import Card, Cards


def _flag(name: str, meaning: str) -> ObservationPart:
    return ObservationPart(name, (1,), 0, 1, meaning)


def _count(name: str, high: int, meaning: str) -> ObservationPart:
    return ObservationPart(name, (1,), 0, high, meaning)


PARTS = (
    _flag("preparation", "the card is a preparation"),
    _flag("couple2", "a couple with two requirements"),
    _flag("couple3", "a couple with three"),
    _flag("obstacle", "an obstacle"),
    _flag("action", "an action, but no Part-time Job"),
    _flag("job", "a Part-time Job"),
    _flag("reaction", "a reaction"),
    _count("draws", cards.MAX_NUMBER, "cards that it draws, or keeps of those looked at"),
    _count("discards", cards.MAX_NUMBER, "cards of other hands that it discards"),
    _flag("removes", "it discards a preparation of another field"),
    _flag("takes", "it takes one"),
    _flag("swaps", "it swaps one"),
    _flag("clears", "it discards an obstacle of the own field"),
    _flag("recovers", "it takes a card of the discard pile"),
    _count("shields", cards.MAX_NUMBER, "turns without obstacles"),
    ObservationPart("costs", (1,), -9, 9, "points that the obstacle costs"),
    _flag("halves", "it halves a couple's points"),
    _flag("bars", "it bars preparations"),
    ObservationPart("slows", (1,), -9, 9, "priority that it costs"),
    _flag("reveals", "it lays a hand open"),
    _flag("drains", "at turn starts a card of the hand or an attached preparation is lost"),
    _flag("strips", "attached preparations are discarded or return to the hand"),
    _flag("ends", "it discards an incomplete couple"),
    _flag("on_obstacle", "a reaction to an obstacle"),
    _flag("on_action", "a reaction to an action"),
    _flag("on_loss", "a reaction to a lost preparation"),
    _flag("on_reaction", "a reaction to a reaction"),
)
NAMES = [part.name for part in PARTS]
# The columns that rules ask for.
DISCARDS, REMOVES = NAMES.index("discards"), NAMES.index("removes")
BARS, DRAINS = NAMES.index("bars"), NAMES.index("drains")
STRIPS, ENDS = NAMES.index("strips"), NAMES.index("ends")
_TRIGGERS = ("on_obstacle", "on_action", "on_loss", "on_reaction")  # as in `cards.TRIGGERS`
_STATICS = {"vp": "costs", "vp_halve": "halves", "no_attach": "bars", "priority_mod": "slows"}
_STATICS["reveal_hand"] = "reveals"
_OPS = {
    "DRAW": "draws",
    "LOOK_TOP": "draws",
    "DISCARD_HAND": "discards",
    "DISCARD_PREP": "removes",
    "TAKE_PREP": "takes",
    "SWAP_PREP": "swaps",
    "DISCARD_OBSTACLE": "clears",
    "RECOVER": "recovers",
    "SHIELD": "shields",
    "CHOOSE_DISCARD": "drains",
    "DISCARD_AFFECTED_PREP": "strips",
    "RETURN_AFFECTED_PREP": "strips",
    "DISCARD_COUPLE_IF_INCOMPLETE": "ends",
}
_COUNTED = ("draws", "discards", "shields")


def constants(table: Cards) -> dict[str, Any]:
    """Returns the constants of a table of cards below, by name."""
    rows = [_traits_of(card) for card in table.cards]
    return {"TRAITS": np.array([[row.get(name, 0) for name in NAMES] for row in rows])}


def _traits_of(card: Card) -> dict[str, int]:
    """Returns the traits of a card that aren't 0."""
    couple = f"couple{len(card.requirements)}"
    kinds = ("preparation", couple, "obstacle", "action", "reaction")
    found = {"job" if card.job else kinds[card.kind]: 1}
    for op in (op for listed in card.ops for op in listed if op[0] in _OPS):
        trait, numbers = _OPS[op[0]], [number for number in op if isinstance(number, int)]
        if trait not in _COUNTED:
            found[trait] = 1
        elif ("me" in op[:2]) == (trait != "discards") or op[0] == "LOOK_TOP":
            found[trait] = max(found.get(trait, 0), numbers[-1])
    if card.kind == cards.REACTION:
        found[_TRIGGERS[list(cards.TRIGGERS).index(card.trigger)]] = 1
    for static, value in card.static.items():
        loses = static in ("vp", "priority_mod")
        found[_STATICS[static]] = -int(value) if loses else int(value)
    return found


TRAITS: NDArray[np.int64] = constants(tables.STANDARD_CARDS)["TRAITS"]  # [type, trait]
