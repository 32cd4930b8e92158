"""The legal moves of a position as text: a numbered list, or patterns where there are many."""

from collections.abc import Sequence

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record

MAX_NUMBERED = 40  # longer lists of moves are patterns, without numbers

Words = tuple[str, ...]


def legal_moves(game: Game, state: Record) -> dict[str, int]:
    """Returns the legal moves in the game's notation, with their actions, in order of actions."""
    mask = np.empty((1, game.num_actions), np.int8)
    kernels(game).fill_masks.serial(np.array([state]), mask)
    to_text = game.notation.action_to_text
    return {to_text(state, action): action for action in np.flatnonzero(mask[0]).tolist()}


def list_moves(game: Game, state: Record) -> str:
    """Returns the legal moves of the seat to act as lines of text.

    Up to 40 moves are numbered from 1, one a line. More are patterns, one a line, such as
    `(W|B) (a1-b1|a1-a2)`: a move takes one of the choices in each bracket.

    Args:
        game: The game.
        state: The position; a seat is to act.
    """
    return listed(list(legal_moves(game, state)))


def listed(moves: Sequence[str]) -> str:
    """Returns the lines of `list_moves` for these moves."""
    if len(moves) <= MAX_NUMBERED:
        return "\n".join(f"{number}. {move}" for number, move in enumerate(moves, 1))
    return "\n".join(_patterns([tuple(move.split(" ")) for move in moves]))


def _patterns(moves: Sequence[Words]) -> list[str]:
    """Returns patterns that stand for these moves and no others, the shortest of two readings."""
    forward = [_joined(choices) for choices in _factored(moves)]
    mirrored = _factored([move[::-1] for move in moves])
    backward = [_joined(choices[::-1]) for choices in mirrored]
    return min(forward, backward, key=lambda lines: sum(map(len, lines)) + len(lines))


def _factored(moves: Sequence[Words]) -> list[list[Words]]:
    """Returns products of choices, one list of choices per word, that make up the moves."""
    ends: dict[str, list[Words]] = {}
    for first, *rest in moves:
        ends.setdefault(first, []).append(tuple(rest))
    firsts: dict[tuple[Words, ...], list[str]] = {}
    for first, after in ends.items():
        firsts.setdefault(tuple(after), []).append(first)
    products: list[list[Words]] = []
    for rests, same in firsts.items():
        longer = [rest for rest in rests if rest]
        if len(longer) < len(rests):  # a move ends here
            products.append([tuple(same)])
        products += [[tuple(same), *choices] for choices in _factored(longer)]
    return products


def _joined(choices: Sequence[Words]) -> str:
    """Returns choices as text: a single word as it is, several in a bracket."""
    words = []
    for alternatives in choices:
        text = "|".join(alternatives)
        if len(alternatives) > 1:
            text = f"({text})"
        words.append(text)
    return " ".join(words)
