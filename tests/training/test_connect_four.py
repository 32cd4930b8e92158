"""The example's Connect Four: its rules by a slow definition, and the statistics of random play."""

from typing import Any

import numpy as np
import pytest
from connect_four import GAME as CONNECT_FOUR
from connect_four.rules import BOTH, COLUMNS, LINE, ROWS

from linkzoo import Record
from linkzoo.core.kernels import kernels
from tests.training.helpers import begin


def lines(board: Any, seat: int) -> bool:
    """Whether a seat has four in a line anywhere, looked up cell by cell."""
    cells = {(row, column) for row, column in np.argwhere(board == seat).tolist()}
    return any(
        all((row + step * up, column + step * right) in cells for step in range(LINE))
        for row, column in cells
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def played(columns: str) -> Record:
    """The record after discs into these columns, from 0."""
    state: Record = begin(CONNECT_FOUR, 1).states[0]
    mask = np.zeros(COLUMNS, np.int8)
    for column in map(int, columns):
        CONNECT_FOUR.rules.legal_actions(state, mask)
        assert mask[column]
        CONNECT_FOUR.rules.apply(state, column)
    return state


def test_known_games() -> None:
    for columns, winners in (("0102030", 1), ("0011223", 1), ("60616253", 2), ("001122", 0)):
        assert played(columns).winners == winners, columns
    diagonal = played("01122323363")
    assert (diagonal.winners, diagonal.seat, diagonal.ply) == (1, -1, 11)
    full = played("010101" + "101010" + "232323" + "323232" + "454545" + "545454" + "666666")
    assert (full.winners, full.seat, full.ply) == (BOTH, -1, ROWS * COLUMNS)
    out = np.empty(2, np.float32)
    CONNECT_FOUR.payoffs(full, out)
    assert out.tolist() == [0, 0]
    mask = np.ones(COLUMNS, np.int8)
    CONNECT_FOUR.rules.legal_actions(full, mask)
    assert not mask.any()


@pytest.mark.slow  # quick: known games
def test_random_games() -> None:
    """The winner by the slow definition; seat 0 wins 55.6 % of random games, 0.25 % are draws."""
    run, count = kernels(CONNECT_FOUR), 20_000
    start = begin(CONNECT_FOUR, count)
    states, masks = start.states, start.action_mask
    actions = np.empty(count, np.int64)
    while (states["seat"] >= 0).any():
        before = states[:40].copy()
        run.random_actions(masks, start.seeds, np.array([states["ply"].max()], np.int64), actions)
        run.play(states, actions, masks)
        for old, state, action in zip(before, states, actions, strict=False):
            if old["seat"] < 0:
                continue
            column = old["board"][:, action].tolist()
            assert state["board"][column.index(-1), action] == old["seat"]
            assert (state["board"] != old["board"]).sum() == 1
            mover = int(old["seat"])
            won, full = lines(state["board"], mover), state["ply"] == ROWS * COLUMNS
            assert state["winners"] == (1 << mover if won else BOTH if full else 0)
            assert state["seat"] == (-1 if won or full else 1 - mover)
    shares = [float((states["winners"] == winners).mean()) for winners in (1, 2, BOTH)]
    assert np.allclose(shares, [0.556, 0.4415, 0.0025], atol=0.015)
    assert abs(shares[2] - 0.0025) < 0.0015
