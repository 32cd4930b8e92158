"""Love Formula: triggers, targets, ops and their arguments, numbered in the order of the names."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from linkzoo.games.love_formula import cards
from linkzoo.games.love_formula.cards import CHOOSERS, LISTS, OPS, TARGETS, TRIGGERS, WHO
from linkzoo.games.love_formula.components import numbered

OBSTACLE_ON_ME, OPP_ACTION, MY_PREP_DISCARDED, REACTION_PLAYED = numbered(TRIGGERS)
ON_RESOLVE, ON_TURN_START, ON_EXPIRE = numbered(LISTS)
ME, EACH_OPP, TARGET, COUPLE_CONTROLLER = numbered(WHO)
SELF, BY_ME, RANDOM = numbered(CHOOSERS)

(
    NO_TARGET,
    OPP_COUPLE,
    OPP_COUPLE_INCOMPLETE,
    OPP_PREP_OPEN,
    OPP_PREP_TAKABLE,
    SWAP_PAIR,
    OWN_OBSTACLE,
    DISCARD_PREP_OR_COUPLE,
    OPP,
) = numbered(TARGETS)

(
    DRAW,
    LOOK_TOP,
    DISCARD_HAND,
    LOOK_HAND,
    DISCARD_PREP,
    TAKE_PREP,
    SWAP_PREP,
    DISCARD_OBSTACLE,
    RECOVER,
    SHIELD,
    SELF_TO_HAND,
    CHOOSE_DISCARD,
    PAY_TO_REMOVE,
    DISCARD_AFFECTED_PREP,
    RETURN_AFFECTED_PREP,
    DISCARD_COUPLE_IF_INCOMPLETE,
    CANCEL_EVENT,
    REDIRECT_EVENT,
    RECOVER_EVENT_CARD,
) = numbered(OPS)

# Ops that work on the targets of a card.
ON_TARGET = (DISCARD_PREP, TAKE_PREP, SWAP_PREP, DISCARD_OBSTACLE, RECOVER)
# Ops that let a seat choose an attached preparation, or with CHOOSE_DISCARD a card of the hand.
ON_ATTACHED = (CHOOSE_DISCARD, DISCARD_AFFECTED_PREP, RETURN_AFFECTED_PREP)


class Op(NamedTuple):
    """An op of a card as numbers; 0 for arguments that it doesn't have."""

    kind: int  # DRAW, LOOK_TOP, ...
    who: int  # ME, EACH_OPP, TARGET or COUPLE_CONTROLLER
    number: int  # of cards, or of turns
    chooser: int  # SELF, BY_ME or RANDOM
    kept: int  # cards kept of those looked at


def encoded(op: cards.Op) -> Op:
    """Returns an op of a table of cards as numbers."""
    name, *values = op
    arguments = dict(zip(OPS[name], values, strict=True))
    return Op(
        kind=list(OPS).index(name),
        who=_who(arguments),
        number=arguments.get("n", 0),
        chooser=CHOOSERS.index(arguments.get("chooser", "self")),
        kept=arguments.get("k", 0),
    )


def _who(arguments: Mapping[str, Any]) -> int:
    """Returns the number of the argument that names players; 0 without one."""
    for name, value in arguments.items():
        if name != "chooser" and value in WHO:
            return WHO.index(value)
    return 0
