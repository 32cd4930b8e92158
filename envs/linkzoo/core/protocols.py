"""Signatures of a game's functions. Parameter names are fixed; a function may ignore some.

Compiled functions take a record, which they modify in place where documented, and write results
into the caller's arrays. They must write every element.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record


class NewGame(Protocol):
    """Sets up a game; `num_players` and the options are already set."""

    def __call__(self, state: Record, seed: np.uint64) -> None: ...


class LegalActions(Protocol):
    """Fills `mask` (int8[num_actions]) with 1 for legal actions, else 0; all 0 at the end."""

    def __call__(self, state: Record, mask: Mask) -> None: ...


class Apply(Protocol):
    """Plays a legal action and continues until a seat has a choice or the game ends.

    Sets `seat` to the seat to act next, which may be the same one; seats that are out are skipped.
    At the end `seat` is -1, and `winners` has the bits of the seats with the highest payoff.
    """

    def __call__(self, state: Record, action: int) -> None: ...


class SeatValues(Protocol):
    """Fills `out` (float32[num_players]) with a value per seat."""

    def __call__(self, state: Record, out: NDArray[np.float32]) -> None: ...


class Observe(Protocol):
    """Fills the flat `out` (the spec's dtype and size) for a seat."""

    def __call__(self, state: Record, seat: int, out: NDArray[Any]) -> None: ...


class ObserveAction(Protocol):
    """Fills `out` (int8, the action spec's size) with what a legal action leads to.

    It shows only what the seat to act can know. `scratch` is a copy of the record as scratch space.
    """

    def __call__(
        self, state: Record, action: int, scratch: Record, out: NDArray[np.int8]
    ) -> None: ...


class Determinize(Protocol):
    """Samples a world consistent with the information of `seat`, future chance included.

    It is a function of the seat's information and of `seed`, which it stores in the header.
    """

    def __call__(self, state: Record, seat: int, seed: np.uint64) -> None: ...


class Heuristic(Protocol):
    """Rates an action for `seat`, given the records before and after it."""

    def __call__(self, before: Record, after: Record, seat: int) -> float: ...


class Validate(Protocol):
    """Returns the error of a record with fields within their bounds, or "".

    `scratch` is a copy of the record as scratch space.
    """

    def __call__(self, state: Record, scratch: Record) -> str: ...


class ToDict(Protocol):
    """Returns the position as JSON data: the referee's view or a seat's view.

    The referee's view has the record's `seed` and its `options` (`Game.chosen_options`), and
    `from_dict` reads it back to an equal record. A seat's view has no `seed`, and is the same in
    all worlds that the seat can't tell apart.
    """

    def __call__(self, state: Record, seat: int | None = None) -> dict[str, Any]: ...


class Draw(Protocol):
    """Returns the position as text or SVG: the referee's view or a seat's view."""

    def __call__(self, state: Record, seat: int | None = None) -> str: ...
