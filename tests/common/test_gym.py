"""One seat as a Gymnasium environment."""

import pickle
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from linkzoo import Positions, RandomAgent, SeatEnv
from linkzoo.core.kernels import kernels
from linkzoo.integrations import SeatVectorEnv
from tests.common.play import choose, plies
from tests.common.variants import Variant, every_size, one_game


def build(variant: Variant, **kwargs: Any) -> SeatEnv:
    return SeatEnv(variant.name, variant.num_players, **kwargs, **variant.options)


def play(env: SeatEnv, seed: int) -> list[Any]:
    """Random actions to the end: all that the seat is shown."""
    steps: list[Any] = []
    while True:
        action = choose(env.action_masks().astype(np.int8), seed, len(steps))
        observation, reward, terminated, truncated, info = env.step(action)
        mask = info["action_mask"]
        steps.append((action, observation.tobytes(), reward, terminated, mask.tobytes()))
        assert not truncated
        if terminated:
            return steps


@dataclass
class Recorder:
    """An opponent that keeps the positions it was asked about, and plays the first legal action."""

    name: str = "recorder"
    seen: list[Positions] = field(default_factory=list)

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.seen.append(positions)
        first: NDArray[np.int64] = positions.action_mask.argmax(1)
        return first


def title_of(variant: Variant) -> str:
    """The game's name in the ids of gymnasium."""
    return "".join(word.capitalize() for word in variant.name.split("_"))


@every_size
def test_gymnasium_checker(variant: Variant) -> None:
    """It plays without the mask, so most of its games end by an illegal action."""
    for seat in (*range(variant.num_players), None):
        with warnings.catch_warnings():
            # An environment that wasn't made by gymnasium.make has no spec; see below.
            warnings.filterwarnings("ignore", ".*not able to test alternative render modes")
            check_env(build(variant, seat=seat))


@every_size
def test_every_decision_of_every_seat(variant: Variant) -> None:
    for seat in range(variant.num_players):
        env = build(variant, seat=seat)
        assert env.observation_space is env.observation_space
        assert env.action_space is env.action_space
        for seed in range(3):
            observation, info = env.reset(seed=seed)
            for _ in range(variant.game.facts.max_length + 1):
                state = env.env.game.from_bytes(env.env.get_state())
                assert env.observation_space.contains(observation)
                assert list(info) == ["action_mask"]
                mask = info["action_mask"]
                assert mask.dtype == np.int8
                assert mask.any()
                assert state.seat == seat
                assert env.action_masks().dtype == np.bool_
                assert np.array_equal(env.action_masks(), mask == 1)
                shown = env.env.observe(env.agent)
                assert np.array_equal(observation, shown["observation"])
                assert np.array_equal(mask, shown["action_mask"])
                action = choose(mask, seed, int(state.ply))
                observation, reward, terminated, truncated, info = env.step(action)
                assert type(terminated) is bool
                assert truncated is False
                if terminated:
                    break
                assert reward == 0
            assert reward == env.env.rewards[f"player_{seat}"]
            assert not env.action_masks().any()
            assert env.observation_space.contains(observation)


@every_size
def test_seeds(variant: Variant) -> None:
    """A seed fixes the game, the seat and the opponent; later resets without a seed as well."""
    for seat in (variant.num_players - 1, None):
        env, other = build(variant, seat=seat), build(variant, seat=seat)
        for seed in (3, None, None, np.int64(3)):
            first, second = env.reset(seed=seed), other.reset(seed=seed)  # type: ignore[arg-type]
            assert np.array_equal(first[0], second[0])
            assert env.agent == other.agent
            assert play(env, 1) == play(other, 1)
            assert env.env.get_state() == other.env.get_state()
        record = env.env.record()
        env.reset(seed=4)
        play(env, 1)
        assert env.env.record() != record


@every_size
def test_any_seat_is_drawn(variant: Variant) -> None:
    env = build(variant, seat=None)
    env.reset(seed=1)
    agents = []
    for _ in range(20 * variant.num_players):
        agents.append(env.agent)
        env.reset()
    assert set(agents) == set(env.env.possible_agents)


