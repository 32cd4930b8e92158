"""Love Links' moves as text, both ways (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.love_links.components import LINK_TEXTS, MODES, NEW, NONE, NUM_ACTIONS, SLOTS

_MODES = ["KEY", "LOCK", "CLOSE"]  # by mode
_SLOTS = [f"@{slot}" for slot in range(SLOTS)]


def action_to_text(state: Record, action: int) -> str:
    """Returns `KEY 6-4 @3`, `LOCK 6-4 @3`, `CLOSE 6-4 @3` or `NEW 2-3`; ValueError outside 0..364.

    An action that plays from an empty place of the hand has `?` for the link.
    """
    action = integer("action", action, 0, NUM_ACTIONS - 1)
    place, rest = (action - NEW, None) if action >= NEW else divmod(action, SLOTS * MODES)
    hand = [] if state.seat == NONE else hand_texts(state, int(state.seat))
    link = hand[place] if place < len(hand) else "?"
    if rest is None:
        return f"NEW {link}"
    return f"{_MODES[rest % MODES]} {link} @{rest // MODES}"


def action_parts(state: Record, action: int) -> tuple[str, ...]:
    """Returns the link in the hand, and where it goes: `@3 key`, `@3 lock`, `@3 close` or `new`."""
    mode, link, *slot = action_to_text(state, action).split(" ")
    return link, " ".join([*slot, mode.lower()])


def text_to_action(state: Record, text: str) -> int:
    """Returns the action of a move's text; ValueError if it is none, or no link of the hand."""
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
