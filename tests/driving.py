"""Short ways to drive a game by its contract: each game's helpers bind them to it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.core.game import Game

SLOW = (pytest.mark.slow,)
NIGHTLY = (pytest.mark.nightly,)  # neither `make test` nor `make test-slow`


def legal_mask(state: np.record, *, game: Game) -> NDArray[np.int8]:
    """The game's mask; the array starts dirty, so that every element has to be written."""
    mask = np.full(game.num_actions, 7, np.int8)
    game.rules.legal_actions(state, mask)
    return mask


def legal_list(state: np.record, *, game: Game) -> NDArray[np.intp]:
    """The legal action numbers."""
    return np.flatnonzero(legal_mask(state, game=game))


def legal_texts(state: np.record, *, game: Game) -> set[str]:
    """The legal moves as texts."""
    text_of = game.notation.action_to_text
    return {text_of(state, int(action)) for action in legal_list(state, game=game)}


def clone(state: np.record, *, game: Game) -> np.record:
    """An independent copy."""
    return game.from_bytes(state.tobytes())


def payoffs(state: np.record, *, game: Game) -> list[float]:
    """Payoffs of all seats; there are none before the end."""
    if state.seat >= 0:
        return [0.0] * int(state.num_players)
    out = np.full(int(state.num_players), 99, np.float32)
    game.payoffs(state, out)
    return [float(value) for value in out]


def margins(state: np.record, *, game: Game) -> list[float]:
    """Margins of all seats."""
    out = np.full(int(state.num_players), 99, np.float32)
    game.score_margins(state, out)
    return [float(value) for value in out]


def observe(state: np.record, seat: int, *, game: Game) -> NDArray[Any]:
    """The flat observation of a seat; it starts dirty as well."""
    out = np.full(game.observation.spec.size, 77, game.observation.spec.dtype)
    game.observation.observe(state, seat, out)
    return out


def piece(state: np.record, name: str, seat: int = 0, *, game: Game) -> NDArray[Any]:
    """One named piece of a seat's observation."""
    return game.observation.spec.view(observe(state, seat, game=game), name)


def play(state: np.record, actions: Iterable[int], *, game: Game) -> np.record:
    """Plays actions after checking that each is legal."""
    for action in actions:
        text = game.notation.action_to_text(state, action)
        assert legal_mask(state, game=game)[action] == 1, f"{text} is illegal at ply {state.ply}"
        game.rules.apply(state, int(action))
    return state


def play_text(state: np.record, *moves: str, game: Game) -> np.record:
    """Plays moves in the game's notation."""
    for text in moves:
        play(state, [game.notation.text_to_action(state, text)], game=game)
    return state


def play_random(
    state: np.record, rng: np.random.Generator, plies: int = 99999, *, game: Game
) -> np.record:
    """Plays uniform legal actions until the end, or for some plies."""
    while state.seat >= 0 and plies > 0:
        game.rules.apply(state, int(rng.choice(legal_list(state, game=game))))
        plies -= 1
    return state


def same(actual: Any, expected: Any, words: str = "") -> None:
    """Asserts that arrays are equal, twenty times as fast as NumPy, which says what differs."""
    if not np.array_equal(actual, expected):
        np.testing.assert_array_equal(actual, expected, err_msg=words)


def close(actual: Sequence[float], expected: Sequence[float]) -> None:
    """Asserts that numbers are equal to a millionth."""
    pairs = zip(actual, expected, strict=True)
    if any(abs(one - other) > 1e-6 for one, other in pairs):
        np.testing.assert_allclose(actual, expected, atol=1e-6)


def allowed_players(game: Game) -> str:
    """Returns the end of the message that refuses another number of players."""
    if game.min_players == game.max_players:
        return f"{game.min_players}"
    return f"in {game.min_players}..{game.max_players}"


def first_quick(cases: Sequence[Any], quick: int = 1, slow: int = 1) -> list[Any]:
    """Returns values to parametrize with: the first are tried by every run, the last every night.

    Args:
        cases: All values.
        quick: The number of cases in the quick suite.
        slow: The number of cases after them in the slow tests. The rest is nightly.
    """
    values = [case if type(case) is tuple else (case,) for case in cases]
    marked = []
    for number, arguments in enumerate(values[quick:], quick):
        marks = SLOW if number < quick + slow else NIGHTLY
        marked.append(pytest.param(*arguments, marks=marks))
    return [*cases[:quick], *marked]
