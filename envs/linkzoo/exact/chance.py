"""All outcomes of chance of an action, with their probabilities."""

from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.state import Masks, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.exact.hashing import TABLE, Words, clear, enter, hash_of, words_of
from linkzoo.exact.script import (
    CURSOR,
    END,
    HEAD,
    PILE,
    SCRIPT_WORDS,
    UNKNOWN,
    Piles,
    Script,
    arrange,
    count_ways,
    next_script,
    probability_of,
    scripted,
    sort_piles,
)

_MOST_OUTCOMES = TABLE // 2  # of an action
MAX_WAYS = 1 << 22  # in which chance can fall out in an action; equal outcomes count each time
# Errors of the kernel.
_FULL = -1
_FULL_EDGES = -2
_TOO_MANY = -3
_ORDERED = -4
_LONG = -5
_UNKNOWN = -6
_ERRORS = {
    _TOO_MANY: "the deal or an action has too many outcomes",
    _ORDERED: "items are put back into a pile in an order that isn't random",
    _LONG: f"chance takes more than {SCRIPT_WORDS:,} numbers in one action",
    _UNKNOWN: "the rules draw by `rng.random_u64`: use `rng.below` or `rng.shuffle`",
}


class Expanded(NamedTuple):
    """Edges, the actions of records, and their outcomes.

    Attributes:
        rows: int64[N], the number of edges up to and with each record.
        actions: int32[E], the action of each edge.
        ends: int64[E], the number of outcomes up to and with each edge.
        words: uint64[O, W], the records after, as words; their seed is 0, their piles are sorted.
        probabilities: float64[O], of each outcome of its edge.
    """

    rows: NDArray[np.int64]
    actions: NDArray[np.int32]
    ends: NDArray[np.int64]
    words: Words
    probabilities: NDArray[np.float64]

    def states(self, dtype: np.dtype[Any]) -> Records:
        """Returns the records after [O]."""
        return self.words.view(dtype).reshape(-1)


class _Workspace(NamedTuple):
    """The buffers of the kernel.

    Attributes:
        scratch: A record [1].
        words: The same as words [1, W].
        piles: Its piles.
        script: The script.
        table: int32[TABLE], finds equal outcomes; empty between actions.
        hashes: uint64[O], of the outcomes.
        max_ways: The most ways in which chance may fall out in an action.
    """

    scratch: Records
    words: Words
    piles: Piles
    script: Script
    table: NDArray[np.int32]
    hashes: Words
    max_ways: int


class _Play(Protocol):
    """Plays an action, or deals, in the scratch record as the script says."""

    def __call__(self, parent: Record, action: int, space: _Workspace) -> None: ...


class _Outcomes(Protocol):
    """Writes the outcomes of an action or the deal from `first` on; returns their end or error."""

    def __call__(
        self, parent: Record, action: int, first: int, space: _Workspace, out: Expanded
    ) -> int: ...


class _Expand(Protocol):
    """Fills `out` with all actions of records; returns 0 or an error."""

    def __call__(self, states: Records, masks: Masks, space: _Workspace, out: Expanded) -> int: ...


class Expander:
    """Plays actions with all outcomes of chance.

    Args:
        game: The game.
        max_ways: The most ways in which chance may fall out in an action or in the deal.

    Raises:
        ValueError: The game has chance, and doesn't declare it (`Game.chance`).
    """

    def __init__(self, game: Game, max_ways: int = MAX_WAYS) -> None:
        self._game = game
        _check_chance(game)
        scratch = np.zeros(1, game.state)
        piles = Piles(np.zeros(0, np.int8), np.zeros(0, np.int8), np.zeros(0, np.int64))
        chance = game.chance
        if chance is not None and chance.pile is not None:
            items = scratch[chance.pile].reshape(-1)
            sizes = scratch[chance.size].reshape(-1)
            piles = Piles(items, sizes, np.array(chance.starts, np.int64))
        self._space = _Workspace(
            scratch,
            words_of(scratch),
            piles,
            np.zeros(SCRIPT_WORDS, np.int64),
            np.zeros(TABLE, np.int32),
            np.empty(0, np.uint64),
            max_ways,
        )
        self._edges = 1 << 12
        self._outcomes = 1 << 12

    def begin(self, blank: Record) -> Expanded:
        """Returns the first positions: the outcomes of one edge.

        Args:
            blank: A record with the number of players and the options (`Game.blank`).

        Raises:
            ValueError: As `expand`.
        """
        states = np.zeros(1, self._game.state)
        states[0] = blank
        return self._run(_make_deal(self._game), states, np.ones((1, 1), np.int8))

    def expand(self, states: Records, masks: Masks) -> Expanded:
        """Returns the outcomes of all legal actions.

        Args:
            states: Records [N].
            masks: Their legal actions, int8[N, num_actions].

        Raises:
            ValueError: An action has too many outcomes, or the rules draw in a way that can't be
                enumerated.
        """
        return self._run(_make_expand(self._game), states, masks)

    def forget(self, states: Records) -> None:
        """Removes the seed and the order of the piles from records [N], as outcomes have none."""
        scratch = self._space.scratch
        for i in range(len(states)):
            scratch[0] = states[i]
            scratch["seed"] = 0
            sort_piles(self._space.piles)
            states[i] = scratch[0]

    def _run(self, kernel: _Expand, states: Records, masks: Masks) -> Expanded:
        words = self._space.words.shape[1]
        while True:
            out = Expanded(
                np.zeros(len(states), np.int64),
                np.empty(self._edges, np.int32),
                np.empty(self._edges, np.int64),
                np.empty((self._outcomes, words), np.uint64),
                np.empty(self._outcomes),
            )
            space = self._space._replace(hashes=np.empty(self._outcomes, np.uint64))
            error = kernel(states, masks, space, out)
            if error == _FULL_EDGES:
                self._edges *= 2
            elif error == _FULL:
                self._outcomes *= 2
            elif error:
                smaller = ""
                if error == _TOO_MANY and self._game.editions:
                    smaller = f"; there are the editions {list(self._game.editions)}"
                raise ValueError(f"{self._game}: {_ERRORS[error]}{smaller}")
            else:
                return _trimmed(out)


