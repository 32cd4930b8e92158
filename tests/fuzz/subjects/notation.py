"""Moves as text, and what else somebody may take for a move or an action."""

from pathlib import Path
from typing import Any

import numpy as np

from linkzoo.text import read_move
from tests.common.play import mask_of
from tests.fuzz import positions
from tests.fuzz.dice import Dice, any_value, mutate_text, short


def warm(game: str, folder: Path) -> None:
    """Compiles the rules."""
    positions.warm(game)


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed move goes to `text_to_action`; now and then a wrong action the other way."""
    variant, state = positions.position(dice, game)
    rules, before = variant.game, state.tobytes()
    legal = np.flatnonzero(mask_of(rules, state))
    value: Any
    if dice.chance(0.2):
        value = any_value(dice)
        dice.note(f"action {short(value)} at ply {state.ply}")
        try:
            text: Any = rules.notation.action_to_text(state, value)
        except ValueError:
            return False
        assert isinstance(text, str), f"a text of type {type(text).__name__}"
        number = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        assert isinstance(number, int | np.integer), f"a text for {short(value)}"
        assert not isinstance(value, bool | np.bool_), f"a text for {short(value)}"
        value = text
    elif dice.chance(0.2):
        value = any_value(dice)
    else:
        action = dice.pick(legal.tolist()) if len(legal) else dice.below(rules.num_actions)
        action = dice.below(rules.num_actions) if dice.chance(0.2) else action
        value = mutate_text(dice, rules.notation.action_to_text(state, action))
    dice.note(f"text {short(value)} at ply {state.ply}")
    if len(legal) and dice.chance(0.3):
        try:
            action = read_move(rules, state, value)
        except ValueError:
            return False
        assert action in legal, f"action {action}, which isn't legal"
        return True
    try:
        found: Any = rules.notation.text_to_action(state, value)
    except ValueError:
        assert state.tobytes() == before, "a refused move changed the position"
        return False
    assert state.tobytes() == before, "a move that was read changed the position"
    assert isinstance(found, int | np.integer), f"an action of type {type(found).__name__}"
    assert 0 <= found < rules.num_actions, f"action {found}"
    again = rules.notation.action_to_text(state, int(found))
    assert again == value, f"{short(value)} is read as {short(again)}"
    return True
