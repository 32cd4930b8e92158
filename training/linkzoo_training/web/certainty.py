"""The part of a move that neither chance nor hidden information decides, by the rules."""

from linkzoo import Game
from linkzoo.core.state import Record


def certain_after(game: Game, state: Record, action: int) -> Record | None:
    """Returns the position after the certain part of a move; None if the game names no such part.

    It looks the same to the seat to act in all worlds that the seat can't tell apart.
    """
    if not game.hides and not game.facts.chance:
        return game.guide.after(state, action)
    if game.rules.certain is None:
        return None
    after: Record = state.reshape(1).copy()[0]
    game.rules.certain(after, action)
    return after


def was_certain(game: Game, before: Record, action: int, after: Record) -> bool:
    """Returns whether a move drew no luck and showed nothing hidden."""
    expected = certain_after(game, before, action)
    return expected is not None and expected.tobytes() == after.tobytes()
