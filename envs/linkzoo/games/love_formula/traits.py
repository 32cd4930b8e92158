"""Traits of cards: their kind and effects as features of actions, equal for all copies."""

from linkzoo.core.observation import ObservationPart
from linkzoo.games.love_formula import cards
from linkzoo.games.love_formula.cards import Card, Op


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
# The traits that the action features ask for.
DISCARDS = NAMES.index("discards")
REMOVES = NAMES.index("removes")
BARS = NAMES.index("bars")
DRAINS = NAMES.index("drains")
STRIPS = NAMES.index("strips")
ENDS = NAMES.index("ends")
_OF_TRIGGER = {
    "OBSTACLE_ON_ME": "on_obstacle",
    "OPP_ACTION": "on_action",
    "MY_PREP_DISCARDED": "on_loss",
    "REACTION_PLAYED": "on_reaction",
}
_OF_STATIC = {
    "vp": "costs",
    "vp_halve": "halves",
    "no_attach": "bars",
    "priority_mod": "slows",
    "reveal_hand": "reveals",
}
_LOSSES = ("vp", "priority_mod")  # negative numbers in a table of cards
_OF_OP = {
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


def traits_of(card: Card) -> list[int]:
    """Returns the traits of a card, in the order of `PARTS`."""
    traits = dict.fromkeys(NAMES, 0)
    traits[_kind_trait(card)] = 1
    for op in (op for ops in card.ops for op in ops if op[0] in _OF_OP):
        trait = _OF_OP[op[0]]
        traits[trait] = max(traits[trait], _amount(op))
    if card.kind == cards.REACTION:
        traits[_OF_TRIGGER[card.trigger]] = 1
    for static, value in card.static.items():
        sign = -1 if static in _LOSSES else 1
        traits[_OF_STATIC[static]] = sign * int(value)
    return list(traits.values())


def _kind_trait(card: Card) -> str:
    """Returns the trait for the kind of a card."""
    if card.job:
        return "job"
    if card.kind == cards.COUPLE:
        return f"couple{len(card.requirements)}"
    return cards.KINDS[card.kind]


def _amount(op: Op) -> int:
    """Returns how many cards or turns an op gives the player of the card; 1 for flags."""
    match op:
        case ("LOOK_TOP", _, kept):
            return int(kept)
        case ("DRAW" | "SHIELD", who, number):
            return int(number) if who == "me" else 0
        case ("DISCARD_HAND", who, number, _):
            return 0 if who == "me" else int(number)
    return 1
