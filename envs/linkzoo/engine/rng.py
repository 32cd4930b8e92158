"""Counter-based random numbers, pure functions of (seed, stream, index, position).

There is no generator state to save, and no dependence on threads, batch size or call order. The
generator is Philox-4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
2, 3", SC 2011): the 64-bit seed is its key, the other arguments its 128-bit counter. Its 32-bit
products fit in 64 bits, so the interpreter, CPU threads and CUDA give the same bits.

Streams 0..999 belong to the games' rules. The rest of the package uses the ones named here; tests
(`testing/` included) use streams from 9000 on.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel

Word = int | np.uint64  # non-negative, at most 64 bits
Words = NDArray[np.uint64]

STREAM_EPISODE = 1000  # seeds of a vector environment's games; index = game, position = episode
STREAM_ACTION = 1001  # random legal actions; index = ply
STREAM_SETUP = 1002  # random openings and mid-game starts
STREAM_SEARCH = 1003  # rollouts and determinizations inside a search
STREAM_POOL = 1004  # agent in a seat of a pool game; index = seat
STREAM_PREDICT = 1005  # seeds of a policy's decisions; index = decisions so far
# For training; by default index = plies played so far, position = game.
STREAM_OPPONENTS = 2000  # choice of snapshots; index = iteration, position = slot
STREAM_POLICY = 2001  # sampled actions
STREAM_INITIAL_STATE = 2002  # initial states; index = games started so far, position = quantity
STREAM_VIEWS = 2003  # the symmetric view of a game
STREAM_FIXED_OPPONENT = 2004  # seeds of the decisions of fixed opponents
STREAM_SELF_PLAY = 2005  # seeds of searches
STREAM_TEACHER = 2006  # seeds of the decisions of the teacher
STREAM_INPUTS = 2007  # seeds of the decisions in games sampled for input statistics
STREAM_ORDER = 2008  # order of training data; index = passes over the data so far
STREAM_LABELS = 2009  # games and playouts of labelled positions
STREAM_PART = 2010  # seeds of a run's parts; index = part
STREAM_POSITIONS = 2011  # choice of positions from records
STREAM_REFERENCE = 2012  # opponents at the tables of a reference; index = block, position = side

SEED_LIMIT = 2**53  # exclusive limit of generated seeds, exact in JSON

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLY_0 = np.uint64(0xD2511F53)
_MULTIPLY_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)


@compiled
def philox(counter: tuple[np.uint64, ...], key: tuple[np.uint64, ...]) -> tuple[np.uint64, ...]:
    """Applies Philox-4x32-10 to four 32-bit counter words and two key words, all as uint64."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        product0 = _MULTIPLY_0 * c0
        product1 = _MULTIPLY_1 * c2
        c0, c1, c2, c3 = (
            (product1 >> _SHIFT) ^ c1 ^ k0,
            product1 & _LOW,
            (product0 >> _SHIFT) ^ c3 ^ k1,
            product0 & _LOW,
        )
        k0 = (k0 + _WEYL_0) & _LOW
        k1 = (k1 + _WEYL_1) & _LOW
    return c0, c1, c2, c3


@compiled
def random_u64(seed: Word, stream: Word, index: Word, position: Word = 0) -> np.uint64:
    """Returns a uniform uint64, a pure function of the arguments.

    Args:
        seed: The seed, 0..2**64-1.
        stream: The independent stream, 0..2**32-1.
        index: Index in the stream, 0..2**64-1.
        position: Position at the index, 0..2**32-1.
    """
    seed = np.uint64(seed)
    index = np.uint64(index)
    counter = (np.uint64(position), index & _LOW, np.uint64(stream), index >> _SHIFT)
    words = philox(counter, (seed & _LOW, seed >> _SHIFT))
    return words[0] | (words[1] << _SHIFT)


def random_u64s(
    seed: ArrayLike, stream: int, index: ArrayLike, position: ArrayLike = 0
) -> NDArray[np.uint64]:
    """Returns `random_u64` of numbers or arrays [N], uint64[N].

    Raises:
        ValueError: An argument isn't an integer as for `random_u64`, or an array of them.
    """
    rows = np.broadcast_arrays(
        as_words("seed", seed), as_words("index", index), as_words("position", position, 32)
    )
    # NumPy warns about overflow for scalars only.
    seeds, indices, positions = map(np.array, rows)
    out = np.empty(len(seeds), np.uint64)
    _FILL(seeds, as_words("stream", stream, 32)[0], indices, positions, out)
    return out


def as_words(name: str, part: ArrayLike, bits: int = 64) -> Words:
    """Returns numbers as uint64[N]; ValueError unless they are integers in 0..2**bits-1."""
    try:
        numbers = np.atleast_1d(np.asarray(part))
    except ValueError as error:  # lists of several lengths
        raise ValueError(f"{name}: {error}") from error
    known = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not numbers.size)
    if not known or (numbers.size and (numbers.min() < 0 or int(numbers.max()) >> bits)):
        raise ValueError(f"{name}: not an integer in 0..2**{bits}-1, nor an array [N] of them")
    return numbers.astype(np.uint64, copy=False)


@compiled
def _fill_random_u64s(
    first: int,
    last: int,
    seeds: Words,
    stream: np.uint64,
    indices: Words,
    positions: Words,
    out: Words,
) -> None:
    for i in range(first, last):
        out[i] = random_u64(seeds[i], stream, indices[i], positions[i])


_FILL = RowKernel(_fill_random_u64s, 16384)


@compiled
def below(bound: Word, seed: Word, stream: Word, index: Word, position: Word = 0) -> int:
    """Returns a uniform integer in 0..bound-1 (the bias is below bound / 2**64)."""
    return np.int64(random_u64(seed, stream, index, position) % np.uint64(bound))  # type: ignore[return-value]  # int64


@compiled
def shuffle(items: NDArray[Any], length: int, seed: Word, stream: Word, index: Word) -> None:
    """Permutes `items[:length]` uniformly in place (Fisher-Yates, one position per swap)."""
    for last in range(length - 1, 0, -1):
        other = below(last + 1, seed, stream, index, last)
        items[last], items[other] = items[other], items[last]


def permutation(length: int, seed: int, stream: int, index: int) -> NDArray[np.int64]:
    """Returns a random permutation of 0..length-1, int64[length]; raises as `random_u64s`."""
    items = np.arange(int(as_words("length", length)[0]))
    words = [as_words("seed", seed), as_words("stream", stream, 32), as_words("index", index)]
    shuffle(items, len(items), *(word[0] for word in words))
    return items


@compiled
def game_seed(seed: Word, index: Word, episode: Word) -> np.uint64:
    """Returns the seed of game `index` of a vector environment in its `episode`-th episode."""
    return random_u64(seed, STREAM_EPISODE, index, episode) % np.uint64(SEED_LIMIT)


def game_seeds(seed: Any, indices: ArrayLike, episode: ArrayLike = 0) -> NDArray[np.uint64]:
    """Returns `game_seed` of games [N], uint64[N]."""
    return random_u64s(seed, STREAM_EPISODE, indices, episode) % np.uint64(SEED_LIMIT)
