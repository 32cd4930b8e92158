"""Love Formula: stages, steps and events, numbered in the order of their names."""

from linkzoo.games.love_formula.components import numbered

STAGES = ("draft", "start", "select", "resolve", "end", "over")
DRAFT, START, SELECT, RESOLVE, END, OVER = numbered(STAGES)

STEPS = ("", "pre", "effect", "post")  # of a stage "resolve" (R8, T3); "effect" of others too
NO_STEP, PRE, EFFECT, POST = numbered(STEPS)

ACTING_STEPS = ("target", "react", "effect")
AT_TARGET, AT_REACT, AT_EFFECT = numbered(ACTING_STEPS)

EVENTS = ("obstacle", "action", "prep_discarded")  # E1, E2, E3 of R19
OBSTACLE_EVENT, ACTION_EVENT, PREP_EVENT = numbered(EVENTS)
