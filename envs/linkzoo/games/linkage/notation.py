"""Moves of Linkage as text, both ways (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import COLOURS, HOLE_ACTION, SIZE

COLUMNS = "abcdefg"
CELL_NAMES = [f"{COLUMNS[cell % SIZE]}{cell // SIZE + 1}" for cell in range(components.CELLS)]
# Colour, cell, cell, by action.
PIECES = [
    (letter, CELL_NAMES[first], CELL_NAMES[second])
    for letter in COLOURS
    for first, second in components.PLACEMENT_CELLS
]
_TEXTS = {
    **{piece: "{} {}-{}".format(*words) for piece, words in enumerate(PIECES)},
    **{HOLE_ACTION + cell: f"hole {name}" for cell, name in enumerate(CELL_NAMES)},
    components.TAKE_MORE: "take more",
    components.TAKE_FEWER: "take fewer",
}
_ACTIONS = {text: action for action, text in _TEXTS.items()}


def action_to_text(state: Record, action: int) -> str:
    """Returns `W a1-b1`, `hole d4`, `take more` or `take fewer`; ValueError outside 0..386."""
    return _TEXTS[integer("action", action, 0, components.TAKE_FEWER)]


def text_to_action(state: Record, text: str) -> int:
    """Returns the action of a move's text; ValueError if it is no move."""
    if string("move", text) not in _ACTIONS:
        raise ValueError(
            f"no move {shown(text)}; moves are like 'W a1-b1' (colours {', '.join(COLOURS)}; cells "
            "in row-major order), 'hole d4', 'take more', 'take fewer'"
        )
    return _ACTIONS[text]


def action_parts(state: Record, action: int) -> tuple[str, ...]:
    """Returns a piece's colour and its two cells, the hole's cell, or the words of a role."""
    text = action_to_text(state, action)
    if action < HOLE_ACTION:
        return PIECES[action]
    return (text.removeprefix("hole "),)
