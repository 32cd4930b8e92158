"""What both drawings of a Love Links position show."""

from linkzoo.compiled import Record
from linkzoo.love_links.notation import slot_links
from linkzoo.love_links.pieces import CLOSED_LENGTH, METALS, NUM_SIDES, SLOTS, TARGET
from linkzoo.love_links.table import NONE, closing_value, side_of, sides


def seats_of(state: Record, side: int) -> list[int]:
    """The seats of a side."""
    return [seat for seat, own in enumerate(sides(int(state.num_players))) if own == side]


def side_range(state: Record) -> range:
    """The sides of the game."""
    return range(int(NUM_SIDES[state.num_players]))


def side_name(state: Record, side: int) -> str:
    """`Player 0`, or `Players 0 and 2` for a team."""
    seats = seats_of(state, side)
    return f"Player{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"


def winners(state: Record) -> list[int]:
    """The sides that have won, none before the end."""
    return [side for side in side_range(state) if int(state.winners) >> side & 1]


def bracelets(state: Record) -> dict[int, list[tuple[int, int]]]:
    """The links (type, owner) of each open bracelet from its key end, by slot."""
    return {slot: slot_links(state, slot) for slot in range(SLOTS) if state.length[slot]}


def worth(state: Record, slot: int) -> int | None:
    """What closing a bracelet brings the seat to act before its link counts; None: too short."""
    if state.seat == NONE or state.length[slot] < CLOSED_LENGTH - 1:
        return None
    return int(closing_value(state, slot, side_of(state, state.seat)))


def turn(state: Record) -> str:
    """Who is to move, or who has won."""
    if state.seat != NONE:
        return f"Player {state.seat} to move"
    names = [side_name(state, side) for side in winners(state)]
    return f"{names[0]} win{'s' * (len(names[0]) < 10)}" if len(names) == 1 else "A shared win"


def remark(state: Record) -> str:
    """What else there is to say about the turn."""
    if state.seat == NONE:
        scores = state.scores[: len(side_range(state))].tolist()
        tied = scores.count(max(scores)) > len(winners(state))
        return " : ".join(map(str, scores)) + (", by captured stones" if tied else "")
    notes = [f"move {state.move} of 2"]
    if state.must_start:
        notes.append("must start a bracelet")
    elif state.matched:
        notes.append("a match is worth 3")
    return ", ".join(notes)


def stage(state: Record) -> str:
    """The round and the variant."""
    ends = f", first to {TARGET}" if state.short else ""
    return f"{METALS[state.round_number]} round{ends}"
