"""The vector environment equals the AEC environment, bit for bit."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import VecEnv, VecStep, make_vec
from linkzoo.engine.threads import MAX_THREADS
from tests.common.play import choose, plies, run_python
from tests.common.variants import FEW, Variant, every_size, every_variant
from tests.driving import NIGHTLY, SLOW, first_quick

SEED = 2024
EPISODES = 3


def build(variant: Variant, num_envs: int, **kwargs: Any) -> VecEnv:
    return make_vec(variant.name, num_envs, variant.num_players, **kwargs, **variant.options)


def actions_of(vec: VecEnv, now: VecStep, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The action that `plies` would play, from the game's seed and the number of decisions."""
    return np.array(
        [
            choose(now.action_mask[i], vec.seed_of(i, int(vec.episodes[i])), int(counts[i]))
            for i in range(vec.num_envs)
        ]
    )


def trace(vec: VecEnv, episodes: int, seed: int = SEED) -> list[list[list[Any]]]:
    """For each environment and episode: the observation of every decision, then the result."""
    now = vec.reset(seed=seed)
    traces: list[list[list[Any]]] = [[[]] for _ in range(vec.num_envs)]
    counts = np.zeros(vec.num_envs, np.int64)
    while True:
        for i, games in enumerate(traces):
            games[-1].append(
                (
                    vec.states[i].tobytes(),
                    now.action_mask[i].tobytes(),
                    now.observation[i].tobytes(),
                    int(now.seat[i]),
                )
            )
        if min(map(len, traces)) > episodes:
            return [games[:episodes] for games in traces]
        now = vec.step(actions_of(vec, now, counts))
        counts += 1
        for i in range(vec.num_envs):
            if now.done[i]:
                traces[i][-1].append(
                    (now.reward[i].tolist(), now.score[i].tolist(), int(now.episode_length[i]))
                )
                traces[i].append([])
                counts[i] = 0
            else:
                assert not now.reward[i].any()
                assert not now.score[i].any()
                assert now.episode_length[i] == vec.states[i].ply


def expected_game(variant: Variant, seed: int, reward: str = "win") -> list[Any]:
    """The same for the AEC game with this seed."""
    env, scored = variant.env(reward=reward), variant.env(reward="score")
    env.reset(seed=seed)
    scored.reset(seed=seed)
    shown_steps: list[Any] = []
    for action in plies(env, seed):
        shown = env.observe(env.agent_selection)
        shown_steps.append(
            (
                env.get_state(),
                shown["action_mask"].tobytes(),
                shown["observation"].tobytes(),
                env.possible_agents.index(env.agent_selection),
            )
        )
        scored.step(action)
    ply = int(env.game.from_bytes(env.get_state()).ply)
    return [*shown_steps, (list(env.rewards.values()), list(scored.rewards.values()), ply)]


@every_variant
@pytest.mark.parametrize("reward", first_quick(["win", "score"], slow=0))
def test_games_are_those_of_the_aec_environment(variant: Variant, reward: str) -> None:
    vec = build(variant, 5, reward=reward)
    for i, games in enumerate(trace(vec, EPISODES)):
        for episode, game in enumerate(games):
            assert game == expected_game(variant, vec.seed_of(i, episode), reward)


@every_variant
def test_number_of_games_changes_nothing(variant: Variant) -> None:
    many = trace(build(variant, 9), 2)
    for num_envs in (1, 2, 4):
        assert trace(build(variant, num_envs), 2) == many[:num_envs]


@every_size
def test_several_numbers_of_players_at_once(variant: Variant) -> None:
    """The games take the numbers in turn; seats that a game doesn't have get nothing."""
    first, most = variant.game.min_players, variant.game.max_players
    numbers = list(range(first, most + 1))
    vec = make_vec(variant.name, 2 * len(numbers), numbers, **variant.options)
    assert vec.num_players == most
    for i, games in enumerate(trace(vec, 2)):
        alone = variant._replace(num_players=numbers[i % len(numbers)])
        for episode, game in enumerate(games):
            *shown, (reward, score, length) = expected_game(alone, vec.seed_of(i, episode))
            absent = [0.0] * (most - alone.num_players)
            assert game == [*shown, (reward + absent, score + absent, length)]


@every_variant
def test_reset_starts_the_run_again(variant: Variant) -> None:
    vec = build(variant, 3)
    first = trace(vec, 2)
    other = trace(vec, 2, seed=SEED + 1)
    assert trace(vec, 2) == first
    assert other != first
    now = vec.reset(seed=SEED)
    assert not now.done.any()
    assert not now.reward.any()
    assert not now.episode_length.any()
    assert not vec.episodes.any()


