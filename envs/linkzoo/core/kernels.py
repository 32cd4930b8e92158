"""Runs one game over arrays of records, compiled: the only place where rules meet a loop.

The functions below call a game's rules by the names of its contract (`apply`, `legal_actions`, …);
`kernels(game)` binds those names and compiles. Rows are independent: thread counts and batch sizes
change nothing but speed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from linkzoo.engine.rng import STREAM_ACTION, game_seed, word
from linkzoo.engine.compiled import compiled, specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows

_BLOCK = 32
_LEAST, _LEAST_QUICK = 64, 512  # rows that are worth a thread of their own

# The names that `kernels` binds to a game's functions.
new_game: Callable[..., Any]
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
observe: Callable[..., Any]
payoffs: Callable[..., Any]
margins: Callable[..., Any]
reveal: Callable[..., Any]
settle: Callable[..., Any]
row: Callable[..., Any]


@compiled
def count_legal(mask: Any) -> Any:
    """The number of ones in a mask."""
    count = np.int64(0)  # from 0, the interpreter would count in the mask's int8
    for action in range(mask.shape[0]):
        count += mask[action]
    return count


@compiled
def nth_legal(mask: Any, n: Any) -> Any:
    """The n-th legal action, counted from 0, of a mask that has more than n."""
    start = 0
    while True:
        end = min(start + _BLOCK, mask.shape[0])
        block = np.int64(0)
        for action in range(start, end):
            block += mask[action]
        if n < block:
            break
        n -= block
        start = end
    for action in range(start, mask.shape[0]):
        n -= np.int64(mask[action])
        if n < 0:
            return action
    return -1


@compiled
def random_legal(mask: Any, seed: Any, stream: Any, index: Any) -> Any:
    """A uniformly random legal action; -1 if there is none."""
    count = count_legal(mask)
    if count == 0:
        return -1
    return nth_legal(mask, np.int64(word(seed, stream, index) % np.uint64(count)))


def _settle(state: Any, mask: Any) -> None:
    """Fills the mask; with `skip_forced`, first takes every decision that has one legal action."""
    legal_actions(state, mask)
    while state.skip_forced and state.seat >= 0 and count_legal(mask) == 1:
        apply(state, nth_legal(mask, 0))
        legal_actions(state, mask)


def _margin(before: Any, after: Any, seat: Any) -> Any:
    """What an action brought a seat, in games that don't say it otherwise: the margin after it."""
    margin = np.empty(after.num_players, np.float32)
    margins(after, margin)
    return margin[seat]


def _play(first: Any, last: Any, states: Any, actions: Any, masks: Any) -> None:
    """Plays one legal action in every record; a negative action leaves the record as it is."""
    for i in range(first, last):
        if actions[i] >= 0:
            apply(states[i], actions[i])
            settle(states[i], masks[i])


def _legal(first: Any, last: Any, states: Any, masks: Any) -> None:
    """Fills the masks of the records as they are."""
    for i in range(first, last):
        legal_actions(states[i], masks[i])


def _observe(first: Any, last: Any, states: Any, seats: Any, out: Any) -> None:
    """Fills flat observations: row i is what seat `seats[i]` sees of record i."""
    for i in range(first, last):
        observe(states[i], seats[i], out[i])


def _outcome(first: Any, last: Any, states: Any, payoff: Any, margin: Any) -> None:
    """Fills the payoffs (zeros before the end) and margins of every seat."""
    for i in range(first, last):
        payoff[i] = 0
        if states[i].seat < 0:
            payoffs(states[i], payoff[i])
        margins(states[i], margin[i])


@compiled
def _random_actions(
    first: Any, last: Any, masks: Any, seeds: Any, index: Any, actions: Any
) -> None:
    """Fills uniformly random legal actions (-1 where there is none), a function of the seeds."""
    for i in range(first, last):
        actions[i] = random_legal(masks[i], seeds[i], STREAM_ACTION, index)


_RANDOM_ACTIONS = Rows(_random_actions, _LEAST_QUICK)


@compiled
def first_illegal(masks: Any, actions: Any) -> Any:
    """The first row whose action is not legal; -1 if there is none."""
    for i in range(actions.shape[0]):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or masks[i, actions[i]] == 0:
            return i
    return -1


