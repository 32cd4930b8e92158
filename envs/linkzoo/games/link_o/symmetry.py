"""The symmetries of a board: circles change places, with their colours, and may be mirrored.

The rules treat all circles alike, and clockwise like counter-clockwise: a mirrored circle has the
left and the right of its spaces exchanged (R11).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationSpec
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.components import CODES, ENDS, KINDS, TYPES, WILD

_MIRRORED = np.array([*(ENDS.index((right, left)) for left, right in ENDS), WILD])  # by code


class Symmetry(NamedTuple):
    """Where each space and each circle goes, and which circles are mirrored (of those that go)."""

    spaces: NDArray[np.int64]
    circles: NDArray[np.int64]
    mirrored: NDArray[np.bool_]


def of_board(board: Board) -> list[Symmetry]:
    """Returns all symmetries of a board, the identity first."""
    spaces, every = board.spaces, range(len(board.spaces))
    found: list[dict[int, int]] = [{}]  # where the spaces of the first circles go
    for ring in board.rings:
        found = [
            grown
            for images in found
            for target in every
            for mirror in (False, True)
            if (grown := _with_ring(board, images, ring, target, mirror)) is not None
        ]
    return [
        Symmetry(
            spaces=np.array(images),
            circles=np.array([spaces[images[ring[0]]].circle for ring in board.rings]),
            mirrored=np.array(
                [spaces[images[ring[1]]].next == images[ring[0]] for ring in board.rings]
            ),
        )
        for images in sorted([images[space] for space in every] for images in found)
    ]


def _with_ring(
    board: Board, images: dict[int, int], ring: list[int], target: int, mirror: bool
) -> dict[int, int] | None:
    """Returns the images with a ring, its first space laid onto `target`, if links stay links."""
    spaces, there, grown = board.spaces, target, dict(images)
    for here in ring:
        grown[here] = there
        there = spaces[there].prev if mirror else spaces[there].next
    if there != target or len(set(grown.values())) < len(grown):
        return None  # a ring of another size, or one that has gone to the same circle
    for here in grown:
        partner, linked = spaces[here].partner, spaces[grown[here]].partner
        if (partner is None) != (linked is None):
            return None
        if partner in grown and grown[partner] != linked:
            return None
    return grown


def symmetries(
    board: Board, spec: ObservationSpec, privileged_spec: ObservationSpec
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns int64[S, size] arrays of observations, actions and privileged observations."""
    every = of_board(board)
    return (
        np.array([_observation(board, symmetry, spec) for symmetry in every]),
        np.array([_actions(board, symmetry) for symmetry in every]),
        np.array([_privileged(symmetry, privileged_spec) for symmetry in every]),
    )


def _actions(board: Board, symmetry: Symmetry) -> NDArray[np.int64]:
    """Returns where each action goes."""
    mirrored = symmetry.mirrored[[space.circle for space in board.spaces]]
    codes = np.where(mirrored[:, None], _MIRRORED, np.arange(CODES))
    return np.asarray(CODES * symmetry.spaces[:, None] + codes).reshape(-1)


def _observation(board: Board, symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns where each number of the symmetric observation comes from."""
    connectors = np.array(board.connectors)
    linked = np.searchsorted(connectors, symmetry.spaces[connectors])
    types, spaces = _types(symmetry), symmetry.spaces
    before = np.arange(spec.size)
    after = before.copy()
    for part, goes in {
        **dict.fromkeys(("hand", "unseen", "lacks"), types),
        **dict.fromkeys(("occupied", "linko", "placed_by", "left_shows", "right_shows"), spaces),
        **dict.fromkeys(("constraint", "blocked"), linked),
    }.items():
        spec.view(after, part)[..., goes] = spec.view(before, part)
    mirrored = spaces[symmetry.mirrored[[space.circle for space in board.spaces]]]
    left, right = spec.view(after, "left_shows"), spec.view(after, "right_shows")
    left[:, mirrored], right[:, mirrored] = right[:, mirrored], left[:, mirrored]
    return after


def _privileged(symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns where each number of the symmetric privileged observation comes from."""
    before, types = np.arange(spec.size), _types(symmetry)
    after = before.copy()
    spec.view(after, "hands")[:, types] = spec.view(before, "hands")
    second = TYPES + symmetry.circles  # the second LINK-Os
    spec.view(after, "draw_order")[[*types, *second]] = spec.view(before, "draw_order")
    return after


def _types(symmetry: Symmetry) -> NDArray[np.int64]:
    """Returns what each type of tile becomes."""
    return (KINDS * symmetry.circles[:, None] + np.arange(KINDS)).reshape(-1)
