"""Love Formula: triggers, targets, ops and their arguments, numbered in the order of the names."""

from linkzoo.games.love_formula.cards import CHOOSERS, LISTS, OPS, TARGETS, TRIGGERS, WHO
from linkzoo.games.love_formula.components import numbered

# Its number, `who`, how many cards, and the chooser or how many are kept.
Op = tuple[int, int, int, int]

OBSTACLE_ON_ME, OPP_ACTION, MY_PREP_DISCARDED, REACTION_PLAYED = numbered(TRIGGERS)
ON_RESOLVE, ON_TURN_START, ON_EXPIRE = numbered(LISTS)
ME, EACH_OPP, TARGET, COUPLE_CONTROLLER = numbered(WHO)
SELF, BY_ME, RANDOM = numbered(CHOOSERS)

_TARGETS = numbered(TARGETS)
NO_TARGET, OPP_COUPLE, OPP_COUPLE_INCOMPLETE, OPP_PREP_OPEN, OPP_PREP_TAKABLE = _TARGETS[:5]
SWAP_PAIR, OWN_OBSTACLE, DISCARD_PREP_OR_COUPLE, OPP = _TARGETS[5:]

_OPS = numbered(OPS)
DRAW, LOOK_TOP, DISCARD_HAND, LOOK_HAND = _OPS[:4]
DISCARD_PREP, TAKE_PREP, SWAP_PREP, DISCARD_OBSTACLE, RECOVER = _OPS[4:9]  # those on targets
SHIELD, SELF_TO_HAND, CHOOSE_DISCARD, PAY_TO_REMOVE = _OPS[9:13]
DISCARD_AFFECTED_PREP, RETURN_AFFECTED_PREP, DISCARD_COUPLE_IF_INCOMPLETE = _OPS[13:16]
CANCEL_EVENT, REDIRECT_EVENT, RECOVER_EVENT_CARD = _OPS[16:]  # of reactions
