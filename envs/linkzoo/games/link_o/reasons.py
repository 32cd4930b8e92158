"""Reasons why a placement is better than another in LINK-O. R1 to R23 refer to RULES.md.

The features (`action_features`) hold what the seat to act can know: nobody's hidden tiles.
"""

from linkzoo.core.guide import FeatureReason

REASONS = (
    FeatureReason("goes_out", 1, "It is the last tile in hand, and ends the round (R17)."),
    FeatureReason(
        "stuck_points",
        -1,
        "After it, tiles worth {better:point} stay in hand that fit nowhere now; after the move "
        "played, tiles worth {played}.",
        2,
    ),
    FeatureReason(
        "fitting",
        1,
        "After it, {better:tile} in hand can be placed; after the move played, {played}.",
    ),
    FeatureReason(
        "secure",
        1,
        "After it, {better:tile} in hand fit on a space that no unseen tile fits; after the move "
        "played, {played}.",
    ),
    FeatureReason(
        "own_spaces",
        1,
        "It leaves {better:space} that only tiles in hand fit; the move played leaves {played}.",
    ),
    FeatureReason(
        "placements",
        1,
        "After it, the hand has {better:possible placement}; after the move played, {played}.",
        2,
    ),
    FeatureReason(
        "hand_linkos",
        1,
        "It keeps {better:LINK-O} in hand, which fit almost anywhere; the move played keeps "
        "{played} (R15).",
    ),
    FeatureReason(
        "hand_points",
        -1,
        "It leaves {better:point} in hand, which another player may score; the move played leaves "
        "{played} (R17).",
        2,
    ),
    FeatureReason(
        "next_stuck",
        1,
        "The chance that the next player has no tile that fits is about {better} %; after the move "
        "played it is about {played} %.",
        5,
    ),
    FeatureReason(
        "all_stuck",
        1,
        "The chance that no other player has a tile that fits is about {better} %; after the move "
        "played it is about {played} %.",
        5,
    ),
    FeatureReason(
        "unseen_share",
        -1,
        "After it, {better} % of the tiles that the player can't see fit somewhere; after the move "
        "played, {played} %.",
        5,
    ),
)
