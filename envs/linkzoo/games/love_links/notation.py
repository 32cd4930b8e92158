"""Love Links' moves as text, both ways (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.love_links.components import LINK_TEXTS, MODES, NEW, NONE, NUM_ACTIONS, SLOTS

_MODES = ["KEY", "LOCK", "CLOSE"]  # by mode
_SLOTS = [f"@{slot}" for slot in range(SLOTS)]


def action_to_text(state: Record, action: int) -> str:
    """Returns `KEY 6-4 @3`, `LOCK 6-4 @3`, `CLOSE 6-4 @3` or `NEW 2-3`; ValueError outside 0..364.

    For an empty place of the hand the link is `?`.
    """
    action = integer("action", action, 0, NUM_ACTIONS - 1)
    if action >= NEW:
        return f"NEW {_link_at(state, action - NEW)}"
    place, rest = divmod(action, SLOTS * MODES)
    return f"{_MODES[rest % MODES]} {_link_at(state, place)} @{rest // MODES}"


def _link_at(state: Record, place: int) -> str:
    """Returns the link at a place of the hand of the seat to act, or `?`."""
    if state.seat == NONE or place >= state.hand_size[state.seat]:
        return "?"
    return hand_texts(state, int(state.seat))[place]


def action_parts(state: Record, action: int) -> tuple[str, ...]:
    """Returns the link in the hand, and its target: `@3 key`, `@3 lock`, `@3 close` or `new`."""
    mode, link, *slot = action_to_text(state, action).split(" ")
    return link, " ".join([*slot, mode.lower()])


def text_to_action(state: Record, text: str) -> int:
    """Returns the action of a move's text; ValueError if it is no move with a link of the hand."""
    match string("move", text).split(" "):
        case ["NEW", link]:
            return NEW + _place(state, link)
        case [mode, link, slot] if mode in _MODES and slot in _SLOTS:
            return (_place(state, link) * SLOTS + _SLOTS.index(slot)) * MODES + _MODES.index(mode)
    raise ValueError(
        f"no move {shown(text)}; moves are like 'KEY 6-4 @3', 'LOCK 6-4 @3', 'CLOSE 6-4 @3' (slots "
        f"@0..@{SLOTS - 1}) and 'NEW 2-3'"
    )


def _place(state: Record, link: str) -> int:
    """Returns the lowest place of a link in the hand of the seat to act."""
    if state.seat == NONE:
        raise ValueError("no move: the game is over")
    hand = hand_texts(state, int(state.seat))
    if link not in hand:
        raise ValueError(f"no link {shown(link)} in the hand of seat {state.seat}; it holds {hand}")
    return hand.index(link)


def hand_texts(state: Record, seat: int) -> list[str]:
    """Returns the links of a hand, by place."""
    return [LINK_TEXTS[link] for link in state.hands[seat, : state.hand_size[seat]]]
