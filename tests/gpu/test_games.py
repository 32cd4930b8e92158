"""The games on a real GPU: `make test-gpu`."""

from typing import Any

import pytest
import torch

from linkzoo import make_vec
from tests.common.test_vector import build as build_cpu
from tests.common.variants import ALL, FEW, OTHER_RULES, Variant
from tests.cuda.without_gpu import assert_same_games

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def build(variant: Variant, num_envs: int, **kwargs: Any) -> Any:
    options: dict[str, Any] = {"device": "cuda", **kwargs, **variant.options}
    return make_vec(variant.name, num_envs, variant.num_players, **options)


def check(variant: Variant) -> None:
    """Compares many games with the CPU's, to the byte; floating-point rewards too."""
    for reward in ("win", "score"):
        cpu = build_cpu(variant, 1000, reward=reward)
        steps = 2 * variant.game.facts.typical_length
        other = build(variant, 1000, reward=reward)
        assert assert_same_games(cpu, other, steps, 2**64 - 1) > 500


@pytest.mark.parametrize("variant", [v for v in ALL if v not in OTHER_RULES], ids=str)
def test_games_are_those_of_the_cpu(variant: Variant) -> None:
    check(variant)


@pytest.mark.parametrize("variant", OTHER_RULES, ids=str)
def test_other_rules(variant: Variant) -> None:
    """Compiled for a board or cards of their own: minutes more."""
    check(variant)


@pytest.mark.parametrize("variant", FEW, ids=str)
def test_the_same_again(variant: Variant) -> None:
    def play() -> bytes:
        vec = build(variant, 5000, check=False)
        now = vec.reset(3)
        for _ in range(50):
            now = vec.step(now.action_mask.argmax(1))
        final_states: bytes = vec.states.cpu().numpy().tobytes()
        return final_states

    assert play() == play()


@pytest.mark.filterwarnings("ignore:.*Synchronization debug mode")  # torch's, of the mode itself
@pytest.mark.parametrize("variant", FEW[-1:], ids=str)
def test_on_the_current_stream(variant: Variant) -> None:
    """A step waits for earlier work of its stream, and the host for nothing."""
    vec, expected = build(variant, 1000, check=False), build(variant, 1000)
    now, then = vec.reset(3), expected.reset(3)
    legal = now.action_mask.argmax(1)
    vec.step(legal)  # compiled
    now = vec.reset(3)
    actions = torch.full_like(legal, 10**6)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    before = torch.cuda.get_sync_debug_mode()
    try:
        torch.cuda.set_sync_debug_mode("error")
        with torch.cuda.stream(stream):
            torch.cuda._sleep(10**9)  # cycles: longer than a busy host takes
            actions.copy_(legal)
            now = vec.step(actions)
            assert not stream.query(), "the step waited"
    finally:
        torch.cuda.set_sync_debug_mode(before)
    stream.synchronize()
    then = expected.step(legal)
    assert torch.equal(now.observation, then.observation)
    assert torch.equal(vec.states, expected.states)


@pytest.mark.parametrize("variant", FEW[-1:], ids=str)
def test_illegal_actions_move_no_game(variant: Variant) -> None:
    vec = build(variant, 1000)
    now = vec.reset(3)
    actions = now.action_mask.argmax(1)
    actions[[7, 800]] = now.action_mask[7].argmin()
    before = vec.states.clone()
    with pytest.raises(ValueError, match=r"^environment 7: action "):
        vec.step(actions)
    assert torch.equal(vec.states, before)
