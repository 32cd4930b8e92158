"""Copying, saving and restoring positions, at every ply."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import GameEnv, GameRecord
from linkzoo.testing import properties
from tests.common.play import finish, mask_of, plies, snapshot
from tests.common.variants import Variant, every_size, every_variant, random_games


def through_json(env: GameEnv) -> GameEnv:
    """A new environment at the position that the JSON of `to_dict` describes."""
    other = GameEnv(env.game.name, len(env.possible_agents), **env.game.fixed.values)
    other.reset(options={"state": json.loads(json.dumps(env.to_dict()))})
    return other


def through_bytes(env: GameEnv) -> GameEnv:
    other = GameEnv(env.game.name, len(env.possible_agents), **env.game.fixed.values)
    other.reset(seed=1)
    other.set_state(env.get_state())
    return other


def through_record(env: GameEnv) -> GameEnv:
    """A new environment with the game of the record played again."""
    record = GameRecord.from_dict(json.loads(json.dumps(env.record().to_dict())))
    other = GameEnv(record.game, record.num_players, **record.options)
    other.reset(seed=record.seed)
    for action in record.actions:
        other.step(action)
    return other


WAYS: dict[str, Callable[[GameEnv], GameEnv]] = {
    "clone": GameEnv.clone,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "bytes": through_bytes,
    "json": through_json,
    "record": through_record,
}
EXACT = ("clone", "deepcopy", "copy", "pickle", "record")  # these keep the record of the game too


# Compared at some plies: a record takes as long as the game so far; JSON gives the same bytes at
# every ply, as another test checks.
LONG = ("record", "json")


def compare(way: str, other: GameEnv, expected: dict[str, Any]) -> None:
    hidden = {} if way in EXACT else {"record": 0}
    assert snapshot(other) | hidden == expected | hidden, way


@random_games
@every_variant
def test_every_way_at_every_ply(variant: Variant, seeds: list[int]) -> None:
    """The same position, and the same continuation; the original doesn't notice.

    Every copy takes one step; those made after 0, 1, 2, 4, 8… plies are played to the end. Where
    there is but one game, copies are made at these plies and at every 13th.
    """
    step = 13 if len(seeds) == 1 else 1
    for seed in seeds:
        env = variant.env()
        env.reset(seed=seed)
        moved: dict[str, GameEnv] = {}
        for ply, action in enumerate(plies(env, seed)):
            to_the_end = ply & (ply - 1) == 0
            if not (to_the_end or moved or ply % step == 0):
                continue
            before = snapshot(env)
            for way, other in moved.items():
                compare(way, other, before)
            if not (to_the_end or ply % step == 0):
                moved = {}
                continue
            moved = {way: WAYS[way](env) for way in WAYS if to_the_end or way not in LONG}
            for way, other in moved.items():
                compare(way, other, before)
            ends = {finish(other.clone(), 1) for other in moved.values() if to_the_end}
            assert len(ends) == to_the_end
            for other in moved.values():
                other.step(action)
            assert snapshot(env) == before
        for way, copied in WAYS.items():
            other = copied(env)
            assert other.get_state() == env.get_state()
            assert other.terminations == env.terminations
            assert other.rewards == env.rewards
            if way in moved:
                compare(way, moved[way], snapshot(env))


@every_size
def test_copies_go_on_from_the_same_seeds(variant: Variant) -> None:
    env = variant.env()
    env.reset(seed=5)
    env.reset()
    for way in ("clone", "deepcopy", "pickle"):
        other = WAYS[way](env)
        here = env.clone()
        for _ in range(3):
            other.reset()
            here.reset()
            assert snapshot(other) == snapshot(here)


@every_size
def test_copies_before_reset_and_after_the_end(variant: Variant) -> None:
    env = variant.env(render_mode="ansi", illegal="raise", reward="score")
    for way in ("clone", "deepcopy", "pickle"):
        other = WAYS[way](env)
        with pytest.raises(RuntimeError, match="step before reset"):
            other.step(0)
        other.reset(seed=1)
        assert other.render_mode == "ansi"
        finish(other, 1)
        while other.agents:
            assert snapshot(WAYS[way](other)) == snapshot(other)
            other.step(None)
        assert WAYS[way](other).agents == []


@every_size
def test_clones_share_nothing_that_changes(variant: Variant) -> None:
    env = variant.env()
    env.reset(seed=1)
    before = snapshot(env)
    other = env.clone()
    other.agents.pop()
    inner: list[dict[str, Any]] = list(other.infos.values())
    outer: list[dict[str, Any]] = [
        other.rewards,
        other._cumulative_rewards,
        other.terminations,
        other.truncations,
        other.infos,
    ]
    for shown in inner + outer:
        shown.clear()
    assert snapshot(env) == before


# Records of one game each


@random_games
@every_variant
def test_json_gives_the_same_bytes(variant: Variant, seeds: list[int]) -> None:
    """`from_dict(to_dict(s))` for the referee; a seat's view has no seed and is JSON as well.

    The seats take turns here; `test_redeal_keeps_what_the_seat_knows` asks for all views. Where
    there is but one game, the last position and every fifth before it.
    """
    game, env = variant.game, variant.env()
    for seed in seeds:
        env.reset(seed=seed)
        states = [env.get_state() for _ in plies(env, seed)] + [env.get_state()]
        for data in states[:: -5 if len(seeds) == 1 else -1]:
            properties.bytes_and_json(game, game.from_bytes(data))


@random_games
@every_variant
def test_notation_names_each_action(variant: Variant, seeds: list[int]) -> None:
    """Every legal move has a text of its own that leads back to it, at every ply."""
    game, env = variant.game, variant.env()
    for seed in seeds:
        env.reset(seed=seed)
        for _ in plies(env, seed):
            state = game.from_bytes(env.get_state())
            properties.notation(game, state)
            legal = np.flatnonzero(mask_of(game, state)).tolist()
            assert [env.text_to_action(env.action_to_text(a)) for a in legal[:3]] == legal[:3]


@every_size
def test_notation_of_what_is_no_move(variant: Variant) -> None:
    """Error messages name any action by its text, legal or not; nothing else has one."""
    env = variant.env()
    env.reset(seed=1)
    for ply, _ in enumerate(plies(env, 1)):
        for action in range(ply % 4, env.game.num_actions, 4):
            assert env.action_to_text(action)
    for action in (-1, env.game.num_actions):
        with pytest.raises(ValueError, match=str(action)):
            env.action_to_text(action)
    for text in ("", "no such move", " "):
        with pytest.raises(ValueError, match=f"'{text}'"):
            env.text_to_action(text)


@every_variant
def test_states_are_one_block_of_integers(variant: Variant) -> None:
    """The header comes first, no byte is left over, and equal records have equal bytes."""
    game = variant.game
    assert list(game.state.names or ())[:5] == ["seed", "winners", "ply", "seat", "num_players"]
    assert game.state.itemsize % 8 == 0
    sizes = []
    for name in game.state.names or ():
        dtype = game.state[name]
        assert dtype.base.kind in "iu"
        sizes.append(dtype.itemsize)
    assert sum(sizes) == game.state.itemsize
    env = variant.env()
    env.reset(seed=1)
    options = game.chosen_options(game.from_bytes(env.get_state()))
    for name, value in variant.options.items():
        assert options[name] == value
        assert type(options[name]) is type(value)


# Files


@every_variant
def test_records_replay(variant: Variant, tmp_path: Path) -> None:
    env = variant.env()
    env.reset(seed=3)
    states = [env.get_state() for _ in plies(env, 3)] + [env.get_state()]
    record = env.record()
    assert [state.tobytes() for state in record.replay()] == states
    record.save(tmp_path / "game.json")
    assert GameRecord.load(tmp_path / "game.json") == record
    assert GameRecord.load(str(tmp_path / "game.json")) == record
    assert json.loads((tmp_path / "game.json").read_text())["seed"] == 3


@every_variant
def test_records_from_the_middle_replay(variant: Variant, tmp_path: Path) -> None:
    source = variant.env()
    source.reset(seed=4)
    for ply, _ in enumerate(plies(source, 4)):
        if ply == 2:
            break
    env = variant.env()
    env.reset(options={"state": source.get_state()})
    states = [env.get_state() for _ in plies(env, 5)] + [env.get_state()]
    record = env.record()
    record.save(tmp_path / "game.json")
    loaded = GameRecord.load(tmp_path / "game.json")
    assert loaded == record
    assert [state.tobytes() for state in loaded.replay()] == states
