"""The rules of Love Formula: what `compiled.bind` compiles for a table of cards."""

from linkzoo.games.love_formula.rules import (
    appraisal,
    decisions,
    draft,
    effects,
    flaws,
    reactions,
    redeal,
    scoring,
    table,
    turns,
)

MODULES = (table, draft, reactions, effects, scoring, turns, decisions, redeal, appraisal, flaws)
