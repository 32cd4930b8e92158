"""Chance is a function of the seed: known values, uniformity, equality across processes."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkzoo.core.kernels import _RANDOM_ACTIONS, count_legal, nth_legal, random_legal
from linkzoo.engine.rng import (
    SEED_LIMIT,
    STREAM_ACTION,
    below,
    game_seed,
    philox,
    random_u64,
    shuffle,
)
from tests.common.fingerprint import fingerprints
from tests.common.play import run_python
from tests.common.variants import Variant, every_variant
from tests.driving import NIGHTLY, SLOW, first_quick

words = st.integers(0, 2**64 - 1)
streams = st.integers(0, 2**32 - 1)

# The known answers for philox4x32 with 10 rounds of the Random123 library (kat_vectors): counter,
# key, words. The third one is made of the digits of pi.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def hexadecimal(text: str) -> tuple[np.uint64, ...]:
    return tuple(np.uint64(int(part, 16)) for part in text.split())


def chi_square(counts: list[int]) -> float:
    """Of the hypothesis that all are equally likely, in standard deviations from its mean."""
    expected = sum(counts) / len(counts)
    value = sum((count - expected) ** 2 / expected for count in counts)
    freedom = len(counts) - 1
    return float((value - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_known_answers(counter: str, key: str, expected: str) -> None:
    words = philox(hexadecimal(counter), hexadecimal(key))
    assert " ".join(f"{int(part):08x}" for part in words) == expected


@given(words, streams, words, streams)
def test_word_is_philox_of_its_arguments(seed: int, stream: int, index: int, position: int) -> None:
    counter = (position, index & 0xFFFFFFFF, stream, index >> 32)
    key = (seed & 0xFFFFFFFF, seed >> 32)
    first, second, _, _ = philox(tuple(map(np.uint64, counter)), tuple(map(np.uint64, key)))
    word = random_u64(np.uint64(seed), stream, np.uint64(index), position)
    assert int(word) == int(first) | int(second) << 32


def test_each_argument_matters() -> None:
    base = (3, 5, 7, 11)
    changed = {base}
    for place in range(4):
        for bit in (0, 1, 13, 31):
            one = list(base)
            one[place] ^= 1 << bit
            changed.add((one[0], one[1], one[2], one[3]))
    assert len({int(random_u64(*arguments)) for arguments in changed}) == len(changed) == 17


@given(st.integers(1, 2**63 - 1), words, streams, words)
def test_below_is_in_range(bound: int, seed: int, stream: int, index: int) -> None:
    assert 0 <= below(bound, np.uint64(seed), stream, np.uint64(index)) < bound


@pytest.mark.parametrize("bound", first_quick([1, 2, 3, 6, 7, 52, 320], 5, 0))
def test_below_is_uniform(bound: int) -> None:
    """Along each of the arguments that the rules count up."""
    draws = 200 * bound
    for along in range(4):
        arguments = [[9, 1, 2, 3] for _ in range(draws)]
        for number, one in enumerate(arguments):
            one[along] = number
        counts = Counter(below(bound, *one) for one in arguments)
        assert set(counts) == set(range(bound))
        if bound > 1:
            assert abs(chi_square(list(counts.values()))) < 4


def test_shuffle_is_uniform() -> None:
    counts: Counter[tuple[int, ...]] = Counter()
    for index in range(24 * 300):
        items = np.arange(4)
        shuffle(items, 4, 8, 1, index)
        counts[tuple(items.tolist())] += 1
    assert set(counts) == set(permutations(range(4)))
    assert abs(chi_square(list(counts.values()))) < 4


@given(st.integers(0, 40), words, words)
def test_shuffle_permutes_the_first_items(length: int, seed: int, index: int) -> None:
    items = np.arange(45, dtype=np.int16)
    shuffle(items, length, np.uint64(seed), 2, np.uint64(index))
    assert sorted(items[:length].tolist()) == list(range(length))
    assert items[length:].tolist() == list(range(length, 45))


def test_seeds_of_vector_games_differ() -> None:
    seeds = [
        int(game_seed(np.uint64(seed), index, episode))
        for seed in (0, 1, 2**64 - 1)
        for index in range(40)
        for episode in range(40)
    ]
    assert len(set(seeds)) == len(seeds)
    assert max(seeds) < SEED_LIMIT
    assert max(seeds) > SEED_LIMIT // 2


# Random legal actions


@given(st.lists(st.integers(0, 1), min_size=1, max_size=200))
def test_legal_actions_are_counted_and_found(bits: list[int]) -> None:
    mask = np.array(bits, np.int8)
    legal = np.flatnonzero(mask).tolist()
    assert count_legal(mask) == len(legal)
    assert [nth_legal(mask, n) for n in range(len(legal))] == legal
    action = random_legal(mask, np.uint64(1), 1, 1)
    assert action in legal if legal else action == -1


def test_many_legal_actions_are_counted() -> None:
    assert count_legal(np.ones(1000, np.int8)) == 1000
    assert nth_legal(np.ones(1000, np.int8), 999) == 999


@pytest.mark.parametrize("actions", [1, 7, 8, 9, 336])
def test_rows_of_random_actions_are_random_legal_actions(actions: int) -> None:
    chance = np.random.default_rng(actions)
    masks = (chance.random((40, actions)) < 0.5).astype(np.int8)
    masks[3] = 0
    seeds = chance.integers(0, 2**64, 40, dtype=np.uint64)
    actions_drawn = np.empty(40, np.int64)
    for index in (0, 5, 2**40 + 1):
        _RANDOM_ACTIONS(masks, seeds, np.array([index]), actions_drawn)
        rows = list(zip(masks, seeds, strict=True))
        expected = [random_legal(m, s, STREAM_ACTION, index) for m, s in rows]
        assert actions_drawn.tolist() == expected


def test_random_actions_are_uniform() -> None:
    mask = np.zeros(100, np.int8)
    mask[[0, 3, 31, 32, 63, 64, 99]] = 1
    counts = Counter(random_legal(mask, np.uint64(4), 1, index) for index in range(7 * 300))
    assert sorted(counts) == np.flatnonzero(mask).tolist()
    assert abs(chi_square(list(counts.values()))) < 4


# Games


@every_variant
def test_games_say_whether_their_seed_decides_anything(variant: Variant) -> None:
    """The first legal actions from several seeds: one game without chance, several with it."""
    seen = set()
    for seed in range(8):
        env = variant.env()
        env.reset(seed=seed)
        shown = []
        while not all(env.terminations.values()):
            mask = env.infos[env.agent_selection]["action_mask"]
            shown.append((env.agent_selection, mask.tobytes(), env.state().tobytes()))
            env.step(int(mask.argmax()))
        seen.add((*shown, *env.rewards.values()))
    assert (len(seen) > 1) == variant.game.facts.chance


# Processes


@pytest.mark.last
@pytest.mark.parametrize(
    "which", [pytest.param("one", marks=SLOW), pytest.param("all", marks=NIGHTLY)]
)
def test_processes_agree(which: str) -> None:
    """A fresh process with another hash seed shows the same games as this one."""
    here = "".join(f"{name}: {value}\n" for name, value in fingerprints(2, which).items())
    run = ("-m", "tests.common.fingerprint", "2", which)
    assert run_python(*run, PYTHONHASHSEED="4242") == here
