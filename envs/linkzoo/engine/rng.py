"""Counter-based chance: every random number is a pure function of (seed, stream, index, position).

There is no generator state to save, and no dependence on threads, batch size or who asked first.
The function is Philox-4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
1, 2, 3", SC 2011): the 64-bit seed is its key, the rest its 128-bit counter. Its 32-bit products
never overflow a 64-bit word, so the interpreter, CPU threads and CUDA give the same bits.

Streams 0..999 belong to the games' rules; the rest of the package uses the ones named here, and
nobody but tests (`testing/` among them) those from 9000 on.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.engine.compiled import compiled

STREAM_EPISODE = 1000  # seeds of a vector environment's games; index = game, position = episode
STREAM_ACTION = 1001  # random legal actions; index = ply
STREAM_SETUP = 1002  # random openings and mid-game starts
STREAM_SEARCH = 1003  # rollouts and redeals inside a search
STREAM_POOL = 1004  # which agent of a pool plays a seat; index = seat
# Of training. Where nothing else is said, index = plies played so far, position = game.
STREAM_OPPONENTS = 2000  # which snapshots are met; index = iteration, position = slot
STREAM_POLICY = 2001  # actions
STREAM_INITIAL_STATE = 2002  # what a game begins with; index = games begun so far, position = what
STREAM_VIEWS = 2003  # the symmetric view of a game
STREAM_FIXED_OPPONENT = 2004  # seeds of the decisions of fixed opponents
STREAM_SELF_PLAY = 2005  # seeds of searches
STREAM_TEACHER = 2006  # seeds of the decisions of the teacher
STREAM_INPUTS = 2007  # seeds of the decisions in games that show how inputs vary
STREAM_ORDER = 2008  # in which a trainer learns; index = pass over its data so far
STREAM_PART = 2010  # seeds of the parts of a run; index = part

SEED_LIMIT = 2**53  # seeds that the package draws are below this, so that JSON keeps them exactly

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLY_0 = np.uint64(0xD2511F53)
_MULTIPLY_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)


@compiled
def philox(counter: Any, key: Any) -> Any:
    """Philox-4x32-10 of four 32-bit counter words and two 32-bit key words, all held as uint64."""
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
def word(seed: Any, stream: Any, index: Any, position: Any = 0) -> Any:
    """A uniform 64-bit word (uint64). `stream` and `position` are below 2**32, `index` 2**64."""
    seed = np.uint64(seed)
    index = np.uint64(index)
    counter = (np.uint64(position), index & _LOW, np.uint64(stream), index >> _SHIFT)
    words = philox(counter, (seed & _LOW, seed >> _SHIFT))
    return words[0] | (words[1] << _SHIFT)


def words(
    seed: ArrayLike, stream: int, index: ArrayLike, position: ArrayLike = 0
) -> NDArray[np.uint64]:
    """`word` of numbers or arrays [N], one row for each: uint64[N]. None of them is negative."""
    rows = np.broadcast_arrays(*(np.asarray(part, np.uint64) for part in (seed, index, position)))
    seeds, indices, positions = map(np.array, rows)  # NumPy warns of those of one row as they are
    out = np.empty(len(seeds), np.uint64)
    _fill_words(seeds, np.uint64(stream), indices, positions, out)
    return out


@compiled
def _fill_words(seeds: Any, stream: Any, indices: Any, positions: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        out[i] = word(seeds[i], stream, indices[i], positions[i])


@compiled
def below(bound: Any, seed: Any, stream: Any, index: Any, position: Any = 0) -> Any:
    """A uniform integer in 0..bound-1 (the bias is below bound / 2**64)."""
    return np.int64(word(seed, stream, index, position) % np.uint64(bound))


@compiled
def shuffle(items: Any, length: Any, seed: Any, stream: Any, index: Any) -> None:
    """Permutes `items[:length]` uniformly in place (Fisher-Yates; one position a swap)."""
    for last in range(length - 1, 0, -1):
        other = below(last + 1, seed, stream, index, last)
        items[last], items[other] = items[other], items[last]


def permutation(length: int, seed: int, stream: int, index: int) -> NDArray[np.int64]:
    """The numbers 0..length-1, shuffled; int64[length]."""
    items = np.arange(length)
    shuffle(items, length, np.uint64(seed), stream, index)
    return items


@compiled
def game_seed(seed: Any, index: Any, episode: Any) -> Any:
    """The seed of game `index` of a vector environment in its `episode`-th episode."""
    return word(seed, STREAM_EPISODE, index, episode) % np.uint64(SEED_LIMIT)


def game_seeds(seed: Any, indices: ArrayLike, episode: ArrayLike = 0) -> NDArray[np.uint64]:
    """`game_seed` of games [N]: uint64[N]."""
    return words(seed, STREAM_EPISODE, indices, episode) % np.uint64(SEED_LIMIT)
