"""`check_game` checks that a game keeps the contract of `linkzoo.Game`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from linkzoo import registry
from linkzoo.core.game import Game
from linkzoo.testing import properties
from linkzoo.testing.play import OVER, digest, positions

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
    """Plays random games, one for each seed, and checks what the contract promises at every ply.

    With every number of players if none is given, with the `options` or the standard ones. The
    header and the options are conserved; masks, observations and payoffs are as declared; every
    legal action can be played to an end; bytes, JSON, records and notation lead back; what a
    person points at leads to one action; a redealt world looks the same to its seat; symmetries
    hold; the environments agree, and so do the compiler and the interpreter, if another process can
    find the game by its id.

    AssertionError says which property fails, in which game, and at which ply.
    """
    every = range(game.min_players, game.max_players + 1)
    chosen = {**game.fixed, **(options or {})}
    with _known(game):
        with _where(game, "declarations"):
            properties.declarations(game)
            properties.cells(game)
        if _found_elsewhere(game):
            players = game.min_players if num_players is None else num_players
            with _where(game, "interpreter", players=players, seed=seeds[0]):
                _check_interpreter(game, players, chosen, seeds[0])
        for players in every if num_players is None else [num_players]:
            for seed in seeds:
                _check_one(game, players, chosen, seed)
        if options is None and num_players is None:
            with _where(game, "lengths"):
                properties.lengths(game)
            for seed in seeds:
                with _where(game, "symmetries", seed=seed):
                    properties.symmetric_games(game, seed)


def _check_one(game: Game, players: int, options: dict[str, Any], seed: int) -> None:
    """One random game."""
    at = {"players": players, "seed": seed}
    with _where(game, "a game", **at):
        history = positions(game, players, options, seed)
    for name in ("conservation", "a_new_game", "payoffs", "parts"):
        with _where(game, name, **at):
            getattr(properties, name)(game, history)
    for ply, state in enumerate(history):
        at["ply"] = ply
        going, sampled = bool(state.seat != OVER), ply & (ply - 1) == 0  # plies 0, 1, 2, 4, 8, ...
        names = ["masks", "observations", "bytes_and_json", "notation", "appraisal"]
        names += ["drawings"] * sampled + ["every_legal_action"] * going
        names += ["can_be_finished"] * (going and sampled)
        for name in names:
            with _where(game, name, **at):
                getattr(properties, name)(game, state)
        if going:
            with _where(game, "redealing", **at):
                redeal = properties.worlds if sampled else properties.redealing
                redeal(game, state, ply.bit_length() % players if sampled else ply % players)
    del at["ply"]
    with _where(game, "environments", **at):
        properties.environments(game, players, options, seed)


@contextmanager
def _where(game: Game, name: str, **at: int) -> Iterator[None]:
    """Says of what goes wrong which property of which game it is, and where."""
    try:
        yield
    except Exception as error:  # a broken game can raise anything
        place = "".join(f", {what} {number}" for what, number in at.items())
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        raise AssertionError(f"{game.name}{place}: {name}: {kind}{error}") from error


@contextmanager
def _known(game: Game) -> Iterator[None]:
    """The environments find this game by its name, whatever else is called so."""
    before = registry._known.copy()
    registry._known[game.name] = game
    try:
        yield
    finally:
        registry._known.clear()
        registry._known.update(before)


def _found_elsewhere(game: Game) -> bool:
    """Whether another process can find this very game."""
    name = game.id
    if ":" not in name and name not in registry.NAMES and name not in registry._installed():
        return False
    return registry.get_game(name, game.fixed) is game


def _check_interpreter(game: Game, players: int, options: dict[str, Any], seed: int) -> None:
    """First of all: it says which index is out of bounds, where compiled code writes anywhere."""
    done = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-c", _INTERPRETED, json.dumps([game.id, players, options, seed])],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    properties.require(done.returncode == 0, done.stderr)
    same = done.stdout.strip() == digest(game, players, options, seed)
    properties.require(same, "the interpreter plays another game than the compiled code")