THREADS = """
import hashlib, sys
from tests.common.test_vector import build, trace
from tests.common.variants import ALL, ONE
variants = {"all": ALL, "one": ONE}[sys.argv[1]]
for threads in (1, 2, 3, None):
    found = [trace(build(variant, 7, num_threads=threads), 1) for variant in variants]
    print(hashlib.sha256(repr(found).encode()).hexdigest())
"""


@pytest.mark.last
@pytest.mark.parametrize(
    "which", [pytest.param("one", marks=SLOW), pytest.param("all", marks=NIGHTLY)]
)
def test_number_of_threads_changes_nothing(which: str) -> None:
    """In a process that has threads, whatever this one has."""
    lines = run_python("-c", THREADS, which, NUMBA_NUM_THREADS="3").split()
    assert len(lines) == 4
    assert len(set(lines)) == 1


@every_size
def test_arrays(variant: Variant) -> None:
    """Shapes and dtypes as documented; the same arrays each time."""
    game, vec = variant.game, build(variant, 3)
    first = vec.reset(seed=1)
    shapes = {
        "observation": (game.observation.spec.shape, game.observation.spec.dtype),
        "action_mask": ((game.num_actions,), np.int8),
        "seat": ((), np.int8),
        "reward": ((variant.num_players,), np.float32),
        "done": ((), np.bool_),
        "episode_length": ((), np.int32),
        "score": ((variant.num_players,), np.float32),
    }
    assert vars(first).keys() == shapes.keys()
    for name, (shape, dtype) in shapes.items():
        array = getattr(first, name)
        assert array.shape == (3, *shape)
        assert array.dtype == dtype
    assert (vec.num_envs, vec.num_players) == (3, variant.num_players)
    now = vec.step(actions_of(vec, first, np.zeros(3, np.int64)))
    for name in shapes:
        assert np.shares_memory(getattr(now, name), getattr(first, name))


@every_variant
def test_states_changed_from_outside(variant: Variant) -> None:
    """`refresh` shows positions that were written into `states`, and the games go on from them."""
    env = variant.env()
    env.reset(seed=1)
    for ply, _ in enumerate(plies(env, 1)):
        if ply == 2:
            break
    vec = build(variant, 2)
    vec.reset(seed=1)
    vec.states[1] = env.game.from_bytes(env.get_state())
    now = vec.refresh()
    for action in plies(env, 1):
        assert vec.states[1].tobytes() == env.get_state()
        assert now.seat[1] == env.possible_agents.index(env.agent_selection)
        shown = env.observe(env.agent_selection)
        assert np.array_equal(now.observation[1], shown["observation"])
        assert np.array_equal(now.action_mask[1], shown["action_mask"])
        now = vec.step(np.array([now.action_mask[0].argmax(), action]))
    assert now.done[1]
    assert now.reward[1].tolist() == list(env.rewards.values())


# Bad input


def frozen(vec: VecEnv, now: VecStep) -> list[bytes]:
    return [vec.states.tobytes(), vec.episodes.tobytes()] + [
        array.tobytes() for array in vars(now).values()
    ]


def refused(vec: VecEnv, now: VecStep, actions: Any, message: str) -> None:
    before = frozen(vec, now)
    with pytest.raises(ValueError, match=message):
        vec.step(actions)
    assert frozen(vec, now) == before


@every_variant
def test_illegal_actions_move_no_game(variant: Variant) -> None:
    vec = build(variant, 6)
    now = vec.reset(seed=3)
    legal = now.action_mask.argmax(1)
    for index in (0, 3, 5):
        illegal = int(np.flatnonzero(now.action_mask[index] == 0)[-1])
        actions = legal.copy()
        actions[index:] = illegal
        refused(vec, now, actions, rf"^environment {index}: action {illegal} \(.+\) is illegal$")
        for outside in (-1, vec.game.num_actions, 2**40):
            actions[index:] = outside
            message = rf"^environment {index}: action {outside} \(outside 0\.\..*\) is illegal$"
            refused(vec, now, actions, message)
    vec.step(legal)


@every_size
def test_what_is_no_array_of_actions(variant: Variant) -> None:
    vec = build(variant, 4)
    now = vec.reset(seed=3)
    legal = now.action_mask.argmax(1)
    wrong: list[Any] = [
        legal.astype(np.float64),
        legal.astype(np.float32),
        legal.astype(np.bool_),
        legal[:3],
        np.append(legal, 0),
        legal[:, None],
        int(legal[0]),
        None,
        [str(action) for action in legal],
        [],
    ]
    for actions in wrong:
        refused(vec, now, actions, r"^actions are .*, not integers \[4\]$")


