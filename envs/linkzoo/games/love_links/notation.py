"""Love Links as text and JSON, both ways (sections "Notation" and "JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import agrees, boolean, check_keys, integer, sequence, shown, string
from linkzoo.games.love_links.options import Options
from linkzoo.games.love_links.pieces import (
    CLOSE,
    COPIES,
    FIRST_LINK,
    FITS,
    HAND_PLACES,
    KEY,
    KEYS,
    LINK_NUMBERS,
    LINK_TEXTS,
    LOCK,
    MAX_PLAYERS,
    METAL,
    METALS,
    MODES,
    NEW,
    NUM_ACTIONS,
    NUM_SIDES,
    SLOTS,
    TARGET,
    TOTAL,
)
from linkzoo.games.love_links.rules import end_game
from linkzoo.games.love_links.table import (
    MAX_SCORE,
    NONE,
    SET_ASIDE,
    STATE,
    attach,
    clear_table,
    first_of,
    put_in_hand,
)
from linkzoo.core.positions import Head, or_none, winners_of

NAME, VERSION = "love_links", 1
HEAD = Head(NAME, VERSION, Options, STATE, 2, MAX_PLAYERS, TOTAL)
_FIELDS = (
    "game version options num_players seat ply round move matched must_start hands bracelets "
    "supply scores captured completed set_aside winners"
).split()
_MODES = {KEY: "KEY", LOCK: "LOCK", CLOSE: "CLOSE"}
_SLOTS = [f"@{slot}" for slot in range(SLOTS)]


# Moves


def action_to_text(state: Record, action: int) -> str:
    """`KEY 6-4 @3`, `LOCK 6-4 @3`, `CLOSE 6-4 @3` or `NEW 2-3`; ValueError outside 0..364.

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
    """The link in the hand, and where it goes: `@3 key`, `@3 lock`, `@3 close` or `new`."""
    mode, link, *slot = action_to_text(state, action).split(" ")
    return link, " ".join([*slot, mode.lower()])


def text_to_action(state: Record, text: str) -> int:
    """The action of a move's text; ValueError if it is no move, or its link isn't in the hand."""
    match string("move", text).split(" "):
        case ["NEW", link]:
            return NEW + _place(state, link)
        case [mode, link, slot] if mode in _MODES.values() and slot in _SLOTS:
            modes = list(_MODES.values())
            return (_place(state, link) * SLOTS + _SLOTS.index(slot)) * MODES + modes.index(mode)
    raise ValueError(
        f"no move {shown(text)}; moves are like 'KEY 6-4 @3', 'LOCK 6-4 @3', 'CLOSE 6-4 @3' (slots "
        f"@0..@{SLOTS - 1}) and 'NEW 2-3'"
    )


def _place(state: Record, link: str) -> int:
    """The lowest place of a link in the hand of the seat to act."""
    if state.seat == NONE:
        raise ValueError("no move: the game is over")
    hand = hand_texts(state, int(state.seat))
    if link not in hand:
        raise ValueError(f"no link {shown(link)} in the hand of seat {state.seat}; it holds {hand}")
    return hand.index(link)


# Positions to JSON


def hand_texts(state: Record, seat: int) -> list[str]:
    """The links of a hand, by place."""
    return [LINK_TEXTS[link] for link in state.hands[seat, : state.hand_size[seat]]]


def slot_links(state: Record, slot: int) -> list[tuple[int, int]]:
    """The links (type, owner) of a slot from its key end; of SET_ASIDE, those set aside."""
    first = int(first_of(state, slot))
    where = slice(first, first + int(state.length[slot]))
    return list(zip(state.links[where].tolist(), state.owners[where].tolist(), strict=True))


def supply_links(state: Record, metal: int) -> list[int]:
    """The types of a supply, the next to be drawn first."""
    first = int(FIRST_LINK[metal])
    links: list[int] = state.supply[first : first + int(state.supply_size[metal])].tolist()
    return links[::-1]


def to_dict(state: Record, seat: int | None = None) -> dict[str, Any]:
    """The position as JSON data; a `seat` sees neither the seed nor the order of the supplies."""
    sides = int(NUM_SIDES[state.num_players])
    supplies = [supply_links(state, metal) for metal in range(len(METALS))]
    if seat is not None:
        supplies = [sorted(links) for links in supplies]
    data = {
        **HEAD.write(state),
        "seat": or_none(state.seat),
        "ply": int(state.ply),
        "round": METALS[state.round_number],
        "move": int(state.move),
        "matched": bool(state.matched),
        "must_start": bool(state.must_start),
        "hands": [hand_texts(state, other) for other in range(state.num_players)],
        "bracelets": [
            {
                "slot": slot,
                "links": [[LINK_TEXTS[link], or_none(o)] for link, o in slot_links(state, slot)],
            }
            for slot in range(SLOTS)
            if state.length[slot]
        ],
        "supply": {
            name: [LINK_TEXTS[link] for link in links]
            for name, links in zip(METALS, supplies, strict=True)
        },
        "scores": state.scores[:sides].tolist(),
        "captured": state.captured[:sides].tolist(),
        "completed": int(state.completed),
        "set_aside": [LINK_TEXTS[link] for link, _ in slot_links(state, SET_ASIDE)],
        "winners": winners_of(state),
    }
    if seat is not None:
        del data["seed"]
    return data


