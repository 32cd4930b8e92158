"""What the compiled rules of every game promise (the Game contract), at every ply."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkzoo.game import Game
from tests.common.play import choose, clone, mask_of, observation_of, outcome_of, run_python
from tests.common.variants import Variant, every_variant, few_variants, games

seeds = st.integers(0, 2**64 - 1)
OVER = -1


def new(variant: Variant, seed: int) -> np.record:
    state = variant.game.blank(variant.num_players, variant.options)
    variant.game.new_game(state, np.uint64(seed))
    return state


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


@every_variant
def test_a_game_from_start_to_end(variant: Variant) -> None:
    @games(variant)
    @given(seeds)
    def check(seed: int) -> None:
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

    check()


@every_variant
def test_every_legal_action_can_be_played(variant: Variant) -> None:
    """From every position each action of the mask leads to a position that the contract allows."""
    game = variant.game
    for seed in (1, 2):
        for state in positions(variant, seed)[:-1]:
            mask = mask_of(game, state)
            before = state.tobytes()
            for action in np.flatnonzero(mask).tolist():
                after = clone(state)
                game.apply(after, action)
                assert after.ply == state.ply + 1
                assert fixed(game, after) == fixed(game, state)
                assert mask_of(game, after).any() == (after.seat != OVER)
                assert (after.winners != 0) == (after.seat == OVER)
                again = clone(state)
                game.apply(again, np.int64(action))
                assert again.tobytes() == after.tobytes()
            assert state.tobytes() == before


@every_variant
def test_payoffs(variant: Variant) -> None:
    """Zero-sum, in -1..1, at the end only; winners get the most: a sole one 1, all of them 0."""

    @games(variant)
    @given(seeds)
    def check(seed: int) -> None:
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

    check()


@every_variant
def test_observing_changes_nothing(variant: Variant) -> None:
    game = variant.game
    for seed in (1, 2):
        for state in positions(variant, seed):
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
    for seed in range(5):
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
    for seed in range(5):
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


@few_variants
def test_declared_lengths(variant: Variant) -> None:
    """`typical_length` is the mean of random games in the standard options, over the players."""
    game = variant.game
    lengths = [
        len(positions(Variant(game.name, players, {}), seed)) - 1
        for players in range(game.min_players, game.max_players + 1)
        for seed in range(60)
    ]
    assert game.typical_length == pytest.approx(np.mean(lengths), rel=0.25)
    assert max(lengths) <= game.max_length


# Hidden information: two worlds that a seat can't tell apart


def check_same_for(game: Game, state: np.record, world: np.record, seat: int) -> None:
    assert np.array_equal(observation_of(game, state, seat), observation_of(game, world, seat))
    if state.seat == seat:
        assert np.array_equal(mask_of(game, state), mask_of(game, world))
        for action in np.flatnonzero(mask_of(game, state)).tolist():
            text = game.action_to_text(state, action)
            assert game.action_to_text(world, action) == text
            assert game.text_to_action(world, text) == action
    for name in ("seat", "ply", "num_players", "winners"):
        assert world[name] == state[name]
    assert game.chosen_options(world) == game.chosen_options(state)
    assert game.to_dict(world, seat) == game.to_dict(state, seat)
    assert game.draw_text(world, seat) == game.draw_text(state, seat)
    assert game.draw_svg(world, seat) == game.draw_svg(state, seat)


@every_variant
def test_redeal_keeps_what_the_seat_knows(variant: Variant) -> None:
    game = variant.game
    for seed in (1, 2):
        for state in positions(variant, seed)[:-1]:
            before = state.tobytes()
            for seat in range(variant.num_players):
                world = clone(state)
                game.redeal(world, seat, np.uint64(seed + 77))
                check_same_for(game, state, world, seat)
                assert world.seed == seed + 77  # so that its future chance is its own
                again = clone(state)
                game.redeal(again, seat, np.uint64(seed + 77))
                assert again.tobytes() == world.tobytes()
                twice = clone(world)
                game.redeal(twice, seat, np.uint64(seed))
                check_same_for(game, state, twice, seat)
            assert state.tobytes() == before


@every_variant
def test_a_redealt_world_can_be_played(variant: Variant) -> None:
    """It is a position like any other: JSON leads back to it, and it goes on to a lawful end."""
    game = variant.game
    for seed in (1, 2):
        for state in positions(variant, seed)[:-1]:
            for seat in range(variant.num_players):
                world = clone(state)
                game.redeal(world, seat, np.uint64(99))
                assert game.from_dict(game.to_dict(world)).tobytes() == world.tobytes()
                plies = [int(world.ply)]
                while world.seat != OVER:
                    mask = mask_of(game, world)
                    assert mask.any()
                    game.apply(world, choose(mask, seed, plies[-1]))
                    plies.append(int(world.ply))
                assert all(after == ply + 1 for ply, after in pairwise(plies))
                assert plies[-1] <= game.max_length
                assert outcome_of(game, world)[0].sum() == pytest.approx(0, abs=1e-6)


# One source, two ways to run it


def test_interpreter_equals_compiled() -> None:
    """The same seeded games, bit for bit: states, masks, observations, outcomes, redealt worlds."""
    run = ("-W", "error", "-m", "tests.common.fingerprint", "2")
    interpreted = run_python(*run, NUMBA_DISABLE_JIT="1")
    compiled = run_python(*run, NUMBA_DISABLE_JIT="0")
    assert interpreted == compiled
    assert interpreted.count("\n") >= 1
