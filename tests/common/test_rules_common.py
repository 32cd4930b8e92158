"""The Game contract: properties of every game's compiled rules, at every ply."""

import copy
import pickle

import numpy as np
import pytest

import linkzoo
from linkzoo import get_game
from linkzoo.core.kernels import kernels
from linkzoo.testing import many_games, play, properties
from linkzoo.testing.play import play_out
from tests.common.fingerprint import fingerprints
from tests.common.play import choose, clone, outcome_of, run_python
from tests.common.variants import Variant, every_size, every_variant, random_games
from tests.driving import NIGHTLY, SLOW


def new(variant: Variant, seed: int) -> np.record:
    return play.new(variant.game, variant.num_players, variant.options, seed)


def positions(variant: Variant, seed: int) -> list[np.record]:
    """Every position of one random game, the last one included; every decision is asked."""
    return play.positions(variant.game, variant.num_players, variant.options, seed)


@every_size
def test_the_fields_of_a_record_are_its_attributes(variant: Variant) -> None:
    """To read and to write, in copies of it too; there are no others.

    One of the copies is pickled, as those are that another process gets.
    """
    state = positions(variant, 3)[-1]
    for other in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state):
        assert isinstance(other, np.record)
        for name in variant.game.state.names or ():
            assert np.array_equal(getattr(other, name), state[name])
        other.ply += 1
        assert other["ply"] == other.ply
        with pytest.raises(AttributeError, match="no field 'nothing'"):
            _ = other.nothing


@random_games
@every_variant
def test_a_game_from_start_to_end(variant: Variant, seeds: list[int]) -> None:
    for seed in seeds:
        history = positions(variant, seed)
        assert int(history[0].seed) == seed
        properties.header(variant.game, history)
        for state in history:
            properties.masks(variant.game, state)


@random_games
@every_variant
def test_every_legal_action_can_be_played(variant: Variant, seeds: list[int]) -> None:
    """Each action of the mask leads to a position that the contract allows.

    From every position; where there is but one game, from every third.
    """
    step = 3 if len(seeds) == 1 else 1
    for state in (state for seed in seeds for state in positions(variant, seed)[:-1:step]):
        properties.every_legal_action(variant.game, state)


@random_games
@every_variant
def test_payoffs(variant: Variant, seeds: list[int]) -> None:
    """Zero-sum, in -1..1, at the end only; winners get the most: a sole one 1, all of them 0."""
    for seed in (*seeds, *range(100, 104)):
        properties.payoffs(variant.game, positions(variant, seed))


@every_size
def test_payoffs_of_shared_wins(variant: Variant) -> None:
    """1/w - 1/n for each of w winners among n sides, -1/n for the others; a sole one has 1."""
    game, end = variant.game, positions(variant, 2**64 - 1)[-1]
    if len(set(game.facts.sides(variant.num_players))) == 2:
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
    """At every ply; where there is but one game, at the end and at every third ply before it."""
    game = variant.game
    step = -3 if len(seeds) == 1 else -1
    for state in (state for seed in seeds for state in positions(variant, seed)[::step]):
        before = state.tobytes()
        properties.observations(game, state)
        outcome_of(game, state)
        assert state.tobytes() == before


@every_variant
def test_a_new_game_leaves_nothing_of_the_old_one(variant: Variant) -> None:
    """A record that is used again becomes the same game as a blank one."""
    properties.new_game(variant.game, positions(variant, 1))


@every_variant
def test_skip_forced_asks_only_for_choices(variant: Variant) -> None:
    env = skipping(variant, skip_forced=True).env()
    for seed in range(3):
        env.reset(seed=seed)
        while not env.terminations[env.agent_selection]:
            mask = env.infos[env.agent_selection]["action_mask"]
            assert mask.sum() > 1
            env.step(choose(mask, seed, len(env.record().actions)))


@every_variant
def test_skip_forced_plays_the_same_game(variant: Variant) -> None:
    """Taking the only legal action at once, or when asked, leads to the same positions."""
    for seed in range(3):
        env = skipping(variant, skip_forced=True).env()
        other = skipping(variant, skip_forced=False).env()
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


def skipping(variant: Variant, *, skip_forced: bool) -> Variant:
    """The variant with forced actions skipped, or asked."""
    return variant._replace(options={**variant.options, "skip_forced": skip_forced})


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_declared_lengths(name: str) -> None:
    """`typical_length` is the mean of random games in the standard options, over the players."""
    many_games.lengths(get_game(name))


# Hidden information: two worlds that a seat can't tell apart


@random_games
@every_variant
def test_redeal_keeps_what_the_seat_knows(variant: Variant, seeds: list[int]) -> None:
    """A world dealt anew looks the same to its seat, and so does one dealt anew from that one.

    At every ply every other seat; where there is but one game, at every seventh ply one, in turn.
    """
    quick = len(seeds) == 1
    for seed in seeds:
        for ply, state in enumerate(positions(variant, seed)[:-1]):
            if quick and ply % 7:
                continue
            seats = [ply // 7] if quick else range(ply % 2, variant.num_players, 2)
            for seat in seats:
                properties.determinize(variant.game, state, seat % variant.num_players)


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
            game.determinize(world, seat, np.uint64(5))
            assert game.drawing.text(world, seat) == game.drawing.text(state, seat)
            assert game.draw_svg(world, seat) == game.draw_svg(state, seat)


@random_games
@every_variant
def test_a_redealt_world_can_be_played(variant: Variant, seeds: list[int]) -> None:
    """It is a position like any other: it goes on to a lawful end, and JSON leads back to it.

    JSON for one seat at each ply, in turn. Where there is but one game, every fifth ply.
    """
    game, step = variant.game, 5 if len(seeds) == 1 else 1
    for seed in seeds:
        history = np.array(positions(variant, seed)[:-1:step], game.state)
        worlds = np.repeat(history, variant.num_players)
        for row in range(len(worlds)):
            ply, seat = divmod(row, variant.num_players)
            game.determinize(worlds[row], seat, np.uint64(99 + row))
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
    ("games", "which"),
    [
        pytest.param("1", "one", marks=SLOW),
        *(pytest.param("1", name, marks=NIGHTLY) for name in linkzoo.game_names()),
    ],
)
def test_interpreter_equals_compiled(games: str, which: str) -> None:
    """The same seeded games, bit for bit: states, masks, observations, outcomes, redealt worlds."""
    run = ("-W", "error", "-m", "tests.common.fingerprint", games, which)
    interpreted = run_python(*run, NUMBA_DISABLE_JIT="1")
    digests = fingerprints(int(games), which).items()
    compiled = "".join(f"{name}: {value}\n" for name, value in digests)
    assert interpreted == compiled
    assert interpreted.count("\n") >= 1
