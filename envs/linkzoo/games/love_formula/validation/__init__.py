"""Love Formula: validation of positions from elsewhere.

A position that passes `validate`, within the bounds of the record's fields, can be played to its
end.
"""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula.validation import decision, frames, stages, zones


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns the first error of a position, or ""."""
    return (
        zones.validate_numbers(state)
        or zones.validate_lists(state)
        or zones.validate_fields(state)
        or zones.validate_cards(state)
        or stages.validate_course(state)
        or stages.validate_draft(state)
        or stages.validate_order(state)
        or frames.validate_acting(state)
        or frames.validate_effect(state)
        or frames.validate_event(state)
        or decision.validate_knowledge(state)
        or decision.validate_decision(state, scratch)
    )
