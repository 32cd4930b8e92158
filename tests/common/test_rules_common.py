"""What the compiled rules of every game promise (the Game contract), at every ply."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkzoo
from linkzoo import get_game
from linkzoo.batch import kernels
from linkzoo.game import Game
from tests.common.play import choose, clone, mask_of, observation_of, outcome_of, run_python
from tests.common.variants import Variant, every_variant, few_variants, random_games

OVER = -1


def new(variant: Variant, seed: int) -> np.record:
    state = variant.game.blank(variant.num_players, variant.options)
    variant.game.new_game(state, np.uint64(seed))
    return state


def kept(game: Game) -> set[str]:
    """The fields that no action changes."""
    options: Any = game.options
    return {"seed", "num_players", *(option.name for option in fields(options))} - set(game.fixed)


def fixed(game: Game, state: np.record) -> tuple[object, ...]:
    """What no action changes."""
    return int(state.seed), int(state.num_players), game.chosen_options(state)


def positions(variant: Variant, seed: int) -> list[np.record]:
    """Every position of one random game, the last one included; every decision is asked."""
    game, state = variant.game, new(variant, seed)
    found = [clone(state)]
    while state.seat != OVER:
        game.apply(state, choose(mask_of(game, state), seed, len(found)))
        found.append(clone(state))
        assert len(found) <= game.max_length + 1
    return found


@random_games
@every_variant
def test_a_game_from_start_to_end(variant: Variant, seeds: list[int]) -> None:
    for seed in seeds:
        game, history = variant.game, positions(variant, seed)
        for ply, state in enumerate(history):
            assert state.ply == ply
            assert fixed(game, state) == fixed(game, history[0])
            before = state.tobytes()
            mask = mask_of(game, state)
            assert state.tobytes() == before
            assert set(mask.tolist()) <= {0, 1}
            last = ply == len(history) - 1
            assert (state.seat == OVER) == last
            assert mask.any() == (not last)
            assert (state.winners != 0) == last
            assert -1 <= state.seat < variant.num_players
        assert int(history[0].seed) == seed
        assert int(history[-1].winners) < 2**variant.num_players


@random_games
@every_variant
def test_every_legal_action_can_be_played(variant: Variant, seeds: list[int]) -> None:
    """From every position each action of the mask leads to a position that the contract allows."""
    game = variant.game
    for state in (state for seed in seeds for state in positions(variant, seed)[:-1]):
        legal = np.flatnonzero(mask_of(game, state))
        before = state.tobytes()
        after, again = (np.repeat(state.reshape(1), len(legal)) for _ in range(2))
        for row, action in enumerate(legal.tolist()):
            game.apply(after[row], action)
            game.apply(again[row], np.int64(action))
            assert mask_of(game, after[row]).any() == (after[row].seat != OVER)
        assert after.tobytes() == again.tobytes()
        assert state.tobytes() == before
        assert (after["ply"] == state.ply + 1).all()
        assert ((after["winners"] != 0) == (after["seat"] == OVER)).all()
        for name in kept(game):
            assert (after[name] == state[name]).all(), name


@random_games
@every_variant
def test_payoffs(variant: Variant, seeds: list[int]) -> None:
    """Zero-sum, in -1..1, at the end only; winners get the most: a sole one 1, all of them 0."""
    for seed in (*seeds, *range(100, 104)):
        *before, end = positions(variant, seed)
        for state in before:
            assert not outcome_of(variant.game, state)[0].any()
        payoff, margin = outcome_of(variant.game, end)
        assert np.isfinite(margin).all()
        assert payoff.sum() == pytest.approx(0, abs=1e-6)
        assert (abs(payoff) <= 1).all()
        seats = np.arange(variant.num_players)
        won = (int(end.winners) >> seats) & 1 == 1
        assert np.array_equal(won, payoff == payoff.max())
        if won.all():
            assert not payoff.any()
        elif won.sum() == 1:
            assert payoff.max() == 1


@few_variants
def test_payoffs_of_shared_wins(variant: Variant) -> None:
    """1/w - 1/n for each of w winners among n sides, -1/n for the others; a sole one has 1."""
    game, end = variant.game, positions(variant, 2**64 - 1)[-1]
    if len(set(game.sides(variant.num_players))) == 2:
        return  # two sides either win or lose, but for draws, which the test above meets
    players = variant.num_players
    for winners in range(1, 2**players):
        end.winners = winners
        won = np.array([winners >> seat & 1 for seat in range(players)])
        expected = (won / won.sum() - 1 / players) / (1 - 1 / players)
        assert outcome_of(game, end)[0] == pytest.approx(expected, abs=1e-6)


@random_games
@every_variant
def test_observing_changes_nothing(variant: Variant, seeds: list[int]) -> None:
    game = variant.game
    for state in (state for seed in seeds for state in positions(variant, seed)):
        before = state.tobytes()
        for seat in range(variant.num_players):
            first = observation_of(game, state, seat)
            assert np.array_equal(first, observation_of(game, state, seat))
        outcome_of(game, state)
        assert state.tobytes() == before


@every_variant
def test_a_new_game_leaves_nothing_of_the_old_one(variant: Variant) -> None:
    """A record that is used again becomes the same game as a blank one."""
    end = positions(variant, 1)[-1]
    for seed in (1, 5, 2**64 - 1):
        again = clone(end)
        variant.game.new_game(again, np.uint64(seed))
        assert again.tobytes() == new(variant, seed).tobytes()


@every_variant
def test_skip_forced_asks_only_what_is_open(variant: Variant) -> None:
    env = variant.env()
    forced = 0
    for seed in range(3):
        env.reset(seed=seed)
        while not env.terminations[env.agent_selection]:
            mask = env.infos[env.agent_selection]["action_mask"]
            forced += mask.sum() == 1
            env.step(choose(mask, seed, len(env.record().actions)))
    assert forced == 0 or not variant.options.get("skip_forced")


@every_variant
def test_skip_forced_plays_the_same_game(variant: Variant) -> None:
    """Taking the only legal action at once, or when asked, leads to the same positions."""
    if not variant.options.get("skip_forced"):
        return
    asked = Variant(variant.name, variant.num_players, {**variant.options, "skip_forced": False})
    for seed in range(3):
        env, other = variant.env(), asked.env()
        env.reset(seed=seed)
        other.reset(seed=seed)
        while True:
            while (mask := other.infos[other.agent_selection]["action_mask"]).sum() == 1:
                other.step(int(mask.argmax()))
            here, there = (e.game.from_bytes(e.get_state()) for e in (env, other))
            there.skip_forced = 1
            assert here.tobytes() == there.tobytes()
            if all(env.terminations.values()):
                break
            action = choose(mask, seed, int(here.ply))
            env.step(action)
            other.step(action)


@pytest.mark.parametrize("name", linkzoo.games)
def test_declared_lengths(name: str) -> None:
    """`typical_length` is the mean of random games in the standard options, over the players."""
    game = get_game(name)
    lengths = np.concatenate(
        [
            play_out(game, begun(Variant(name, players, {}), 60))["ply"]
            for players in range(game.min_players, game.max_players + 1)
        ]
    )
    assert game.typical_length == pytest.approx(lengths.mean(), rel=0.25)
    assert lengths.max() <= game.max_length


def begun(variant: Variant, count: int) -> NDArray[Any]:
    """New games of the seeds from 0 on."""
    return np.array([new(variant, seed) for seed in range(count)], variant.game.state)


def play_out(game: Game, states: NDArray[Any]) -> NDArray[Any]:
    """Plays every row to its end by random actions, all decisions asked; checks each ply."""
    states = states.copy()
    states["skip_forced"] = 0
    kernel, seeds = kernels(game), np.arange(len(states), dtype=np.uint64)
    masks = np.full((len(states), game.num_actions), 7, np.int8)
    actions = np.full(len(states), 7, np.int64)
    kernel.legal(states, masks)
    while (live := states["seat"] != OVER).any():
        assert (masks.any(1) == live).all()
        ply = states["ply"].copy()
        kernel.random_actions(masks, seeds, np.uint64(int(ply.max())), actions)
        kernel.play(states, actions, masks)
        assert (states["ply"] == ply + live).all()
        assert states["ply"].max() <= game.max_length
    assert not masks.any()
    return states


# Hidden information: two worlds that a seat can't tell apart


def check_same_for(game: Game, state: np.record, world: np.record, seat: int) -> None:
    assert np.array_equal(observation_of(game, state, seat), observation_of(game, world, seat))
    if state.seat == seat:
        assert np.array_equal(mask_of(game, state), mask_of(game, world))
        for action in np.flatnonzero(mask_of(game, state)).tolist():
            text = game.action_to_text(state, action)
            assert game.action_to_text(world, action) == text
            assert game.text_to_action(world, text) == action
    for name in kept(game) - {"seed"} | {"seat", "ply", "winners"}:
        assert world[name] == state[name], name
    assert game.to_dict(world, seat) == game.to_dict(state, seat)


@random_games
@every_variant
def test_redeal_keeps_what_the_seat_knows(variant: Variant, seeds: list[int]) -> None:
    """A world dealt anew looks the same to its seat, and so does one dealt anew from that one.

    The seats take turns here, at each ply one, where there is but one game.
    """
    game = variant.game
    for seed in seeds:
        for ply, state in enumerate(positions(variant, seed)[:-1]):
            before = state.tobytes()
            every_seat = range(variant.num_players)
            for seat in every_seat if len(seeds) > 1 else [ply % variant.num_players]:
                world, again = clone(state), clone(state)
                game.redeal(world, seat, np.uint64(77))
                game.redeal(again, seat, np.uint64(77))
                assert again.tobytes() == world.tobytes()
                assert world.seed == 77  # so that its future chance is its own
                if ply // variant.num_players % 2:
                    game.redeal(world, seat, np.uint64(99))
                check_same_for(game, state, world, seat)
            assert state.tobytes() == before


@every_variant
def test_drawings_show_what_the_seat_knows(variant: Variant) -> None:
    """A world dealt anew is drawn the same: in the first positions, and at every 16th ply.

    Games that hide something draw the view of `to_dict`, which the test above compares at every
    ply; the others draw a record of which nothing is hidden but the order of what is to come.
    """
    game = variant.game
    for ply, state in enumerate(positions(variant, 2)[:-1]):
        if ply < 2 or ply % 16 == 0:
            seat = ply // 16 % variant.num_players
            world = clone(state)
            game.redeal(world, seat, np.uint64(5))
            assert game.draw_text(world, seat) == game.draw_text(state, seat)
            assert game.draw_svg(world, seat) == game.draw_svg(state, seat)


@random_games
@every_variant
def test_a_redealt_world_can_be_played(variant: Variant, seeds: list[int]) -> None:
    """It is a position like any other: it goes on to a lawful end, and JSON leads back to it.

    JSON for one seat at each ply, in turn.
    """
    game = variant.game
    for seed in seeds:
        history = np.array(positions(variant, seed)[:-1], game.state)
        worlds = np.repeat(history, variant.num_players)
        for row in range(len(worlds)):
            ply, seat = divmod(row, variant.num_players)
            game.redeal(worlds[row], seat, np.uint64(99 + row))
            if seat == ply % variant.num_players:
                world = worlds[row]
                assert game.from_dict(game.to_dict(world)).tobytes() == world.tobytes()
        ends = play_out(game, worlds)
        payoff, margin = np.full((2, len(ends), variant.num_players), 99, np.float32)
        kernels(game).outcome(ends, payoff, margin)
        assert payoff.sum(1) == pytest.approx(0, abs=1e-6)
        assert (ends["winners"] != 0).all()


# One source, two ways to run it


@pytest.mark.last
@pytest.mark.parametrize(
    ("games", "which"), [("1", "one"), pytest.param("2", "all", marks=pytest.mark.slow)]
)
def test_interpreter_equals_compiled(games: str, which: str) -> None:
    """The same seeded games, bit for bit: states, masks, observations, outcomes, redealt worlds."""
    run = ("-W", "error", "-m", "tests.common.fingerprint", games, which)
    interpreted = run_python(*run, NUMBA_DISABLE_JIT="1")
    compiled = run_python(*run, NUMBA_DISABLE_JIT="0")
    assert interpreted == compiled
    assert interpreted.count("\n") >= 1
