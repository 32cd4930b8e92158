"""Chance by a script: the random numbers of an action, one result after another.

The rules draw by `rng.below` and `rng.shuffle` alone. Here both are replaced by functions that read
their results from a script, and add to it what they were asked for. `next_script` goes on to the
next results, like an odometer, until all have been. Shuffled piles are drawn from their end, so
only the items drawn are varied; the order of the rest is unknown and stays unknown.
"""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]  # carray
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from linkzoo.engine import rng
from linkzoo.engine.compiled import compiled
from linkzoo.engine.substitute import substitute

_intrinsic: Any = intrinsic  # decorated functions are called without typing context
F = TypeVar("F", bound=Callable[..., Any])
Script = NDArray[np.int64]

SCRIPT_WORDS = 1 << 13
# A script is a list of events behind two words: where it is read, and where it ends.
CURSOR = 0
END = 1
HEAD = 2  # words before the first event
# An event has a kind, a number, the address of the items, the number of items drawn, and its
# results.
_BELOW = 0  # the number is the bound; one result
_SHUFFLE = 1  # the number is the number of items; the results are the items as they are drawn
PILE = 2  # as _SHUFFLE, for a pile that was shuffled before the action; its index as the address
_EVENT = 4  # words before the results
# Values of the cursor, and errors of `probability_of`.
TOO_LONG = SCRIPT_WORDS + 1
UNKNOWN = SCRIPT_WORDS + 2
ORDERED = -1


class Piles(NamedTuple):
    """The shuffled piles of a record, as views of it.

    Attributes:
        items: [L], the field.
        sizes: [K], the number of items left in each pile.
        starts: int64[K], where each begins in the field.
    """

    items: NDArray[Any]
    sizes: NDArray[Any]
    starts: NDArray[np.int64]


