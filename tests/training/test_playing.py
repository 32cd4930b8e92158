"""The loop in which agents play: the positions of each call, and games that stay as they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Positions, RandomAgent, get_game
from linkzoo_training.agents.playing import NOBODY, play_games
from tests.training.helpers import begin

LINKAGE = get_game("linkage")


class Noted(RandomAgent):
    """Notes the plies and seeds of the positions that it is asked about."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def act(self, positions: Positions) -> NDArray[np.int64]:
        plies = positions.states["ply"].tolist()
        self.seen += zip(plies, positions.seeds.tolist(), strict=True)
        return super().act(positions)


def test_games_are_played_until_nobody_acts() -> None:
    """The even plies are of one agent, the odd ones of another; each game ends at its own ply."""
    states, ends = begin(LINKAGE, 3).states, np.array([0, 3, 100])
    agents, played = (Noted(), Noted()), np.zeros(3, np.int64)

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.where(states["ply"] < ends, states["ply"] % 2, NOBODY)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return rows.astype(np.uint64) + np.uint64(10)

    for actions in play_games(LINKAGE, states, agents, acting, seeds):
        assert (states["ply"] == played)[actions != NOBODY].all()  # they aren't played yet
        played += actions != NOBODY
    assert played.tolist()[:2] == states["ply"].tolist()[:2] == [0, 3]
    assert states["seat"].tolist()[2] == -1
    assert played[2] == states["ply"][2]
    assert {ply % 2 for ply, _ in agents[0].seen} == {0}
    assert {ply % 2 for ply, _ in agents[1].seen} == {1}
    assert {seed for _, seed in agents[0].seen} == {11, 12}
    assert len(agents[0].seen) + len(agents[1].seen) == played.sum()
