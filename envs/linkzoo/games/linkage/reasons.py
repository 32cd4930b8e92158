"""Reasons why a move is better than another in Linkage. R1 to R12 refer to RULES.md.

Each function compares two positions after a move of the seat that plays a role, and returns a
sentence about facts of these positions, or "".
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkzoo.core.guide import count
from linkzoo.core.state import Record
from linkzoo.games.linkage import describe, rules
from linkzoo.games.linkage.components import BOARD, NUM_ACTIONS, PLACEMENTS
from linkzoo.games.linkage.state import NONE, PLAY


class Choice(NamedTuple):
    """A decision, the positions after the move played and after the better one.

    Attributes:
        seat: The seat that decides.
        other: The other seat.
        more: Whether the seat plays More.
        threshold: The groups that More needs.
        played: The position after the move played.
        better: The position after the better move.
    """

    seat: int
    other: int
    more: bool
    threshold: int
    played: Record
    better: Record


def reasons(state: Record, played: int, better: int) -> list[str]:
    """Returns the reasons for a placement that hold, the clearest first."""
    if state.phase != PLAY or state.seat == NONE:
        return []
    seat = int(state.seat)
    more = describe.role(state, seat) == "More"
    after = [_after(state, action) for action in (played, better)]
    choice = Choice(seat, 1 - seat, more, int(state.threshold), *after)
    sentences = [reason(choice) for reason in REASONS]
    return [sentence for sentence in sentences if sentence]


def _ends_the_game(choice: Choice) -> str:
    better = choice.better
    if better.seat != NONE or not better.winners >> choice.seat & 1:
        return ""
    groups = count(better.groups, "group")
    return f"It ends the game with {groups}, and player {choice.seat} wins (R8, R10)."


def _prevents_the_end(choice: Choice) -> str:
    played = choice.played
    if played.seat != NONE or played.winners >> choice.seat & 1 or choice.better.seat == NONE:
        return ""
    groups = count(played.groups, "group")
    return f"The move played ends the game with {groups}, and player {choice.other} wins (R10)."


def _makes_the_other_pass(choice: Choice) -> str:
    if choice.better.seat != choice.seat or choice.played.seat == choice.seat:
        return ""
    return f"After it player {choice.other} must pass, and player {choice.seat} moves again (R6)."


def _reaches_the_goal(choice: Choice) -> str:
    needed = choice.threshold
    if not choice.more or choice.better.groups < needed or choice.played.groups >= needed:
        return ""
    return f"It makes {count(choice.better.groups, 'group')}, and More needs {needed} (R10)."


def _keeps_below_the_goal(choice: Choice) -> str:
    needed = choice.threshold
    if choice.more or choice.better.groups >= needed or choice.played.groups < needed:
        return ""
    groups = count(choice.better.groups, "group")
    return (
        f"It leaves {groups}, fewer than {needed}; the move played leaves {choice.played.groups} "
        "(R10)."
    )


def _keeps_groups_apart(choice: Choice) -> str:
    """More: the other seat's next move can join fewer groups."""
    if not choice.more or NONE in (choice.better.seat, choice.played.seat):
        return ""
    least_better = min(_replies(choice.better))
    least_played = min(_replies(choice.played))
    if least_better <= least_played:
        return ""
    return (
        f"After it the next domino leaves {least_better} groups at least; after the move played it "
        f"can leave only {least_played} (R9)."
    )


def _stops_new_groups(choice: Choice) -> str:
    """Fewer: the other seat's next move makes no new group."""
    if choice.more or NONE in (choice.better.seat, choice.played.seat):
        return ""
    most_better = max(_replies(choice.better))
    most_played = max(_replies(choice.played))
    if most_better >= most_played:
        return ""
    return (
        f"After it the next domino makes {count(most_better, 'group')} at most; after the move "
        f"played it can make {most_played} (R9)."
    )


def _makes_more_groups(choice: Choice) -> str:
    if not choice.more or choice.better.groups <= choice.played.groups:
        return ""
    groups = count(choice.better.groups, "group")
    return f"There are {groups} after it, {choice.played.groups} after the move played (R9)."


def _makes_fewer_groups(choice: Choice) -> str:
    if choice.more or choice.better.groups >= choice.played.groups:
        return ""
    groups = count(choice.better.groups, "group")
    return f"There are only {groups} after it, {choice.played.groups} after the move played (R9)."


def _is_hard_to_join(choice: Choice) -> str:
    """More: few empty cells are beside the new domino's group."""
    better = _cells_to_join(choice.better)
    played = _cells_to_join(choice.played)
    if not choice.more or better >= played:
        return ""
    return (
        f"Its group can be joined on {count(better, 'empty cell')} beside it; the group of the "
        f"move played on {played} (R9)."
    )


def _is_easy_to_join(choice: Choice) -> str:
    """Fewer: many empty cells are beside the new domino's group."""
    better = _cells_to_join(choice.better)
    played = _cells_to_join(choice.played)
    if choice.more or better <= played:
        return ""
    return (
        f"Its group can be joined on {count(better, 'empty cell')} beside it; the group of the "
        f"move played on {played} (R9)."
    )


def _leaves_fewer_places(choice: Choice) -> str:
    """Few places are close to a pass."""
    if NONE in (choice.better.seat, choice.played.seat) or choice.seat in (
        choice.better.seat,
        choice.played.seat,
    ):
        return ""
    fewer = _places(choice.better)
    places = _places(choice.played)
    if fewer >= places or fewer > _FEW:
        return ""
    return (
        f"It leaves player {choice.other} only {count(fewer, 'place')} for a domino; the move "
        f"played leaves {places} (R4)."
    )


_FEW = 3  # places that are few
REASONS: tuple[Callable[[Choice], str], ...] = (
    _ends_the_game,
    _prevents_the_end,
    _makes_the_other_pass,
    _reaches_the_goal,
    _keeps_below_the_goal,
    _keeps_groups_apart,
    _stops_new_groups,
    _leaves_fewer_places,
    _makes_more_groups,
    _makes_fewer_groups,
    _is_hard_to_join,
    _is_easy_to_join,
)


def _after(state: Record, action: int) -> Record:
    after: Record = state.reshape(1).copy()[0]
    rules.apply(after, action)
    return after


def _legal(state: Record) -> list[int]:
    mask = np.zeros(NUM_ACTIONS, np.int8)
    rules.legal_actions(state, mask)
    return [int(action) for action in np.flatnonzero(mask)]


def _replies(state: Record) -> list[int]:
    """Returns the numbers of groups after each possible move."""
    return [int(_after(state, action).groups) for action in _legal(state)]


def _cells_to_join(state: Record) -> int:
    """Returns the number of empty cells beside the group of the latest domino."""
    colour, placement = divmod(int(state.pieces[state.num_pieces - 1]), PLACEMENTS)
    group = rules.component(BOARD.covered[placement], state.coloured[colour])
    return int(rules.beside(group) & rules.free_cells(state, False)).bit_count()


def _places(state: Record) -> int:
    """Returns the number of pairs of cells that a domino can cover now."""
    free = rules.free_cells(state, True)
    return int(rules.horizontals(free)).bit_count() + int(rules.verticals(free)).bit_count()