def _renew(
    first: Any, last: Any, states: Any, masks: Any, seeds: Any, dice: Any, plies: Any
) -> None:
    """Starts a new game where `plies[i]` isn't negative, up to so many random actions deep.

    Options and number of players are set. The game is of `seeds[i]`, its random actions of
    `dice[i]`; none of them ends it. A game that ended is played again, to the action before: a GPU
    has no room for a copy of the record.
    """
    for i in range(first, last):
        depth = plies[i]
        begins = depth >= 0
        while begins:
            new_game(states[i], seeds[i])
            settle(states[i], masks[i])
            played = 0
            while played < depth and states[i].seat >= 0:
                apply(states[i], random_legal(masks[i], dice[i], STREAM_ACTION, played))
                settle(states[i], masks[i])
                played += 1
            begins = states[i].seat < 0 and played > 0
            depth = played - 1


def _row(rows: Any, i: Any) -> Any:
    """A row of masks or observations."""
    return rows[i]


def step(
    first: Any,
    last: Any,
    states: Any,
    actions: Any,
    seeds: Any,
    episodes: Any,
    masks: Any,
    observations: Any,
    seats: Any,
    payoff: Any,
    margin: Any,
    done: Any,
    lengths: Any,
) -> None:
    """Plays one action in every game; a game that ends starts anew with its next seed.

    `seeds` holds one number, the seed of the run.
    """
    for i in range(first, last):
        apply(states[i], actions[i])
        settle(states[i], row(masks, i))
        lengths[i] = states[i].ply
        done[i] = states[i].seat < 0
        if done[i]:
            payoffs(states[i], payoff[i])
            margins(states[i], margin[i])
            episodes[i] += 1
            new_game(states[i], game_seed(seeds[0], i, episodes[i]))
            settle(states[i], row(masks, i))
        else:
            payoff[i] = 0
            margin[i] = 0
        seats[i] = states[i].seat
        observe(states[i], states[i].seat, row(observations, i))


def _play_one(states: Any, action: Any, mask: Any, payoff: Any, margin: Any) -> Any:
    """Plays a legal action in the first record; returns the seat to act, -1 when it is over."""
    apply(states[0], action)
    settle(states[0], mask)
    if states[0].seat < 0:
        payoffs(states[0], payoff)
        margins(states[0], margin)
    return states[0].seat


def _observe_one(states: Any, seat: Any, out: Any) -> None:
    """Fills what `seat` sees of the first record."""
    observe(states[0], seat, out)


def _reveal(first: Any, last: Any, states: Any, seats: Any, out: Any) -> None:
    """Fills what is hidden: row i is what seat `seats[i]` can't see of record i."""
    for i in range(first, last):
        reveal(states[i], seats[i], out[i])


def _reveal_one(states: Any, seat: Any, out: Any) -> None:
    """Fills what `seat` can't see of the first record."""
    reveal(states[0], seat, out)


@dataclass(frozen=True)
class Kernels:
    """The compiled functions of one game; the docstrings of the functions above describe them.

    Those called `…_one` run on the calling thread.
    """

    renew: Rows
    play: Rows
    legal: Rows
    observe: Rows
    outcome: Rows
    random_actions: Rows
    step: Rows
    legal_one: Callable[..., None]
    outcome_one: Callable[..., None]
    play_one: Callable[..., int]
    observe_one: Callable[..., None]
    reveal: Rows | None  # None for games that hide nothing
    reveal_one: Callable[..., None] | None
    rules: dict[str, Callable[..., Any]]

    def begin(self, states: Any, seeds: Any, masks: Any) -> None:
        """Starts a new game in every record."""
        self.renew(states, masks, seeds, seeds, np.zeros(len(states), np.int64))


@cache
def kernels(game: Game) -> Kernels:
    """The compiled functions of a game. Nothing is compiled before its first call."""
    rules = {
        name: getattr(game, name)
        for name in "new_game legal_actions apply observe payoffs margins redeal".split()
    }
    rules["settle"] = specialise(_settle, game.key, **rules)
    if game.reveal is not None:
        rules["reveal"] = game.reveal
    rules["appraise"] = game.appraise or specialise(_margin, game.key, **rules)

    def rows(function: Callable[..., Any]) -> Rows:
        return Rows(specialise(function, game.key, **rules), _LEAST)

    def single(function: Callable[..., Any]) -> Callable[..., Any]:
        return specialise(function, game.key, **rules)

    legal, outcome = rows(_legal), rows(_outcome)
    return Kernels(
        renew=rows(_renew),
        play=rows(_play),
        legal=legal,
        observe=rows(_observe),
        outcome=outcome,
        random_actions=_RANDOM_ACTIONS,
        step=Rows(specialise(step, game.key, **rules, row=compiled(_row)), _LEAST),
        legal_one=legal.alone,
        outcome_one=outcome.alone,
        play_one=single(_play_one),
        observe_one=single(_observe_one),
        reveal=rows(_reveal) if game.reveal else None,
        reveal_one=single(_reveal_one) if game.reveal else None,
        rules=rules,
    )
