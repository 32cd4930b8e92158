"""`check_game` checks that a game keeps the contract of `linkzoo.Game`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from linkzoo import registry
from linkzoo.core.game import Game
from linkzoo.core.state import OVER
from linkzoo.testing import declarations, properties
from linkzoo.testing.play import digest, positions, require

__all__ = ["check_game"]

_INTERPRETED = """
import json, sys
from linkzoo import get_game
from linkzoo.testing.play import digest
name, players, options, seed = json.loads(sys.argv[1])
print(digest(get_game(name, options), players, options, seed))
"""


def check_game(
    game: Game,
    *,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (0, 1, 2**64 - 1),
) -> None:
    """Plays random games and checks the contract at every ply.

    Checks that the header and the options are conserved, that masks, observations and payoffs match
    their declarations, that every legal action can be played to an end, that bytes, JSON and move
    texts round-trip, that action parts identify one action, that a determinized world looks the
    same to its seat, that symmetries hold, and that the environments agree. Also runs the
    interpreter if another process can import the game by its id.

    Args:
        game: The game.
        num_players: The number of players; None for each.
        options: Options by name; standard values by default.
        seeds: Seeds of the games, one game per seed.

    Raises:
        AssertionError: A property fails; the message names it, the game and the ply.
    """
    chosen = {**game.fixed.values, **(options or {})}
    every = range(game.min_players, game.max_players + 1)
    with _registered(game):
        for check in declarations.CHECKS:
            _check(check, game)
        if _is_importable(game):
            first = game.min_players if num_players is None else num_players
            _check(_interpreter, game, first, chosen, seeds[0])
        for players in every if num_players is None else [num_players]:
            for seed in seeds:
                _check_one(game, players, chosen, seed)
        if options is None and num_players is None:
            _check(properties.lengths, game)
            for seed in seeds:
                _check(properties.symmetries, game, seed)


def _check_one(game: Game, players: int, options: dict[str, Any], seed: int) -> None:
    at = {"players": players, "seed": seed}
    history = _check(positions, game, players, options, seed, **at)
    for check_history in properties.OF_A_GAME:
        _check(check_history, game, history, **at)
    for ply, state in enumerate(history):
        at["ply"] = ply
        going, sampled = bool(state.seat != OVER), ply & (ply - 1) == 0  # plies 0, 1, 2, 4, 8, ...
        checks = [*properties.OF_A_POSITION, *[properties.drawings] * sampled]
        checks += [properties.every_legal_action] * going
        checks += [properties.can_be_finished] * (going and sampled)
        for check in checks:
            _check(check, game, state, **at)
        if going:
            seat = (ply.bit_length() if sampled else ply) % players
            _check(properties.determinize, game, state, seat, sampled, **at)
    del at["ply"]
    _check(properties.environments, game, players, options, seed, **at)


def _check(check: Callable[..., Any], game: Game, *arguments: Any, **at: int) -> Any:
    """Runs a check; AssertionError names the property, the game and the position."""
    try:
        return check(game, *arguments)
    except Exception as error:  # a broken game can raise anything
        place = "".join(f", {name} {number}" for name, number in at.items())
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        name = check.__name__.strip("_")
        raise AssertionError(f"{game.name}{place}: {name}: {kind}{error}") from error


@contextmanager
def _registered(game: Game) -> Iterator[None]:
    """Registers the game under its name, even if another game has that name."""
    before = registry._known.copy()
    registry._known[game.name] = game
    try:
        yield
    finally:
        registry._known.clear()
        registry._known.update(before)


def _is_importable(game: Game) -> bool:
    """Returns whether another process can import this game."""
    name = registry.id_of(game)
    if ":" not in name and name not in registry.NAMES and name not in registry._installed():
        return False
    return registry.get_game(name, game.fixed.values) is game


def _interpreter(game: Game, players: int, options: dict[str, Any], seed: int) -> None:
    """Plays the game in the interpreter, which reports indices out of bounds."""
    argument = json.dumps([registry.id_of(game), players, options, seed])
    done = subprocess.run(  # noqa: S603  # fixed command
        [sys.executable, "-c", _INTERPRETED, argument],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    require(done.returncode == 0, done.stderr)
    same = done.stdout.strip() == digest(game, players, options, seed)
    require(same, "the interpreter plays another game than the compiled code")
