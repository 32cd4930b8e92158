"""Reasons why a move is better than another in Love Links. R1 to R23 refer to RULES.md."""

from linkzoo.core.guide import FeatureReason

REASONS = (
    FeatureReason(
        "points", 1, "It brings {better:point} at once, the move played {played} (R15, R16)."
    ),
    FeatureReason(
        "next_close",
        -1,
        "After it the next player's hand can close a bracelet for {better:point} at "
        "most; after the move played for {played} (R16).",
        2,
    ),
    FeatureReason(
        "other_close",
        -1,
        "After it another opponent's hand can close a bracelet for {better:point} at "
        "most; after the move played for {played} (R16).",
        2,
    ),
    FeatureReason(
        "own_close",
        1,
        "After it the mover's hand can close a bracelet for {better:point}; after the "
        "move played for {played} (R16).",
        2,
    ),
    FeatureReason(
        "partner_close",
        1,
        "After it the partner's hand can close a bracelet for {better:point}; after the "
        "move played for {played} (R16).",
        2,
    ),
    FeatureReason(
        "next_closes",
        -1,
        "After it {better:link} of the next player's hand can close a bracelet; after the move "
        "played {played}.",
    ),
    FeatureReason(
        "own_matches",
        1,
        "After it the mover's hand has {better:possible match join}; after the move "
        "played {played} (R15).",
    ),
    FeatureReason(
        "next_matches",
        -1,
        "After it the next player's hand has {better:possible match join}; after the move played "
        "{played} (R15).",
    ),
    FeatureReason(
        "own_joins",
        1,
        "After it the mover's hand has {better:possible join}; after the move played "
        "{played} (R10).",
        2,
    ),
    FeatureReason(
        "next_joins",
        -1,
        "After it the next player's hand has {better:possible join}; after the move played "
        "{played} (R10).",
        2,
    ),
)
