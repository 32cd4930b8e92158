"""The example's Hex: its rules (R1 to R4 of `hex_6x6.rules`) by slow definitions."""

from typing import Any

import hex_6x6
import numpy as np
import pytest
from hex_6x6.rules import CELLS, SIZE
from hypothesis import given, settings
from hypothesis import strategies as st

import linkzoo
from linkzoo.testing import check_game

GAME = hex_6x6.GAME
NAME = "hex_6x6:GAME"


def play(env: Any, moves: str) -> None:
    env.reset(seed=0)
    for move in moves.split():
        env.step(env.text_to_action(move))


def reaches(board: Any, seat: int) -> bool:
    """Whether a chain joins the edges of a seat, by joining sets of touching cells (R3, R4)."""
    chains: list[set[tuple[int, int]]] = []
    for row, column in np.argwhere(board == seat).tolist():
        touching = {(row, column)}
        apart = []
        for chain in chains:
            near = any(
                (r - row, c - column) in {(0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1)}
                for r, c in chain
            )
            if near:
                touching |= chain
            else:
                apart.append(chain)
        chains = [*apart, touching]
    ends = [{cell[seat] for cell in chain} for chain in chains]
    return any({0, SIZE - 1} <= progress for progress in ends)


@settings(deadline=None)  # the first example compiles
@given(st.permutations(range(CELLS)))
def test_the_winner_is_who_joins_his_edges_first(cells: list[int]) -> None:
    """R1 to R4, ply by ply, and a full board always has a winner."""
    env = linkzoo.make(NAME)
    env.reset(seed=0)
    board = np.full((SIZE, SIZE), -1)
    for ply, cell in enumerate(cells):
        seat = ply % 2
        assert env.agent_selection == f"player_{seat}"  # R1
        observation: Any = env.observe(env.agent_selection)
        mask = observation["action_mask"]
        assert mask.tolist() == (board.ravel() == -1).astype(int).tolist()  # R2
        env.step(cell)
        board[divmod(cell, SIZE)] = seat
        if reaches(board, seat):
            break
        assert not any(env.terminations.values())
    assert all(env.terminations.values())
    assert env.rewards == {f"player_{seat}": 1, f"player_{1 - seat}": -1}


@pytest.mark.parametrize(
    ("moves", "winner"),
    [
        ("a1 f1 a2 f2 a3 f3 a4 f4 a5 f5 a6", 0),  # R3: up and down
        ("f1 a1 e2 a2 d3 a3 c4 b4 b5 b6 a6", 0),  # R3: down and left
        ("a1 a3 b1 b3 c1 c3 d1 d3 e1 e3 a6 f3", 1),  # R3: left and right
    ],
)
def test_known_games(moves: str, winner: int) -> None:
    env = linkzoo.make(NAME)
    play(env, moves)
    assert env.rewards[f"player_{winner}"] == 1


def test_down_and_right_isn_t_a_neighbour() -> None:
    """R3 names six neighbours: a1 b2 c3 ... isn't a chain."""
    env = linkzoo.make(NAME)
    play(env, "a1 b1 b2 c2 c3 d3 d4 e4 e5 f5 f6")
    assert not any(env.terminations.values())


@pytest.mark.nightly  # quick: the contract of Connect Four and of broken games
def test_the_game_keeps_the_contract() -> None:
    check_game(GAME)


def test_drawing() -> None:
    env = linkzoo.make(NAME, render_mode="ansi")
    play(env, "c3 d2")
    assert env.render() == (
        "  a b c d e f\n1 . . . . . .\n 2 . . . O . .\n  3 . . X . . .\n   4 . . . . . .\n"
        "    5 . . . . . .\n     6 . . . . . .\n\nPlayer 0 (X) to move\n"
    )