def _trimmed(out: Expanded) -> Expanded:
    """Returns the parts of the arrays that are filled."""
    edges = int(out.rows[-1])
    outcomes = 0
    if edges:
        outcomes = int(out.ends[edges - 1])
    return Expanded(
        out.rows,
        out.actions[:edges],
        out.ends[:edges],
        out.words[:outcomes],
        out.probabilities[:outcomes],
    )


def _check_chance(game: Game) -> None:
    """Raises ValueError if a game has chance and doesn't declare it."""
    if game.facts.chance and game.chance is None:
        raise ValueError(
            f"{game} has chance and doesn't declare it: `Game(chance=Chance(...))` names the field "
            "of its shuffled pile; `Chance()` is for rules without one"
        )


@cache
def _make_deal(game: Game) -> _Expand:
    """Returns the kernel of `Expander.begin`."""
    new_game = scripted(game.rules.new_game)

    @compiled
    def deal(parent: Record, action: int, space: _Workspace) -> None:  # noqa: ARG001 - as _Play
        new_game(_restart(parent, space), np.uint64(space.script.ctypes.data))

    return _make_expand_by(deal)


@cache
def _make_expand(game: Game) -> _Expand:
    """Returns the kernel of `Expander.expand`."""
    apply = scripted(game.rules.apply)

    @compiled
    def play(parent: Record, action: int, space: _Workspace) -> None:
        state = _restart(parent, space)
        piles = space.piles
        for number in range(piles.starts.shape[0]):
            items = piles.items[piles.starts[number] :]
            arrange(items, int(piles.sizes[number]), space.script, PILE, number)
        apply(state, action)

    return _make_expand_by(play)


@compiled
def _restart(parent: Record, space: _Workspace) -> Record:
    """Copies a record to the scratch record, and begins to read the script."""
    space.scratch[0] = parent
    state = space.scratch[0]
    state.seed = np.uint64(space.script.ctypes.data)
    space.script[CURSOR] = HEAD
    return state  # type: ignore[no-any-return]  # a record


def _make_outcomes(play: _Play) -> _Outcomes:
    """Returns the function that plays an action with all outcomes."""

    @compiled
    def outcomes(parent: Record, action: int, first: int, space: _Workspace, out: Expanded) -> int:
        space.script[END] = HEAD
        count = first
        ways = 0
        error = 0
        more = True
        while more and error == 0:
            play(parent, action, space)
            probability = probability_of(space.script, space.piles)
            room = len(out.words) - count
            error = _error_of(space.script[CURSOR], probability, count - first, room)
            ways += 1
            too_many = ways > space.max_ways
            if ways == 1:
                too_many = count_ways(space.script) > space.max_ways
            if error == 0 and too_many:
                error = _TOO_MANY
            if error == 0:
                more = next_script(space.script)
                sort_piles(space.piles)
                space.scratch[0].seed = 0
                place = _place_of(space, count, out)
                out.probabilities[place] += probability
                count = max(count, place + 1)
        for i in range(first, count):
            clear(space.table, space.hashes[i])
        if error < 0:
            return error
        return count

    return outcomes


def _make_expand_by(play: _Play) -> _Expand:
    """Returns the kernel that plays all legal actions with all outcomes."""
    outcomes = _make_outcomes(play)

    @compiled
    def expand(states: Records, masks: Masks, space: _Workspace, out: Expanded) -> int:
        edges = 0
        count = 0
        for i in range(len(states)):
            for action in range(masks.shape[1]):
                if masks[i, action] == 0:
                    continue
                if edges == len(out.actions):
                    return _FULL_EDGES
                count = outcomes(states[i], action, count, space, out)
                if count < 0:
                    return count
                out.actions[edges] = action
                out.ends[edges] = count
                edges += 1
            out.rows[i] = edges
        return 0

    return expand


@compiled
def _error_of(cursor: int, probability: float, outcomes: int, room: int) -> int:
    """Returns the error of an outcome, 0 for none."""
    if cursor == UNKNOWN:
        return _UNKNOWN
    if cursor > SCRIPT_WORDS:
        return _LONG
    if probability < 0:
        return _ORDERED
    if outcomes == _MOST_OUTCOMES:
        return _TOO_MANY
    if room == 0:
        return _FULL
    return 0


@compiled
def _place_of(space: _Workspace, count: int, out: Expanded) -> int:
    """Returns the index of an equal outcome; writes the scratch record at `count` without one."""
    space.hashes[count] = hash_of(space.words[0])
    place = enter(space.table, space.hashes, count, out.words, space.words[0])
    if place == count:
        for k in range(space.words.shape[1]):
            out.words[count, k] = space.words[0, k]
        out.probabilities[count] = 0
    return place
