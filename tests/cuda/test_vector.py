"""`CudaVecEnv` plays the games of `VecEnv`, byte by byte: all but the launch, without a GPU."""

from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo import make_vec
from tests.common.play import run_python
from tests.common.test_vector import build as build_cpu
from tests.common.variants import CARRIED, ONE, Variant, one_game
from tests.cuda.without_gpu import assert_same_games, build, without_gpu
from tests.driving import first_quick

SEED = 2**64 - 1  # needs every bit


@pytest.fixture(autouse=True)
def _no_gpu() -> Iterator[None]:
    with without_gpu():
        yield


@one_game
def test_games_are_those_of_the_cpu(variant: Variant) -> None:
    """To the end of several games, and in the games that follow them."""
    steps = 2 * variant.game.facts.typical_length
    assert assert_same_games(build_cpu(variant, 6), build(variant, 6), steps, SEED) > 3


@pytest.mark.slow
@one_game
def test_several_numbers_of_players_at_once(variant: Variant) -> None:
    numbers = list(range(variant.game.min_players, variant.game.max_players + 1))
    several = variant._replace(num_players=numbers)  # type: ignore[arg-type]
    assert_same_games(build_cpu(several, 7), build(several, 7), 30, 5)


@pytest.mark.slow
@one_game
def test_reset_starts_the_run_again(variant: Variant) -> None:
    cpu, other = build_cpu(variant, 3), build(variant, 3)
    for seed in (1, 2, 1):
        assert_same_games(cpu, other, 20, seed)
    assert other.seed_of(2, 5) == cpu.seed_of(2, 5)


@one_game
def test_copies_are_independent(variant: Variant) -> None:
    cpu, other = build_cpu(variant, 3), build(variant, 3)
    actions = cpu.reset(7).action_mask.argmax(1)
    other.reset(7)
    copies = [copy(other), deepcopy(other)]
    expected = cpu.step(actions).observation
    for copied in copies:
        assert np.array_equal(copied.step(actions).observation, expected)


@one_game
@pytest.mark.parametrize("rows", [None, [1], torch.tensor([False, True, False])], ids=str)
def test_states_changed_from_outside(variant: Variant, rows: Any) -> None:
    cpu, other = build_cpu(variant, 3), build(variant, 3)
    now = cpu.reset(1)
    other.reset(1)
    elsewhere = build_cpu(variant, 3)
    then = elsewhere.reset(9)
    elsewhere.step(then.action_mask.argmax(1))
    cpu.states[1] = elsewhere.states[1]
    other.states[1] = torch.from_numpy(elsewhere.states.view(np.uint8).reshape(3, -1))[1]
    now = cpu.refresh(None if rows is None else np.array([1]))
    seen = other.refresh(rows)
    for name, array in vars(now).items():
        assert np.array_equal(getattr(seen, name).numpy(), array), name


@one_game
def test_illegal_actions_move_no_game(variant: Variant) -> None:
    """The texts are those of the CPU."""
    cpu, other = build_cpu(variant, 5), build(variant, 5)
    now = cpu.reset(3)
    other.reset(3)
    legal = now.action_mask.argmax(1)
    outside = (-1, variant.game.num_actions, 2**40)
    for index in (0, 2, 4):
        for wrong in (int(np.flatnonzero(now.action_mask[index] == 0)[-1]), *outside):
            actions = legal.copy()
            actions[index:] = wrong
            before = other.states.clone(), other.episodes.clone()
            with pytest.raises(ValueError, match=f"^environment {index}: ") as expected:
                cpu.step(actions)
            for kind in (actions, torch.from_numpy(actions), actions.tolist()):
                with pytest.raises(ValueError, match=f"^environment {index}: ") as raised:
                    other.step(kind)
                assert str(raised.value) == str(expected.value)
            assert torch.equal(other.states, before[0])
            assert torch.equal(other.episodes, before[1])
    other.step(legal)


def test_what_is_no_array_of_actions() -> None:
    other = build(CARRIED, 4)
    legal = other.reset(3).action_mask.argmax(1)
    wrong: list[Any] = [
        legal.double(),
        legal.bool(),
        legal[:3],
        legal[:, None],
        legal.numpy().astype(np.float32),
        int(legal[0]),
        None,
        [],
    ]
    for actions in wrong:
        with pytest.raises(ValueError, match=r"^actions are .*, not integers \[4\]$"):
            other.step(actions)
    for right in (legal.int(), legal.to(torch.uint8), legal.tolist(), legal.numpy()):
        other.reset(3)
        other.step(right)


def test_unchecked_steps_ask_nothing_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever brings a number from a tensor would wait for the device."""
    other = build(CARRIED, 4, check=False)
    legal = other.reset(3).action_mask.argmax(1)

    def refuse(*_: Any) -> Any:
        raise AssertionError("asked")

    for name in ("item", "__int__", "__bool__", "__index__", "tolist", "cpu"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    other.step(legal)


def test_wrong_arguments() -> None:
    with pytest.raises(RuntimeError, match=r"^step before reset: call reset\(\) first$"):
        build(CARRIED, 2).step(torch.zeros(2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match=r"^random_actions before reset: call reset\(\) first$"):
        build(CARRIED, 2).random_actions()
    with pytest.raises(ValueError, match="num_threads=2: on device='cuda' every game has its own"):
        build(CARRIED, 2, num_threads=2)
    with pytest.raises(ValueError, match="num_envs: "):
        build(CARRIED, 0)
    with pytest.raises(ValueError, match="device='cpu': CudaVecEnv plays on 'cuda'"):
        build(CARRIED, 2, device="cpu")
    with pytest.raises(ValueError, match="seed: "):
        build(CARRIED, 2).reset(-1)


@pytest.mark.parametrize("name", ["torch", "numba_cuda"])
def test_what_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)
    needed = r"needs numba-cuda and torch: in a clone of linkzoo, pip install '\.\[cuda\]'"
    with pytest.raises(ImportError, match=needed):
        make_vec("linkage", 2, device="cuda")


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"^device='cuda': torch finds no CUDA GPU"):
        make_vec("linkage", 2, device="cuda")


SIMULATED = """
import sys
import numpy as np
from tests.common.test_vector import build as build_cpu
from tests.common.variants import ONE
from tests.cuda.without_gpu import assert_same_games, build, without_gpu
variant = next(variant for variant in ONE if variant.name == sys.argv[1])
with without_gpu(simulated=True):
    games = build(variant, 3)
    assert_same_games(build_cpu(variant, 3), games, int(sys.argv[2]), 2**64 - 1)
    games.refresh(np.arange(0))
print("same")
"""


@pytest.mark.slow  # quick: test_games_are_those_of_the_cpu
@pytest.mark.last
@pytest.mark.parametrize("steps", first_quick([4, 20], slow=0))
@pytest.mark.parametrize("name", first_quick([variant.name for variant in reversed(ONE)], slow=0))
def test_kernels_in_the_simulator(name: str, steps: int) -> None:
    """numba-cuda's own: the kernels' threads in the interpreter, in a process of their own."""
    settings = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    assert run_python("-c", SIMULATED, name, str(steps), **settings).split() == ["same"]
