"""Compiled loops over records: factories that combine a game's rules with a loop.

Each factory takes a game's functions and returns a loop over the rows `first`..`last - 1` of its
arrays. Rows are independent, so results don't depend on thread counts and batch sizes.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.protocols import (
    FillMasks,
    LegalActions,
    Observe,
    ObserveAction,
    ObserveActions,
    ObserveOne,
    ObserveRows,
    Outcome,
    Play,
    PlayOne,
    RecordOf,
    ResetRows,
    RowOf,
    SkipForcedActions,
    Step,
)
from linkzoo.core.state import Actions, Mask, Masks, Record, Records, SeatFloats, Seeds
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import STREAM_ACTION, game_seed, random_u64
from linkzoo.engine.threads import RowKernel

_BLOCK = 8  # actions; shorter and longer blocks are slower
# Rows worth a thread of their own.
_GRAIN = 1024
_GRAIN_QUICK = 4096
_GRAIN_SLOW = 64


@compiled
def count_legal(mask: Mask) -> int:
    """Returns the number of ones in a mask."""
    count = np.int32(0)  # twice as fast as int64
    for action in range(mask.shape[0]):
        count = np.int32(count + mask[action])
    return np.int64(count)  # type: ignore[return-value]  # int64


@compiled
def nth_legal(mask: Mask, n: int) -> int:
    """Returns the n-th legal action (from 0) of a mask with more than n.

    It adds up blocks of a fixed length, and counts in the last block without a branch. One loop
    over the mask takes 1.9 times as long in a step of 1,024 random games of Linkage.
    """
    start = 0
    size = mask.shape[0]
    while start + _BLOCK <= size:
        block = np.int64(0)
        for action in range(start, start + _BLOCK):
            block += mask[action]
        if n < block:
            break
        n -= block  # type: ignore[assignment]  # int64
        start += _BLOCK
    legal = start
    for action in range(start, min(start + _BLOCK, size)):
        n -= np.int64(mask[action])  # type: ignore[assignment]  # int64
        legal += n >= 0
    return legal


@compiled
def random_legal(mask: Mask, seed: np.uint64, stream: int, index: int) -> int:
    """Returns a uniformly random legal action; -1 for none."""
    count = count_legal(mask)
    if count == 0:
        return -1
    drawn = random_u64(seed, stream, index)
    return nth_legal(mask, np.int64(drawn % np.uint64(count)))  # type: ignore[arg-type]  # int64


@compiled
def first_illegal(masks: Masks, actions: Actions) -> int:
    """Returns the first row with an illegal action; -1 for none."""
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or masks[i, actions[i]] == 0:
            return i
    return -1


@compiled
def _fill_random_actions(
    first: int,
    last: int,
    masks: Masks,
    seeds: Seeds,
    index: NDArray[np.int64],  # [1]
    actions: Actions,
) -> None:
    for i in range(first, last):
        actions[i] = random_legal(masks[i], seeds[i], STREAM_ACTION, index[0])


_RANDOM_ACTIONS = RowKernel(_fill_random_actions, _GRAIN_QUICK)


@compiled
def row_of(rows: NDArray[Any], i: int) -> NDArray[Any]:
    """Returns row `i`."""
    return rows[i]  # type: ignore[no-any-return]  # a row


@cache
def make_skip_forced_actions(game: Game) -> SkipForcedActions:
    """Returns the function that plays forced actions and fills the mask."""
    legal_actions = game.rules.legal_actions
    apply = game.rules.apply

    @compiled
    def skip_forced_actions(state: Record, mask: Mask) -> None:
        legal_actions(state, mask)
        while state.skip_forced and state.seat >= 0 and count_legal(mask) == 1:
            apply(state, nth_legal(mask, 0))
            legal_actions(state, mask)

    return skip_forced_actions


@compiled
def record_of(records: Records, i: int) -> Record:
    """Returns record `i`."""
    return records[i]  # type: ignore[no-any-return]  # a record


def make_step(game: Game, row: RowOf = row_of, record: RecordOf = record_of) -> Step:
    """Returns the kernel that plays an action in every game and restarts finished games."""
    new_game = game.rules.new_game
    apply = game.rules.apply
    observe = game.observation.observe
    payoffs = game.payoffs
    score_margins = game.score_margins
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def step(
        first: int,
        last: int,
        states: Records,
        actions: Actions,
        run_seed: Seeds,  # [1]
        episodes: NDArray[np.int64],
        masks: NDArray[Any],
        observations: NDArray[Any],
        seats: NDArray[np.int8],
        payoff: SeatFloats,
        margin: SeatFloats,
        done: NDArray[np.bool_],
        lengths: NDArray[np.int32],
    ) -> None:
        payoff[first:last] = 0
        margin[first:last] = 0
        for i in range(first, last):
            state = record(states, i)
            apply(state, actions[i])
            skip_forced_actions(state, row(masks, i))
            lengths[i] = state.ply
            done[i] = state.seat < 0
            if done[i]:
                payoffs(state, payoff[i])
                score_margins(state, margin[i])
                episodes[i] += 1
                new_game(state, game_seed(run_seed[0], i, episodes[i]))
                skip_forced_actions(state, row(masks, i))
            seats[i] = state.seat
            observe(state, state.seat, row(observations, i))

    return step


def make_play(game: Game) -> Play:
    """Returns the kernel that plays an action in every record; negative ones are skipped."""
    apply = game.rules.apply
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def play(first: int, last: int, states: Records, actions: Actions, masks: Masks) -> None:
        for i in range(first, last):
            if actions[i] >= 0:
                apply(states[i], actions[i])
                skip_forced_actions(states[i], masks[i])

    return play


def make_fill_masks(legal_actions: LegalActions) -> FillMasks:
    """Returns the kernel that fills the masks of the current records."""

    @compiled
    def fill_masks(first: int, last: int, states: Records, masks: Masks) -> None:
        for i in range(first, last):
            legal_actions(states[i], masks[i])

    return fill_masks


def make_observe_rows(observe: Observe) -> ObserveRows:
    """Returns the kernel that fills row i with the observation of seat `seats[i]` in record i."""

    @compiled
    def observe_rows(
        first: int, last: int, states: Records, seats: NDArray[np.int8], out: NDArray[Any]
    ) -> None:
        for i in range(first, last):
            observe(states[i], seats[i], out[i])

    return observe_rows


def make_observe_actions(observe_action: ObserveAction, size: int) -> ObserveActions:
    """Returns the kernel that lists the legal actions of every record, with their features.

    `out[i]` consists of rows of 1 + `size` integers: 1 + the r-th legal action, and its features.
    Zeros follow the last; actions for which there is no room are left out. `scratch` holds as many
    records as `states`.
    """

    @compiled
    def observe_actions(
        first: int,
        last: int,
        states: Records,
        scratch: Records,
        masks: Masks,
        out: NDArray[np.int16],
    ) -> None:
        features = local(size, np.int8)
        for i in range(first, last):
            start = 0
            for action in range(masks.shape[1]):
                if masks[i, action] and start < out.shape[1]:
                    scratch[i] = states[i]
                    observe_action(states[i], action, scratch[i], features)
                    out[i, start] = 1 + action
                    for k in range(size):
                        out[i, start + 1 + k] = features[k]
                    start += 1 + size
            out[i, start:] = 0

    return observe_actions


def make_outcome(game: Game) -> Outcome:
    """Returns the kernel that fills payoffs (zeros before the end) and score margins."""
    payoffs = game.payoffs
    score_margins = game.score_margins

    @compiled
    def outcome(
        first: int, last: int, states: Records, payoff: SeatFloats, margin: SeatFloats
    ) -> None:
        for i in range(first, last):
            payoff[i] = 0
            if states[i].seat < 0:
                payoffs(states[i], payoff[i])
            score_margins(states[i], margin[i])

    return outcome


def make_reset_rows(game: Game) -> ResetRows:
    """Returns the kernel that resets row i if `plies[i] >= 0`, then plays that many random plies.

    The game has `seeds[i]`, the actions `action_seeds[i]`. An action that would end the game is
    left out: the game is replayed up to the action before, because a GPU has no room for a copy of
    the record. Options and number of players must be set.
    """
    new_game = game.rules.new_game
    apply = game.rules.apply
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def reset_rows(
        first: int,
        last: int,
        states: Records,
        masks: Masks,
        seeds: Seeds,
        action_seeds: Seeds,
        plies: NDArray[np.int64],
    ) -> None:
        for i in range(first, last):
            depth = plies[i]
            begins = depth >= 0
            while begins:
                new_game(states[i], seeds[i])
                skip_forced_actions(states[i], masks[i])
                played = 0
                while played < depth and states[i].seat >= 0:
                    action = random_legal(masks[i], action_seeds[i], STREAM_ACTION, played)
                    apply(states[i], action)
                    skip_forced_actions(states[i], masks[i])
                    played += 1
                begins = states[i].seat < 0 and played > 0
                depth = played - 1

    return reset_rows


@cache
def make_play_one(game: Game) -> PlayOne:
    """Returns the function that plays a legal action in the first record."""
    apply = game.rules.apply
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def play_one(states: Records, action: int, mask: Mask) -> int:
        apply(states[0], action)
        skip_forced_actions(states[0], mask)
        return states[0].seat  # type: ignore[no-any-return]  # int8

    return play_one


def make_observe_one(observe: Observe) -> ObserveOne:
    """Returns the function that fills a seat's observation of the first record, in any shape."""

    @compiled
    def observe_one(states: Records, seat: int, out: NDArray[Any]) -> None:
        observe(states[0], seat, out.reshape(-1))

    return observe_one


