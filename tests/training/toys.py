"""Games so small that the right move is known.

Three seats, one of which acts twice; a hidden coin; draws and shared wins.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkzoo import Game, get_game
from linkzoo.engine.rng import below, word
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import record_dtype

OVER = -1


@dataclass(frozen=True)
class ToyOptions:
    """No variants."""

    skip_forced: bool = False


# Three seats and four decisions of two actions each; a table says what the leaves pay.

TURNS = np.array([2, 2, 0, 1])
LEAVES = 2 ** len(TURNS)


@compiled
def leaf_payoff(seed: Any, leaf: Any, seat: Any) -> Any:
    """A number in 0..1, before the mean of the seats is taken off."""
    return np.float32(word(seed, 1, leaf, seat) >> np.uint64(40)) / np.float32(2**24)


@compiled
def _table_new(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = TURNS[0]
    state.leaf = 0


@compiled
def _table_legal(state: Any, mask: Any) -> None:
    mask[:] = 0
    mask[:2] = 0 if state.seat == OVER else 1


@compiled
def _table_apply(state: Any, action: Any) -> None:
    state.leaf = 2 * state.leaf + action
    state.ply += 1
    if state.ply < TURNS.shape[0]:
        state.seat = TURNS[state.ply]
    else:
        state.seat = OVER
        state.winners = 1 << (state.leaf % 2)


@compiled
def _table_payoffs(state: Any, out: Any) -> None:
    for seat in range(3):
        out[seat] = leaf_payoff(state.seed, state.leaf, seat)
    out -= np.float32((out[0] + out[1] + out[2]) / 3)


@compiled
def same_world(state: Any, seat: Any, seed: Any) -> None:
    """Nothing is hidden; the seed names the table, so it stays."""


def backward_induction(seed: int) -> tuple[int, float]:
    """The first action of the table game if every seat maximises its own payoff.

    Also the least that any seat loses anywhere by its other action.
    """
    table = [[leaf_payoff(np.uint64(seed), leaf, s) for s in range(3)] for leaf in range(LEAVES)]
    payoff = np.array(table)
    payoff -= payoff.mean(1, keepdims=True)
    loss = 1.0
    for seat in TURNS[::-1]:
        pairs = payoff.reshape(-1, 2, 3)
        best = pairs[:, :, seat].argmax(1)
        loss = min(loss, np.ptp(pairs[:, :, seat], 1).min())
        payoff = pairs[np.arange(len(pairs)), best]
    return int(best[0]), loss


# Seat 0 calls a coin that it can't see, or takes a sure half. If it calls heads (1) or tails (2),
# seat 1, who sees the coin, says which it is: only the truth is legal.

SURE, HEADS, TAILS = 0, 1, 2


@compiled
def _coin_new(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.call = 0
    state.coin = 1 + below(2, seed, 1, 0)


@compiled
def _coin_legal(state: Any, mask: Any) -> None:
    mask[:] = 0
    if state.seat == 0:
        mask[:] = 1
    elif state.seat == 1:
        mask[state.coin] = 1


@compiled
def _coin_apply(state: Any, action: Any) -> None:
    state.ply += 1
    if state.seat == 0:
        state.call = action
        state.seat = OVER if action == SURE else 1
    else:
        state.seat = OVER
    right = state.call == state.coin
    state.winners = 1 if right or state.call == SURE else 2


@compiled
def _coin_payoffs(state: Any, out: Any) -> None:
    out[0] = 0.5 if state.call == SURE else 1 if state.call == state.coin else -1
    out[1] = -out[0]


@compiled
def _coin_redeal(state: Any, seat: Any, seed: Any) -> None:
    state.seed = seed
    if seat == 0:
        state.coin = 1 + below(2, seed, 1, 0)


@compiled
def _see_nothing(state: Any, seat: Any, out: Any) -> None:
    out[:] = 0


def toy(name: str, players: int, state: Any, apply: Any, **contract: Any) -> Game:
    """A game of these rules and facts; what they leave open is the first game's, and unused."""
    # The name is a key of compiled code: it changes with its file, as the rules' names do.
    facts: dict[str, Any] = {
        "min_players": players,
        "max_players": players,
        "symmetries": None,
        "action_cells": None,
        "appraise": None,
        "solver": None,
        "chance": True,
        "seat_names": (),
        "role_options": (),
        "uct_c": Game.uct_c,
    }
    return replace(
        get_game("linkage"),
        name=f"{name}_{apply.__name__}",
        title=name,
        state=state,
        options=ToyOptions,
        apply=apply,
        **facts | contract,
    )


# Each seat in turn names 0, 1 or 2; all who named the highest number win, and share the win.


@compiled
def _high_new(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.best = 0
    state.high = 0


@compiled
def _high_legal(state: Any, mask: Any) -> None:
    mask[:] = state.seat != OVER


@compiled
def _high_apply(state: Any, action: Any) -> None:
    if action > state.best:
        state.best = action
        state.high = 0
    if action == state.best:
        state.high |= 1 << np.int64(state.seat)
    state.ply += 1
    state.seat = state.ply if state.ply < state.num_players else OVER
    if state.seat == OVER:
        state.winners = state.high


@compiled
def _high_payoffs(state: Any, out: Any) -> None:
    count, players = 0, np.int64(state.num_players)
    for seat in range(players):
        count += state.winners >> seat & 1
    for seat in range(players):
        out[seat] = ((state.winners >> seat & 1) / count - 1 / players) * players / (players - 1)


HIGH = toy(
    "high",
    2,
    record_dtype([("best", "i1"), ("high", "i1")]),
    max_players=3,
    num_actions=3,
    max_length=3,
    new_game=_high_new,
    legal_actions=_high_legal,
    apply=_high_apply,
    observe=_see_nothing,
    payoffs=_high_payoffs,
    margins=_high_payoffs,
    redeal=same_world,
    chance=False,
)
TABLE = toy(
    "table",
    3,
    record_dtype([("leaf", "i4")]),
    num_actions=3,
    new_game=_table_new,
    legal_actions=_table_legal,
    apply=_table_apply,
    observe=_see_nothing,
    payoffs=_table_payoffs,
    margins=_table_payoffs,
    redeal=same_world,
)
COIN = toy(
    "coin",
    2,
    record_dtype([("call", "i1"), ("coin", "i1")]),
    num_actions=3,
    new_game=_coin_new,
    legal_actions=_coin_legal,
    apply=_coin_apply,
    observe=_see_nothing,
    payoffs=_coin_payoffs,
    margins=_coin_payoffs,
    redeal=_coin_redeal,
)
