"""Queries agents for actions, checks them, and plays batches of games."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions
from linkzoo.core.agent import check_agent
from linkzoo.core.history import History
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.search.duel import Player

NOBODY = -1


def checked_actions(agent: Agent, positions: Positions) -> NDArray[np.int64]:
    """Returns an agent's action for each of N positions, int64[N].

    Raises:
        ValueError: `agent` isn't an agent, or doesn't return N legal actions.
    """
    name = check_agent(agent).name
    states = positions.states
    masks = positions.action_mask
    actions: NDArray[Any] = np.asarray(agent.act(positions))
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{name} gave {actions.dtype}{list(actions.shape)} for {len(states)} positions, not "
            "that many integers"
        )
    in_range = (actions >= 0) & (actions < masks.shape[1])
    legal = masks[np.arange(len(states)), np.where(in_range, actions, 0)] != 0
    wrong = np.flatnonzero(~(in_range & legal))
    if len(wrong):
        state = states[wrong[0]]
        raise ValueError(
            f"{name} played the illegal action {actions[wrong[0]]} as seat {state['seat']} at ply "
            f"{state['ply']}"
        )
    return actions.astype(np.int64)


def actions_in(
    agent: Agent,
    game: Game,
    states: NDArray[Any],
    seed: int,
    batch: int,
    progress: Callable[[int, int], None],
) -> NDArray[np.int64]:
    """Asks an agent for its actions in N records, in batches.

    Args:
        agent: The agent.
        game: The game.
        states: Records [N].
        seed: Determines the agent's seeds.
        batch: Records per call of the agent.
        progress: Called as `progress(finished, N)` after each batch.

    Returns:
        The actions, int64[N].

    Raises:
        ValueError: As `checked_actions`.
    """
    actions = np.empty(len(states), np.int64)
    seeds = random_u64s(seed, STREAM_ACTION, np.arange(len(states)))
    for first in range(0, len(states), batch):
        rows = slice(first, min(first + batch, len(states)))
        positions = Positions(game, states[rows].copy(), seeds[rows])
        actions[rows] = checked_actions(agent, positions)
        progress(rows.stop, len(states))
    return actions


def actions_digest(agent: Agent, game: Game, states: NDArray[Any], seed: int, batch: int) -> str:
    """Returns a SHA-256 of an agent's actions in N records.

    It changes with the weights, the code and the search of the agent, wherever these matter.
    Arguments and errors are as in `actions_in`.
    """
    actions = actions_in(agent, game, states, seed, batch, lambda *_: None)
    return hashlib.sha256(actions.astype("<i8").tobytes()).hexdigest()


def play_games(
    game: Game,
    states: NDArray[Any],
    agents: Sequence[Agent],
    acting: Callable[[NDArray[Any]], NDArray[Any]],
    seeds: Callable[[NDArray[np.int64]], NDArray[np.uint64]],
    comment: Callable[[int, str], None] = lambda *_: None,
) -> Iterator[NDArray[np.int64]]:
    """Continues games in place until no agent has to act.

    Args:
        game: The game.
        states: Records [N].
        agents: The agents.
        acting: Returns the index of the agent to act in each record [N], or NOBODY to leave a game
            unchanged. Finished games are ignored.
        seeds: Returns the seeds of the decisions in rows [M].
        comment: Called with a row and an agent's comment on its action there, if it has one.

    Yields:
        The actions of each ply before they are played, int64[N], NOBODY for none. The array is
        reused.

    Raises:
        ValueError: As `checked_actions`.
    """
    masks = np.zeros((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    actions = np.empty(len(states), np.int64)
    pasts = _Pasts(game, states)
    while True:
        actions[:] = NOBODY
        to_act = np.where(states["seat"] >= 0, acting(states), NOBODY)
        for index, agent in enumerate(agents):
            rows = np.flatnonzero(to_act == index)
            if len(rows):
                positions = Positions(game, states[rows], seeds(rows), pasts.of(rows))
                positions.action_mask = masks[rows]  # already computed
                actions[rows] = checked_actions(agent, positions)
                for row, text in zip(rows.tolist(), positions.comments, strict=True):
                    if text:
                        comment(row, text)
        if (actions == NOBODY).all():
            return
        yield actions
        pasts.moves.append(actions.copy())
        kernels(game).play(states, actions, masks)


def compiled_player(agent: Agent, game: Game) -> Player | None:
    """Returns an agent as a player of compiled duels (`search.duel`); None if it can't play them.

    Raises:
        ValueError: There is no scorer for the game.
    """
    make = getattr(agent, "compiled_player", None)
    if make is None:
        return None
    player: Player | None = make(game)
    return player


class _Pasts:
    """The pasts of games in lock-step, made when an agent asks for them.

    Attributes:
        moves: The actions of each ply, int64[N], NOBODY for none.
    """

    def __init__(self, game: Game, states: NDArray[Any]) -> None:
        self.moves: list[NDArray[np.int64]] = []
        self._game = game
        self._starts = states.copy()
        self._histories: dict[int, History] = {}

    def of(self, rows: NDArray[np.int64]) -> Callable[[int], History]:
        """Returns the past of each of these rows, by its index in them."""
        return lambda index: self._of_row(int(rows[index]))

    def _of_row(self, row: int) -> History:
        if row not in self._histories:
            actions = _RowActions(self.moves, row)
            self._histories[row] = History(self._game, self._starts[row], actions)
        return self._histories[row]


class _RowActions:
    """The actions of one game of `_Pasts`."""

    def __init__(self, moves: list[NDArray[np.int64]], row: int) -> None:
        self._moves = moves
        self._row = row

    def __iter__(self) -> Iterator[int]:
        for actions in self._moves:
            if actions[self._row] != NOBODY:
                yield int(actions[self._row])
