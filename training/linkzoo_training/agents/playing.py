"""The one loop in which agents play a batch of games, in lock-step."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.answers import checked

NOBODY = -1


def play_games(
    game: Game,
    states: NDArray[Any],
    agents: Sequence[Agent],
    acting: Callable[[NDArray[Any]], NDArray[Any]],
    seeds: Callable[[NDArray[np.int64]], NDArray[np.uint64]],
) -> Iterator[NDArray[np.int64]]:
    """Plays records [N] on, in place, until nobody acts; yields each ply's actions before it.

    `acting(states)` gives for each record [N] the index of the agent that acts there, or NOBODY for
    a game that is to stay as it is; ended games do. `seeds(rows)` are the decision seeds of rows
    [M]. Actions are int64[N], NOBODY where none is played, and the same array each time. ValueError
    if an agent's answer isn't a legal action for each position.
    """
    masks = np.zeros((len(states), game.num_actions), np.int8)
    kernels(game).legal(states, masks)
    actions = np.empty(len(states), np.int64)
    while True:
        actions[:] = NOBODY
        which = np.where(states["seat"] >= 0, acting(states), NOBODY)
        for index, agent in enumerate(agents):
            rows = np.flatnonzero(which == index)
            if len(rows):
                answers = np.asarray(agent.act(Positions(game, states[rows], seeds(rows))))
                actions[rows] = checked(agent.name, answers, states[rows], masks[rows])
        if (actions == NOBODY).all():
            return
        yield actions
        kernels(game).play(states, actions, masks)