@every_size
def test_the_opponent_plays_the_other_seats(variant: Variant) -> None:
    opponent = Recorder()
    env = build(variant, seat=1, opponent=opponent)
    env.reset(seed=2)
    play(env, 2)
    assert opponent.seen
    for positions in opponent.seen:
        assert positions.game is variant.game
        assert len(positions) == len(positions.seeds) == 1
        assert positions.states["seat"][0] not in (1, -1)
        assert positions.states.flags.writeable  # or everything would be compiled once more
    kept = [positions.states.tobytes() for positions in opponent.seen]
    replayed = [state.tobytes() for state in env.env.record().replay()]
    assert [state for state in replayed if state in kept] == kept
    assert opponent.seen[0].seeds.dtype == np.uint64
    seeds = [int(positions.seeds[0]) for positions in opponent.seen]
    assert len(set(seeds)) == len(seeds)


@every_size
def test_nothing_is_compiled_twice(variant: Variant) -> None:
    """Agents of a seat use the code of the batch runner as it is."""
    env = build(variant, seat=1)
    env.reset(seed=1)
    play(env, 1)
    env.reset(seed=2)
    kernel = kernels(variant.game)
    states = np.frombuffer(bytearray(env.env.get_state()), variant.game.state)
    assert Positions(variant.game, states, np.zeros(1, np.uint64)).action_mask.shape[0] == 1
    for function in (kernel.fill_masks.kernel, kernel.play_one, kernel.observe_one):
        if hasattr(function, "signatures"):  # not with NUMBA_DISABLE_JIT=1
            assert len(function.signatures) == 1


@every_size
def test_the_random_agent(variant: Variant) -> None:
    """Legal, a function of the seeds, and not always the same."""
    states = np.zeros(64, variant.game.state)
    masks = np.zeros((64, variant.game.num_actions), np.int8)
    states[:] = variant.game.blank(variant.num_players, variant.options)
    kernels(variant.game).begin(states, np.arange(64, dtype=np.uint64), masks)
    seeds = np.arange(64, dtype=np.uint64)
    positions = Positions(variant.game, states, seeds)
    actions = RandomAgent().act(positions)
    assert actions.dtype == np.int64
    assert positions.action_mask[np.arange(64), actions].all()
    assert np.array_equal(actions, RandomAgent().act(Positions(variant.game, states, seeds)))
    other = RandomAgent().act(Positions(variant.game, states, seeds + np.uint64(64)))
    assert not np.array_equal(actions, other)
    for i in (0, 63):
        one = Positions(variant.game, states[i : i + 1], seeds[i : i + 1])
        assert RandomAgent().act(one)[0] == actions[i]
        assert np.array_equal(one.observation[0], positions.observation[i])


@every_size
@pytest.mark.parametrize("reward", ["win", "score"])
def test_reward_is_the_payoff_of_the_seat(variant: Variant, reward: str) -> None:
    for seat in range(variant.num_players):
        env = build(variant, seat=seat, reward=reward)
        env.reset(seed=6)
        last = play(env, 6)[-1]
        aec = variant.env(reward=reward)
        record = env.env.record()
        aec.reset(seed=record.seed)
        for action in record.actions:
            aec.step(action)
        assert last[2] == aec.rewards[f"player_{seat}"]


