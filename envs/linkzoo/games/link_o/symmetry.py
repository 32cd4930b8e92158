"""The symmetries of a board: circles change places, with their colours, and may be mirrored.

Nothing in the rules tells one circle from another, nor clockwise from counter-clockwise: a mirrored
circle has the left and the right of its spaces exchanged (R11).
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import ObservationSpec
from linkzoo.games.link_o.board import CIRCLES, Board, Space
from linkzoo.games.link_o.pieces import CODES, ENDS, KINDS, MAX_PLAYERS, TYPES, VALUES, WILD

_MIRRORED = np.array([*(ENDS.index((right, left)) for left, right in ENDS), WILD])  # by code


class Symmetry(NamedTuple):
    """Where each space and each circle goes, and which circles are mirrored (of those that go)."""

    spaces: NDArray[np.int64]
    circles: NDArray[np.int64]
    mirrored: NDArray[np.bool_]


def of_board(board: Board) -> list[Symmetry]:
    """All symmetries of a board, the identity first."""
    found = list(_extended(board.spaces, {}, np.zeros(CIRCLES, np.bool_)))
    return sorted(found, key=lambda symmetry: symmetry.spaces.tolist())


def symmetries(
    board: Board, seen: ObservationSpec, hidden: ObservationSpec
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The symmetries as `Game.symmetries` gives them: of observations, actions and what is hidden.

    int64[S, size], int64[S, num_actions] and int64[S, hidden size].
    """
    every = of_board(board)
    return (
        np.array([_observation(board, symmetry, seen) for symmetry in every]),
        np.array([_actions(board, symmetry) for symmetry in every]),
        np.array([_hidden(symmetry, hidden) for symmetry in every]),
    )


def _extended(
    spaces: tuple[Space, ...], images: dict[int, int], mirrored: NDArray[np.bool_]
) -> Iterator[Symmetry]:
    """The symmetries in which the spaces of some circles, whole ones, have these images."""
    left = sorted({space.circle for i, space in enumerate(spaces) if i not in images})
    if not left:
        moved = np.array([images[i] for i in range(len(spaces))])
        circles = np.zeros(CIRCLES, np.int64)
        for i, image in images.items():
            circles[spaces[i].circle] = spaces[image].circle
        yield Symmetry(moved, circles, mirrored)
        return
    first = next(i for i, space in enumerate(spaces) if space.circle == left[0])
    free = set(range(len(spaces))) - set(images.values())
    for target, mirror in product(sorted(free), (False, True)):
        extended = _with_circle(spaces, images, first, target, mirror)
        if extended is not None:
            flags = mirrored.copy()
            flags[left[0]] = mirror
            yield from _extended(spaces, extended, flags)


def _with_circle(
    spaces: tuple[Space, ...], images: dict[int, int], first: int, target: int, mirror: bool
) -> dict[int, int] | None:
    """The images with the circle of `first` laid onto that of `target`, if links stay links."""
    extended, here, there = dict(images), first, target
    while here not in extended:
        extended[here] = there
        here, there = spaces[here].next, spaces[there].prev if mirror else spaces[there].next
    if there != target or len({extended[i] for i in extended}) < len(extended):
        return None  # rings of different sizes
    for i, image in extended.items():
        partner, linked = spaces[i].partner, spaces[image].partner
        if (partner is None) != (linked is None):
            return None
        if partner is not None and partner in extended and extended[partner] != linked:
            return None
    return extended


def _types(symmetry: Symmetry) -> NDArray[np.int64]:
    """What each type of tile becomes."""
    return (KINDS * symmetry.circles[:, None] + np.arange(KINDS)).reshape(-1)


def _actions(board: Board, symmetry: Symmetry) -> NDArray[np.int64]:
    mirrored = symmetry.mirrored[[space.circle for space in board.spaces]]
    codes = np.where(mirrored[:, None], _MIRRORED, np.arange(CODES))
    return np.asarray(CODES * symmetry.spaces[:, None] + codes).reshape(-1)


def _observation(board: Board, symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Where each number of the symmetric observation comes from."""
    size, where = len(board.spaces), spec.slices()
    goes = np.arange(spec.size)
    types, spaces = _types(symmetry), symmetry.spaces
    for piece in ("hand", "unseen"):
        goes[where[piece]] = where[piece].start + types
    for piece in ("occupied", "linko", "placed_by"):
        goes[where[piece]] = where[piece].start + spaces
    seats, values = np.arange(MAX_PLAYERS)[:, None], np.arange(VALUES)[:, None]
    goes[where["lacks"]] = (where["lacks"].start + TYPES * seats + types).reshape(-1)
    mirrored = symmetry.mirrored[[space.circle for space in board.spaces]]
    left, right = where["left_shows"].start, where["right_shows"].start
    for piece, same, other in (("left_shows", left, right), ("right_shows", right, left)):
        goes[where[piece]] = (np.where(mirrored, other, same) + size * values + spaces).reshape(-1)
    connectors = np.array(board.connectors)
    moved = np.searchsorted(connectors, spaces[connectors])
    first = where["constraint"].start
    goes[where["constraint"]] = (first + len(connectors) * values + moved).reshape(-1)
    goes[where["blocked"]] = where["blocked"].start + moved
    return np.argsort(goes)


def _hidden(symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Where each number of what the symmetric position hides comes from."""
    where, types = spec.slices(), _types(symmetry)
    seats = np.arange(MAX_PLAYERS - 1)[:, None]
    order = where["draw_order"].start
    return np.argsort(
        np.concatenate(
            [
                (where["hands"].start + TYPES * seats + types).reshape(-1),
                order + types,
                order + TYPES + symmetry.circles,
            ]
        )
    )
