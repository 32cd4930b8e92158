"""Actions as words, and a position as text."""

from leduc.rules import NONE
from linkzoo import Record

ACTIONS = ("fold", "call", "raise")
CARDS = [rank + suit for rank in "JQKA" for suit in "sh"] + ["-"]  # the last is NONE, -1


def action_to_text(state: Record, action: int) -> str:
    """Returns the action's name; ValueError if there is no such action."""
    return ACTIONS[range(len(ACTIONS)).index(action)]


def text_to_action(state: Record, text: str) -> int:
    """Returns the action of a name; ValueError if it is none."""
    if text not in ACTIONS:
        raise ValueError(f"no move {text!r}; moves are {', '.join(ACTIONS)}")
    return ACTIONS.index(text)


def draw(state: Record, seat: int | None = None) -> str:
    """Returns the position as `seat` sees it; None sees all hands."""
    lines = [f"board: {CARDS[state.board]}"]
    for other in range(state.num_players):
        hand = CARDS[state.deck[other]] if seat in (None, other) else "?"
        lines.append(f"player {other}: {hand}, {state.paid[other]} paid")
    lines += [" ".join(ACTIONS[each] for each in row if each != NONE) for row in state.history]
    won = [str(other) for other in range(state.num_players) if state.winners >> other & 1]
    lines.append(f"won by player {', '.join(won)}" if won else f"player {state.seat} to act")
    return "\n".join(lines) + "\n"