@every_size
def test_illegal_actions(variant: Variant) -> None:
    env = build(variant)
    env.reset(seed=1)
    illegal = int(env.action_masks().argmin())
    _, reward, terminated, _, info = env.step(illegal)
    assert (reward, terminated) == (-1.0, True)
    assert not info["action_mask"].any()
    with pytest.raises(RuntimeError, match=r"after the end of the game: call reset\(\) first"):
        env.step(illegal)
    strict = build(variant, illegal="raise")
    strict.reset(seed=1)
    state = strict.env.get_state()
    for action, message in (
        (illegal, "is illegal"),
        (-1, "not an integer in"),
        (0.5, "not an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            strict.step(action)  # type: ignore[arg-type]
    assert strict.env.get_state() == state
    play(strict, 1)


@every_size
def test_start_from_a_position(variant: Variant) -> None:
    """The game goes on from there; a seat with no decision left is an error."""
    source = variant.env()
    source.reset(seed=1)
    for ply, _ in enumerate(plies(source, 1)):
        if ply == 2:
            break
    seat = source.possible_agents.index(source.agent_selection)
    env = build(variant, seat=seat)
    for state in (source.get_state(), source.to_dict()):
        observation, info = env.reset(seed=5, options={"state": state})
        assert env.env.get_state() == source.get_state()
        shown = source.observe(source.agent_selection)
        assert np.array_equal(observation, shown["observation"])
        assert np.array_equal(info["action_mask"], shown["action_mask"])
        play(env, 1)
    with pytest.raises(ValueError, match=r"."):
        env.reset(options={"state": b"broken"})
    env.reset(options={"other": 1})
    for _ in plies(source, 1):
        pass
    with pytest.raises(ValueError, match=f"player_{seat} has no decision after the given position"):
        env.reset(options={"state": source.get_state()})


@every_size
def test_wrong_arguments(variant: Variant) -> None:
    for seat in (-1, variant.num_players, 0.5, "0", True):
        with pytest.raises(ValueError, match=r"^seat: "):
            build(variant, seat=seat)
    for seed in (-1, 2**64, "1", 1.5):
        with pytest.raises(ValueError, match=r"^seed: "):
            build(variant).reset(seed=seed)  # type: ignore[arg-type]
    env = build(variant, render_mode="ansi")
    for call in (lambda: env.step(0), env.action_masks, env.render):
        with pytest.raises(RuntimeError, match=r" before reset.*: call reset\(\) first$"):
            call()
    with pytest.raises(AttributeError, match=r"^agent before reset: call reset\(\) first$"):
        _ = env.agent
    players: Any = np.array(variant.num_players)
    ones: list[Any] = [np.int64(1), np.array(1)]
    for one in ones:
        env = SeatEnv(variant.name, players, seat=one, **variant.options)
        env.reset(seed=one)
        action: Any = np.array(env.action_masks().argmax())
        assert env.step(action)[0].shape == env.observation_space.shape


@every_size
def test_render(variant: Variant) -> None:
    env = build(variant, render_mode="ansi")
    assert env.render_mode == "ansi"
    env.reset(seed=1)
    assert env.render() == env.env.render()
    env.close()


@pytest.mark.parametrize("mode", ["ansi", "svg"])
def test_render_hides_other_hands(mode: str) -> None:
    """The drawing is the same in every world that the seat can't tell from the real one."""
    env = SeatEnv("link_o", seat=1, render_mode=mode)
    env.reset(seed=1)
    seen, hand = env.render(), env.env.to_dict()["hands"][0]
    world = np.frombuffer(bytearray(env.env.get_state()), env.env.game.state)
    env.env.game.determinize(world[0], 1, np.uint64(5))
    env.env.set_state(world.tobytes())
    assert env.env.to_dict()["hands"][0] != hand
    assert env.render() == seen
    env.env.viewer = None
    assert env.render() != seen


@every_size
def test_pickle(variant: Variant) -> None:
    env = build(variant, seat=1)
    env.reset(seed=1)
    other = pickle.loads(pickle.dumps(env))
    assert play(env, 1) == play(other, 1)
    env.reset()
    other.reset()
    assert play(env, 1) == play(other, 1)


@one_game
def test_gymnasium_checker_with_every_render_mode(variant: Variant) -> None:
    name = f"linkzoo/{title_of(variant)}-v0"
    check_env(gymnasium.make(name, num_players=variant.num_players, **variant.options).unwrapped)


@every_size
def test_registered(variant: Variant) -> None:
    name = f"linkzoo/{title_of(variant)}-v0"
    kwargs = {"num_players": variant.num_players, **variant.options}
    env = gymnasium.make(name, seat=1, **kwargs)
    assert isinstance(env.unwrapped, SeatEnv)
    direct = build(variant, seat=1)
    observation, info = env.reset(seed=3)
    expected, _ = direct.reset(seed=3)
    assert np.array_equal(observation, expected)
    action = int(info["action_mask"].argmax())
    step, other = env.step(action), direct.step(action)
    assert np.array_equal(step[0], other[0])
    assert step[1:4] == other[1:4]
    vector = gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync", **kwargs)
    shown, infos = vector.reset(seed=3)
    assert shown.shape == (2, *variant.game.observation.spec.shape)
    assert infos["action_mask"].shape == (2, variant.game.num_actions)
    vector.close()


@pytest.mark.parametrize(
    ("opponent", "complaint"),
    [
        ("random", "is a name: linkzoo_training.make_agent"),
        (RandomAgent, "is no agent: one has a `name`"),
        (3, "is no agent: one has a `name`"),
    ],
)
def test_an_opponent_that_is_no_agent(opponent: Any, complaint: str) -> None:
    """The constructor refuses it."""
    for env in (SeatEnv, partial(SeatVectorEnv, num_envs=2)):
        with pytest.raises(ValueError, match=f"^opponent: .* {complaint}"):
            env("linkage", opponent=opponent)
