"""Love Formula: how good a decision was, for greedy play.

The functions are plain: `linkzoo.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

from linkzoo.love_formula.scoring import points


def appraise(before: Any, after: Any, seat: Any) -> Any:
    """The points of the field, less those of the others on average."""
    worth = float(points(after, seat))
    for other in range(after.num_players):
        if other != seat:
            worth -= points(after, other) / (after.num_players - 1)
    return worth