class Kernels:
    """The compiled loops of one game, made by the factories above.

    Functions named `…_one` run on the calling thread. Loops for parts that the game lacks are None.
    """

    def __init__(self, game: Game) -> None:
        self.reset_rows = RowKernel(make_reset_rows(game), _GRAIN)
        self.play = RowKernel(make_play(game), _GRAIN)
        self.fill_masks = RowKernel(make_fill_masks(game.rules.legal_actions), _GRAIN)
        self.observe = RowKernel(make_observe_rows(game.observation.observe), _GRAIN)
        self.outcome = RowKernel(make_outcome(game), _GRAIN)
        self.random_actions = _RANDOM_ACTIONS
        self.step = RowKernel(make_step(game), _GRAIN)
        self.play_one = make_play_one(game)
        self.observe_one = make_observe_one(game.observation.observe)
        self.reveal = None
        self.reveal_one = None
        reveal = game.observation.reveal
        if reveal is not None:
            self.reveal = RowKernel(make_observe_rows(reveal), _GRAIN)
            self.reveal_one = make_observe_one(reveal)
        self.observe_actions = None
        spec = game.observation.action_spec
        observe_action = game.observation.observe_action
        if spec is not None and observe_action is not None:
            kernel = make_observe_actions(observe_action, spec.size)
            self.observe_actions = RowKernel(kernel, _GRAIN_SLOW)

    def begin(self, states: Records, seeds: Seeds, masks: Masks) -> None:
        """Starts a new game in every record."""
        self.reset_rows(states, masks, seeds, seeds, np.zeros(len(states), np.int64))


@cache
def kernels(game: Game) -> Kernels:
    """Returns the compiled loops of a game; each is compiled at its first call."""
    return Kernels(game)


def observations(game: Game, states: Records, seats: NDArray[np.int8]) -> NDArray[Any]:
    """Returns the flat observations of seats [N] in records [N], [N, size]."""
    spec = game.observation.spec
    flat = np.empty((len(states), spec.size), spec.dtype)
    kernels(game).observe(states, np.ascontiguousarray(seats), flat)
    return flat
