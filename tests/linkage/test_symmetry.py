"""Linkage looks the same from every side and in every colouring; and exact sizes of move trees."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.driving import first_quick, same
from tests.linkage.helpers import (
    GAME,
    SETUPS,
    STANDARD,
    clone,
    legal_list,
    legal_mask,
    margins,
    payoffs,
    piece,
    start,
)
from tests.linkage.oracle import (
    ACTIONS,
    MOVES,
    NUM_ACTIONS,
    Cell,
    Oracle,
    Place,
    PutHole,
    Setup,
    Take,
    placement_cells,
)

PERMUTATIONS: tuple[tuple[int, ...], ...] = tuple(permutations(range(4)))


@cache
def symmetry(index: int, size: int) -> Callable[[Cell], Cell]:
    """Symmetry 0..7 of a square: a reflection for odd numbers, then quarter turns."""

    def moved(cell: Cell) -> Cell:
        row, column = cell
        if index % 2:
            column = size - 1 - column
        for _ in range(index // 2):
            row, column = column, size - 1 - row
        return row, column

    return moved


@cache
def action_map(index: int, colours: tuple[int, ...], size: int) -> NDArray[np.intp]:
    """Where each action of a board goes; actions off the board stay, they are never legal."""
    moved = symmetry(index, size)
    targets = np.arange(NUM_ACTIONS)
    for action, move in enumerate(MOVES):
        if isinstance(move, Take):
            continue
        cells = (move.cell,) if isinstance(move, PutHole) else move.cells
        if max(max(cell) for cell in cells) >= size:
            continue
        images = sorted(moved(cell) for cell in cells)
        if isinstance(move, Place):
            target = Place(colours[move.colour], (images[0], images[1]))
            targets[action] = ACTIONS[target]
        else:
            targets[action] = ACTIONS[PutHole(images[0])]
    return targets


def compare_games(setup: Setup, index: int, colours: tuple[int, ...], seed: int) -> None:
    """Plays a random game and its image side by side."""
    rng = np.random.default_rng(seed)
    targets = action_map(index, colours, setup.board_size)
    state, image = start(setup), start(setup)
    while True:
        mask = legal_mask(state)
        mapped = np.zeros_like(mask)
        mapped[targets[np.flatnonzero(mask)]] = 1
        same(legal_mask(image), mapped)
        assert image.seat == state.seat
        assert image.winners == state.winners
        assert piece(image, "groups")[0, 0] == piece(state, "groups")[0, 0]
        supply, image_supply = piece(state, "supply"), piece(image, "supply")
        assert [image_supply[colours[k], 0, 0] for k in range(4)] == supply[:, 0, 0].tolist()
        assert margins(image) == margins(state)
        if state.seat < 0:
            assert payoffs(image) == payoffs(state)
            return
        action = int(rng.choice(np.flatnonzero(mask)))
        GAME.rules.apply(state, action)
        GAME.rules.apply(image, int(targets[action]))


@pytest.mark.parametrize("index", first_quick([3, 6, 0, 1, 2, 4, 5, 7], 2))
def test_r4_r9_r10_all_192_symmetries(index: int) -> None:
    """R4, R8-R10: every board symmetry with every permutation of the colours."""
    for number, colours in enumerate(PERMUTATIONS):
        compare_games(STANDARD, index, colours, 24 * index + number)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(
    setup=st.sampled_from(SETUPS),
    index=st.integers(0, 7),
    colours=st.sampled_from(PERMUTATIONS),
    seed=st.integers(0, 2**32),
)
def test_r4_r9_r10_symmetries_of_every_variant(
    setup: Setup, index: int, colours: tuple[int, ...], seed: int
) -> None:
    """R4, R8-R11: the same on small boards and with a hole that moves along."""
    compare_games(setup, index, colours, seed)


def test_the_maps_are_different_permutations() -> None:
    """Section 3: the 192 symmetries are distinct, so the tests above don't repeat one."""
    maps = {
        action_map(index, colours, 7).tobytes() for index in range(8) for colours in PERMUTATIONS
    }
    assert len(maps) == 192
    for index in range(8):
        for colours in PERMUTATIONS:
            assert sorted(action_map(index, colours, 7)) == list(range(NUM_ACTIONS))


def first_orbits() -> dict[int, set[int]]:
    """The game's white first placements, grouped by the board symmetries."""
    orbits: dict[int, set[int]] = {}
    white = legal_list(start())
    for action in white[white < 84]:
        orbit = {int(action_map(index, (0, 1, 2, 3), 7)[action]) for index in range(8)}
        orbits[min(orbit)] = orbit
    return orbits


