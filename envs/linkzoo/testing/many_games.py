"""Checks over many random games, for errors that no single position shows."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.options import option_names
from linkzoo.core.state import Record
from linkzoo.testing import play
from linkzoo.testing.play import require

_GAMES = 60
_WORLDS = 16  # of each position and seat, until something differs
_View = Callable[[Game, Record, int], dict[str, bytes]]  # values of a position, for a seat


def lengths(game: Game) -> None:
    """Checks that `typical_length` is the mean length of random games with the standard options."""
    plies = []
    for players in range(game.min_players, game.max_players + 1):
        starts = [play.new(game, players, game.fixed.values, seed) for seed in range(_GAMES)]
        plies.append(play.play_out(game, np.array(starts, game.state))["ply"])
    mean = float(np.concatenate(plies).mean())
    declared = game.facts.typical_length
    near = abs(declared - mean) <= max(0.25 * mean, 1)
    require(near, f"typical_length is {declared}, the mean of random games {mean:.1f}")


def seats(game: Game, num_players: int, options: Mapping[str, Any]) -> None:
    """Checks that every seat acts in some random game."""
    idle = set(range(num_players))
    for seed in range(_GAMES):
        idle -= {int(state.seat) for state in play.positions(game, num_players, options, seed)}
        if not idle:
            return
    raise AssertionError(f"seat {min(idle)} never acts in {_GAMES} random games")


def hidden(game: Game, histories: Sequence[Sequence[Record]]) -> None:
    """Checks that worlds differ from the real one in everything that is hidden from a seat.

    Hidden are the results of `reveal`, and fields that differ between new games that look the same.
    """
    players = int(histories[0][0].num_players)
    going = [state for history in histories for state in history[:-1]]
    every = [(state, seat) for state in going for seat in range(players)]
    same = _unchanged(game, every, _revealed)
    require(not same, f"determinize never changes {same}, which reveal fills")
    groups: dict[tuple[Any, ...], list[tuple[Record, int]]] = defaultdict(list)
    for seed in range(_GAMES):
        game.rules.new_game(state := play.clone(going[0]), np.uint64(seed))
        for seat in range(players):
            mask = b""
            if seat == state.seat:
                mask = play.mask_of(game, state).tobytes()
            seen = play.observation_of(game, state, seat).tobytes()
            groups[seat, int(state.seat), seen, mask].append((state, seat))
    for (seat, *_), group in groups.items():
        same = _unchanged(game, group, _own_fields)
        error = f"determinize never changes {same}, which seat {seat} can't see in a new game"
        require(not same, f"{error} (or the observation lacks it)")


def _revealed(game: Game, state: Record, seat: int) -> dict[str, bytes]:
    """Returns hidden values by part, and by row of a part with several rows, such as hands."""
    spec = game.observation.privileged_spec
    reveal = game.observation.reveal
    if spec is None or reveal is None:
        return {}
    out = np.zeros(spec.size, spec.dtype)
    reveal(state, seat, out)
    parts = {part.name: spec.view(out.reshape(spec.shape), part.name) for part in spec.parts}
    return {
        f"{name}{list(row) or ''}": part[row].tobytes()
        for name, part in parts.items()
        for row in np.ndindex(*part.shape[: part.ndim > 1])
    }


def _own_fields(game: Game, state: Record, _seat: int) -> dict[str, bytes]:
    names = {field.name for field in game.fields} - set(option_names(game.options))
    return {name: state[name].tobytes() for name in names}


def _unchanged(game: Game, pairs: Sequence[tuple[Record, int]], view: _View) -> list[str]:
    """Returns names that differ between these positions, never between one and its worlds."""
    values = defaultdict(set)
    for pair in pairs:
        for name, value in view(game, *pair).items():
            values[name].add(value)
    unchanged = {name for name, contents in values.items() if len(contents) > 1}
    for (state, seat), seed in product(pairs, range(_WORLDS)):
        if not unchanged:
            break
        world = play.clone(state)
        game.determinize(world, seat, np.uint64(seed))
        real = view(game, state, seat)
        drawn = view(game, world, seat)
        unchanged -= {name for name in unchanged if drawn[name] != real[name]}
    return sorted(unchanged)