@_intrinsic  # type: ignore[untyped-decorator]
def _as_pointer(_typing: Any, address: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(address), generate


def script_at(address: np.uint64) -> Script:
    """Returns the script at an address."""
    words: Any = (ctypes.c_int64 * SCRIPT_WORDS).from_address(int(address))
    return np.frombuffer(words, np.int64)


@overload(script_at)
def _compile_script_at(address: np.uint64) -> Any:  # noqa: ARG001 - its type
    def compiled_script_at(address: np.uint64) -> Script:
        return carray(_as_pointer(address), (SCRIPT_WORDS,))

    return compiled_script_at


def scripted(rule: F) -> F:
    """Returns a copy of a rule that draws by a script, whose address is its seed."""
    replacements = {
        rng.below: _scripted_below,
        rng.shuffle: _scripted_shuffle,
        rng.random_u64: _no_script,
    }
    return substitute(rule, replacements)


@compiled
def _no_script(
    seed: rng.Word,
    stream: rng.Word,  # noqa: ARG001 - as rng.random_u64
    index: rng.Word,  # noqa: ARG001
    position: rng.Word = 0,  # noqa: ARG001
) -> int:
    """Takes the place of `rng.random_u64`, whose results can't be counted."""
    script_at(np.uint64(seed))[CURSOR] = UNKNOWN
    return 0


@compiled
def _scripted_below(
    bound: rng.Word,
    seed: np.uint64,
    stream: rng.Word,  # noqa: ARG001 - as rng.below
    index: rng.Word,  # noqa: ARG001
    position: rng.Word = 0,  # noqa: ARG001
) -> int:
    """Takes the place of `rng.below`; `seed` is the address of a script."""
    script = script_at(np.uint64(seed))
    event = script[CURSOR]
    if event + _EVENT + 1 > SCRIPT_WORDS:
        script[CURSOR] = max(event, TOO_LONG)
        return 0
    if event >= script[END]:
        script[event] = _BELOW
        script[event + 1] = bound
        script[event + 2] = 0
        script[event + _EVENT] = 0
        script[END] = event + _EVENT + 1
    script[CURSOR] = event + _EVENT + 1
    return np.int64(script[event + _EVENT])  # type: ignore[return-value]  # int64


@compiled
def _scripted_shuffle(
    items: NDArray[Any],
    length: int,
    seed: np.uint64,
    stream: rng.Word,  # noqa: ARG001 - as rng.shuffle
    index: rng.Word,  # noqa: ARG001
) -> None:
    """Takes the place of `rng.shuffle`; `seed` is the address of a script."""
    arrange(items, length, script_at(np.uint64(seed)), _SHUFFLE, items.ctypes.data)


@compiled
def arrange(items: NDArray[Any], length: int, script: Script, kind: int, address: int) -> None:
    """Orders `items[:length]` as the script says; a new event begins with the sorted order."""
    event = script[CURSOR]
    results = event + _EVENT
    if results + length > SCRIPT_WORDS:
        script[CURSOR] = max(event, TOO_LONG)
        return
    if event >= script[END]:
        script[event] = kind
        script[event + 1] = length
        script[event + 2] = address
        for i in range(length):
            _insert(script, results, i, int(items[i]))
        script[END] = results + length
    script[CURSOR] = results + length
    for i in range(length):
        items[length - 1 - i] = script[results + i]


@compiled
def _insert(script: Script, start: int, length: int, value: int) -> None:
    """Inserts a value into the sorted `script[start : start + length]`."""
    place = start + length
    while place > start and script[place - 1] > value:
        script[place] = script[place - 1]
        place -= 1
    script[place] = value


@compiled
def probability_of(script: Script, piles: Piles) -> float:
    """Returns the probability of a script's events, and notes what was drawn from the piles.

    Args:
        script: The script.
        piles: The piles after the action.

    Returns:
        The probability; `ORDERED` if items were put back in an order that isn't random.
    """
    probability = 1.0
    event = HEAD
    while event < script[END]:
        if script[event] == _BELOW:
            probability /= script[event + 1]
        else:
            drawn = _drawn(script, event, piles)
            if drawn < 0:
                return float(drawn)
            script[event + 3] = drawn
            probability *= _likelihood(script, event + _EVENT, int(script[event + 1]), drawn)
        event += _length(script, event)
    return probability


@compiled
def _drawn(script: Script, event: int, piles: Piles) -> int:
    """Returns the number of items drawn after an event that ordered them, or `ORDERED`."""
    length = int(script[event + 1])
    number = _pile_number(script, event, piles)
    if number < 0:
        return length
    later = event + _EVENT + length
    while later < script[END]:
        if _pile_number(script, later, piles) == number:
            return length  # the pile was empty, and formed anew
        later += _length(script, later)
    left = int(piles.sizes[number])
    if left > length:
        return ORDERED
    for i in range(left):
        if piles.items[piles.starts[number] + i] != script[event + _EVENT + length - 1 - i]:
            return ORDERED
    return length - left


@compiled
def _pile_number(script: Script, event: int, piles: Piles) -> int:
    """Returns the number of the pile that an event orders; -1 for other items."""
    if script[event] == PILE:
        return int(script[event + 2])
    if script[event] == _SHUFFLE:
        # Of piles that begin at the same place all but the last are always empty.
        for number in range(piles.starts.shape[0] - 1, -1, -1):
            offset = piles.starts[number] * piles.items.itemsize
            if script[event + 2] == piles.items.ctypes.data + offset:
                return number
    return -1


@compiled
def _length(script: Script, event: int) -> int:
    """Returns the number of words of an event."""
    if script[event] == _BELOW:
        return _EVENT + 1
    return _EVENT + int(script[event + 1])


@compiled
def _likelihood(script: Script, start: int, length: int, drawn: int) -> float:
    """Returns the probability that the first `drawn` of shuffled items are those of the script."""
    probability = 1.0
    for i in range(drawn):
        equal = 0
        for j in range(i, length):
            if script[start + j] == script[start + i]:
                equal += 1
        probability *= equal / (length - i)
    return probability


@compiled
def count_ways(script: Script) -> float:
    """Returns how many scripts have these events, with the same numbers of items drawn."""
    ways = 1.0
    event = HEAD
    while event < script[END]:
        if script[event] == _BELOW:
            ways *= script[event + 1]
        else:
            length = int(script[event + 1])
            ways *= _count_draws(script, event + _EVENT, length, int(script[event + 3]))
        event += _length(script, event)
    return ways


@compiled
def _count_draws(script: Script, start: int, length: int, drawn: int) -> float:
    """Returns how many different sequences of `drawn` items can be drawn from shuffled items."""
    counts = np.zeros(drawn + 1)  # sequences of 0, 1, ... items of the kinds so far
    counts[0] = 1.0
    for i in range(length):
        equal = 0
        is_first = True
        for j in range(length):
            if script[start + j] == script[start + i]:
                equal += 1
                is_first = is_first and j >= i
        if is_first:
            for total in range(drawn, 0, -1):
                choices = 1.0  # of places for the items of this kind
                for placed in range(1, min(equal, total) + 1):
                    choices *= (total - placed + 1) / placed
                    counts[total] += choices * counts[total - placed]
    return float(counts[drawn])


@compiled
def next_script(script: Script) -> bool:
    """Goes on to the next results, the last event's first; False if there are none."""
    while script[END] > HEAD:
        event = HEAD
        while event + _length(script, event) < script[END]:
            event += _length(script, event)
        results = event + _EVENT
        if script[event] == _BELOW:
            script[results] += 1
            if script[results] < script[event + 1]:
                return True
        elif _next_order(script, results, int(script[event + 1]), int(script[event + 3])):
            return True
        script[END] = event
    return False


@compiled
def _next_order(script: Script, start: int, length: int, drawn: int) -> bool:
    """Goes on to the next order with other items among the `drawn` first; False after the last.

    It is the next permutation in lexicographic order, where the items behind `drawn` are in the
    last of their orders.
    """
    end = start + length
    _sort_descending(script, start + drawn, end)
    pivot = min(start + drawn - 1, end - 2)
    while pivot >= start and script[pivot] >= script[pivot + 1]:
        pivot -= 1
    if pivot < start:
        return False
    other = end - 1
    while script[other] <= script[pivot]:
        other -= 1
    script[pivot], script[other] = script[other], script[pivot]
    low = pivot + 1
    high = end - 1
    while low < high:
        script[low], script[high] = script[high], script[low]
        low += 1
        high -= 1
    return True


@compiled
def _sort_descending(script: Script, start: int, end: int) -> None:
    for i in range(start + 1, end):
        value = script[i]
        place = i
        while place > start and script[place - 1] < value:
            script[place] = script[place - 1]
            place -= 1
        script[place] = value


@compiled
def sort_piles(piles: Piles) -> None:
    """Sorts the items left in every pile: nobody knows their order."""
    for number in range(piles.starts.shape[0]):
        first = piles.starts[number]
        for i in range(first + 1, first + piles.sizes[number]):
            item = piles.items[i]
            place = i
            while place > first and piles.items[place - 1] > item:
                piles.items[place] = piles.items[place - 1]
                place -= 1
            piles.items[place] = item
