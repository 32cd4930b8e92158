"""Love Formula: the decisions, numbered in the order of their names."""

from linkzoo.games.love_formula.components import numbered

NAMES = (
    "DRAFT SELECT WINDOW MOVE_DEST DISCARD_MENU PLACE TARGET_COUPLE TARGET_PREP SWAP_OWN "
    "TARGET_OBSTACLE TARGET_PLAYER HAND_DISCARD LOOK_KEEP RECOVER CHOICE REACT PAY"
).split()

(
    DRAFT,
    SELECT,
    WINDOW,
    MOVE_DEST,
    DISCARD_MENU,
    PLACE,
    TARGET_COUPLE,
    TARGET_PREP,
    SWAP_OWN,
    TARGET_OBSTACLE,
    TARGET_PLAYER,
    HAND_DISCARD,
    LOOK_KEEP,
    RECOVER,
    CHOICE,
    REACT,
    PAY,
) = numbered(NAMES)

IN_WINDOW = (WINDOW, MOVE_DEST, DISCARD_MENU)  # R11
