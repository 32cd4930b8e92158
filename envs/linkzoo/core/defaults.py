"""Default parts of a game, derived from the other parts."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.protocols import Draw, Heuristic, LegalActions, SeatValues, Sides, Validate
from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.svg import elements as svg
from linkzoo.svg.letters import width_of

_DARK = {"#ffffff": "#1d1c1a", "#000000": "#f1ede4"}
# Letters in a drawing, in pixels.
_SIZE = 16
_ADVANCE = 10
_LEADING = 20
_WIDEST = 11  # wider letters are squeezed into a column


def first_seats(sides: Sides, min_players: int, max_players: int) -> NDArray[np.int64]:
    """Returns the first seat of each side by number of players; -1 where there is no such side."""
    first = np.full((max_players + 1, max_players), -1, np.int64)
    for players in range(min_players, max_players + 1):
        of_seats = sides(players)
        for side in set(of_seats):
            first[players, side] = of_seats.index(side)
    return first


def make_payoffs(first_of: NDArray[np.int64]) -> SeatValues:
    """Returns payoffs derived from winners and sides.

    Zeros before the end and for a draw. Else, if w of n sides win, a side gets (1/w if it won else
    0) - 1/n, scaled so that a sole winner gets 1.
    """

    @compiled
    def payoffs(state: Record, out: NDArray[np.float32]) -> None:
        players = np.int64(state.num_players)
        winners = np.int64(state.winners)
        count = 0
        won = 0
        while count < players and first_of[players, count] >= 0:
            won += (winners >> first_of[players, count]) & 1
            count += 1
        for seat in range(players):
            out[seat] = 0
            if winners != 0:
                share = ((winners >> seat) & 1) * count - won
                out[seat] = np.float32(share) / np.float32(won * (count - 1))

    return payoffs


def make_score_margins(first_of: NDArray[np.int64], scores: SeatValues, scale: int) -> SeatValues:
    """Returns score margins: own score less the mean of the other sides', over `scale`."""

    @compiled
    def score_margins(state: Record, out: NDArray[np.float32]) -> None:
        players = np.int64(state.num_players)
        scores(state, out)
        count = 0
        total = np.int64(0)
        while count < players and first_of[players, count] >= 0:
            total += np.int64(out[first_of[players, count]])
            count += 1
        for seat in range(players):
            difference = count * np.int64(out[seat]) - total
            out[seat] = np.float32(difference) / np.float32(scale * (count - 1))

    return score_margins


@compiled
def set_seed(state: Record, seat: int, seed: np.uint64) -> None:  # Determinize
    """Default `determinize` of a game without hidden information and chance."""
    state.seed = seed


def make_heuristic(score_margins: SeatValues) -> Heuristic:
    """Returns the default heuristic: the score margin after the action."""

    @compiled
    def heuristic(before: Record, after: Record, seat: int) -> float:  # Heuristic
        margins = np.empty(after.num_players, np.float32)
        score_margins(after, margins)
        return margins[seat]  # type: ignore[no-any-return]  # a float32

    return heuristic


def make_validate(num_actions: int, legal_actions: LegalActions) -> Validate:
    """Returns the default check: a seat is to act if and only if an action is legal."""

    @compiled
    def validate(state: Record, scratch: Record) -> str:  # Validate
        mask: Mask = np.zeros(num_actions, np.int8)
        legal_actions(state, mask)
        if mask.any() != (state.seat >= 0):
            return "seat: it is to act if and only if an action is legal"
        return ""

    return validate


def _letter(letter: str, x: float, y: float) -> str:
    """Returns a letter in the middle of a column at `x`, so that columns stay aligned."""
    width = width_of(letter, _SIZE)
    if width <= _WIDEST:
        return svg.text(letter, x, y, _SIZE, text_anchor="middle")
    scale = _ADVANCE / width
    squeeze = f"matrix({scale:.3f} 0 0 1 {x * (1 - scale):.2f} 0)"
    return svg.text(letter, x, y, _SIZE, text_anchor="middle", transform=squeeze)


def make_svg(title: str, text: Draw) -> Draw:
    """Returns a function that draws the text as SVG, on a grid of characters."""

    def draw_svg(state: Record, seat: int | None = None) -> str:
        lines = text(state, seat).splitlines()
        width = _ADVANCE * (2 + max(map(len, lines), default=0))
        height = _LEADING * (1 + len(lines))
        letters = [
            _letter(letter, _ADVANCE * (1.5 + column), _LEADING * (1 + row))
            for row, line in enumerate(lines)
            for column, letter in enumerate(line)
            if letter != " "
        ]
        background = svg.rect(0, 0, width, height, fill="#ffffff")
        foreground = svg.group(*letters, fill="#000000")
        return svg.document(width, height, title, background, foreground, dark=_DARK)

    return draw_svg
