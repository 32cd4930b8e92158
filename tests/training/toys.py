"""Games so small that the right move is known.

Three seats, one of which acts twice; a hidden coin; draws and shared wins.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.contract import Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.game import Game
from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.core.state import OVER, Field, Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import below, random_u64

# Three seats and four decisions of two actions each; a table says what the leaves pay.

TURNS = np.array([2, 2, 0, 1])
LEAVES = 2 ** len(TURNS)


@compiled
def leaf_payoff(seed: np.uint64, leaf: int, seat: int) -> np.float32:
    """A number in 0..1, before the mean of the seats is taken off."""
    return np.float32(random_u64(seed, 1, leaf, seat) >> np.uint64(40)) / np.float32(2**24)


@compiled
def _table_new(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = TURNS[0]
    state.leaf = 0


@compiled
def _table_legal(state: Record, mask: Mask) -> None:
    mask[:] = 0
    mask[:2] = 0 if state.seat == OVER else 1


@compiled
def _table_apply(state: Record, action: int) -> None:
    leaf, ply = 2 * state.leaf + action, state.ply + 1
    state.leaf = leaf
    state.ply = ply
    if ply < TURNS.shape[0]:
        state.seat = TURNS[ply]
    else:
        state.seat = OVER
        state.winners = 1 << (leaf % 2)


@compiled
def _table_payoffs(state: Record, out: NDArray[np.float32]) -> None:
    for seat in range(3):
        out[seat] = leaf_payoff(state.seed, state.leaf, seat)
    out -= np.float32((out[0] + out[1] + out[2]) / 3)


@compiled
def _see_table(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[0] = 2**state.ply + state.leaf


@compiled
def _look_ahead(state: Record, action: int, scratch: Record, out: NDArray[np.int8]) -> None:
    out[0] = 2 * state.leaf + action


@compiled
def same_world(state: Record, seat: int, seed: np.uint64) -> None:
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
def _coin_new(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.call = 0
    state.coin = 1 + below(2, seed, 1, 0)


@compiled
def _coin_legal(state: Record, mask: Mask) -> None:
    mask[:] = 0
    if state.seat == 0:
        mask[:] = 1
    elif state.seat == 1:
        mask[state.coin] = 1


@compiled
def _coin_apply(state: Record, action: int) -> None:
    state.ply += 1
    if state.seat == 0:
        state.call = action
        state.seat = OVER if action == SURE else 1
    else:
        state.seat = OVER
    right = state.call == state.coin
    state.winners = 1 if right or state.call == SURE else 2


@compiled
def _coin_payoffs(state: Record, out: NDArray[np.float32]) -> None:
    out[0] = 0.5 if state.call == SURE else 1 if state.call == state.coin else -1
    out[1] = -out[0]


@compiled
def _coin_determinize(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    if seat == 0:
        state.coin = 1 + below(2, seed, 1, 0)


@compiled
def _see_nothing(state: Record, seat: int, out: NDArray[Any]) -> None:
    out[:] = 0


def unused(*_: Any, **__: Any) -> Any:
    """A part of the contract that no test asks for."""
    raise NotImplementedError


NOTHING = Observation(
    spec=ObservationSpec((ObservationPart("nothing", (1,), 0, 0, "always 0"),), (1,)),
    observe=_see_nothing,
)


def toy(
    name: str,
    players: tuple[int, int],
    fields: tuple[Field, ...],
    rules: Rules,
    facts: Facts,
    *,
    num_actions: int = 3,
    observation: Observation = NOTHING,
) -> Game:
    """A game that only programs play."""
    return Game(
        name=name,
        version=0,
        title=name,
        players=players,
        num_actions=num_actions,
        fields=fields,
        rules=rules,
        observation=observation,
        notation=Notation(
            action_to_text=lambda state, action: str(action),
            text_to_action=lambda state, text: int(text),
            to_dict=unused,
            from_dict=unused,
        ),
        drawing=Drawing(text=unused),
        facts=facts,
    )


# Each seat in turn names 0, 1 or 2; all who named the highest number win, and share the win.


@compiled
def _high_new(state: Record, seed: np.uint64) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.best = 0
    state.high = 0


@compiled
def _high_legal(state: Record, mask: Mask) -> None:
    mask[:] = state.seat != OVER


@compiled
def _high_apply(state: Record, action: int) -> None:
    if action > state.best:
        state.best = action
        state.high = 0
    if action == state.best:
        state.high |= 1 << np.int64(state.seat)
    state.ply += 1
    state.seat = state.ply if state.ply < state.num_players else OVER
    if state.seat == OVER:
        state.winners = state.high


HIGH = toy(
    "high",
    (2, 3),
    (Field("best", "i1", (), 0, 2), Field("high", "i1", (), 0, 7)),
    Rules(new_game=_high_new, legal_actions=_high_legal, apply=_high_apply),
    Facts(typical_length=2, max_length=3, chance=False),
)
TABLE = toy(
    "table",
    (3, 3),
    (Field("leaf", "i4", (), 0, LEAVES - 1),),
    Rules(
        new_game=_table_new,
        legal_actions=_table_legal,
        apply=_table_apply,
        payoffs=_table_payoffs,
        determinize=same_world,
    ),
    Facts(typical_length=len(TURNS), max_length=len(TURNS)),
    observation=Observation(
        spec=ObservationSpec(
            (ObservationPart("node", (1,), 0, 2 * LEAVES - 1, "of a tree"),), (1,)
        ),
        observe=_see_table,
    ),
)
# The same game, with features of its actions.
AHEAD = replace(
    TABLE,
    name="ahead",
    observation=replace(
        TABLE.observation,
        action_spec=ObservationSpec(
            (ObservationPart("leaf", (1,), 0, LEAVES, "of the path"),), (1,)
        ),
        observe_action=_look_ahead,
    ),
)
COIN = toy(
    "coin",
    (2, 2),
    (Field("call", "i1", (), SURE, TAILS), Field("coin", "i1", (), HEADS, TAILS)),
    Rules(
        new_game=_coin_new,
        legal_actions=_coin_legal,
        apply=_coin_apply,
        payoffs=_coin_payoffs,
        determinize=_coin_determinize,
    ),
    Facts(typical_length=2, max_length=2),
)