@every_size
def test_every_type_of_integer_is_an_action(variant: Variant) -> None:
    states = []
    convert: list[Callable[[NDArray[np.int64]], Any]] = [
        lambda actions: actions,
        lambda actions: actions.astype(np.int32),
        lambda actions: actions.astype(np.uint16),
        lambda actions: actions.tolist(),
        lambda actions: np.repeat(actions, 2)[::2],
    ]
    for change in convert:
        vec = build(variant, 4)
        now = vec.reset(seed=3)
        for step in range(3):
            now = vec.step(change(actions_of(vec, now, np.full(4, step))))
        states.append(vec.states.tobytes())
    assert len(set(states)) == 1


@every_size
def test_unchecked_is_the_same_for_legal_actions(variant: Variant) -> None:
    assert trace(build(variant, 3, check=False), 1) == trace(build(variant, 3), 1)


@every_size
def test_wrong_arguments(variant: Variant) -> None:
    for num_envs in (0, -1, 1.5, "2", None, True):
        with pytest.raises(ValueError, match=r"^num_envs: "):
            build(variant, num_envs)  # type: ignore[arg-type]
    for threads in (0, -1, MAX_THREADS + 1, 1.0):
        with pytest.raises(ValueError, match=r"^num_threads: "):
            build(variant, 2, num_threads=threads)
    for flag in ("no", 0, 1, None, np.bool_(True)):
        with pytest.raises(ValueError, match=r"^check: .* is not true or false$"):
            build(variant, 2, check=flag)
    with pytest.raises(ValueError, match="device='tpu'"):
        build(variant, 2, device="tpu")
    with pytest.raises(ValueError, match="reward='points' is not one of"):
        build(variant, 2, reward="points")
    vec = build(variant, 2)
    for seed in (-1, 2**64, 1.5, "1", None, True):
        with pytest.raises(ValueError, match=r"^seed: "):
            vec.reset(seed=seed)  # type: ignore[arg-type]
    expected = vec.reset(seed=3).observation.copy()
    for three in (np.int64(3), np.array(3), np.array(3, np.uint8)):
        again = build(variant, np.array(2)).reset(seed=three)  # type: ignore[arg-type]
        assert np.array_equal(again.observation, expected)


def test_before_reset() -> None:
    vec = build(FEW[0], 2)
    step = partial(vec.step, np.zeros(2, np.int64))
    for call in (step, vec.random_actions, vec.refresh, partial(vec.seed_of, 0, 0)):
        with pytest.raises(RuntimeError, match=r"^\w+ before reset: call reset\(\) first$"):
            call()


@every_size
def test_random_actions(variant: Variant) -> None:
    """Each legal action as often as the others, the same for the same seeds."""
    vec = build(variant, 200)
    now = vec.reset(seed=1)
    now = vec.step(vec.random_actions(4))
    legal, share = now.action_mask.astype(bool), 1 / now.action_mask.sum(1)
    draws, drawn = 300, np.zeros(now.action_mask.shape)
    for seed in range(draws):
        actions = vec.random_actions(seed)
        assert actions.dtype == np.int64
        drawn[np.arange(200), actions] += 1
    assert not drawn[~legal].any()
    expected = draws * share[:, None]
    spread = np.sqrt(expected * (1 - share[:, None]))
    z = ((drawn - expected) / np.maximum(spread, 1e-9))[legal & (share < 1)[:, None]]
    assert abs(z).max() < 9
    assert abs((z**2).mean() - 1) < 0.1
    assert np.array_equal(vec.random_actions(7), vec.random_actions(7))
    again = vec.random_actions(7)
    vec.reset(seed=2)
    vec.reset(seed=1)
    vec.step(vec.random_actions(4))
    assert np.array_equal(vec.random_actions(7), again)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, None])
def test_no_seed_of_random_actions(seed: Any) -> None:
    vec = build(FEW[0], 2)
    vec.reset()
    with pytest.raises(ValueError, match=r"^seed"):
        vec.random_actions(seed)


def test_games_that_no_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how many were asked for, and the bytes that they take at least."""

    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(VecEnv, "_zeros", no_memory)
    with pytest.raises(MemoryError, match=r"num_envs: 1000 games take more than [\d,]{7,} bytes"):
        make_vec("linkage", 1000)
