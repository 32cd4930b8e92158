"""The symmetries of a board: circles are permuted, with their colours, and may be mirrored.

The rules treat all circles alike, and clockwise like counter-clockwise: a mirrored circle has the
left and the right of its spaces exchanged (R11).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationSpec
from linkzoo.games.link_o.board import CIRCLES, Board
from linkzoo.games.link_o.components import CODES, ENDS, KINDS, TYPES, WILD

_MIRRORED = np.array([*(ENDS.index((right, left)) for left, right in ENDS), WILD])  # by code


class Symmetry(NamedTuple):
    """A symmetry of a board.

    Attributes:
        spaces: int64[spaces], the image of each space.
        circles: int64[CIRCLES], the image of each circle; itself for circles off the board.
        mirrored: bool[CIRCLES], whether each circle (by its old number) is mirrored.
    """

    spaces: NDArray[np.int64]
    circles: NDArray[np.int64]
    mirrored: NDArray[np.bool_]


def of_board(board: Board) -> list[Symmetry]:
    """Returns all symmetries of a board, the identity first."""
    numbers = range(len(board.spaces))
    partial: list[dict[int, int]] = [{}]  # images of the spaces of the first circles
    for ring in board.rings:
        partial = [
            extended
            for images in partial
            for target in numbers
            for mirror in (False, True)
            if (extended := _with_ring(board, images, ring, target, mirror)) is not None
        ]
    complete = sorted([images[space] for space in numbers] for images in partial)
    return [_symmetry(board, images) for images in complete]


def _symmetry(board: Board, images: list[int]) -> Symmetry:
    """Returns the symmetry with these images of the spaces."""
    circles = np.arange(CIRCLES)
    mirrored = np.zeros(CIRCLES, np.bool_)
    for circle, ring in enumerate(board.rings):
        first = images[ring[0]]
        second = images[ring[1]]
        circles[circle] = board.spaces[first].circle
        mirrored[circle] = board.spaces[second].next == first
    return Symmetry(np.array(images), circles, mirrored)


def _with_ring(
    board: Board, images: dict[int, int], ring: list[int], target: int, mirror: bool
) -> dict[int, int] | None:
    """Returns the images extended by a ring, whose first space goes to `target`.

    None if the ring doesn't fit there, or if a link would become none.
    """
    spaces = board.spaces
    extended = dict(images)
    image = target
    for space in ring:
        extended[space] = image
        image = spaces[image].prev if mirror else spaces[image].next
    if image != target or len(set(extended.values())) < len(extended):
        return None  # a ring of another size, or two rings with the same image
    for space, image in extended.items():
        partner = spaces[space].partner
        linked = spaces[image].partner
        if (partner is None) != (linked is None):
            return None
        if partner in extended and extended[partner] != linked:
            return None
    return extended


def symmetries(
    board: Board, spec: ObservationSpec, privileged_spec: ObservationSpec
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns int64[S, size] arrays of observations, actions and privileged observations."""
    board_symmetries = of_board(board)
    return (
        np.array([_observation(board, symmetry, spec) for symmetry in board_symmetries]),
        np.array([_actions(board, symmetry) for symmetry in board_symmetries]),
        np.array([_privileged(symmetry, privileged_spec) for symmetry in board_symmetries]),
    )


def _actions(board: Board, symmetry: Symmetry) -> NDArray[np.int64]:
    """Returns the image of each action."""
    codes = np.where(_mirrored(board, symmetry)[:, None], _MIRRORED, np.arange(CODES))
    return np.asarray(CODES * symmetry.spaces[:, None] + codes).reshape(-1)


def _mirrored(board: Board, symmetry: Symmetry) -> NDArray[np.bool_]:
    """Returns bool[spaces], whether the circle of each space is mirrored."""
    return symmetry.mirrored[[space.circle for space in board.spaces]]


def _observation(board: Board, symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns the source of each number of the symmetric observation."""
    connectors = np.array(board.connectors)
    before = np.arange(spec.size)
    after = before.copy()

    def permute(parts: tuple[str, ...], images: NDArray[np.int64]) -> None:
        for part in parts:
            spec.view(after, part)[..., images] = spec.view(before, part)

    permute(("hand", "unseen", "lacks"), _types(symmetry))
    on_spaces = ("occupied", "linko", "placed_by", "left_shows", "right_shows")
    permute(on_spaces, symmetry.spaces)
    images = np.searchsorted(connectors, symmetry.spaces[connectors])
    permute(("constraint", "blocked"), images)
    mirrored = symmetry.spaces[_mirrored(board, symmetry)]
    left = spec.view(after, "left_shows")
    right = spec.view(after, "right_shows")
    left[:, mirrored], right[:, mirrored] = right[:, mirrored], left[:, mirrored]
    return after


def _privileged(symmetry: Symmetry, spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns the source of each number of the symmetric privileged observation."""
    types = _types(symmetry)
    before = np.arange(spec.size)
    after = before.copy()
    spec.view(after, "hands")[:, types] = spec.view(before, "hands")
    second = TYPES + symmetry.circles  # the second LINK-Os
    spec.view(after, "draw_order")[[*types, *second]] = spec.view(before, "draw_order")
    return after


def _types(symmetry: Symmetry) -> NDArray[np.int64]:
    """Returns the image of each type of tile."""
    return (KINDS * symmetry.circles[:, None] + np.arange(KINDS)).reshape(-1)