# JSON to positions


def from_dict(data: Mapping[str, Any]) -> Record:
    """The record of `to_dict`; ValueError names the link, slot or field that is wrong.

    Links that appear nowhere count as completed. Without a seed (a seat's view) the seed is 0, and
    the supplies are drawn in the order in which they are listed.
    """
    state = HEAD.read(data, _FIELDS, optional=("seed",))
    clear_table(state)
    _read_links(state, data)
    _read_counts(state, data)
    _read_turn(state, data)
    agrees("winners", data["winners"], to_dict(state)["winners"])
    return state


class _Box:
    """The links that a position may still hold: those of the game, less those read so far."""

    def __init__(self) -> None:
        self.left = COPIES.tolist()

    def take(self, where: str, text: Any) -> int:
        """The type of a link, which is taken out."""
        if not isinstance(text, str) or text not in LINK_NUMBERS:
            raise ValueError(f"{where}: no link {shown(text)}")
        link = LINK_NUMBERS[text]
        if not self.left[link]:
            raise ValueError(f"{where}: more links {text} than the {COPIES[link]} of the game")
        self.left[link] -= 1
        return link


def _read_links(state: Record, data: Mapping[str, Any]) -> None:
    """Hands, bracelets, supplies and the links set aside."""
    players, box = int(state.num_players), _Box()
    for seat, hand in enumerate(sequence("hands", data["hands"], players, players)):
        where = f"hands[{seat}]"
        for text in sequence(where, hand, 0, HAND_PLACES):
            put_in_hand(state, seat, box.take(where, text))
    for bracelet in sequence("bracelets", data["bracelets"], 0, SLOTS):
        _read_bracelet(state, bracelet, box)
    check_keys("supply", data["supply"], METALS)
    for metal, name in enumerate(METALS):
        _read_supply(state, metal, data["supply"][name], box)
    for text in sequence("set_aside", data["set_aside"], 0, TOTAL):
        attach(state, SET_ASIDE, box.take("set_aside", text), NONE, LOCK)


def _read_bracelet(state: Record, data: Any, box: _Box) -> None:
    check_keys("bracelets", data, ("slot", "links"))
    slot = integer("bracelets: slot", data["slot"], 0, SLOTS - 1)
    where, last = f"bracelet @{slot}", int(state.num_players) - 1
    lock, length = state.lock, state.length
    if length[slot]:
        raise ValueError(f"bracelets: two in slot {slot}")
    for entry in sequence(where, data["links"], 1, TOTAL):
        text, owner = sequence(where, entry, 2, 2)
        if owner is not None:
            integer(f"{where}: owner of {text}", owner, 0, last)
        link = box.take(where, text)
        if length[slot] and not FITS[KEYS[link], lock[slot]]:
            before = LINK_TEXTS[slot_links(state, slot)[-1][0]]
            raise ValueError(f"{where}: the key of {text} doesn't fit the lock of {before}")
        attach(state, slot, link, NONE if owner is None else owner, LOCK)


def _read_supply(state: Record, metal: int, data: Any, box: _Box) -> None:
    where, first = f"supply: {METALS[metal]}", int(FIRST_LINK[metal])
    texts, supply, left = sequence(where, data, 0, TOTAL), state.supply, state.left
    for position, text in enumerate(reversed(texts)):
        link = box.take(where, text)
        if METAL[link] != metal:
            raise ValueError(f"{where}: {text} is a {METALS[METAL[link]]} link")
        supply[first + position] = link
        left[link] += 1
    state.supply_size[metal] = len(texts)


def _read_counts(state: Record, data: Mapping[str, Any]) -> None:
    sides = int(NUM_SIDES[state.num_players])
    for name, high in (("scores", MAX_SCORE), ("captured", TOTAL)):
        for side, value in enumerate(sequence(name, data[name], sides, sides)):
            state[name][side] = integer(f"{name}[{side}]", value, 0, high)
    state.completed = integer("completed", data["completed"], 0, TOTAL)


def _read_turn(state: Record, data: Mapping[str, Any]) -> None:
    if data["round"] not in METALS:
        raise ValueError(f"round: {shown(data['round'])} is not one of {list(METALS)}")
    state.round_number = METALS.index(data["round"])
    state.move = integer("move", data["move"], 1, 2)
    state.matched = boolean("matched", data["matched"])
    state.must_start = boolean("must_start", data["must_start"])
    reached = state.short and max(state.scores) >= TARGET
    links = state.hand_size.any() or state.supply_size[state.round_number :].any()
    if data["seat"] is None:
        if links and not reached:
            raise ValueError("seat: null, but the game is not over")
        end_game(state)
        for name in ("matched", "must_start"):
            agrees(name, data[name], False)
        return
    state.seat = integer("seat", data["seat"], 0, int(state.num_players) - 1)
    if reached:
        raise ValueError(f"seat: {data['seat']}, but a side has {TARGET} points: the game is over")
    if not state.hand_size[state.seat]:
        raise ValueError(f"seat: {data['seat']}, but hands[{data['seat']}] is empty")
