"""Fingerprints of games: quick hashes that any change of rules or observations changes."""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from linkzoo import game_names, get_game
from linkzoo.core.kernels import kernels
from linkzoo_training.checkpoints import fingerprints as module
from linkzoo_training.checkpoints.fingerprints import fingerprints
from tests.driving import first_quick

Change = Callable[..., None]


@cache
def longest(game: str) -> int:
    """The plies of the longest of the games that are played."""
    plies = 0

    def count(states: Any, *_: Any) -> None:
        nonlocal plies
        plies = max(plies, int(states["ply"].max()))

    planted(game, "play", count)
    return plies


def planted(name: str, kernel: str, change: Change) -> dict[str, str]:
    """The fingerprints of a game in which `change` has the last word after a function."""
    game = get_game(name)
    real = kernels(game)

    def changed(*arguments: Any) -> None:
        getattr(real, kernel)(*arguments)
        change(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_GAMES", 4)  # an eighth of the time
        changed_kernels = copy(real)
        setattr(changed_kernels, kernel, changed)
        patch.setattr(module, "kernels", lambda _: changed_kernels)
        return fingerprints.__wrapped__(game)


@cache
def untouched(name: str) -> dict[str, str]:
    """The fingerprints with nothing planted."""
    return planted(name, "play", lambda *_: None)


@pytest.mark.parametrize("name", first_quick(game_names()))
def test_they_cost_little(name: str) -> None:
    """Half a second of CPU time; it was 17 s for LINK-O, in each worker and at each save."""
    game = get_game(name)
    digests = fingerprints(game)
    started = time.thread_time()
    assert fingerprints.__wrapped__(game) == digests
    assert time.thread_time() - started < 0.5
    assert fingerprints(game) is digests  # once in each process


@pytest.mark.parametrize("name", first_quick(game_names()))
def test_a_change_of_the_rules_is_noticed(name: str) -> None:
    """At any ply of the games but the last of the longest: one legal action less in one game."""
    usual, last = untouched(name), longest(name)
    for ply in {1, last // 2, last - 1}:

        def forbid(states: Any, actions: Any, masks: Any, ply: int = ply) -> None:
            at = np.flatnonzero((states["ply"] == ply) & (masks.sum(1) > 1))
            for row in at[-1:]:
                masks[row, np.flatnonzero(masks[row])[-1]] = 0

        digests = planted(name, "play", forbid)
        assert digests["rules"] != usual["rules"], ply


@pytest.mark.parametrize("name", first_quick(game_names()))
def test_a_change_of_what_is_paid_is_noticed(name: str) -> None:
    """In payoffs, margins and winners, of one game alone."""
    usual, game = untouched(name), get_game(name)
    for part in (1, 2):

        def pay(*arrays: Any, part: int = part) -> None:
            if len(arrays[0]) and arrays[0]["num_players"][0] == game.max_players:
                arrays[part][-1, -1] += 1

        assert planted(name, "outcome", pay)["rules"] != usual["rules"]

    def win(states: Any, *_: Any) -> None:
        last = (states["seat"] < 0) & (states["seed"] == states["seed"].max())
        states["winners"][last] = np.where(states["winners"][last] == 1, 2, 1)

    assert planted(name, "play", win)["rules"] != usual["rules"]


@pytest.mark.parametrize("name", first_quick(game_names()))
def test_a_change_of_an_observation_is_noticed(name: str) -> None:
    """In any part, in one game at one ply; the rules stay the same."""
    game, usual, last = get_game(name), untouched(name), longest(name)
    plies = [0, last // 2, last - 1]
    for index, part in enumerate(game.observation.spec.slices().values()):
        ply = plies[index % 3]

        def see(states: Any, seats: Any, out: Any, ply: int = ply, at: int = part.stop - 1) -> None:
            rows = np.flatnonzero(states["ply"] == ply)
            out[rows[-1:], at] ^= 1

        digests = planted(name, "observe", see)
        assert digests["observation"] != usual["observation"], (index, ply)
        assert digests["rules"] == usual["rules"]


def test_a_part_with_another_name_is_noticed() -> None:
    game = get_game("linkage")
    first, *others = game.observation.spec.parts
    spec = replace(game.observation.spec, parts=(replace(first, name="other"), *others))
    observation = replace(game.observation, spec=spec)
    digests = fingerprints.__wrapped__(replace(game, observation=observation))
    assert digests["observation"] != fingerprints(game)["observation"]
    assert digests["rules"] == fingerprints(game)["rules"]


def test_chance_is_that_of_the_package() -> None:
    """The same wherever it runs: no generator of NumPy's takes part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "Generator", None)
        patch.setattr(np.random, "default_rng", None)
        assert fingerprints.__wrapped__(get_game("linkage")) == fingerprints(get_game("linkage"))
