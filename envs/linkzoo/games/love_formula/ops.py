"""Love Formula: triggers, targets, ops and their arguments, numbered in the order of the names."""

from linkzoo.games.love_formula.cards import CHOOSERS, LISTS, OPS, TARGETS, TRIGGERS, WHO
from linkzoo.games.love_formula.components import numbered

Op = tuple[
    int, int, int, int
]  # its number, `who`, number of cards, and chooser or how many are kept

OBSTACLE_ON_ME, OPP_ACTION, MY_PREP_DISCARDED, REACTION_PLAYED = numbered(TRIGGERS)
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
ON_RESOLVE, ON_TURN_START, ON_EXPIRE = numbered(LISTS)
ME, EACH_OPP, TARGET, COUPLE_CONTROLLER = numbered(WHO)
SELF, BY_ME, RANDOM = numbered(CHOOSERS)
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
