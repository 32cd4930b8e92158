"""Signatures of a game's functions and of the loops made of them.

Parameter names are fixed; a function may ignore some. Compiled functions take a record, which they
modify in place where documented, and write results into the caller's arrays. They must write every
element.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import Graph
from linkzoo.core.state import Actions, Mask, Masks, Record, Records, SeatFloats, Seeds

__all__ = [
    "ActionParts",
    "ActionToText",
    "Apply",
    "Determinize",
    "Draw",
    "FillMasks",
    "FromDict",
    "Heuristic",
    "LegalActions",
    "MakeGraph",
    "NewGame",
    "Observe",
    "ObserveAction",
    "ObserveActions",
    "ObserveOne",
    "ObserveRows",
    "Outcome",
    "Play",
    "PlayOne",
    "RecordOf",
    "ResetRows",
    "RowOf",
    "SeatValues",
    "Sides",
    "SkipForcedActions",
    "Step",
    "Symmetries",
    "TextToAction",
    "ToDict",
    "Validate",
]

# The rules, compiled


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
    """Fills `out` (int8, the action spec's size) with the features of a legal action.

    It shows only information of the seat to act. `scratch` is a copy of the record as scratch
    space.
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


# Notation, positions, drawings and facts, in plain Python


class ActionToText(Protocol):
    """Returns an action in the game's notation; ValueError if there is no such action."""

    def __call__(self, state: Record, action: int) -> str: ...


class TextToAction(Protocol):
    """Returns the action of a move in the game's notation; ValueError if it is no move."""

    def __call__(self, state: Record, text: str) -> int: ...


class ActionParts(Protocol):
    """Returns the names of the elements that a person selects to make an action, in order."""

    def __call__(self, state: Record, action: int) -> tuple[str, ...]: ...


class ToDict(Protocol):
    """Returns the position as JSON data: the referee's view or a seat's view.

    The referee's view has the record's `seed` and its `options` (`Game.chosen_options`), and
    `from_dict` reads it back to an equal record. A seat's view has no `seed`, and is the same in
    all worlds that the seat can't tell apart.
    """

    def __call__(self, state: Record, seat: int | None = None) -> dict[str, Any]: ...


class FromDict(Protocol):
    """Returns the record of the result of `ToDict`; ValueError names an unreadable field."""

    def __call__(self, data: Mapping[str, Any]) -> Record: ...


class Draw(Protocol):
    """Returns the position as text or SVG: the referee's view or a seat's view."""

    def __call__(self, state: Record, seat: int | None = None) -> str: ...


class MakeGraph(Protocol):
    """Returns the graph of an observation."""

    def __call__(self) -> Graph: ...


class Symmetries(Protocol):
    """Returns the index arrays of a game's symmetries (`Observation.symmetries`)."""

    def __call__(self) -> tuple[NDArray[np.int64], ...]: ...


class Sides(Protocol):
    """Returns the side of each seat, from 0, for a number of players."""

    def __call__(self, num_players: int) -> tuple[int, ...]: ...


# Compiled loops over the rows `first`..`last - 1` of their arrays (`linkzoo.core.kernels`)


class RowOf(Protocol):
    """Returns row `i` of masks or observations."""

    def __call__(self, rows: NDArray[Any], i: int) -> NDArray[Any]: ...


class RecordOf(Protocol):
    """Returns record `i`."""

    def __call__(self, records: Records, i: int) -> Record: ...


class SkipForcedActions(Protocol):
    """Fills `mask`; with the option `skip_forced` it first plays forced decisions."""

    def __call__(self, state: Record, mask: Mask) -> None: ...


class Step(Protocol):
    """Plays `actions[i]` in game i, and begins its next game if it is over.

    Where `done`, `payoff`, `margin` and `lengths` belong to the game that ended, and the others to
    the new one. The next game's seed is a function of `run_seed`, i and `episodes[i]`.
    """

    def __call__(
        self,
        first: int,
        last: int,
        states: Records,
        actions: Actions,
        run_seed: Seeds,  # [1]
        episodes: NDArray[np.int64],
        masks: Masks,
        observations: NDArray[Any],  # [N, size]
        seats: NDArray[np.int8],
        payoff: SeatFloats,
        margin: SeatFloats,
        done: NDArray[np.bool_],
        lengths: NDArray[np.int32],
    ) -> None: ...


class Play(Protocol):
    """Plays `actions[i]` in record i unless it is negative, and fills the mask."""

    def __call__(
        self, first: int, last: int, states: Records, actions: Actions, masks: Masks
    ) -> None: ...


class FillMasks(Protocol):
    """Fills the masks of legal actions."""

    def __call__(self, first: int, last: int, states: Records, masks: Masks) -> None: ...


class ObserveRows(Protocol):
    """Fills row i of `out` with the observation of seat `seats[i]` in record i."""

    def __call__(
        self, first: int, last: int, states: Records, seats: NDArray[np.int8], out: NDArray[Any]
    ) -> None: ...


class ObserveActions(Protocol):
    """Lists the legal actions of record i in `out[i]`, each followed by its features."""

    def __call__(
        self,
        first: int,
        last: int,
        states: Records,
        scratch: Records,
        masks: Masks,
        out: NDArray[np.int16],
    ) -> None: ...


class Outcome(Protocol):
    """Fills payoffs, which are 0 before the end, and score margins."""

    def __call__(
        self, first: int, last: int, states: Records, payoff: SeatFloats, margin: SeatFloats
    ) -> None: ...


class ResetRows(Protocol):
    """Resets record i if `plies[i] >= 0`, then plays that many random plies."""

    def __call__(
        self,
        first: int,
        last: int,
        states: Records,
        masks: Masks,
        seeds: Seeds,
        action_seeds: Seeds,
        plies: NDArray[np.int64],
    ) -> None: ...


class PlayOne(Protocol):
    """Plays a legal action in the first record and fills its mask.

    Returns the seat to act, -1 at the end.
    """

    def __call__(self, states: Records, action: int, mask: Mask) -> int: ...


class ObserveOne(Protocol):
    """Fills `out`, of any shape, with the observation of a seat in the first record."""

    def __call__(self, states: Records, seat: int, out: NDArray[Any]) -> None: ...
