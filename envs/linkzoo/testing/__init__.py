"""`check_game` checks that a game keeps the contract of `linkzoo.Game`."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numba

from linkzoo import registry
from linkzoo.core.game import Game
from linkzoo.core.state import OVER, Record
from linkzoo.engine.interpreter import interpreted
from linkzoo.testing import declarations, many_games, properties
from linkzoo.testing.play import digest, positions, require, require_same

__all__ = ["check_game"]

_Check = Callable[..., Any]


def check_game(
    game: Game,
    *,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (0, 1, 2**64 - 1),
) -> None:
    """Plays random games and checks the contract at every ply.

    Checks that the header and the options are conserved, that the seed decides nothing in a game
    without chance, that masks, observations and payoffs match their declarations, that every legal
    action can be played to an end, that every seat acts, that bytes, JSON and move texts round-
    trip, that action parts identify one action, that a determinized world looks the same to its
    seat and differs in its hidden parts, that symmetries hold, and that the environments agree.

    The games are played by the interpreter first: an index out of bounds, where compiled code
    writes into other memory, and a call that takes more than 10 seconds are errors that name the
    function and the line.

    Args:
        game: The game.
        num_players: The number of players; None for each.
        options: Options by name; standard values by default.
        seeds: Seeds of the games, one game per seed.

    Raises:
        AssertionError: A property fails; the message names it, the game and the ply.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        warnings.warn(
            "NUMBA_DISABLE_JIT is set: compiled code isn't checked, and an endless loop isn't "
            "interrupted; unset it to check both",
            stacklevel=2,
        )
    chosen = {**game.fixed.values, **(options or {})}
    counts: Sequence[int] = range(game.min_players, game.max_players + 1)
    if num_players is not None:
        counts = [num_players]
    with patch.dict(registry._known, {game.name: game}):  # even if another has that name
        for check in declarations.CHECKS:
            _check(check, game)
        for players in counts:
            _check_games(game, players, chosen, seeds, digests=players == counts[0])
        if options is None and num_players is None:
            _check(many_games.lengths, game)
            for seed in seeds:
                _check(properties.symmetries, game, seed)


def _check_games(
    game: Game, players: int, options: dict[str, Any], seeds: Sequence[int], *, digests: bool
) -> None:
    """Checks random games in the interpreter, then compiled."""
    at = {"players": players}
    games: list[list[Record]] = []
    for seed in seeds:
        history = _check(interpreted(positions), game, players, options, seed, **at, seed=seed)
        _check_history(game, history, interpreted)
        games.append(history)
    _check(interpreted(many_games.seats), game, players, options, **at)
    whole = digests and _check(interpreted(digest), game, players, options, seeds[0], **at)
    for seed, history in zip(seeds, games, strict=True):
        _check(_same_game, game, history, options, **at, seed=seed)
    _check(many_games.hidden, game, games, **at)
    for history in games:
        _check_history(game, history, _compiled)
    same = not digests or digest(game, players, options, seeds[0]) == whole
    require(same, f"{game.name}, players {players}: interpreted and compiled functions differ")
    for seed in seeds:
        _check(properties.environments, game, players, options, seed, **at, seed=seed)


def _same_game(game: Game, history: list[Record], options: dict[str, Any]) -> None:
    first = history[0]
    compiled_game = positions(game, int(first.num_players), options, int(first.seed))
    for ply, (state, other) in enumerate(zip(history, compiled_game, strict=False)):
        require_same(state, other, f"ply {ply}: the interpreter plays another game")


def _check_history(game: Game, history: list[Record], run: Callable[[_Check], _Check]) -> None:
    """Checks the positions of a game; in the interpreter, which is slow, plies 0, 1, 2, 4, ..."""
    players = int(history[0].num_players)
    at = {"players": players, "seed": int(history[0].seed)}
    for check_history in properties.OF_A_GAME:
        _check(run(check_history), game, history, **at)
    for ply, state in enumerate(history):
        at["ply"] = ply
        sampled = ply & (ply - 1) == 0
        if not sampled and run is interpreted:
            continue
        plays = sampled and run is not interpreted
        going = bool(state.seat != OVER)
        checks: list[_Check] = [*properties.OF_A_POSITION]
        if plays:
            checks.append(properties.drawings)
        if going:
            checks.append(properties.every_legal_action)
        if going and plays:
            checks.append(properties.can_be_finished)
        for check in checks:
            _check(run(check), game, state, **at)
        if going:
            turn = ply
            if sampled:
                turn = ply.bit_length()  # else always an even one
            _check(run(properties.determinize), game, state, turn % players, plays, **at)


def _check(check: _Check, game: Game, *arguments: Any, **at: int) -> Any:
    """Runs a check; AssertionError names the property, the game and the position."""
    try:
        return check(game, *arguments)
    except Exception as error:  # a broken game can raise anything
        position = "".join(f", {name} {number}" for name, number in at.items())
        text = str(error)
        if not isinstance(error, AssertionError):
            text = f"{type(error).__name__}: {error}"
        name = check.__name__.strip("_")
        raise AssertionError(f"{game.name}{position}: {name}: {text}") from error


def _compiled(check: _Check) -> _Check:
    return check