def test_eleven_orbits_of_first_placements() -> None:
    """Section 3: 80 first placements fall into 11 classes; each class leaves equal room."""
    orbits = first_orbits()
    assert len(orbits) == 11
    assert sum(len(orbit) for orbit in orbits.values()) == 80
    assert Counter(len(orbit) for orbit in orbits.values()) == {8: 9, 4: 2}
    for orbit in orbits.values():
        rooms = set()
        for action in orbit:
            state = start()
            GAME.rules.apply(state, action)
            rooms.add(int(legal_mask(state).sum()))
        assert len(rooms) == 1


# Move trees. The numbers come from a count that uses neither the game nor the oracle: ordered
# pairs and triples of dominoes that don't touch in sequence, times 4 colours each (no colour runs
# out and nobody passes so early); on 3x3 a plain recursion over sets of cells.


def sequences(state: np.record, depth: int) -> int:
    """Lines of play of some length."""
    actions = legal_list(state)
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        after = clone(state)
        GAME.rules.apply(after, int(action))
        total += sequences(after, depth - 1)
    return total


@pytest.mark.parametrize(("depth", "lines"), [(1, 320), (2, 81_280)])
def test_r4_move_tree_of_the_standard_game(depth: int, lines: int) -> None:
    """R4, R5: all lines of play to this depth."""
    assert sequences(start(), depth) == lines


def test_r4_move_tree_to_depth_three_by_symmetry() -> None:
    """R4, R5: one first move of each class stands for its class and for four colours."""
    total = 0
    for action, orbit in first_orbits().items():
        state = start()
        GAME.rules.apply(state, action)
        total += 4 * len(orbit) * sequences(state, 2)
    assert total == 18_884_096


def test_oracle_agrees_on_depth_two() -> None:
    """R4: the oracle's own rules give the same 5,080 ordered pairs of placements."""
    pairs = 0
    for placement in range(84):
        oracle = Oracle()
        if oracle.legal(placement):
            oracle.apply(placement)
            pairs += sum(oracle.legal(84 + other) for other in range(84))
    assert 16 * pairs == 81_280


def leaves(state: np.record) -> Counter[int]:
    """Finished games below a position, by number of groups."""
    if state.seat < 0:
        return Counter({int(piece(state, "groups")[0, 0]): 1})
    counts: Counter[int] = Counter()
    for action in legal_list(state):
        after = clone(state)
        GAME.rules.apply(after, int(action))
        counts += leaves(after)
    return counts


def test_r6_r8_whole_tree_of_3x3() -> None:
    """R4-R9: all 768 games on 3x3, half of them with four pieces."""
    assert leaves(start(Setup(board_size=3, threshold=3))) == {3: 384, 4: 384}


@pytest.mark.parametrize("hole", first_quick([0, 1, 4, 2, 3, 5, 6, 7, 8], 3, slow=0))
@pytest.mark.parametrize("role", [385, 386])
def test_r11_whole_tree_of_3x3_by_hole(hole: int, role: int) -> None:
    """R4-R11: all games on 3x3 with the hole in a corner, on an edge, in the middle."""
    row, column = divmod(hole, 3)
    state = start(Setup(free_hole=True, board_size=3, threshold=3))
    GAME.rules.apply(state, 336 + 7 * row + column)
    GAME.rules.apply(state, role)
    corner, edge, middle = {3: 528, 4: 768}, {3: 816}, {3: 384, 4: 384}
    expected = [corner, edge, middle][(row == 1) + (column == 1)]
    assert leaves(state) == expected


def test_section_3_placements_name_84_pairs() -> None:
    """Section 3: 42 horizontal and 42 vertical placements, all different."""
    pairs = [placement_cells(placement) for placement in range(84)]
    assert len(set(pairs)) == 84
    assert sum(first[0] == second[0] for first, second in pairs) == 42
    assert all(sum(second) - sum(first) == 1 for first, second in pairs)


def test_declared_symmetries() -> None:
    """The 192 index arrays that the package declares: masks and observations of moved games."""
    assert GAME.observation.symmetries is not None
    observations, actions, hidden = GAME.observation.symmetries()
    assert hidden.shape == (192, 0)
    assert len({row.tobytes() for row in actions}) == len(actions) == len(observations) == 192
    assert (observations[0] == np.arange(GAME.observation.spec.size)).all()
    assert (actions[0] == np.arange(GAME.num_actions)).all()
    rng = np.random.default_rng(0)
    for observed, acted in zip(observations, actions, strict=True):
        state, image = start(STANDARD), start(STANDARD)
        for _ in range(12):
            legal = legal_list(state)
            action = int(rng.choice(legal))
            GAME.rules.apply(state, action)
            GAME.rules.apply(image, int(acted[action]))
            mask, moved = legal_mask(state), legal_mask(image)
            assert (moved[acted] == mask).all()
            seen = np.zeros((2, GAME.observation.spec.size), np.int8)
            for seat in range(2):
                GAME.observation.observe(state, seat, seen[0])
                GAME.observation.observe(image, seat, seen[1])
                assert (seen[1] == seen[0][observed]).all()
